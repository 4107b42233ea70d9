/*
 * op_graph: the size of the graph of ops, and the chain of ops that no parallelism can shorten: the
 * heaviest path, each op at the median of what it took a step. Where an op worked on an accelerator
 * that time counts, else its time on the host. Back edges of while loops are left out, so that the
 * body of a loop counts once, with the time of all its iterations.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "base/sample.h"
#include "model/op_graph.h"

enum graph_fact { OPS, EDGES, IS_ACYCLIC, DEPTH, LENGTH_NS, PATH_OPS, FACT_COUNT };
static const struct fact_spec produces[] = {
    [OPS] = { "graph.ops", UNIT_COUNT, "ops in the graph" },
    [EDGES] = { "graph.edges", UNIT_COUNT, "dependencies between them" },
    [IS_ACYCLIC] = { "graph.is_acyclic", UNIT_BOOL, "no cycles but those of while loops" },
    [DEPTH] = { "graph.depth", UNIT_COUNT, "ops on the longest chain of dependencies" },
    [LENGTH_NS] = { "critical_path.length_ns", UNIT_NS,
                    "time of the heaviest chain of dependent ops, at each op's median a step" },
    [PATH_OPS] = { "critical_path.ops", UNIT_COUNT, "ops on it that took time" },
};
enum critical_column { OP, TYPE, DEVICE, NS, SHARE };
static const struct column_spec critical_columns[] = {
    [OP] = { "op", UNIT_NAME, "full name" },
    [TYPE] = { "type", UNIT_NAME, "op type" },
    [DEVICE] = { "device", UNIT_NAME, "device it is on" },
    [NS] = { "ns", UNIT_NS, "median time a step" },
    [SHARE] = { "share", UNIT_SHARE, "of the path's length" },
};
static const struct table_spec tables[] = {
    { "critical_ops", "ops on the critical path of the graph, in order", critical_columns,
      ARRAY_COUNT(critical_columns) },
};

struct costs {
    double   *ns;    /* by op */
    uint32_t *first; /* runs of op: by_op[first[op] .. first[op + 1]) */
    uint32_t *by_op;
    double   *host_ns, *device_ns, *values; /* by step */
};

static bool costs_alloc(const struct profile *profile, struct arena *scratch, struct costs *costs)
{
    size_t steps = profile->recorded_steps.count;

    costs->ns = arena_new_array(scratch, double, profile->ops.count);
    costs->first = arena_new_array(scratch, uint32_t, profile->ops.count + 2);
    costs->by_op = arena_new_array(scratch, uint32_t, profile->op_runs.count);
    costs->host_ns = arena_new_array(scratch, double, steps);
    costs->device_ns = arena_new_array(scratch, double, steps);
    costs->values = arena_new_array(scratch, double, steps);
    return costs->ns && costs->first && costs->by_op && costs->host_ns && costs->device_ns &&
           costs->values;
}

/* Median over the steps in which the op ran. Leaves the sums by step zero again. */
static double op_cost(const struct profile *profile, struct costs *costs, uint32_t op)
{
    size_t count = 0;

    for (uint32_t i = costs->first[op]; i < costs->first[op + 1]; i++) {
        const struct op_run *run = &profile->op_runs.items[costs->by_op[i]];

        *(run->is_accelerator ? &costs->device_ns[run->step] : &costs->host_ns[run->step]) +=
            (double)run->duration_ns;
    }
    for (uint32_t i = costs->first[op]; i < costs->first[op + 1]; i++) {
        uint32_t step = profile->op_runs.items[costs->by_op[i]].step;
        double   ns = costs->device_ns[step] > 0 ? costs->device_ns[step] : costs->host_ns[step];

        if (ns > 0)
            costs->values[count++] = ns;
        costs->device_ns[step] = costs->host_ns[step] = 0;
    }
    return sample_middle(costs->values, count);
}

static bool costs_make(const struct profile *profile, struct arena *scratch, struct costs *costs)
{
    if (!costs_alloc(profile, scratch, costs))
        return false;
    for (size_t i = 0; i < profile->op_runs.count; i++)
        costs->first[profile->op_runs.items[i].op + 2]++;
    for (size_t op = 0; op < profile->ops.count; op++)
        costs->first[op + 2] += costs->first[op + 1];
    for (uint32_t i = 0; i < profile->op_runs.count; i++)
        costs->by_op[costs->first[profile->op_runs.items[i].op + 1]++] = i;
    for (uint32_t op = 0; op < profile->ops.count; op++)
        costs->ns[op] = op_cost(profile, costs, op);
    return true;
}

static bool is_back_edge(const struct profile *profile, uint32_t from)
{
    return str_ends(profile_str(profile, profile->ops.items[from].type), STR("NextIteration"));
}

/* The same graph without the edges that lead back to the head of a while loop. */
static const struct op_graph *without_loops(const struct profile *profile, struct arena *scratch,
                                            struct err *err)
{
    const struct op_graph *graph = profile->graph;
    struct op_edge        *edges;
    size_t                 count = 0;
    bool                   has_loops = false;

    for (uint32_t op = 0; op < graph->vertex_count && !has_loops; op++)
        has_loops = is_back_edge(profile, op);
    if (!has_loops)
        return graph;
    edges = arena_new_array(scratch, struct op_edge, graph->edge_count);
    for (uint32_t to = 0; edges && to < graph->vertex_count; to++)
        for (uint32_t i = graph->first_producer[to]; i < graph->first_producer[to + 1]; i++) {
            uint32_t from = graph->producers[i];

            if (!is_back_edge(profile, from))
                edges[count++] = (struct op_edge) { from, to, graph->producer_is_control[i],
                                                    graph->producer_place[i] };
        }
    if (edges)
        return op_graph_new(scratch, graph->vertex_count, edges, count, err);
    emit_limit("the graph of ops", err);
    return NULL;
}

struct longest {
    double   *ns;       /* of the heaviest chain that ends in op */
    uint32_t *depth;    /* of the longest */
    uint32_t *previous; /* op before it on the heaviest, or NO_ID */
    uint32_t  last;     /* of the heaviest of all, or NO_ID */
    uint32_t  deepest;
};

static bool longest_make(const struct op_graph *graph, struct op_ids order, const double *cost_ns,
                         struct arena *scratch, struct longest *longest)
{
    longest->ns = arena_new_array(scratch, double, graph->vertex_count);
    longest->depth = arena_new_array(scratch, uint32_t, graph->vertex_count);
    longest->previous = arena_new_array(scratch, uint32_t, graph->vertex_count);
    longest->last = NO_ID;
    longest->deepest = 0;
    if (!longest->ns || !longest->depth || !longest->previous)
        return false;
    for (size_t i = 0; i < order.count; i++) {
        uint32_t      op = order.ids[i];
        struct op_ids producers = op_graph_producers(graph, op);

        longest->previous[op] = NO_ID;
        for (size_t j = 0; j < producers.count; j++) {
            uint32_t from = producers.ids[j];

            if (longest->ns[from] > longest->ns[op]) {
                longest->ns[op] = longest->ns[from];
                longest->previous[op] = from;
            }
            if (longest->depth[from] > longest->depth[op])
                longest->depth[op] = longest->depth[from];
        }
        longest->ns[op] += cost_ns[op];
        longest->depth[op]++;
        if (longest->depth[op] > longest->deepest)
            longest->deepest = longest->depth[op];
        if (longest->ns[op] > (longest->last == NO_ID ? 0 : longest->ns[longest->last]))
            longest->last = op;
    }
    return true;
}

static bool fill_path(struct study *study, const struct longest *longest, const double *cost_ns,
                      struct arena *scratch)
{
    const struct profile *profile = study->profile;
    struct table         *table = facts_table(&study->facts, &tables[0]);
    VEC(uint32_t) path = { 0 };

    for (uint32_t op = longest->last; op != NO_ID; op = longest->previous[op])
        if (cost_ns[op] > 0 && !vec_push(&path, scratch, op))
            return false;
    for (size_t i = path.count; table && i-- > 0;) {
        const struct op *op = &profile->ops.items[path.items[i]];
        double           ns = cost_ns[path.items[i]];
        size_t           row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, OP, row, op->name);
        emit_name(table, TYPE, row, op->type);
        if (op->device != NO_ID)
            emit_name(table, DEVICE, row, profile->devices.items[op->device].name);
        emit_number(table, NS, row, ns);
        emit_number(table, SHARE, row, ns / longest->ns[longest->last]);
    }
    return table && facts_set(&study->facts, &produces[PATH_OPS], (double)path.count) &&
           facts_set(&study->facts, &produces[LENGTH_NS], longest->ns[longest->last]);
}

/* A first op of the largest cycle, and how many ops are on it; false: err says why it is not known.
 */
static bool largest_cycle(const struct op_graph *graph, struct arena *scratch, uint32_t *op,
                          uint32_t *size, struct err *err)
{
    uint32_t *component, *sizes, count = 0, largest = 0;

    if (!op_graph_cycles(graph, scratch, &component, &count, err))
        return false;
    sizes = arena_new_array(scratch, uint32_t, count);
    if (!sizes)
        return emit_limit("the cycles of the graph", err);
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        if (++sizes[component[v]] > sizes[largest])
            largest = component[v];
    *size = sizes[largest];
    for (*op = 0; component[*op] != largest;)
        ++*op;
    return true;
}

static const char *cycle_reason(const struct profile *profile, const struct op_graph *graph,
                                struct arena *scratch)
{
    struct err why = { 0 };
    uint32_t   op = 0, size = 0;
    struct str name;

    if (!largest_cycle(graph, scratch, &op, &size, &why))
        return arena_text(scratch, "the graph has cycles; %s", why.text);
    name = profile_str(profile, profile->ops.items[op].name);
    return arena_text(scratch,
                      "the graph has cycles; the largest goes through %u ops, %.*s among them",
                      size, STR_ARG(name));
}

static bool examine(struct study *study, struct arena *scratch, struct err *err)
{
    static const char      what[] = "the critical path of the graph";
    const struct profile  *profile = study->profile;
    struct facts          *facts = &study->facts;
    const struct op_graph *graph = without_loops(profile, scratch, err);
    struct op_ids          order;
    struct costs           costs = { 0 };
    struct longest         longest = { 0 };
    bool                   is_acyclic;

    if (!graph || !op_graph_sort(graph, scratch, &order, &is_acyclic, err))
        return false;
    if (!costs_make(profile, scratch, &costs) ||
        !longest_make(graph, order, costs.ns, scratch, &longest) ||
        !facts_set(facts, &produces[OPS], graph->vertex_count) ||
        !facts_set(facts, &produces[EDGES], (double)profile->graph->edge_count) ||
        !facts_set(facts, &produces[IS_ACYCLIC], is_acyclic) ||
        !facts_set(facts, &produces[DEPTH], longest.deepest))
        return emit_limit(what, err);
    if (longest.last == NO_ID || !is_acyclic) {
        const char *reason =
            is_acyclic ? "no op of the graph was timed" : cycle_reason(profile, graph, scratch);

        return (reason && facts_absent(facts, "critical_path.|critical_ops",
                                       "run metadata of a few steps", "%s", reason)) ||
               emit_limit(what, err);
    }
    return fill_path(study, &longest, costs.ns, scratch) || emit_limit(what, err);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         is_done;

    if (study->profile->graph)
        is_done = examine(study, &scratch, err);
    else
        is_done = facts_absent(&study->facts, "graph.|critical_path.|critical_ops",
                               "the graph (GraphDef or ProfileProto)",
                               "the profile has no graph of ops") ||
                  emit_limit("facts", err);
    arena_free(&scratch);
    return is_done;
}

const struct analysis analysis_op_graph = {
    .name = "op_graph",
    .summary = "size of the graph of ops and its critical path",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
