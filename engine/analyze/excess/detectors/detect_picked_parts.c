/* picked_parts: arrays that ops work on number by number, and of which one part in many is then
 * taken: one class of a mask for each object, say. kept_diagonal: all products of the rows of two
 * arrays are made, and of them those of each row with its own are kept. The rest was for nothing,
 * there and back. */
#include "analyze/excess/ledger.h"

enum { FEWEST_PARTS = 4, LEAST_RANK = 3, FEWEST_ROWS = 64, LOOK_AHEAD = 4, MOST_INPUTS = 4 };

struct pick {
    uint32_t first, at;   /* units: the first op for nothing, and what takes a part */
    int      axis;        /* that a part is taken of */
    double   parts;       /* in the whole */
    uint32_t upper_bound; /* units: end of the step */
};

static bool takes(const struct ledger *ledger, const struct work_unit *unit,
                  const struct tensor *whole)
{
    for (uint32_t i = 0; i < MOST_INPUTS && unit_input(ledger, unit, i); i++)
        if (same_dims(unit_input(ledger, unit, i), whole))
            return true;
    return false;
}

/* The one axis that `part` lacks or has less of; -1: it is no such part. */
static int axis_of(const struct tensor *whole, const struct tensor *part)
{
    int axis = 0, missing = whole->rank - part->rank;

    if (missing < 0 || missing > 1)
        return -1;
    while (axis < part->rank && whole->dims[axis] == part->dims[axis])
        axis++;
    if (axis == whole->rank || (!missing && part->dims[axis] > whole->dims[axis]))
        return -1;
    for (int i = axis + !missing; i < part->rank; i++)
        if (whole->dims[i + missing] != part->dims[i])
            return -1;
    return axis;
}

static bool is_picking(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD &&
           str_fits(unit_type(ledger, unit),
                    "aten::index|aten::select|aten::slice|aten::gather|aten::index_select");
}

/* What an op right behind unit `at` takes is a part of what `at` is given. */
static bool find_part(const struct ledger *ledger, uint32_t at, uint32_t end, struct pick *pick)
{
    const struct tensor *whole = unit_input(ledger, &ledger->units.items[at], 0);

    if (!whole || whole->rank < LEAST_RANK || tensor_count(whole) <= 0)
        return false;
    for (uint32_t u = at + 1; u < end && u <= at + LOOK_AHEAD; u++) {
        const struct tensor *part = unit_input(ledger, &ledger->units.items[u], 0);
        int                  axis = part && tensor_count(part) > 0 ? axis_of(whole, part) : -1;

        if (axis < 0)
            continue;
        *pick = (struct pick) { at, at, axis, 0, end };
        pick->parts = (double)tensor_count(whole) / (double)tensor_count(part);
        return pick->parts >= FEWEST_PARTS;
    }
    return false;
}

static bool is_taken_again(const struct ledger *ledger, const struct pick *pick)
{
    const struct tensor *whole = unit_input(ledger, &ledger->units.items[pick->at], 0);

    for (uint32_t u = pick->at + 1; u < pick->upper_bound; u++)
        if (ledger->units.items[u].kind == UNIT_OP &&
            ledger->units.items[u].phase == UNIT_FORWARD &&
            takes(ledger, &ledger->units.items[u], whole))
            return true;
    return false;
}

/* Each number of its result comes of the same one of `whole`, or in pictures of the same channel of
 * a smaller one, which *whole then is. */
static bool is_by_number(const struct ledger *ledger, const struct work_unit *unit,
                         const struct pick *pick, const struct tensor **whole)
{
    const struct tensor *from = unit_input(ledger, unit, 0);

    if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD || !from ||
        str_ends(unit_type(ledger, unit), STR("_"))) /* in place: of a state, perhaps */
        return false;
    if (str_starts(unit_type(ledger, unit), STR("aten::upsample_"))) {
        bool is_same = from->rank == (*whole)->rank && pick->axis < 2 &&
                       from->dims[0] == (*whole)->dims[0] && from->dims[1] == (*whole)->dims[1];

        *whole = is_same ? from : *whole;
        return is_same;
    }
    return (unit->op_class == OP_ELEMENTWISE || unit->op_class == OP_ACTIVATION ||
            unit->op_class == OP_CAST || unit->op_class == OP_COPY) &&
           takes(ledger, unit, *whole);
}

/* The ops by number that lead to it. */
static bool find_work(const struct ledger *ledger, uint32_t begin, struct pick *pick)
{
    const struct tensor *whole = unit_input(ledger, &ledger->units.items[pick->at], 0);

    for (uint32_t u = pick->at; u-- > begin;) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_PAUSE || unit->op_class == OP_VIEW)
            continue;
        if (!is_by_number(ledger, unit, pick, &whole))
            break;
        pick->first = u;
    }
    return pick->first < pick->at;
}

/* The ops from `first` up to `at`, with the pauses among them and the one in which they are freed,
 * and their way back. */
static bool claim(struct ledger *ledger, const struct pick *pick, uint32_t cell)
{
    uint32_t last = pick->at - 1;
    double   share = 1 - 1 / pick->parts;

    ledger_claim_ops(ledger, cell, pick->first, last, share);
    if (pick->at + 1 < pick->upper_bound &&
        unit_is_forward_pause(&ledger->units.items[pick->at + 1]))
        ledger_claim(ledger, cell, &ledger->units.items[pick->at + 1], share);
    return ledger_claim_way_back(ledger, cell, pick->first, last, share);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
            struct pick pick;

            if (!is_picking(ledger, &ledger->units.items[u]) ||
                !find_part(ledger, u, ledger->first_unit[step + 1], &pick) ||
                !find_work(ledger, ledger->first_unit[step], &pick) ||
                is_taken_again(ledger, &pick))
                continue;
            if (!ledger_cell_once(ledger, self, &ledger->units.items[pick.first], &cell,
                                  "1 of %.0f parts is taken of what was made", pick.parts) ||
                !claim(ledger, &pick, cell))
                return false;
        }
    return true;
}

/* The product right before unit `at` whose result is what that takes; NO_ID: there is none. */
static uint32_t product_of(const struct ledger *ledger, uint32_t begin, uint32_t at)
{
    const struct tensor *square = unit_input(ledger, &ledger->units.items[at], 0);
    int                  last = square ? square->rank - 1 : 0;

    if (last < 1 || square->dims[last] != square->dims[last - 1] ||
        square->dims[last] < FEWEST_ROWS)
        return NO_ID;
    for (uint32_t u = at; u-- > begin;) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *left = unit_left(ledger, unit), *right = unit_right(ledger, unit);

        if (unit->kind != UNIT_OP || unit->op_class == OP_VIEW)
            continue;
        return unit_is_forward_product(unit) && unit->op_class == OP_PRODUCT && left && right &&
                       left->rank == square->rank && right->rank == square->rank &&
                       left->dims[last - 1] == square->dims[last] &&
                       right->dims[last] == square->dims[last]
                   ? u
                   : NO_ID;
    }
    return NO_ID;
}

static bool find_diagonal(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
            const struct work_unit *unit = &ledger->units.items[u];
            struct pick             pick = { .at = u, .upper_bound = ledger->first_unit[step + 1] };

            if (unit->kind != UNIT_OP || unit->phase != UNIT_FORWARD ||
                !str_fits(unit_type(ledger, unit), "aten::diag|aten::diagonal|aten::trace"))
                continue;
            pick.first = product_of(ledger, ledger->first_unit[step], u);
            if (pick.first == NO_ID)
                continue;
            pick.parts = (double)unit_input(ledger, unit, 0)->dims[0];
            if (!ledger_cell_once(ledger, self, &ledger->units.items[pick.first], &cell,
                                  "of a product of %.0f by %.0f the diagonal is taken", pick.parts,
                                  pick.parts) ||
                !claim(ledger, &pick, cell))
                return false;
        }
    return true;
}

const struct detector detector_picked_parts = { "picked-parts", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                find };
const struct detector detector_kept_diagonal = { "kept-diagonal", CAUSE_UNUSED, GRADE_STRUCTURE,
                                                 find_diagonal };
