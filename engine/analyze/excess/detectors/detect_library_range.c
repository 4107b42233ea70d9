/* library_range: ranges and modules whose names say that they are metrics, evaluation, saving, or
 * Python objects that ranks exchange, in a step that does something else as well. Nothing is wrong
 * with them but how often they run. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "base/words.h"

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
    struct words   words;   /* the names */
    uint8_t       *what_of; /* by name of the profile: row of names + 2; 1 none, 0 unknown, READS */
};
enum { READS = UINT8_MAX };

/* The modules that save load as well: of the outermost call its function tells. */
static bool reads(struct str name)
{
    return str_fits(name, "*load|*load_file|*loadtxt|*genfromtxt|*restore|*__getitem__");
}

/* 2 + its row of names; 1: it is none of them; READS: it reads what others save. */
static uint8_t look_at(struct finder *finder, uint32_t name)
{
    enum { NONE = UINT16_MAX };
    uint8_t *row = &finder->what_of[name];

    if (!*row) {
        struct str text = profile_str(finder->ledger->study->profile, name);
        uint16_t   found = words_first_row(&finder->words, text, NONE);

        *row = found == NONE ? 1 : reads(text) ? READS : (uint8_t)(found + 2);
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

/* Row of names, or -1: of the outermost range or Python frame around a unit that is one. */
static int what_of(struct finder *finder, const struct work_unit *unit, uint32_t *range)
{
    const struct path    *path = finder->ledger->path;
    const struct profile *profile = finder->ledger->study->profile;
    int                   found = -1;

    for (uint32_t f = unit->frame; f != NO_ID; f = path->frames.items[f].parent) {
        const struct activity *activity = event_activity(profile, path->frames.items[f].event);
        uint8_t                row = look_at(finder, activity->name);

        if (row > 1 && activity->kind != ACTIVITY_OP && activity->kind != ACTIVITY_STEP)
            found = row == READS ? -1 : row - 2, *range = activity->name;
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
    for (size_t u = 0; u < ledger->units.count; u++)
        if (what_of(&finder, &ledger->units.items[u], &range) >= 0)
            ns += ledger->units.items[u].ns;
    return ns <= 0 || ns > WHOLE_STEP * ledger->total_ns || claim(&finder, self);
}

const struct detector detector_library_range = { "library-range", CAUSE_RARE, GRADE_STRUCTURE,
                                                 find };
