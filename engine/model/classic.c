#include "model/classic.h"

#include "base/macros.h"

const struct classic_exec *classic_exec_of(const struct classic *classic, uint32_t node,
                                           int64_t step)
{
    const struct classic_node *row = &classic->nodes.items[node];
    const struct classic_exec *execs;
    size_t                     low;

    if (row->exec_count == 0)
        return NULL;
    execs = &classic->execs.items[row->first_exec];
    low = LOWER_BOUND(row->exec_count, i, execs[i].step < step);
    return low < row->exec_count && execs[low].step == step ? &execs[low] : NULL;
}

/* Over all steps in which it ran. */
static int64_t sum_of(const struct classic *classic, uint32_t node, enum classic_measure measure)
{
    const struct classic_node *row = &classic->nodes.items[node];
    int64_t                    sum = 0;

    for (uint32_t i = 0; i < row->exec_count; i++)
        if (__builtin_add_overflow(sum, classic->execs.items[row->first_exec + i].sums[measure],
                                   &sum))
            return INT64_MAX;
    return sum;
}

int64_t classic_value(const struct classic *classic, uint32_t node, enum classic_measure measure,
                      int64_t step)
{
    const struct classic_node *row = &classic->nodes.items[node];
    const struct classic_exec *exec;
    int64_t                    sum;

    if (step >= 0) {
        exec = classic_exec_of(classic, node, step);
        return exec ? exec->sums[measure] : 0;
    }
    sum = sum_of(classic, node, measure);
    if (sum == INT64_MAX)
        return sum;
    if (!classic->is_of_all_steps)
        return row->exec_count ? sum / row->exec_count : 0;
    sum = classic->steps.count ? sum / (int64_t)classic->steps.count : 0;
    return measure == MEASURE_RUNS && !sum && row->exec_count ? 1 : sum;
}

int64_t classic_float_ops(const struct classic *classic, uint32_t node, int64_t step)
{
    const struct classic_node *row = &classic->nodes.items[node];
    bool                       is_shared = step < 0 && classic->is_of_all_steps;
    int64_t                    product, runs;

    if (row->float_ops <= 0)
        return 0;
    if (row->exec_count == 0)
        return row->float_ops;
    runs = is_shared ? sum_of(classic, node, MEASURE_RUNS)
                     : classic_value(classic, node, MEASURE_RUNS, step);
    if (__builtin_mul_overflow(row->float_ops, runs, &product))
        return INT64_MAX;
    return is_shared && classic->steps.count ? product / (int64_t)classic->steps.count : product;
}

int64_t classic_parameters(const struct classic *classic, uint32_t node)
{
    uint32_t shape = classic->nodes.items[node].shape;
    int64_t  count = shape == NO_ID ? 0 : tensor_count(&classic->shapes.items[shape]);

    return count < 0 ? 0 : count;
}

static const struct op *op_of(const struct classic *classic, uint32_t node)
{
    return &classic->profile->ops.items[classic->nodes.items[node].op];
}

struct str classic_name(const struct classic *classic, uint32_t node)
{
    return profile_str(classic->profile, op_of(classic, node)->name);
}

struct str classic_type(const struct classic *classic, uint32_t node)
{
    return profile_str(classic->profile, op_of(classic, node)->type);
}

struct str classic_device(const struct classic *classic, uint32_t node)
{
    return profile_str(classic->profile, classic->nodes.items[node].device);
}

uint32_t classic_find(const struct classic *classic, struct str name)
{
    uint32_t low = (uint32_t)LOWER_BOUND(classic->nodes.count, i,
                                         str_compare(classic_name(classic, (uint32_t)i), name) < 0);

    return low < classic->nodes.count && str_equal(classic_name(classic, low), name) ? low : NO_ID;
}

bool classic_has_step(const struct classic *classic, int64_t step)
{
    for (size_t i = 0; i < classic->steps.count; i++)
        if (classic->steps.items[i] == step)
            return true;
    return false;
}

bool classic_is_variable(const struct classic *classic, uint32_t node)
{
    return classic->variable_of && classic->variable_of[node] != NO_ID;
}

const struct classic_variable *classic_variable_find(const struct classic_checkpoint *checkpoint,
                                                     struct str                       name)
{
    size_t low = LOWER_BOUND(checkpoint->variables.count, i,
                             str_compare(checkpoint->variables.items[i].name, name) < 0);

    return low < checkpoint->variables.count &&
                   str_equal(checkpoint->variables.items[low].name, name)
               ? &checkpoint->variables.items[low]
               : NULL;
}

bool classic_is_canonical(struct str device)
{
    size_t end = device.len;

    while (end > 0 && device.data[end - 1] >= '0' && device.data[end - 1] <= '9')
        end--;
    if (end == device.len)
        return false;
    return str_fits(str_slice(device, 0, end), "*/device:gpu:|*/gpu:|*/device:cpu:|*/cpu:");
}
