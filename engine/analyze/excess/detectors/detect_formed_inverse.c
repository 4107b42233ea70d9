/* formed_inverse: a matrix is inverted to multiply a few vectors with the inverse, and perhaps
 * factored once more for its determinant. One factor of it solves for them, and its diagonal is the
 * determinant. What goes back is as large either way. Without shapes, a determinant that takes
 * about as long tells that both are of one matrix. */
#include "analyze/excess/ledger.h"

#include <stdio.h>

enum { FEWEST_ROWS = 64, FARTHEST = 512 /* units between an inverse and a determinant */ };
static const double MOST_VECTORS = 0.25; /* of the rows */
static const double NEEDED = 1.0 / 6;    /* n^3 / 3 operations for a Cholesky factor, of 2 n^3 */
static const double NEEDED_AGAIN = 0.05; /* of a second factor: a sum along the diagonal */
static const double LEAST_OF_INVERSE = 0.1, LEAST_NS = 100e3; /* without shapes */

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

/* A determinant of the matrix that unit `at` inverts. */
static bool is_determinant(const struct ledger *ledger, const struct work_unit *unit, uint32_t at)
{
    const struct work_unit *inverse = &ledger->units.items[at];

    if (!is_forward(unit) ||
        !str_fits(unit_type(ledger, unit), "aten::logdet|aten::slogdet|aten::linalg_slogdet|"
                                           "aten::det|aten::linalg_det"))
        return false;
    return ledger->study->profile->has_shapes
               ? same_dims(unit_input(ledger, unit, 0), unit_input(ledger, inverse, 0))
               : unit->ns >= LEAST_OF_INVERSE * inverse->ns && unit->ns <= inverse->ns;
}

static uint32_t first_near(const struct ledger *ledger, size_t step, uint32_t at)
{
    uint32_t first = ledger->first_unit[step];

    return at - first > FARTHEST ? at - FARTHEST : first;
}

static uint32_t last_near(const struct ledger *ledger, size_t step, uint32_t at)
{
    uint32_t end = ledger->first_unit[step + 1];

    return end - at > FARTHEST ? at + FARTHEST : end;
}

static bool claim(struct ledger *ledger, const struct detector *self, size_t step, uint32_t at,
                  uint32_t *cell)
{
    const struct tensor *matrix = unit_input(ledger, &ledger->units.items[at], 0);
    char                 of[64] = "";

    if (matrix)
        snprintf(of, sizeof of, " of %lld by %lld", (long long)matrix->dims[matrix->rank - 1],
                 (long long)matrix->dims[matrix->rank - 1]);
    if (!ledger_cell_once(ledger, self, &ledger->units.items[at], cell, "an inverse%s, %s", of,
                          matrix ? "multiplied with a few vectors" : "and a determinant beside it"))
        return false;
    ledger_claim(ledger, *cell, &ledger->units.items[at], 1 - NEEDED);
    for (uint32_t u = first_near(ledger, step, at); u < last_near(ledger, step, at); u++)
        if (is_determinant(ledger, &ledger->units.items[u], at))
            ledger_claim(ledger, *cell, &ledger->units.items[u], 1 - NEEDED_AGAIN);
    return true;
}

/* Without shapes: its determinant is taken near it. */
static bool has_determinant(const struct ledger *ledger, size_t step, uint32_t at)
{
    for (uint32_t u = first_near(ledger, step, at); u < last_near(ledger, step, at); u++)
        if (is_determinant(ledger, &ledger->units.items[u], at))
            return true;
    return false;
}

static bool is_wasted(const struct ledger *ledger, size_t step, uint32_t at)
{
    const struct work_unit *unit = &ledger->units.items[at];
    const struct tensor    *matrix = unit_input(ledger, unit, 0);

    if (!is_forward(unit) ||
        !str_fits(unit_type(ledger, unit), "aten::inverse|aten::linalg_inv|aten::linalg_inv_ex"))
        return false;
    if (!ledger->study->profile->has_shapes)
        return unit->ns >= LEAST_NS && has_determinant(ledger, step, at);
    return matrix && matrix->rank >= 2 && matrix->dims[matrix->rank - 1] >= FEWEST_ROWS &&
           is_for_few(ledger, at, ledger->first_unit[step + 1], matrix);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            if (is_wasted(ledger, step, u) && !claim(ledger, self, step, u, &cell))
                return false;
    return true;
}

const struct detector detector_formed_inverse = { "formed-inverse", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find };
