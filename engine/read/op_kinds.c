#include "read/op_kinds.h"

#include "base/macros.h"
#include "base/words.h"

#include <pthread.h>

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

static struct word    items[64];
static struct words   words = { .items = items, .room = ARRAY_COUNT(items) };
static pthread_once_t words_made = PTHREAD_ONCE_INIT;

static void make_words(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(op_types); i++)
        words_add(&words, op_types[i].words, (uint16_t)i);
}

enum activity_kind op_type_kind(struct str type, enum activity_kind usual)
{
    size_t row;

    pthread_once(&words_made, make_words);
    row = words_first_row(&words, type, ARRAY_COUNT(op_types));
    return row < ARRAY_COUNT(op_types) ? op_types[row].kind : usual;
}
