/* deep_copies: tensors that copy.deepcopy copies one after the other, by their storages: the state
 * of a model or an optimizer that a step keeps. Nothing else copies plain bytes and then sets a
 * tensor to them. Or clones of what is trained, one after the other. */
#include "analyze/excess/gradient_shapes.h"

enum { FEWEST_TENSORS = 4, FARTHEST = 16 /* units from one to the next */ };
static const double KEPT_SHARE = 0.98; /* once in fifty steps is enough */

struct stretch {
    uint32_t first, last; /* units */
    uint32_t tensors;
    bool     is_open;  /* bytes were copied, and no tensor was set to them yet */
    bool     is_state; /* by storage, or clones of several shapes: a layer clones one shape only */
    const struct tensor *cloned;
};

static bool copies_bytes(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *to = unit_input(ledger, unit, 0);

    return str_equal(unit_type(ledger, unit), STR("aten::copy_")) &&
           (!to || (to->rank == 1 && same_dims(to, unit_input(ledger, unit, 1))));
}

static bool sets_storage(const struct ledger *ledger, const struct work_unit *unit)
{
    return str_equal(unit_type(ledger, unit), STR("aten::set_"));
}

/* Behind the step's last gradient: what is cloned before it may be a learner that is trained. */
static uint32_t first_behind_training(const struct ledger *ledger, size_t step)
{
    uint32_t first = ledger->first_unit[step + 1];

    while (first > ledger->first_unit[step] &&
           ledger->units.items[first - 1].phase != UNIT_BACKWARD)
        first--;
    return first;
}

/* A copy that a program asks for, of a parameter by its shape. */
static bool clones_weight(const struct ledger *ledger, const struct work_unit *unit,
                          const struct gradient_shapes *weights)
{
    return unit->kind == UNIT_OP && str_equal(unit_type(ledger, unit), STR("aten::clone")) &&
           gradient_shapes_have(weights, unit_input(ledger, unit, 0));
}

static bool claim(struct ledger *ledger, const struct detector *self, const struct stretch *stretch,
                  uint32_t *cell)
{
    if (stretch->tensors < FEWEST_TENSORS || !stretch->is_state)
        return true;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[stretch->first], cell,
                          "%u tensors of the state are copied in a row", stretch->tensors))
        return false;
    ledger_claim_ops(ledger, *cell, stretch->first, stretch->last, KEPT_SHARE);
    return true;
}

static bool look_at_step(struct ledger *ledger, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct stretch         stretch = { 0 };
    struct gradient_shapes weights;
    uint32_t               behind = first_behind_training(ledger, step);

    gradient_shapes_of_step(ledger, step, &weights);
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        bool                    sets = unit->kind == UNIT_OP && sets_storage(ledger, unit);
        bool                    clones = u >= behind && clones_weight(ledger, unit, &weights);

        if (stretch.last && u > stretch.last + FARTHEST) {
            if (!claim(ledger, self, &stretch, cell))
                return false;
            stretch = (struct stretch) { 0 };
        }
        if (clones || (unit->kind == UNIT_OP && copies_bytes(ledger, unit)))
            stretch.is_open = true;
        if (!sets && !clones)
            continue;
        stretch.is_state |=
            sets || (stretch.cloned && !same_dims(stretch.cloned, unit_input(ledger, unit, 0)));
        stretch.cloned = unit_input(ledger, unit, 0);
        if (!stretch.last)
            stretch.first = u;
        stretch.last = u;
        stretch.tensors += stretch.is_open;
        stretch.is_open = false;
    }
    return claim(ledger, self, &stretch, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(ledger, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_deep_copies = { "deep-copies", CAUSE_RARE, GRADE_STRUCTURE, find };
