#include "view/values.h"

void values_add(struct view_numbers *sum, const struct view_numbers *added)
{
    for (int i = 0; i < VIEW_VALUE_COUNT; i++)
        if (__builtin_add_overflow(sum->values[i], added->values[i], &sum->values[i]))
            sum->values[i] = added->values[i] < 0 ? INT64_MIN : INT64_MAX;
}

struct view_numbers values_of_node(const struct classic *classic, uint32_t node, int64_t step)
{
    struct view_numbers numbers = { 0 };

    for (int i = 0; i < MEASURE_COUNT; i++)
        numbers.values[i] = classic_value(classic, node, (enum classic_measure)i, step);
    numbers.values[VALUE_PARAMETERS] = classic_parameters(classic, node);
    numbers.values[VALUE_FLOAT_OPS] = classic_float_ops(classic, node, step);
    numbers.values[VALUE_DEFINITIONS] = 1;
    return numbers;
}
