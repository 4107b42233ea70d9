#include "analyze/program/graph_patterns.h"

#include "model/names.h"

#include <string.h>

bool pattern_add(struct pattern_search *search, struct graph_pattern pattern)
{
    if (!pattern.subject)
        pattern.subject = search->profile->ops.items[pattern.op].name;
    return vec_push(&search->found, search->arena, pattern);
}

bool pattern_is_type(const struct profile *profile, uint32_t op, enum name_list types)
{
    return name_is(profile_str(profile, profile->ops.items[op].type), types);
}

static double trained_ns(const struct pattern_search *search, uint32_t op)
{
    return search->ns[op] + search->gradient_ns[op];
}

/* What logits are made of, from the loss back to the product; a bias between is of all classes,
 * too. */
static uint32_t find_product(const struct pattern_search *search, uint32_t op, double *between_ns)
{
    const struct profile *profile = search->profile;

    for (int steps = 0; steps < 6; steps++) {
        struct op_ids producers = op_graph_producers(profile->graph, op);
        uint32_t      next = NO_ID;

        for (size_t i = 0; i < producers.count; i++) {
            if (pattern_is_type(profile, producers.ids[i], NAMES_TF_PRODUCT))
                return producers.ids[i];
            if (next == NO_ID &&
                pattern_is_type(profile, producers.ids[i], NAMES_TF_AROUND_PRODUCT))
                next = producers.ids[i];
        }
        if (next == NO_ID)
            return NO_ID;
        op = next;
        *between_ns += trained_ns(search, op);
    }
    return NO_ID;
}

bool patterns_find_losses(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
        const struct op     *row = &profile->ops.items[op];
        const struct tensor *logits;
        struct graph_pattern loss = { .name = "softmax-loss", .op = op, .count = 1 };
        uint32_t             product;
        double               between_ns = 0;

        if (!row->input_count || search->ns[op] <= 0 ||
            !pattern_is_type(profile, op, NAMES_TF_SOFTMAX_LOSS))
            continue;
        logits = &profile->tensors.items[row->first_input];
        if (logits->rank < 1 || logits->dims[logits->rank - 1] < 1)
            continue;
        loss.elements = (double)logits->dims[logits->rank - 1];
        product = find_product(search, op, &between_ns);
        loss.ns = search->gradient_ns[op];
        if (product != NO_ID)
            loss.ns += search->gradient_ns[product];
        if (loss.ns <= 0) /* evaluation */
            continue;
        loss.ns += search->ns[op] + (product != NO_ID ? search->ns[product] + between_ns : 0);
        if (!pattern_add(search, loss))
            return false;
    }
    return true;
}

bool pattern_is_on_accelerator(const struct profile *profile, uint32_t op)
{
    uint32_t device = profile->ops.items[op].device;

    return device != NO_ID && profile->devices.items[device].kind != DEVICE_CPU;
}

bool pattern_is_on_cpu(const struct profile *profile, uint32_t op)
{
    uint32_t device = profile->ops.items[op].device;

    return device != NO_ID && profile->devices.items[device].kind == DEVICE_CPU;
}

/* Through what only hands a variable's value on. */
static bool is_read_by_accelerator(const struct profile *profile, uint32_t op, int depth)
{
    struct op_ids consumers = op_graph_consumers(profile->graph, op);

    for (size_t i = 0; i < consumers.count && i < 64; i++) {
        if (pattern_is_on_accelerator(profile, consumers.ids[i]))
            return true;
        if (depth > 0 && pattern_is_type(profile, consumers.ids[i], NAMES_TF_HANDS_ON) &&
            is_read_by_accelerator(profile, consumers.ids[i], depth - 1))
            return true;
    }
    return false;
}

bool pattern_is_host_work(const struct profile *profile, uint32_t op)
{
    return pattern_is_type(profile, op, NAMES_TF_HOST_WORK);
}

static bool touches_accelerator(const struct profile *profile, uint32_t op)
{
    struct op_ids lists[] = { op_graph_producers(profile->graph, op),
                              op_graph_consumers(profile->graph, op) };

    for (size_t list = 0; list < ARRAY_COUNT(lists); list++)
        for (size_t i = 0; i < lists[list].count && i < 64; i++)
            if (pattern_is_on_accelerator(profile, lists[list].ids[i]))
                return true;
    return false;
}

double pattern_result_bytes(const struct profile *profile, const struct op *op)
{
    double sum = 0;

    for (uint32_t i = 0; i < op->output_count; i++) {
        const struct tensor *result = &profile->tensors.items[op->first_output + i];
        double               bytes = dtype_bits(result->dtype) / 8.0;

        for (int dim = 0; dim < result->rank; dim++)
            bytes *= result->dims[dim] > 0 ? (double)result->dims[dim] : 0;
        sum += result->rank >= 0 ? bytes : 0;
    }
    return sum;
}

bool patterns_find_placement(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; search->accelerators && op < profile->graph->vertex_count; op++) {
        const struct op     *row = &profile->ops.items[op];
        struct graph_pattern pattern = { .name = "cpu-fallback", .op = op, .count = 1 };

        if (!pattern_is_on_cpu(profile, op))
            continue;
        pattern.bytes = pattern_result_bytes(profile, row);
        if (search->is_fallback[op] && !pattern_is_host_work(profile, op) &&
            touches_accelerator(profile, op)) {
            pattern.ns = search->ns[op];
            if (!pattern_add(search, pattern))
                return false;
        }
        if (row->parameters > 0 && is_read_by_accelerator(profile, op, 3)) {
            pattern.name = "variable-on-cpu";
            pattern.ns = 0;
            pattern.elements = (double)row->parameters;
            if (pattern.bytes <= 0)
                pattern.bytes = 4.0 * (double)row->parameters;
            if (!pattern_add(search, pattern))
                return false;
        }
    }
    return true;
}

void patterns_count_feeds(struct pattern_search *search)
{
    const struct profile *profile = search->profile;
    double               *bytes = arena_new_array(search->arena, double, profile->ops.count);

    for (size_t i = 0; bytes && i < profile->op_memory.count; i++) {
        const struct op_memory *memory = &profile->op_memory.items[i];

        if ((double)memory->output_bytes > bytes[memory->op])
            bytes[memory->op] = (double)memory->output_bytes;
    }
    for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
        const struct op *row = &profile->ops.items[op];
        struct str       name = profile_str(profile, row->name);

        if (search->runs[op] > 0 && str_starts(name, STR("_retval_")))
            search->fetches += search->runs[op];
        search->iterators += pattern_is_type(profile, op, NAMES_TF_TAKES_BATCH);
        /* TensorFlow runs "_arg_NAME_0_0" for a placeholder that is fed. */
        if (search->runs[op] <= 0 ||
            (!pattern_is_type(profile, op, NAMES_TF_FEED) && !str_starts(name, STR("_arg_"))))
            continue;
        search->feeds++;
        search->feed_bytes +=
            bytes && bytes[op] > 0 ? bytes[op] : pattern_result_bytes(profile, row);
    }
}
