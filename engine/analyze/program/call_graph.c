#include "analyze/program/call_graph.h"

#include "base/sort.h"

#include <stdlib.h>

struct edge {
    uint32_t caller, callee; /* rows of ops */
    uint64_t count;
};
struct edges {
    struct id_map rows; /* by caller and callee */
    VEC(struct edge) list;
};

static bool count_call(struct edges *edges, uint32_t caller, uint32_t callee, struct arena *arena)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t row = id_map_get(&edges->rows, key);

    if (row != NO_ID) {
        edges->list.items[row].count++;
        return true;
    }
    return id_map_put(&edges->rows, key, (uint32_t)edges->list.count) &&
           vec_push(&edges->list, arena, (struct edge) { caller, callee, 1 });
}

/* The innermost op at an event, itself or around it; what is around an event comes before it. */
static bool find_edges(const struct study *study, struct edges *edges, struct arena *arena)
{
    const struct profile *profile = study->profile;
    uint32_t             *innermost = arena_new_array(arena, uint32_t, profile->event_count);

    for (uint32_t event = 0; innermost && event < profile->event_count; event++) {
        uint32_t around = study->around ? study->around[event] : NO_ID;
        uint32_t op = event_activity(profile, event)->op;
        uint32_t outer = around == NO_ID ? NO_ID : innermost[around];

        innermost[event] = op == NO_ID ? outer : op;
        if (op != NO_ID && outer != NO_ID && outer != op && !count_call(edges, outer, op, arena))
            return false;
    }
    return innermost != NULL;
}

static int by_caller(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;

    return IN_ORDER(COMPARE(a->caller, b->caller), COMPARE(b->count, a->count),
                    COMPARE(a->callee, b->callee));
}

static int by_callee(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;

    return IN_ORDER(COMPARE(a->callee, b->callee), COMPARE(b->count, a->count),
                    COMPARE(a->caller, b->caller));
}

/* The other ends of the edges of each op. */
static struct program_ids *list_ends(struct edges *edges, size_t op_count, bool of_callers,
                                     struct arena *arena)
{
    struct program_ids *lists = arena_new_array(arena, struct program_ids, op_count + 1);
    uint32_t           *ends = arena_new_array(arena, uint32_t, edges->list.count + 1);

    if (!lists || !ends)
        return NULL;
    if (edges->list.count)
        qsort(edges->list.items, edges->list.count, sizeof *edges->list.items,
              of_callers ? by_caller : by_callee);
    for (size_t i = 0; i < edges->list.count; i++) {
        const struct edge  *edge = &edges->list.items[i];
        struct program_ids *list = &lists[of_callers ? edge->caller : edge->callee];

        ends[i] = of_callers ? edge->callee : edge->caller;
        if (!list->count++)
            list->ids = &ends[i];
    }
    return lists;
}

bool call_graph_make(const struct study *study, struct arena *arena, struct call_graph *graph)
{
    size_t       op_count = study->profile->ops.count;
    struct edges edges = { .rows = { .arena = arena } };

    *graph = (struct call_graph) { .caller = arena_new_array(arena, uint32_t, op_count + 1) };
    if (!graph->caller || !find_edges(study, &edges, arena))
        return false;
    graph->calls = list_ends(&edges, op_count, true, arena);
    graph->called_by = list_ends(&edges, op_count, false, arena);
    for (size_t i = 0; graph->called_by && i < op_count; i++)
        if (graph->called_by[i].count)
            graph->caller[i] = graph->called_by[i].ids[0] + 1;
    return graph->calls && graph->called_by;
}
