/* power_rounds: a step that trains multiplies a vector by a matrix there and back, normed each
 * time, without gradients and several times in a row: the power method, as norms of weights are
 * sought by. The vectors are kept from step to step, while the weights hardly change in one: a
 * round a step is enough. */
#include "analyze/excess/ledger.h"

#define TURNS "*::matrix_H|*::mH|*::mT|*::t|*::numpy_T|*::adjoint|*::transpose"

enum { FEWEST_ROUNDS = 3, MOST_BETWEEN = 16 /* units from a product to the next */ };

struct product { /* of a matrix and a vector */
    uint32_t at;
    int64_t  rows, columns;
};

static bool is_free(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && !unit->is_trained;
}

static bool multiplies_vector(const struct ledger *ledger, uint32_t at, struct product *product)
{
    const struct work_unit *unit = &ledger->units.items[at];
    const struct tensor    *matrix, *vector;

    if (!is_free(unit) || !str_fits(unit_type(ledger, unit), "aten::mv|aten::matmul"))
        return false;
    matrix = unit_input(ledger, unit, 0), vector = unit_input(ledger, unit, 1);
    if (!matrix || !vector || matrix->rank != 2 || vector->rank != 1)
        return false;
    *product = (struct product) { at, matrix->dims[0], matrix->dims[1] };
    return true;
}

static bool only_norms(struct str type)
{
    return str_fits(type, "*norm*|*::clamp*|*::max*|*::add|*::expand*|*::div*|" TURNS);
}

/* The product of the other direction right behind this one, between which and it the result is
 * normed, the matrix turned, and nothing else done; `is_turned`: whether that has to be seen. */
static bool follows(const struct ledger *ledger, const struct product *from, bool is_turned,
                    struct product *next)
{
    bool is_normed = false;

    for (uint32_t u = from->at + 1; u <= from->at + MOST_BETWEEN && u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct str              type = unit_type(ledger, unit);

        if (unit->step != ledger->units.items[from->at].step || unit->kind == UNIT_OTHER)
            return false;
        if (multiplies_vector(ledger, u, next))
            return is_normed && !is_turned && next->rows == from->columns &&
                   next->columns == from->rows;
        if (unit->kind == UNIT_OP && (!is_free(unit) || unit_is_forward_product(unit)))
            return false;
        if (unit->kind == UNIT_OP && unit->op_class != OP_VIEW && !only_norms(type))
            return false;
        is_normed |= str_fits(type, "*norm*");
        is_turned = is_turned && !str_fits(type, TURNS);
    }
    return false;
}

/* Rounds from the product at `first` on; the last product of the first and of the last round. */
static uint32_t rounds_from(const struct ledger *ledger, struct product first, uint32_t *behind,
                            uint32_t *last)
{
    struct product at = first, back, next;
    uint32_t       rounds = 0;

    while (follows(ledger, &at, true, &back)) {
        rounds++;
        *behind = rounds == 1 ? back.at : *behind;
        *last = back.at;
        if (!follows(ledger, &back, false, &next))
            break;
        at = next;
    }
    return rounds;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    for (uint32_t u = 0; ledger->is_torch && ledger->has_backward && u < ledger->units.count; u++) {
        struct product first;
        uint32_t       rounds, behind = u, last = u;

        if (!multiplies_vector(ledger, u, &first))
            continue;
        rounds = rounds_from(ledger, first, &behind, &last);
        if (rounds < FEWEST_ROUNDS)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[u], &cell,
                              "%u rounds of products with a vector, there and back", rounds))
            return false;
        /* What norms the vector of the first round lies behind it: as much as of the last one. */
        ledger_claim_ops(ledger, cell, behind + 1, last, 1);
        u = last;
    }
    return true;
}

const struct detector detector_power_rounds = { "power-rounds", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                find };
