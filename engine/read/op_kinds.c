#include "read/op_kinds.h"

#include "base/macros.h"

enum how { EXACT, PREFIX, SUFFIX };

static const struct {
    enum how           how;
    const char        *text;
    enum activity_kind kind;
} op_types[] = {
    { EXACT, "IteratorGetNext", ACTIVITY_INPUT_WAIT },
    { EXACT, "IteratorGetNextAsOptional", ACTIVITY_INPUT_WAIT },
    { PREFIX, "DebugNumericSummary", ACTIVITY_OP }, /* counts what is no number; writes nothing */
    { PREFIX, "Write", ACTIVITY_OUTPUT },
    { SUFFIX, "Summary", ACTIVITY_OUTPUT },
    { SUFFIX, "SummaryV2", ACTIVITY_OUTPUT },
    { PREFIX, "Save", ACTIVITY_OUTPUT },
    { PREFIX, "MergeV2Checkpoints", ACTIVITY_OUTPUT },
    { PREFIX, "Print", ACTIVITY_OUTPUT },
    { EXACT, "StringFormat", ACTIVITY_OUTPUT },
    { PREFIX, "outfeed", ACTIVITY_OUTPUT },
    { PREFIX, "infeed", ACTIVITY_INPUT_WAIT },
    { PREFIX, "Collective", ACTIVITY_COLLECTIVE },
    { PREFIX, "NcclAllReduce", ACTIVITY_COLLECTIVE },
    { PREFIX, "all-reduce", ACTIVITY_COLLECTIVE },
    { PREFIX, "all-gather", ACTIVITY_COLLECTIVE },
    { PREFIX, "reduce-scatter", ACTIVITY_COLLECTIVE },
    { PREFIX, "all-to-all", ACTIVITY_COLLECTIVE },
    { PREFIX, "collective-permute", ACTIVITY_COLLECTIVE },
    { PREFIX, "collective-broadcast", ACTIVITY_COLLECTIVE },
    { PREFIX, "ragged-all-to-all", ACTIVITY_COLLECTIVE },
    { PREFIX, "ncclDev", ACTIVITY_COLLECTIVE },
    { PREFIX, "ncclKernel", ACTIVITY_COLLECTIVE },
    { PREFIX, "pure_callback", ACTIVITY_CALLBACK },
    { PREFIX, "io_callback", ACTIVITY_CALLBACK },
    { PREFIX, "debug_callback", ACTIVITY_CALLBACK },
    { PREFIX, "debug_print", ACTIVITY_CALLBACK },
    { EXACT, "PyFunc", ACTIVITY_CALLBACK },
    { EXACT, "EagerPyFunc", ACTIVITY_CALLBACK },
};

static bool fits(enum how how, struct str type, struct str text)
{
    return how == EXACT    ? str_equal(type, text)
           : how == PREFIX ? str_starts(type, text)
                           : str_ends(type, text);
}

enum activity_kind op_type_kind(struct str type, enum activity_kind usual)
{
    for (size_t i = 0; i < ARRAY_COUNT(op_types); i++)
        if (fits(op_types[i].how, type, str_from(op_types[i].text)))
            return op_types[i].kind;
    return usual;
}
