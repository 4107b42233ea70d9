/* library_range: ranges and modules whose names say that they are metrics, evaluation, saving,
 * reading back what was saved, or Python objects that ranks exchange, in a step that does something
 * else as well. Nothing is wrong with them but how often they run. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/words.h"

#include <string.h>

static const double RARE_SHARE = 0.98; /* once in fifty steps is enough */
static const double WHOLE_STEP = 0.85; /* from here on it is what the program does */

static const struct {
    const char *name;
    const char *what;
} names[] = {
    { "torchmetrics", "metrics" },
    { "sklearn/metrics", "metrics" },
    { "sklearn.metrics", "metrics" },
    { "ignite/metrics", "metrics" },
    { "MetricCollection", "metrics" },
    { "keras/src/metrics", "metrics" },
    { "confusion_matrix", "metrics" },
    { "evaluation_loop", "evaluation" },
    { "evaluate_step", "evaluation" },
    { "validation_step", "evaluation" },
    { "checkpointer.py", "saving" },
    { "checkpoint_manager", "saving" },
    { "orbax", "saving" },
    { "npyio", "saving" },
    { "fsync", "saving" },
    { "safetensors", "saving" },
    { "$pickle dump", "saving" },
    { "serialization.py", "saving" },
    { "wandb", "logging" },
    { "event_file_writer", "logging" },
    { "save_checkpoint", "saving" },
    { "torch/serialization.py", "saving" },
    { "ModelCheckpoint", "saving" },
    { "tensorboard/writer.py", "logging" },
    { "tensorboardX", "logging" },
    { "add_histogram", "logging" },
    { "gather_object", "objects" },
    { "broadcast_object_list", "objects" },
    { "scatter_object_list", "objects" },
};

struct finder {
    struct ledger *ledger;
    struct words   words; /* the names */
    uint8_t  *what_of;    /* by name of the profile: its kind + 2; 1 none, 0 unknown, READS_DATA */
    uint32_t *waiter;     /* by unit: row of path->frames, or NO_ID */
};
/* A kind is a row of names, or behind these: weights are read. */
enum { LOADING = ARRAY_COUNT(names), KINDS, READS_DATA = UINT8_MAX };

/* The modules that save load as well: of the outermost call its function tells. */
static bool reads(struct str name)
{
    return str_fits(name, "*load|*load_file|*loadtxt|*genfromtxt|*restore|*__getitem__");
}

/* What keeps weights reads them; others read the data that the program is about. */
static bool keeps_weights(struct str name)
{
    return str_fits(name, "*checkpointer.py*|*checkpoint_manager*|*orbax*");
}

static uint8_t kind_of(uint16_t row, struct str name)
{
    if (!reads(name))
        return (uint8_t)(row + 2);
    return keeps_weights(name) ? LOADING + 2 : READS_DATA;
}

/* 2 + its kind; 1: it is none of them; READS_DATA: it reads what others save. */
static uint8_t look_at(struct finder *finder, uint32_t name)
{
    enum { NONE = UINT16_MAX };
    uint8_t *row = &finder->what_of[name];

    if (!*row) {
        struct str text = profile_str(finder->ledger->study->profile, name);
        uint16_t   found = words_first_row(&finder->words, text, NONE);

        *row = found == NONE ? 1 : kind_of(found, text);
    }
    return *row;
}

static bool is_anywhere(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    bool                  is_there = false;

    for (size_t i = 0; i < profile->activities.count; i++)
        is_there |= look_at(finder, profile->activities.items[i].name) > 1;
    return is_there;
}

/* Kind, or -1: of the outermost range or Python frame that is one, from `frame` outwards. */
static int kind_around(struct finder *finder, uint32_t frame, uint32_t *range)
{
    const struct path    *path = finder->ledger->path;
    const struct profile *profile = finder->ledger->study->profile;
    int                   found = -1;

    for (uint32_t f = frame; f != NO_ID; f = path->frames.items[f].parent) {
        const struct activity *activity = event_activity(profile, path->frames.items[f].event);
        uint8_t                row = look_at(finder, activity->name);

        if (row > 1 && activity->kind != ACTIVITY_OP && activity->kind != ACTIVITY_STEP)
            found = row == READS_DATA ? -1 : row - 2, *range = activity->name;
    }
    return found;
}

/* Around unit u, or around what the leading thread waits in while another thread does the unit.
 * Evaluation beside no training is what was recorded. */
static int what_of(struct finder *finder, size_t u, uint32_t *range)
{
    const struct ledger *ledger = finder->ledger;
    int                  found = kind_around(finder, ledger->units.items[u].frame, range);

    found = found < 0 ? kind_around(finder, finder->waiter[u], range) : found;
    if (found >= 0 && found != LOADING && ledger->is_torch && !ledger->has_backward &&
        strcmp(names[found].what, "evaluation") == 0)
        return -1;
    return found;
}

/* By unit: where the leading thread waits during its longest segment; NO_ID: it does not. */
static bool find_waiters(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    int64_t *longest_ns = arena_new_array(ledger->scratch, int64_t, ledger->units.count + 1);

    finder->waiter = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    if (!longest_ns || !finder->waiter)
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        finder->waiter[u] = NO_ID;
    for (size_t s = 0; s < ledger->path->segments.count; s++) {
        const struct segment *segment = &ledger->path->segments.items[s];
        uint32_t              u = ledger->unit_of_segment[s];

        if (u != NO_ID && segment->end_ns - segment->start_ns > longest_ns[u]) {
            longest_ns[u] = segment->end_ns - segment->start_ns;
            finder->waiter[u] = segment->owner;
        }
    }
    return true;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cells[KINDS], range = 0;

    for (size_t i = 0; i < ARRAY_COUNT(cells); i++)
        cells[i] = NO_ID;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        int               kind = what_of(finder, u, &range);

        if (kind < 0)
            continue;
        if (cells[kind] == NO_ID) {
            cells[kind] = ledger_cell(ledger, self, unit);
            if (cells[kind] == NO_ID ||
                !ledger_tell(ledger, cells[kind], "%s: %.160s",
                             kind == LOADING ? "loading" : names[kind].what,
                             profile_str(ledger->study->profile, range).data))
                return false;
        }
        ledger_claim(ledger, cells[kind], unit, RARE_SHARE);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct word   words[ARRAY_COUNT(names)];
    struct finder finder = { .ledger = ledger,
                             .words = { .items = words, .room = ARRAY_COUNT(words) } };
    double        ns = 0;
    uint32_t      range;

    finder.what_of =
        arena_new_array(ledger->scratch, uint8_t, ledger->study->profile->names.count + 1);
    if (!finder.what_of)
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        words_add_part(&finder.words, str_from(names[i].name), (uint16_t)i);
    if (!is_anywhere(&finder))
        return true;
    if (!find_waiters(&finder))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++) {
        int kind = what_of(&finder, u, &range);

        /* Weights are read for what follows, however short that is: loading is no program's work.
         */
        if (kind >= 0 && kind != LOADING)
            ns += ledger->units.items[u].ns;
    }
    return ns > WHOLE_STEP * ledger->total_ns || claim(&finder, self);
}

const struct detector detector_library_range = { "library-range", CAUSE_RARE, GRADE_STRUCTURE,
                                                 find };
