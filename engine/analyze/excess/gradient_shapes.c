#include "analyze/excess/gradient_shapes.h"

bool gradient_shapes_have(const struct gradient_shapes *shapes, const struct tensor *tensor)
{
    for (uint32_t i = 0; tensor && i < shapes->count; i++)
        if (same_dims(shapes->items[i], tensor))
            return true;
    return false;
}

/* What is added to a parameter's gradient has its shape. */
void gradient_shapes_of_step(const struct ledger *ledger, size_t step,
                             struct gradient_shapes *shapes)
{
    shapes->count = 0;
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        const struct tensor    *gradient = unit_input(ledger, unit, 0);

        if (unit->kind == UNIT_OP && gradient && gradient->rank > 0 &&
            unit_hands_gradient(ledger, unit) && !gradient_shapes_have(shapes, gradient) &&
            shapes->count < GRADIENT_SHAPES_MOST)
            shapes->items[shapes->count++] = gradient;
    }
}
