/* graph_patterns: see graph_patterns.h; here they get their times and become a table. */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/program/graph_patterns.h"
#include "analyze/step/window.h"

enum pattern_fact { ACCELERATORS, FEEDS, FEED_BYTES, FETCHES, ITERATORS, FACT_COUNT };
static const struct fact_spec produces[] = {
    [ACCELERATORS] = { "graph_patterns.accelerators", UNIT_COUNT,
                       "devices of the graph that are no CPU" },
    [FEEDS] = { "graph_patterns.feeds", UNIT_COUNT, "placeholders that are fed" },
    [FEED_BYTES] = { "graph_patterns.feed_bytes", UNIT_BYTES, "what they take in a step" },
    [FETCHES] = { "graph_patterns.fetches", UNIT_COUNT, "results that a step hands out" },
    [ITERATORS] = { "graph_patterns.iterators", UNIT_COUNT,
                    "ops that take elements from datasets and queues" },
};
enum pattern_column { PATTERN, OP, TYPE, DEVICE, NS, COUNT, BYTES, ELEMENTS };
static const struct column_spec columns[] = {
    [PATTERN] = { "pattern", UNIT_NAME,
                  "softmax-loss, cpu-fallback, variable-on-cpu, unfused-batch-norm, "
                  "bias-before-norm, unrolled-cell, constant-copied, ping-pong, remote-table, "
                  "channels-first, tiled-rows" },
    [OP] = { "op", UNIT_NAME, "the op or scope" },
    [TYPE] = { "type", UNIT_NAME, "type of the op that stands for it" },
    [DEVICE] = { "device", UNIT_NAME, "device of that op" },
    [NS] = { "ns", UNIT_NS, "time of its ops a step, with their gradients" },
    [COUNT] = { "count", UNIT_COUNT,
                "how often it stands in the graph; of a remote table, its rows" },
    [BYTES] = { "bytes", UNIT_BYTES, "of its results; of a ping-pong, what crosses both ways" },
    [ELEMENTS] = { "elements", UNIT_COUNT,
                   "classes of a loss, elements of a variable, rows looked up" },
};
static const struct table_spec tables[] = {
    { "graph_patterns", "parts of the graph that known rewrites make cheaper", columns,
      ARRAY_COUNT(columns) },
};

/* Mean time a used step: on accelerators where the op ran there, else on the host. */
static bool find_times(const struct study *study, struct pattern_search *search)
{
    const struct profile *profile = study->profile;
    size_t                ops = profile->ops.count, steps = 0;
    double               *device_ns = arena_new_array(search->arena, double, ops);
    bool                 *is_used = windows_recorded(study, search->arena, &steps);

    search->ns = arena_new_array(search->arena, double, ops);
    search->runs = arena_new_array(search->arena, double, ops);
    search->gradient_ns = arena_new_array(search->arena, double, ops);
    search->is_fallback = arena_new_array(search->arena, bool, ops);
    if (!device_ns || !is_used || !search->ns || !search->runs || !search->gradient_ns ||
        !search->is_fallback)
        return false;
    for (size_t i = 0; i < profile->op_runs.count; i++) {
        const struct op_run *run = &profile->op_runs.items[i];

        if (run->step >= profile->recorded_steps.count || !is_used[run->step])
            continue;
        (run->is_accelerator ? device_ns : search->ns)[run->op] +=
            (double)run->duration_ns / (double)steps;
        search->runs[run->op] += run->is_accelerator ? 0 : 1.0 / (double)steps;
    }
    for (size_t op = 0; op < ops; op++) {
        search->is_fallback[op] = search->ns[op] > 0 && device_ns[op] <= 0;
        if (device_ns[op] > 0)
            search->ns[op] = device_ns[op];
    }
    return true;
}

/* "gradients/a/b_grad/MatMul_1" counts for "a/b". */
static bool find_gradients(struct pattern_search *search)
{
    const struct profile *profile = search->profile;
    uint32_t *op_of_name = arena_new_array(search->arena, uint32_t, profile->names.count);

    if (!op_of_name)
        return false;
    for (uint32_t op = 0; op < profile->ops.count; op++)
        op_of_name[profile->ops.items[op].name] = op + 1;
    for (uint32_t op = 0; op < profile->ops.count; op++) {
        struct str name = profile_str(profile, profile->ops.items[op].name);
        size_t     end = str_search(name, STR("_grad/"));
        uint32_t   forward;

        if (search->ns[op] <= 0 || end == name.len || !str_starts(name, STR("gradients/")))
            continue;
        forward = intern_find(&profile->names, str_slice(name, STR("gradients/").len, end));
        if (forward != NO_ID && op_of_name[forward])
            search->gradient_ns[op_of_name[forward] - 1] += search->ns[op];
    }
    return true;
}

static bool fill(struct study *study, const struct pattern_search *search)
{
    const struct profile *profile = study->profile;
    struct facts         *facts = &study->facts;
    struct table         *table = facts_table(facts, &tables[0]);

    for (size_t i = 0; table && i < search->found.count; i++) {
        const struct graph_pattern *pattern = &search->found.items[i];
        const struct op            *op = &profile->ops.items[pattern->op];
        size_t                      row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, PATTERN, row, facts_name(facts, str_from(pattern->name)));
        emit_name(table, OP, row, pattern->subject);
        emit_name(table, TYPE, row, op->type);
        if (op->device != NO_ID)
            emit_name(table, DEVICE, row, profile->devices.items[op->device].name);
        emit_number(table, NS, row, pattern->ns);
        emit_number(table, COUNT, row, pattern->count);
        emit_number(table, BYTES, row, pattern->bytes);
        emit_number(table, ELEMENTS, row, pattern->elements);
    }
    return table && facts_set(facts, &produces[ACCELERATORS], search->accelerators) &&
           facts_set(facts, &produces[FEEDS], search->feeds) &&
           facts_set(facts, &produces[FEED_BYTES], search->feed_bytes) &&
           facts_set(facts, &produces[FETCHES], search->fetches) &&
           facts_set(facts, &produces[ITERATORS], search->iterators);
}

static bool examine(struct study *study, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    struct pattern_search search = { .profile = profile,
                                     .names = study->facts.names,
                                     .arena = scratch };

    for (size_t i = 0; i < profile->devices.count; i++)
        search.accelerators += profile->devices.items[i].kind != DEVICE_CPU;
    if (!find_times(study, &search) || !find_gradients(&search))
        return false;
    patterns_count_feeds(&search);
    return patterns_find_losses(&search) && patterns_find_placement(&search) &&
           patterns_find_batch_norms(&search) && patterns_find_biases(&search) &&
           patterns_find_cells(&search) && patterns_find_constants(&search) &&
           patterns_find_crossings(&search) && patterns_find_remote_tables(&search) &&
           patterns_find_layouts(&search) && patterns_find_copies(&search) && fill(study, &search);
}

static bool run(struct study *study, struct err *err)
{
    static const char capture[] = "the graph with run metadata, or profiles of a ProfileContext";
    const struct profile *profile = study->profile;
    struct arena          scratch = { .budget_bytes = study->arena->budget_bytes };
    bool                  is_done;

    if (profile->graph && profile->op_runs.count)
        is_done = examine(study, &scratch);
    else
        is_done = facts_absent(&study->facts, "graph_patterns|graph_patterns.", capture,
                               "the recording has no graph of ops with their times");
    arena_free(&scratch);
    return is_done || emit_limit("patterns of the graph", err);
}

const struct analysis analysis_graph_patterns = {
    .name = "graph_patterns",
    .summary = "parts of a TensorFlow graph that known rewrites make cheaper",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
