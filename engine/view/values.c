#include "view/values.h"

struct value_set value_set_of(unsigned mask)
{
    struct value_set set = { 0 };

    for (unsigned i = 0; i < VIEW_VALUE_COUNT; i++) {
        set.place[i] = VIEW_VALUE_COUNT;
        if (!(mask & 1u << i))
            continue;
        set.place[i] = set.count;
        set.values[set.count++] = (uint8_t)i;
    }
    return set;
}

void numbers_add(int64_t *sum, const int64_t *added, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(sum[i], added[i], &sum[i]))
            sum[i] = added[i] < 0 ? INT64_MIN : INT64_MAX;
}

void values_add(struct view_numbers *sum, const struct view_numbers *added)
{
    numbers_add(sum->values, added->values, VIEW_VALUE_COUNT);
}

/* A node that ran in one step alone did that on average. */
static const struct classic_exec *only_exec(const struct classic *classic, uint32_t node,
                                            int64_t step)
{
    const struct classic_node *row = &classic->nodes.items[node];

    if (step >= 0)
        return classic_exec_of(classic, node, step);
    return row->exec_count == 1 ? &classic->execs.items[row->first_exec] : NULL;
}

void values_fill(const struct classic *classic, uint32_t node, int64_t step,
                 const struct value_set *set, int64_t *numbers)
{
    const struct classic_node *row = &classic->nodes.items[node];
    const struct classic_exec *only = only_exec(classic, node, step);
    bool is_mean = step < 0 && (row->exec_count > 1 || classic->is_of_all_steps);

    for (size_t i = 0; i < set->count; i++) {
        enum view_value value = (enum view_value)set->values[i];

        if (value == VALUE_PARAMETERS)
            numbers[i] = classic_parameters(classic, node);
        else if (value == VALUE_FLOAT_OPS)
            numbers[i] = classic_float_ops(classic, node, step);
        else if (value == VALUE_DEFINITIONS)
            numbers[i] = 1;
        else if (is_mean)
            numbers[i] = classic_value(classic, node, (enum classic_measure)value, step);
        else
            numbers[i] = only ? only->sums[value] : 0;
    }
}

struct view_numbers values_of_node(const struct classic *classic, uint32_t node, int64_t step)
{
    struct view_numbers numbers = { 0 };
    struct value_set    all = value_set_of(VALUES_ALL);

    values_fill(classic, node, step, &all, numbers.values);
    return numbers;
}

enum flops_known flops_known_of(const struct classic *classic, uint32_t node)
{
    return classic->nodes.items[node].float_ops == FLOAT_OPS_UNKNOWN ? FLOPS_UNKNOWN : FLOPS_KNOWN;
}

enum flops_known flops_known_of_all(const struct classic *classic, const uint32_t *nodes,
                                    size_t count)
{
    unsigned known = FLOPS_NONE;

    for (size_t i = 0; i < count && known != FLOPS_IN_PART; i++)
        known |= flops_known_of(classic, nodes[i]);
    return (enum flops_known)known;
}
