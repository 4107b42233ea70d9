/* Patterns of where ops of a graph stand: constants and tensors that cross to a device and back in
 * each step, variables read whole from another task, layouts that matrix units do not like. */
#include "analyze/program/graph_patterns.h"

enum {
    MOST_STEPS = 4,
    MOST_CONSUMERS = 64,
    MOST_VISITS = 256 /* of one search: graphs may be wider than any real one */
};

/* Data edges only: control edges carry no tensor. */
static bool feeds_accelerator(const struct profile *profile, uint32_t op)
{
    struct op_ids consumers = op_graph_consumers(profile->graph, op);

    for (size_t i = 0; i < consumers.count && i < MOST_CONSUMERS; i++)
        if (pattern_is_on_accelerator(profile, consumers.ids[i]))
            return true;
    return false;
}

bool patterns_find_constants(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; search->accelerators && op < profile->graph->vertex_count; op++) {
        struct graph_pattern pattern = { .name = "constant-copied", .op = op, .count = 1 };

        if (search->runs[op] <= 0 || !pattern_is_on_cpu(profile, op) ||
            !pattern_is_type(profile, op, NAMES_TF_CONSTANT) || !feeds_accelerator(profile, op))
            continue;
        pattern.bytes = pattern_result_bytes(profile, &profile->ops.items[op]);
        if (pattern.bytes > 0 && !pattern_add(search, pattern))
            return false;
    }
    return true;
}

/* The op on the CPU whose result goes back to a device, from `op` on; NO_ID: none does. */
static uint32_t way_back(const struct profile *profile, uint32_t op, int depth, int *visits)
{
    struct op_ids consumers = op_graph_consumers(profile->graph, op);

    if (++*visits > MOST_VISITS)
        return NO_ID;
    if (feeds_accelerator(profile, op))
        return op;
    for (size_t i = 0; depth > 0 && i < consumers.count && i < MOST_CONSUMERS; i++) {
        uint32_t back = NO_ID;

        if (pattern_is_on_cpu(profile, consumers.ids[i]) &&
            !pattern_is_host_work(profile, consumers.ids[i]))
            back = way_back(profile, consumers.ids[i], depth - 1, visits);
        if (back != NO_ID)
            return back;
    }
    return NO_ID;
}

bool patterns_find_crossings(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; search->accelerators && op < profile->graph->vertex_count; op++) {
        struct op_ids        producers = op_graph_producers(profile->graph, op);
        struct graph_pattern pattern = { .name = "ping-pong", .op = op, .count = 1 };
        uint32_t             back;
        int                  visits = 0;

        if (search->runs[op] <= 0 || !pattern_is_on_cpu(profile, op) ||
            pattern_is_host_work(profile, op))
            continue;
        for (size_t i = 0; i < producers.count && i < MOST_CONSUMERS; i++)
            if (pattern_is_on_accelerator(profile, producers.ids[i]))
                pattern.bytes +=
                    pattern_result_bytes(profile, &profile->ops.items[producers.ids[i]]);
        back = pattern.bytes > 0 ? way_back(profile, op, MOST_STEPS, &visits) : NO_ID;
        if (back == NO_ID)
            continue;
        pattern.bytes += pattern_result_bytes(profile, &profile->ops.items[back]);
        pattern.ns = search->ns[op];
        if (!pattern_add(search, pattern))
            return false;
    }
    return true;
}

/* "/job:ps/replica:0/task:1/device:CPU:0" -> "/job:ps/replica:0/task:1"; empty without a task. */
static struct str task_of(const struct profile *profile, uint32_t op)
{
    uint32_t   device = profile->ops.items[op].device;
    struct str name = { 0 };
    size_t     at;

    if (device == NO_ID)
        return name;
    name = profile_str(profile, profile->devices.items[device].name);
    at = str_search(name, STR("/task:"));
    if (at == name.len)
        return (struct str) { 0 };
    for (at += STR("/task:").len; at < name.len && name.data[at] != '/';)
        at++;
    return str_slice(name, 0, at);
}

/* The lookup of another task that reads the variable through what only hands it on, or NO_ID. */
static uint32_t remote_lookup(const struct profile *profile, uint32_t op, struct str task,
                              int depth, int *visits)
{
    struct op_ids consumers = op_graph_consumers(profile->graph, op);

    for (size_t i = 0; i < consumers.count && i < MOST_CONSUMERS && ++*visits <= MOST_VISITS; i++) {
        uint32_t   consumer = consumers.ids[i], found = NO_ID;
        struct str other = task_of(profile, consumer);

        if (pattern_is_type(profile, consumer, NAMES_TF_LOOKUP) && other.len > 0 &&
            !str_equal(other, task))
            return consumer;
        if (depth > 0 && pattern_is_type(profile, consumer, NAMES_TF_HANDS_ON))
            found = remote_lookup(profile, consumer, task, depth - 1, visits);
        if (found != NO_ID)
            return found;
    }
    return NO_ID;
}

/* A table that a parameter server sends whole, for the rows that a step looks up. */
bool patterns_find_remote_tables(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; op < profile->graph->vertex_count; op++) {
        const struct op     *row = &profile->ops.items[op];
        struct graph_pattern pattern = { .name = "remote-table", .op = op, .count = 1 };
        const struct tensor *table;
        struct str           task = task_of(profile, op);
        uint32_t             lookup;
        int                  visits = 0;

        if (row->parameters <= 0 || row->output_count == 0 || task.len == 0)
            continue;
        lookup = remote_lookup(profile, op, task, 3, &visits);
        table = &profile->tensors.items[row->first_output];
        if (lookup == NO_ID || profile->ops.items[lookup].input_count < 2 || table->rank < 1 ||
            table->dims[0] <= 0)
            continue;
        pattern.bytes = pattern_result_bytes(profile, row);
        pattern.elements =
            tensor_elements(&profile->tensors.items[profile->ops.items[lookup].first_input + 1]);
        pattern.count = (double)table->dims[0];
        if (pattern.bytes > 0 && pattern.elements > 0 && !pattern_add(search, pattern))
            return false;
    }
    return true;
}

static bool has_value(const struct profile *profile, const struct op *op, struct str name,
                      struct str value)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), name))
            return str_equal(profile_str(profile, attr->value), value);
    }
    return false;
}

/* Convolutions in 16 bits with channels before pixels. */
bool patterns_find_layouts(struct pattern_search *search)
{
    const struct profile *profile = search->profile;

    for (uint32_t op = 0; search->accelerators && op < profile->graph->vertex_count; op++) {
        const struct op     *row = &profile->ops.items[op];
        struct graph_pattern pattern = {
            .name = "channels-first", .op = op, .count = 1, .ns = search->ns[op]
        };
        uint8_t dtype;

        if (pattern.ns <= 0 || !pattern_is_on_accelerator(profile, op) || row->input_count == 0 ||
            !pattern_is_type(profile, op, NAMES_TF_CONVOLUTION) ||
            !has_value(profile, row, STR("data_format"), STR("NCHW")))
            continue;
        dtype = profile->tensors.items[row->first_input].dtype;
        if ((dtype == DTYPE_F16 || dtype == DTYPE_BF16) && !pattern_add(search, pattern))
            return false;
    }
    return true;
}
