/* library_range: ranges and modules whose names say that they are metrics, evaluation or saving, in
 * a step that does something else as well. Nothing is wrong with them but how often they run. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

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
};

struct finder {
    struct ledger *ledger;
    uint8_t       *what_of; /* by name of the profile: row of names + 2; 1 none, 0 unknown */
};

/* Row of names, or -1: of the outermost range or Python frame around a unit that is one. */
static int what_of(struct finder *finder, const struct work_unit *unit, uint32_t *range)
{
    const struct path    *path = finder->ledger->path;
    const struct profile *profile = finder->ledger->study->profile;
    int                   found = -1;

    for (uint32_t f = unit->frame; f != NO_ID; f = path->frames.items[f].parent) {
        const struct activity *activity = event_activity(profile, path->frames.items[f].event);
        uint8_t               *row = &finder->what_of[activity->name];

        if (activity->kind == ACTIVITY_OP || activity->kind == ACTIVITY_STEP)
            continue;
        for (size_t i = 0; !*row && i < ARRAY_COUNT(names); i++)
            if (str_contains(profile_str(profile, activity->name), str_from(names[i].name)))
                *row = (uint8_t)(i + 2);
        if (!*row)
            *row = 1;
        if (*row > 1)
            found = *row - 2, *range = activity->name;
    }
    return found;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cells[ARRAY_COUNT(names)], range = 0;

    for (size_t i = 0; i < ARRAY_COUNT(cells); i++)
        cells[i] = NO_ID;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        int               row = what_of(finder, unit, &range);

        if (row < 0)
            continue;
        if (cells[row] == NO_ID) {
            cells[row] = ledger_cell(ledger, self, unit);
            if (cells[row] == NO_ID ||
                !ledger_tell(ledger, cells[row], "%s: %.160s", names[row].what,
                             profile_str(ledger->study->profile, range).data))
                return false;
        }
        ledger_claim(ledger, cells[row], unit, RARE_SHARE);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    double        ns = 0;
    uint32_t      range;

    finder.what_of =
        arena_new_array(ledger->scratch, uint8_t, ledger->study->profile->names.count + 1);
    if (!finder.what_of)
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        if (what_of(&finder, &ledger->units.items[u], &range) >= 0)
            ns += ledger->units.items[u].ns;
    return ns <= 0 || ns > WHOLE_STEP * ledger->total_ns || claim(&finder, self);
}

const struct detector detector_library_range = { "library-range", CAUSE_RARE, GRADE_STRUCTURE,
                                                 find };
