/* unfolded_convolution: patches of pictures that overlap are copied into an array, each number as
 * often as it lies in one, and weights are multiplied with all of them: a convolution, which the
 * library does without the copies. On the way back their gradients are made and added up. */
#include "analyze/excess/ledger.h"

enum { LOOK_AHEAD = 8 };
static const double LEAST_COPIES = 4; /* of each number */
static const double PRODUCT_KEPT =
    0.5; /* it reads all copies, and waits for memory much of the time */

struct patches {
    const struct tensor *array; /* that the product takes */
    double               elements;
    uint32_t             at; /* unit that makes them */
};

/* The product right behind that multiplies weights, a matrix, with the patches. */
static bool find_product(const struct ledger *ledger, uint32_t end, struct patches *patches)
{
    const struct tensor *pictures = unit_input(ledger, &ledger->units.items[patches->at], 0);

    for (uint32_t u = patches->at + 1; u < end && u <= patches->at + LOOK_AHEAD; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *left = unit_left(ledger, unit), *right = unit_right(ledger, unit);

        if (!unit_is_forward_product(unit) || !left || !right)
            continue;
        patches->array = left->rank == 2 ? right : left;
        patches->elements = (double)tensor_count(patches->array);
        return (left->rank == 2) != (right->rank == 2) && tensor_count(pictures) > 0 &&
               patches->elements >= LEAST_COPIES * (double)tensor_count(pictures);
    }
    return false;
}

/* A product that takes as many numbers as the patches are, or makes them. */
static bool is_of_patches(const struct ledger *ledger, const struct work_unit *unit,
                          const struct patches *patches)
{
    const struct tensor *left = unit_left(ledger, unit), *right = unit_right(ledger, unit);

    if (unit->kind != UNIT_OP || unit->op_class != OP_PRODUCT || !left || !right)
        return false;
    return (double)tensor_count(left) == patches->elements ||
           (double)tensor_count(right) == patches->elements ||
           (left->rank == 2 && right->rank == 2 &&
            (double)left->dims[0] * (double)right->dims[1] == patches->elements);
}

static void claim(struct ledger *ledger, size_t step, const struct patches *patches, uint32_t cell)
{
    for (uint32_t u = patches->at; u < ledger->first_unit[step + 1]; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        bool              is_copy =
            u == patches->at || (unit->kind == UNIT_OP && unit->phase == UNIT_BACKWARD &&
                                 str_equal(unit_type(ledger, unit), STR("aten::col2im")) &&
                                 same_dims(unit_input(ledger, unit, 0), patches->array));

        if (is_copy)
            ledger_claim(ledger, cell, unit, 1);
        else if (is_of_patches(ledger, unit, patches))
            ledger_claim(ledger, cell, unit, 1 - PRODUCT_KEPT);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    uint32_t cell = NO_ID;

    if (!ledger->is_torch || !ledger->study->profile->has_shapes)
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
            struct patches patches = { .at = u };

            if (ledger->units.items[u].kind != UNIT_OP ||
                !str_equal(unit_type(ledger, &ledger->units.items[u]), STR("aten::im2col")) ||
                !unit_input(ledger, &ledger->units.items[u], 0) ||
                !find_product(ledger, ledger->first_unit[step + 1], &patches))
                continue;
            if (!ledger_cell_once(ledger, self, &ledger->units.items[u], &cell,
                                  "patches that overlap are copied and multiplied with weights"))
                return false;
            claim(ledger, step, &patches, cell);
        }
    return true;
}

const struct detector detector_unfolded_convolution = { "unfolded-convolution", CAUSE_BYTES,
                                                        GRADE_STRUCTURE, find };
