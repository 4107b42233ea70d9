/* formed_inverse: a matrix is inverted to multiply a few vectors with the inverse, and perhaps
 * factored once more for its determinant. One factor of it solves for them, and its diagonal is the
 * determinant. What goes back is as large either way. */
#include "analyze/excess/ledger.h"

enum { FEWEST_ROWS = 64 };
static const double MOST_VECTORS = 0.25; /* of the rows */
static const double NEEDED = 1.0 / 6;    /* n^3 / 3 operations for a Cholesky factor, of 2 n^3 */
static const double NEEDED_AGAIN = 0.05; /* of a second factor: a sum along the diagonal */

static bool is_forward(const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD && unit->op != NO_ID;
}

/* Vectors that a product multiplies by such a matrix; 0: it is no product with one. */
static double count_vectors(const struct ledger *ledger, const struct work_unit *unit,
                            const struct tensor *matrix)
{
    const struct tensor *left = unit_left(ledger, unit), *right = unit_right(ledger, unit);
    const struct tensor *other = same_dims(left, matrix) ? right : left;

    if (!unit_is_forward_product(unit) || !left || !right ||
        (!same_dims(left, matrix) && !same_dims(right, matrix)))
        return 0;
    return (double)tensor_count(other) / (double)matrix->dims[matrix->rank - 1];
}

/* The next op that takes the inverse multiplies few vectors by it. */
static bool is_for_few(const struct ledger *ledger, uint32_t at, uint32_t end,
                       const struct tensor *matrix)
{
    for (uint32_t u = at + 1; u < end; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        double                  vectors;

        if (!is_forward(unit) || unit->op_class == OP_VIEW ||
            (!same_dims(unit_left(ledger, unit), matrix) &&
             !same_dims(unit_right(ledger, unit), matrix)))
            continue;
        vectors = count_vectors(ledger, unit, matrix);
        return vectors > 0 && vectors <= MOST_VECTORS * (double)matrix->dims[matrix->rank - 1];
    }
    return false;
}

static bool claim(struct ledger *ledger, const struct detector *self, size_t step, uint32_t at,
                  uint32_t *cell)
{
    const struct tensor *matrix = unit_input(ledger, &ledger->units.items[at], 0);

    if (!ledger_cell_once(ledger, self, &ledger->units.items[at], cell,
                          "an inverse of %lld by %lld, multiplied with a few vectors",
                          (long long)matrix->dims[matrix->rank - 1],
                          (long long)matrix->dims[matrix->rank - 1]))
        return false;
    ledger_claim(ledger, *cell, &ledger->units.items[at], 1 - NEEDED);
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (is_forward(&ledger->units.items[u]) &&
            str_fits(unit_type(ledger, &ledger->units.items[u]),
                     "aten::logdet|aten::slogdet|aten::linalg_slogdet|aten::det|"
                     "aten::linalg_det") &&
            same_dims(unit_input(ledger, &ledger->units.items[u], 0), matrix))
            ledger_claim(ledger, *cell, &ledger->units.items[u], 1 - NEEDED_AGAIN);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
            const struct work_unit *unit = &ledger->units.items[u];
            const struct tensor    *matrix = unit_input(ledger, unit, 0);

            if (!is_forward(unit) || !matrix || matrix->rank < 2 ||
                !str_fits(unit_type(ledger, unit),
                          "aten::inverse|aten::linalg_inv|aten::linalg_inv_ex") ||
                matrix->dims[matrix->rank - 1] < FEWEST_ROWS ||
                !is_for_few(ledger, u, ledger->first_unit[step + 1], matrix))
                continue;
            if (!claim(ledger, self, step, u, &cell))
                return false;
        }
    return true;
}

const struct detector detector_formed_inverse = { "formed-inverse", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find };
