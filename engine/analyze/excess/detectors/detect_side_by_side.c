/* side_by_side: the same ops, products among them, run for one part after the other, and the parts
 * are joined. With weights of their own, as heads of attention that are modules, the parts are of a
 * network: with their weights in one tensor each op would be started once, and back once. With the
 * same weights, as frames of a clip, they are of a batch that could be whole. None takes what
 * another made: a part is no operand of a product, nor of what comes before the first one, as a
 * state is in the next step of a recurrence or a simulation; and no recurrent layer or cell takes
 * one step in each.
 */
#include "analyze/excess/ledger.h"

enum { FEWEST_PARTS = 4, MOST_OPS = 512 /* a part */ };
static const double SMALL_OP = 6; /* times the cost of starting one: the rest of it is work */

struct finder {
    struct ledger *ledger;
    uint32_t      *ops;   /* units of a step that are ops and no views */
    uint32_t      *calls; /* by row of profile->ops: in the backward pass of a step */
    uint32_t       cell;
};

static const struct work_unit *unit_at(const struct finder *finder, size_t row)
{
    return &finder->ledger->units.items[finder->ops[row]];
}

/* Equal tensors that are joined; 0: something else. */
static uint32_t parts_of(const struct ledger *ledger, const struct work_unit *unit)
{
    uint32_t count = ledger->study->profile->ops.items[unit->op].input_count, parts = 0;

    if (unit->phase != UNIT_FORWARD ||
        !str_fits(unit_type(ledger, unit), "aten::cat|aten::stack|aten::concat"))
        return 0;
    while (parts < count && unit_input(ledger, unit, parts)->rank > 1 &&
           same_dims(unit_input(ledger, unit, parts), unit_input(ledger, unit, 0)))
        parts++;
    return parts >= FEWEST_PARTS ? parts : 0;
}

static bool takes(const struct finder *finder, size_t row, const struct tensor *part)
{
    const struct work_unit *unit = unit_at(finder, row);
    uint32_t                count = finder->ledger->study->profile->ops.items[unit->op].input_count;

    for (uint32_t i = 0; i < count; i++)
        if (same_sizes(unit_input(finder->ledger, unit, i), part))
            return true;
    return false;
}

/* The ops of a part multiply, and take no other part. */
static bool is_of_its_own(const struct finder *finder, size_t first, size_t length,
                          const struct tensor *part)
{
    bool multiplies = false;

    for (size_t i = first; i < first + length; i++) {
        const struct work_unit *unit = unit_at(finder, i);
        bool                    is_product = unit_is_forward_product(unit);

        if (unit_is_layer_of_one_step(finder->ledger, unit) ||
            str_fits(unit_type(finder->ledger, unit), "*_cell"))
            return false;
        if (is_product ? same_dims(unit_left(finder->ledger, unit), part)
                       : !multiplies && takes(finder, i, part))
            return false;
        multiplies |= is_product;
    }
    return multiplies;
}

/* How many ops each part is made of that the op at `join` joins; 0: not each of the same. */
static size_t length_of(const struct finder *finder, size_t join, uint32_t parts)
{
    const struct tensor *part = unit_input(finder->ledger, unit_at(finder, join), 0);

    for (size_t length = 1; length <= MOST_OPS && length * parts <= join; length++) {
        bool   is_alike = true;
        size_t first = join - length * parts;

        for (size_t i = first; i < join && is_alike; i++)
            is_alike =
                (i + length >= join || unit_at(finder, i)->op == unit_at(finder, i + length)->op) &&
                unit_at(finder, i)->phase == UNIT_FORWARD;
        if (is_alike)
            return is_of_its_own(finder, first, length, part) ? length : 0;
    }
    return 0;
}

/* Each part has gradients of its own: as many of the shape of the first weight as there are parts.
 * Where nothing is trained, each may have. */
static bool is_found_by(const struct finder *finder, const struct detector *self, size_t step,
                        size_t first, uint32_t parts)
{
    const struct ledger *ledger = finder->ledger;
    const struct tensor *weight;
    uint32_t             count = 0;

    while (!unit_is_forward_product(unit_at(finder, first)))
        first++;
    weight = unit_right(ledger, unit_at(finder, first));
    for (uint32_t u = ledger->first_unit[step]; weight && u < ledger->first_unit[step + 1]; u++)
        count += ledger->units.items[u].kind == UNIT_OP &&
                 unit_hands_gradient(ledger, &ledger->units.items[u]) &&
                 same_dims(unit_input(ledger, &ledger->units.items[u], 0), weight);
    if (!ledger->has_backward || count >= parts)
        return self == &detector_side_by_side;
    return self == &detector_part_by_part && unit_at(finder, first)->is_trained;
}

static double share_of(const struct ledger *ledger, const struct work_unit *unit, uint32_t parts)
{
    double share = 1 - 1.0 / parts;

    if (!unit_goes_with_ops(unit))
        return 0;
    return unit->kind == UNIT_OP && unit->typical_ns > SMALL_OP * ledger->start_ns
               ? share * SMALL_OP * ledger->start_ns / unit->typical_ns
               : share;
}

static bool claim_forward(struct finder *finder, const struct detector *self, size_t join,
                          size_t ops, uint32_t parts)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = finder->ops[join - ops];

    if (!ledger_cell_once(ledger, self, &ledger->units.items[first], &finder->cell,
                          "%u ops each for %u parts that are then joined", (unsigned)ops / parts,
                          parts))
        return false;
    for (uint32_t u = first; u < finder->ops[join]; u++)
        ledger_claim(ledger, finder->cell, &ledger->units.items[u],
                     share_of(ledger, &ledger->units.items[u], parts));
    return true;
}

/* What goes back for each part comes as many times as there are parts, or more. */
static void claim_backward(struct finder *finder, size_t step, uint32_t fewest, uint32_t parts)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       end = ledger->first_unit[step + 1];

    for (int round = 0; round < 3; round++)
        for (uint32_t u = ledger->first_unit[step]; u < end; u++) {
            struct work_unit *unit = &ledger->units.items[u];

            if (unit->phase != UNIT_BACKWARD || unit->kind != UNIT_OP || unit->op == NO_ID)
                continue;
            if (round == 1 && finder->calls[unit->op] >= fewest)
                ledger_claim(ledger, finder->cell, unit, share_of(ledger, unit, parts));
            finder->calls[unit->op] = round == 0   ? finder->calls[unit->op] + 1
                                      : round == 1 ? finder->calls[unit->op]
                                                   : 0;
        }
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       most = 0, joined = 0;
    size_t         count = 0, behind = 0;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (ledger->units.items[u].kind == UNIT_OP && ledger->units.items[u].op != NO_ID &&
            ledger->units.items[u].op_class != OP_VIEW)
            finder->ops[count++] = u;
    for (size_t join = 0; join < count; join++) {
        uint32_t parts = parts_of(ledger, unit_at(finder, join));
        size_t   ops = parts ? parts * length_of(finder, join, parts) : 0;

        if (!ops || join - ops < behind || !is_found_by(finder, self, step, join - ops, parts))
            continue;
        if (!claim_forward(finder, self, join, ops, parts))
            return false;
        behind = join;
        joined += parts;
        most = parts > most ? parts : most;
    }
    if (joined)
        claim_backward(finder, step, joined, most);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .cell = NO_ID };

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    finder.ops = arena_new_array(ledger->scratch, uint32_t, ledger->units.count + 1);
    finder.calls =
        arena_new_array(ledger->scratch, uint32_t, ledger->study->profile->ops.count + 1);
    if (!finder.ops || !finder.calls)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(&finder, self, step))
            return false;
    return true;
}

const struct detector detector_side_by_side = { "side-by-side", CAUSE_DISPATCH, GRADE_STRUCTURE,
                                                find };
const struct detector detector_part_by_part = { "single-items", CAUSE_DISPATCH, GRADE_STRUCTURE,
                                                find };
