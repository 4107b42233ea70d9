/* input_gradient: behind the last weights that are trained, a backward pass of PyTorch goes on
 * through frozen layers, down to an input that was made to require gradients, and nothing takes
 * what comes of it. Such an input's gradient is handed over as it comes out of its layers. Where
 * shapes were recorded, no update nor an op behind the pass takes its shape. Without them, no
 * product makes it, as it does those of weights, and nothing sums rows or spreads them, as for a
 * prompt that all rows share or a table.
 */
#include "analyze/excess/ledger.h"

static const double LEAST_PART = 0.15; /* of the pass */

enum {
    FEWEST_GRADIENTS = 4, /* an attack or a picture that is improved has its own alone */
    FEWEST_PRODUCTS = 4
};
struct pass {
    uint32_t first, end;   /* row of units; end: the first behind it */
    uint32_t before, last; /* its last gradients that are handed over, NO_ID */
    uint32_t made;
};
struct answer { /* about the last two gradients of a pass; passes of one program have the same */
    uint32_t before, last; /* rows of profile->ops */
    bool     is_known, is_left;
};

static bool is_handed(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->phase == UNIT_BACKWARD && unit->kind == UNIT_OP &&
           unit_hands_gradient(ledger, unit);
}

static bool is_product(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP &&
           (unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION ||
            unit->op_class == OP_ATTENTION);
}

static bool updates(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->phase == UNIT_UPDATE ||
           str_fits(unit_type(ledger, unit), "aten::_fused_*|aten::_foreach_*");
}

/* Ops of a forward pass or of an update end it. */
static struct pass next_pass(const struct ledger *ledger, uint32_t from)
{
    struct pass pass = { .first = NO_ID, .before = NO_ID, .last = NO_ID };

    for (pass.end = from; pass.end < ledger->units.count; pass.end++) {
        const struct work_unit *unit = &ledger->units.items[pass.end];

        if (unit->kind == UNIT_OP && unit->phase != UNIT_BACKWARD) {
            if (pass.first != NO_ID)
                break;
            continue;
        }
        if (unit->phase != UNIT_BACKWARD)
            continue;
        if (pass.first == NO_ID)
            pass.first = pass.end;
        if (is_handed(ledger, unit)) {
            pass.before = pass.last;
            pass.last = pass.end;
            pass.made++;
        }
    }
    return pass;
}

static bool takes_shape(const struct ledger *ledger, const struct work_unit *unit,
                        const struct tensor *gradient)
{
    const struct op *op = unit->op == NO_ID ? NULL : &ledger->study->profile->ops.items[unit->op];

    for (uint32_t i = 0; op && i < op->input_count; i++)
        if (same_dims(unit_input(ledger, unit, i), gradient))
            return true;
    return false;
}

static bool is_updated(const struct ledger *ledger, const struct tensor *gradient)
{
    for (uint32_t u = 0; u < ledger->units.count; u++)
        if (updates(ledger, &ledger->units.items[u]) &&
            takes_shape(ledger, &ledger->units.items[u], gradient))
            return true;
    return false;
}

/* By ops that stand between its pass and what comes next. */
static bool is_read(const struct ledger *ledger, const struct pass *pass,
                    const struct tensor *gradient)
{
    for (uint32_t u = pass->end; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (updates(ledger, unit) || unit_is_forward_product(unit) || unit->is_trained)
            break;
        if (unit->phase == UNIT_FORWARD && unit->op_class != OP_VIEW &&
            takes_shape(ledger, unit, gradient))
            return true;
    }
    return false;
}

/* Nothing but ops that keep the rows stands between the last product and the gradient. */
static bool comes_as_it_is(const struct ledger *ledger, const struct pass *pass)
{
    bool is_made = false;

    for (uint32_t u = pass->last; u-- > pass->before + 1;) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op_class == OP_VIEW)
            continue;
        if (is_product(unit))
            return is_made;
        if (unit->op_class != OP_ELEMENTWISE && unit->op_class != OP_NORMALISATION &&
            unit->op_class != OP_ACTIVATION && unit->op_class != OP_CAST)
            return false;
        is_made = true;
    }
    return false;
}

/* The update must be recorded, and take the gradient before. O(units) for each pair of gradients.
 */
static bool is_left_out(const struct ledger *ledger, const struct pass *pass, struct answer *known)
{
    const struct work_unit *before = &ledger->units.items[pass->before];
    const struct work_unit *last = &ledger->units.items[pass->last];
    const struct tensor    *trained = unit_input(ledger, before, 0);
    const struct tensor    *gradient = unit_input(ledger, last, 0);

    if (!known->is_known || known->before != before->op || known->last != last->op)
        *known = (struct answer) { .before = before->op,
                                   .last = last->op,
                                   .is_known = true,
                                   .is_left = gradient && trained && gradient->rank >= 2 &&
                                              is_updated(ledger, trained) &&
                                              !is_updated(ledger, gradient) };
    return known->is_left;
}

static bool is_of_input(const struct ledger *ledger, const struct pass *pass, struct answer *known)
{
    if (!ledger->study->profile->has_shapes)
        return comes_as_it_is(ledger, pass);
    return is_left_out(ledger, pass, known) &&
           !is_read(ledger, pass, unit_input(ledger, &ledger->units.items[pass->last], 0));
}

/* The part behind the last weights is large, and of layers. */
static bool goes_far(const struct ledger *ledger, const struct pass *pass, uint32_t *products)
{
    double whole = 0, tail = 0;

    *products = 0;
    for (uint32_t u = pass->first; u < pass->end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->phase != UNIT_BACKWARD)
            continue;
        whole += unit->left_ns;
        if (u > pass->before && u <= pass->last) {
            tail += unit->left_ns;
            *products += is_product(unit);
        }
    }
    return *products >= FEWEST_PRODUCTS && tail >= LEAST_PART * whole;
}

static bool claim(struct ledger *ledger, const struct detector *self, const struct pass *pass,
                  uint32_t products, uint32_t *cell)
{
    for (uint32_t u = pass->before + 1; u <= pass->last; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->phase != UNIT_BACKWARD || unit->left_ns <= 0)
            continue;
        if (!ledger_cell_once(ledger, self, unit, cell,
                              "behind the last gradient of weights, %u products go on to an "
                              "input's, which nothing takes",
                              products))
            return false;
        ledger_claim(ledger, *cell, unit, 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t      cell = NO_ID;
    struct answer known = { 0 };

    if (!ledger->is_torch)
        return true;
    for (struct pass pass = next_pass(ledger, 0); pass.first != NO_ID;
         pass = next_pass(ledger, pass.end)) {
        uint32_t products;

        if (pass.made >= FEWEST_GRADIENTS && goes_far(ledger, &pass, &products) &&
            is_of_input(ledger, &pass, &known) && !claim(ledger, self, &pass, products, &cell))
            return false;
    }
    return true;
}

const struct detector detector_input_gradient = { "unused-gradients", CAUSE_UNUSED, GRADE_SIZES,
                                                  find };
