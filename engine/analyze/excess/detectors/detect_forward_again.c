/* forward_again: in graphs of TensorFlow, ops of the forward pass that run again once the backward
 * pass has begun: a copy has the name of the first with a number behind it. Ops that no gradient is
 * for, as of a metric, are no copies. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"
#include "model/names.h"

struct finder {
    struct ledger *ledger;
    struct intern  bases;     /* names without the number of a copy */
    uint32_t      *base_of;   /* by row of profile->ops: id of bases + 1; 0 unknown */
    struct intern  trained;   /* ops and scopes that a gradient is for, without numbers */
    bool          *gradient;  /* by row of profile->ops */
    bool          *is_needed; /* by row of profile->ops: in `trained` */
    bool          *is_layer;  /* by row of profile->ops: named there */
    uint32_t      *seen;      /* by id of bases: round in which it ran before the backward pass */
    uint32_t      *ran;       /* by row of profile->ops: round in which it ran last */
    uint32_t       round;     /* counts steps, and updates behind a backward pass */
};

static bool is_gradient(struct str name, struct str type)
{
    return graph_name_is_gradient(name) || str_contains(name, STR("_grad/")) ||
           str_fits(type, "*Backprop*|*Grad*");
}

/* What gradients are for, and all scopes around it. */
static bool list_trained(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;

    for (uint32_t row = 0; row < profile->ops.count; row++) {
        struct str name = profile_str(profile, profile->ops.items[row].name), trained;

        if (!graph_name_is_gradient(name))
            continue;
        trained = graph_name_trained(name);
        for (size_t i = 1; i <= trained.len; i++)
            if ((i == trained.len || trained.data[i] == '/') &&
                intern_add(&finder->trained, str_without_number(str_slice(trained, 0, i))) == NO_ID)
                return false;
    }
    return true;
}

/* Fused ops have the name of their last one: the scope around may be all that gradients name. */
static bool is_named(const struct finder *finder, struct str name)
{
    struct str inside = graph_name_inside(name);
    size_t     slash = str_find_last(inside, '/');

    return intern_find(&finder->trained, str_without_number(inside)) != NO_ID ||
           (slash < inside.len &&
            intern_find(&finder->trained, str_without_number(str_slice(inside, 0, slash))) !=
                NO_ID);
}

/* Of ops in no scope gradients may name the gradient's kind alone. */
static bool is_trained(const struct finder *finder, struct str name)
{
    struct str inside = graph_name_inside(name);

    return str_find_last(inside, '/') >= inside.len || is_named(finder, name);
}

static bool learn(struct finder *finder, uint32_t row)
{
    const struct profile *profile = finder->ledger->study->profile;
    const struct op      *op = &profile->ops.items[row];
    struct str            name = profile_str(profile, op->name);
    uint32_t              id;

    if (finder->base_of[row])
        return true;
    id = intern_add(&finder->bases, str_without_number(name));
    finder->base_of[row] = id == NO_ID ? 0 : id + 1;
    finder->gradient[row] = is_gradient(name, profile_str(profile, op->type));
    finder->is_needed[row] = !finder->trained.count || is_trained(finder, name);
    finder->is_layer[row] = !finder->trained.count || is_named(finder, name);
    return id != NO_ID;
}

static bool is_product(const struct work_unit *unit)
{
    return unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION;
}

static bool is_update(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->op_class == OP_UPDATE || str_starts(unit_type(ledger, unit), STR("Assign"));
}

/* Names come again within the forward pass too, as of layers of one kind: only those are copies
 * that ran before the first product of the backward pass and run again behind it. A layer behind an
 * update begins another pass, as of two models or of steps written one after the other; what else
 * is between an update and the next gradient is the optimizer's, who updates some weights while
 * the backward pass still makes others' gradients. */
static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    bool           has_begun = false, is_updated = false;

    finder->round++;
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID)
            continue;
        if (!learn(finder, unit->op))
            return false;
        if (finder->gradient[unit->op]) {
            has_begun |= is_product(unit);
            is_updated &= !is_product(unit);
            continue;
        }
        is_updated |= has_begun && is_update(ledger, unit);
        if (is_updated && is_product(unit) && finder->is_layer[unit->op]) {
            has_begun = is_updated = false;
            finder->round++;
        }
        bool is_loop = finder->ran[unit->op] == finder->round;

        finder->ran[unit->op] = finder->round;
        if (!has_begun) {
            finder->seen[finder->base_of[unit->op] - 1] = finder->round;
            continue;
        }
        if (is_loop || is_updated || !finder->is_needed[unit->op] ||
            finder->seen[finder->base_of[unit->op] - 1] != finder->round)
            continue;
        if (!ledger_cell_once(ledger, self, unit, cell,
                              "copies of forward ops run once gradients have begun"))
            return false;
        ledger_claim(ledger, *cell, unit, 1);
    }
    return true;
}

/* Optimizers and metrics reuse names of the forward pass now and then; copied layers hold products.
 */
static bool has_products(const struct ledger *ledger, uint32_t cell)
{
    for (size_t u = 0; cell != NO_ID && u < ledger->units.count; u++)
        if (ledger->units.items[u].cell == cell && is_product(&ledger->units.items[u]))
            return true;
    return false;
}

static void take_back(struct ledger *ledger, uint32_t cell)
{
    for (size_t u = 0; u < ledger->units.count; u++)
        if (ledger->units.items[u].cell == cell) {
            ledger->units.items[u].cell = NO_ID;
            ledger->units.items[u].left_ns = ledger->units.items[u].ns;
            ledger->units.items[u].held_ns = 0;
        }
    ledger->cells.items[cell].ns = ledger->cells.items[cell].seen_ns = 0;
    ledger->cells.items[cell].lost_ns = 0;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };
    size_t                ops = profile->ops.count + 1;
    uint32_t              cell = NO_ID;

    if (!str_equal(profile_str(profile, profile->framework), STR("tensorflow")))
        return true;
    finder.base_of = arena_new_array(ledger->scratch, uint32_t, ops);
    finder.gradient = arena_new_array(ledger->scratch, bool, ops);
    finder.is_needed = arena_new_array(ledger->scratch, bool, ops);
    finder.is_layer = arena_new_array(ledger->scratch, bool, ops);
    finder.ran = arena_new_array(ledger->scratch, uint32_t, ops);
    finder.seen = arena_new_array(ledger->scratch, uint32_t, ops + 1);
    if (!finder.base_of || !finder.gradient || !finder.is_needed || !finder.is_layer ||
        !finder.seen || !finder.ran || !intern_init(&finder.bases, ledger->scratch) ||
        !intern_init(&finder.trained, ledger->scratch) || !list_trained(&finder))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step, &cell))
            return false;
    if (cell != NO_ID && !has_products(ledger, cell))
        take_back(ledger, cell);
    return true;
}

const struct detector detector_forward_again = { "forward-again", CAUSE_REPEAT, GRADE_SIZES, find };
