#include "analyze/schedule/why_walk.h"

#include "analyze/path/work.h"

#include <stdlib.h>

static const struct activity *activity_of(const struct event_graph *graph, uint32_t frame)
{
    return event_activity(graph->study->profile, graph->path.frames.items[frame].event);
}

/* The request for input around a frame, else the outermost op inside what is asked about, else the
 * innermost range the user named; NO_ID: none. */
static uint32_t owner_of(const struct why_walk *walk, uint32_t frame)
{
    uint32_t input = NO_ID, op = NO_ID, range = NO_ID;

    for (uint32_t f = frame; f != NO_ID && f != walk->root;
         f = walk->graph->path.frames.items[f].parent) {
        uint8_t kind = activity_of(walk->graph, f)->kind;

        if (kind == ACTIVITY_INPUT_WAIT)
            input = f;
        if (kind == ACTIVITY_OP)
            op = f;
        if (kind == ACTIVITY_ANNOTATION && range == NO_ID)
            range = f;
    }
    return input != NO_ID ? input : op != NO_ID ? op : range;
}

/* The innermost line of the user's program; built-in functions have none, so their caller's. */
static void add_source(const struct event_graph *graph, uint32_t frame, struct why_cause *cause)
{
    const struct profile *profile = graph->study->profile;

    for (uint32_t f = frame; f != NO_ID; f = graph->path.frames.items[f].parent) {
        uint32_t source = profile_user_source(profile, activity_of(graph, f)->source);

        if (source >= profile->sources.count || !profile->sources.items[source].line)
            continue;
        cause->file = profile_str(profile, profile->sources.items[source].file).data;
        cause->function = profile_str(profile, profile->sources.items[source].function).data;
        cause->line = profile->sources.items[source].line;
        return;
    }
}

static struct why_cause describe(const struct why_walk *walk, const struct graph_node *node)
{
    const struct event_graph *graph = walk->graph;
    const struct profile     *profile = graph->study->profile;
    uint32_t                  frame = node->frame;
    uint32_t                  owner =
        owner_of(walk, frame != NO_ID && node->launcher == NO_ID ? frame : node->launcher);
    struct why_cause cause = { .class = (enum part)node->class, .usual_ns = -1, .count = 1 };

    cause.place =
        profile_str(profile, profile->timelines.items[graph->lines.items[node->line].timeline].name)
            .data;
    if (frame == NO_ID || activity_of(graph, frame)->kind == ACTIVITY_STEP)
        return cause; /* inside nothing but its step */
    cause.name = profile_str(profile, activity_of(graph, frame)->name).data;
    if (owner != NO_ID && owner != frame)
        cause.owner = profile_str(profile, activity_of(graph, owner)->name).data;
    add_source(graph, node->launcher != NO_ID ? node->launcher : frame, &cause);
    return cause;
}

static bool is_alike(const struct why_cause *a, const struct why_cause *b)
{
    return a->class == b->class && a->name == b->name && a->owner == b->owner;
}

/* Between the events of an op time is the op's. */
static bool add_cause(struct why_walk *walk, struct why_cause cause, int64_t ns)
{
    struct why_cause *last =
        walk->causes.count ? &walk->causes.items[walk->causes.count - 1] : NULL;

    cause.ns = (double)ns;
    if (ns <= 0)
        return true;
    if (last &&
        (is_alike(last, &cause) || (cause.owner && last->class == cause.class &&
                                    (last->owner == cause.owner || last->name == cause.owner)))) {
        if (!is_alike(last, &cause)) {
            last->name = cause.owner;
            last->owner = NULL;
        }
        last->ns += cause.ns;
        last->count++;
        return true;
    }
    return vec_push(&walk->causes, walk->arena, cause);
}

/* The edge that, by the recorded times, let a node start last; NO_ID: none. */
static uint32_t last_cause(const struct event_graph *graph, uint32_t node)
{
    uint32_t end = event_graph_edges_end(graph, node), best = NO_ID;
    int64_t  latest_ns = INT64_MIN;

    for (uint32_t e = graph->nodes.items[node].first_edge; e < end; e++) {
        const struct graph_edge *edge = &graph->edges.items[e];
        const struct graph_node *from = &graph->nodes.items[edge->from];
        int64_t time_ns = (edge->from_start ? from->start_ns : from->end_ns) + edge->lag_ns;

        if (time_ns >= latest_ns) {
            latest_ns = time_ns;
            best = e;
        }
    }
    return best;
}

struct position {
    struct why_walk *walk;
    int64_t          at_ns, from_ns; /* where the walk is, and where it ends */
};

/* Charges the way back to `reached_ns` to a cause. */
static bool go_back(struct position *position, struct why_cause cause, int64_t reached_ns)
{
    int64_t left_ns = position->at_ns;

    if (reached_ns < position->from_ns)
        reached_ns = position->from_ns;
    if (reached_ns >= position->at_ns)
        return true;
    position->at_ns = reached_ns;
    return add_cause(position->walk, cause, left_ns - reached_ns);
}

bool why_walk_back(struct why_walk *walk, uint32_t row, bool is_included, int64_t from_ns)
{
    const struct graph_node *nodes = walk->graph->nodes.items;
    struct position  position = { walk, is_included ? nodes[row].end_ns : nodes[row].start_ns,
                                  from_ns };
    struct why_cause delay = { .class = PART_UNKNOWN, .usual_ns = -1, .count = 1 };

    walk->began = NO_ID;
    for (;;) {
        const struct graph_node *node = &nodes[row];
        const struct graph_edge *edge;
        uint32_t                 e = last_cause(walk->graph, row);
        struct why_cause         way;

        if (!go_back(&position, describe(walk, node), node->start_ns))
            return false;
        if (e == NO_ID || (node->start_ns < from_ns && position.at_ns <= from_ns)) {
            walk->began = position.at_ns <= from_ns ? row : NO_ID;
            return true;
        }
        edge = &walk->graph->edges.items[e];
        row = edge->from;
        way = describe(walk, &nodes[row]);
        way.class = graph_edge_class(edge);
        if ((node->delay_ns > 0 && !go_back(&position, delay, node->start_ns - node->delay_ns)) ||
            !go_back(&position, way, edge->from_start ? nodes[row].start_ns : nodes[row].end_ns))
            return false;
        if (position.at_ns <= from_ns) {
            walk->began = row;
            return true;
        }
    }
}

/* Names are interned: the same text is the same pointer. */
static int compare_alike(const void *left, const void *right)
{
    const struct why_cause *a = left, *b = right;

    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->name != b->name)
        return (uintptr_t)a->name < (uintptr_t)b->name ? -1 : 1;
    return ((uintptr_t)a->owner > (uintptr_t)b->owner) -
           ((uintptr_t)a->owner < (uintptr_t)b->owner);
}

void why_walk_sum(struct why_walk *walk)
{
    struct why_cause *causes = walk->causes.items;
    size_t            kept = 0;

    if (walk->causes.count > 1)
        qsort(causes, walk->causes.count, sizeof *causes, compare_alike);
    for (size_t i = 0; i < walk->causes.count; i++) {
        if (kept && compare_alike(&causes[kept - 1], &causes[i]) == 0) {
            causes[kept - 1].ns += causes[i].ns;
            causes[kept - 1].count += causes[i].count;
            continue;
        }
        causes[kept++] = causes[i];
    }
    walk->causes.count = kept;
}

static int compare_excess(const void *left, const void *right)
{
    const struct why_cause *a = left, *b = right;
    double                  x = a->ns - a->usual_ns, y = b->ns - b->usual_ns;

    if (x != y)
        return x > y ? -1 : 1;
    return (a->count < b->count) - (a->count > b->count);
}

static bool is_device_work(const struct why_cause *cause)
{
    return cause->class == PART_COMPUTE || cause->class == PART_COPY ||
           cause->class == PART_COMMUNICATION;
}

/* Work launched before the step that was looked at has no owner there: it stands without one here
 * too. */
static void fold_owners(struct why_walk *walk, const struct why_walk *other)
{
    for (size_t i = 0; i < walk->causes.count; i++) {
        struct why_cause *cause = &walk->causes.items[i];

        for (size_t k = 0; cause->owner && is_device_work(cause) && k < other->causes.count; k++)
            if (!other->causes.items[k].owner && other->causes.items[k].name == cause->name &&
                other->causes.items[k].class == cause->class)
                cause->owner = NULL;
    }
    why_walk_sum(walk);
}

void why_walk_compare(struct why_walk *walk, struct why_walk *usual)
{
    fold_owners(walk, usual);
    fold_owners(usual, walk);
    for (size_t i = 0; i < walk->causes.count; i++) {
        struct why_cause *cause = &walk->causes.items[i];

        cause->usual_ns = 0;
        for (size_t k = 0; k < usual->causes.count; k++)
            if (compare_alike(cause, &usual->causes.items[k]) == 0)
                cause->usual_ns = usual->causes.items[k].ns;
    }
    if (walk->causes.count > 1)
        qsort(walk->causes.items, walk->causes.count, sizeof *walk->causes.items, compare_excess);
}
