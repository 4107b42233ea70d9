/* model_built: a model is made and its weights are filled with numbers, read from a file, or packed
 * for quantised layers, before the step computes with them. That is work for when the program
 * starts. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

enum {
    FEWEST_WEIGHTS = 4,
    FEWEST_UNKNOWN = 8 /* where no shapes were recorded: noise is drawn for data, too */
};
static const double SMALL_OP = 4; /* times the cost of starting one: a few numbers are no matrix */

struct finder {
    struct ledger *ledger;
    struct intern  filled;  /* shapes of what was filled since the last use, as bytes */
    uint32_t       weights; /* how often a matrix was filled or read */
    uint32_t       packs;   /* of those, for quantised layers, which is done for nothing else */
    uint32_t       first;   /* unit */
    uint32_t       copied;  /* unit: the first clone or quantised tensor, where packing may begin */
};

static struct str type_of(const struct finder *finder, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP ? unit_type(finder->ledger, unit) : (struct str) { 0 };
}

static bool draws_weight(struct str type)
{
    return str_fits(type, "aten::normal_|aten::uniform_");
}

/* Random numbers in place, as initialisers draw them, or storage that a file was read into. */
static bool makes_weight(struct str type)
{
    return draws_weight(type) || str_equal(type, STR("aten::set_"));
}

static bool packs_weight(const struct finder *finder, const struct work_unit *unit)
{
    return str_fits(type_of(finder, unit), "*prepack");
}

static struct str key_of(const struct tensor *tensor)
{
    return (struct str) { (const char *)tensor->dims, (size_t)tensor->rank * sizeof *tensor->dims };
}

/* A matrix that is filled, or copied from another of its shape. */
static bool note_weight(struct finder *finder, const struct work_unit *unit)
{
    const struct tensor *tensor = unit_input(finder->ledger, unit, 0);
    struct str           type = type_of(finder, unit);

    if (!finder->ledger->study->profile->has_shapes && draws_weight(type) &&
        unit->ns > SMALL_OP * finder->ledger->start_ns)
        finder->weights++;
    if (!tensor || tensor->rank < 2 ||
        !(makes_weight(type) || (str_equal(type, STR("aten::copy_")) &&
                                 same_dims(tensor, unit_input(finder->ledger, unit, 1)))))
        return true;
    finder->weights++;
    return intern_add(&finder->filled, key_of(tensor)) != NO_ID;
}

/* Takes a matrix of a shape that was filled, or the first one of all: the model is whole now. */
static bool uses_weight(const struct finder *finder, const struct work_unit *unit)
{
    const struct tensor *tensor;

    if (unit->kind != UNIT_OP || unit->op == NO_ID || unit->phase != UNIT_FORWARD ||
        (unit->op_class != OP_PRODUCT && unit->op_class != OP_CONVOLUTION &&
         unit->op_class != OP_EMBEDDING && unit->op_class != OP_CELL))
        return false;
    if (finder->packs > 0 || !finder->ledger->study->profile->has_shapes)
        return true;
    for (uint32_t i = 0; (tensor = unit_input(finder->ledger, unit, i)); i++)
        if (tensor->rank >= 2 && intern_find(&finder->filled, key_of(tensor)) != NO_ID)
            return true;
    return false;
}

static bool claim(struct finder *finder, const struct detector *self, uint32_t behind,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (!ledger_cell_once(
            ledger, self, &ledger->units.items[finder->first], cell,
            "%u matrices are filled, read or packed before the first product takes one",
            finder->weights))
        return false;
    for (uint32_t u = finder->first; u < behind; u++)
        ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
    return true;
}

static bool start_over(struct finder *finder)
{
    finder->weights = finder->packs = 0;
    finder->first = finder->copied = NO_ID;
    return intern_init(&finder->filled, finder->ledger->scratch);
}

/* A model begins with its first weight, or with the first copy of one that is packed then. */
static void note_begin(struct finder *finder, uint32_t u)
{
    const struct work_unit *unit = &finder->ledger->units.items[u];
    struct str              type = type_of(finder, unit);

    if (finder->first == NO_ID && makes_weight(type))
        finder->first = u;
    if (finder->copied == NO_ID && str_fits(type, "aten::clone|aten::quantize_per*"))
        finder->copied = u;
    if (!packs_weight(finder, unit))
        return;
    if (!finder->packs++ && finder->copied < finder->first)
        finder->first = finder->copied;
    finder->first = finder->first == NO_ID ? u : finder->first;
    finder->weights++;
}

/* The model is whole before unit `behind`. */
static bool finish(struct finder *finder, const struct detector *self, uint32_t behind,
                   uint32_t *cell)
{
    uint32_t fewest = finder->ledger->study->profile->has_shapes ? FEWEST_WEIGHTS : FEWEST_UNKNOWN;

    if ((finder->packs || finder->weights >= fewest) && !claim(finder, self, behind, cell))
        return false;
    return start_over(finder);
}

/* Everything between the first weight that is made and the first that is used makes the model. */
static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (!start_over(finder))
        return false;
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->phase == UNIT_BACKWARD || unit->phase == UNIT_UPDATE) {
            if (finder->weights && !start_over(finder))
                return false;
            continue;
        }
        note_begin(finder, u);
        if (finder->first == NO_ID) {
            if (unit->op_class == OP_PRODUCT)
                finder->copied = NO_ID;
            continue;
        }
        if (!note_weight(finder, unit))
            return false;
        if (finder->weights && uses_weight(finder, unit) && !finish(finder, self, u, cell))
            return false;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    for (size_t step = 0; ledger->is_torch && step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_model_built = { "model-built", CAUSE_REPEAT, GRADE_STRUCTURE, find };
