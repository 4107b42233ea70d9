#include "read/op_kinds.h"

#include "base/macros.h"

static const struct {
    const char        *words; /* str_fits */
    enum activity_kind kind;
} op_types[] = {
    { "IteratorGetNext|IteratorGetNextAsOptional", ACTIVITY_INPUT_WAIT },
    { "DebugNumericSummary*", ACTIVITY_OP }, /* counts what is no number; writes nothing */
    { "Write*|*Summary|*SummaryV2|Save*|MergeV2Checkpoints*|Print*|StringFormat|outfeed*",
      ACTIVITY_OUTPUT },
    { "infeed*", ACTIVITY_INPUT_WAIT },
    { "Collective*|NcclAllReduce*|all-reduce*|all-gather*|reduce-scatter*|all-to-all*|"
      "collective-permute*|collective-broadcast*|ragged-all-to-all*|ncclDev*|ncclKernel*",
      ACTIVITY_COLLECTIVE },
    { "pure_callback*|io_callback*|debug_callback*|debug_print*|PyFunc|EagerPyFunc",
      ACTIVITY_CALLBACK },
};

enum activity_kind op_type_kind(struct str type, enum activity_kind usual)
{
    for (size_t i = 0; i < ARRAY_COUNT(op_types); i++)
        if (str_fits(type, op_types[i].words))
            return op_types[i].kind;
    return usual;
}
