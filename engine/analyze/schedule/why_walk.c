#include "analyze/schedule/why_walk.h"

#include "analyze/device/device_activity.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* The request for input around an event, else the outermost op inside what is asked about, else the
 * innermost range the user named; NO_ID: none. Work of a device is inside of the call that enqueued
 * it. */
static uint32_t owner_of(const struct why_walk *walk, uint32_t event)
{
    uint32_t input = NO_ID, op = NO_ID, range = NO_ID;

    for (; event != NO_ID && event != walk->root;
         event = device_activity_outer(walk->study, event)) {
        uint8_t kind = event_activity(walk->study->profile, event)->kind;

        if (kind == ACTIVITY_INPUT_WAIT)
            input = event;
        if (kind == ACTIVITY_OP)
            op = event;
        if (kind == ACTIVITY_ANNOTATION && range == NO_ID)
            range = event;
    }
    return input != NO_ID ? input : op != NO_ID ? op : range;
}

/* The innermost line of the user's program; built-in functions have none, so their caller's. */
static void add_source(const struct study *study, uint32_t event, struct why_cause *cause)
{
    const struct profile *profile = study->profile;

    for (; event != NO_ID; event = device_activity_outer(study, event)) {
        uint32_t source = profile_user_source(profile, event_activity(profile, event)->source);

        if (source >= profile->sources.count || !profile->sources.items[source].line)
            continue;
        cause->file = profile_str(profile, profile->sources.items[source].file).data;
        cause->function = profile_str(profile, profile->sources.items[source].function).data;
        cause->line = profile->sources.items[source].line;
        return;
    }
}

/* What an event, or NO_ID, of a timeline, or NO_ID, is as a cause. */
static struct why_cause describe(const struct why_walk *walk, uint32_t event, uint32_t timeline,
                                 enum part class)
{
    const struct profile *profile = walk->study->profile;
    struct why_cause      cause = { .class = class, .usual_ns = -1, .count = 1 };
    uint32_t              owner;

    if (timeline != NO_ID)
        cause.place = profile_str(profile, profile->timelines.items[timeline].name).data;
    if (event == NO_ID || event_activity(profile, event)->kind == ACTIVITY_STEP)
        return cause; /* inside nothing but its step */
    owner = owner_of(walk, event);
    cause.name = profile_str(profile, event_activity(profile, event)->name).data;
    if (owner != NO_ID && owner != event)
        cause.owner = profile_str(profile, event_activity(profile, owner)->name).data;
    add_source(walk->study, event, &cause);
    return cause;
}

static struct why_cause describe_node(const struct why_walk *walk, uint32_t row)
{
    const struct graph_node *node = &walk->graph->nodes.items[row];

    return describe(
        walk, node->frame == NO_ID ? NO_ID : walk->graph->path.frames.items[node->frame].event,
        walk->graph->lines.items[node->line].timeline, (enum part)node->class);
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

        if (!go_back(&position, describe_node(walk, row), node->start_ns))
            return false;
        if (e == NO_ID || (node->start_ns < from_ns && position.at_ns <= from_ns)) {
            walk->began = position.at_ns <= from_ns ? row : NO_ID;
            return true;
        }
        edge = &walk->graph->edges.items[e];
        row = edge->from;
        way = describe_node(walk, row);
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

/* The leading thread between events, while nothing else was known of it: inside of what it waits
 * in. */
static uint32_t segment_event(const struct path *path, const struct segment *segment)
{
    uint32_t frame = segment->frame != NO_ID ? segment->frame : segment->owner;

    return frame == NO_ID ? NO_ID : path->frames.items[frame].event;
}

bool why_walk_step(struct why_walk *walk, uint32_t step)
{
    struct path path;

    if (!path_of_step(walk->study, step, walk->arena, &path))
        return false;
    for (size_t i = path.segments.count; i-- > 0;) {
        const struct segment *segment = &path.segments.items[i];
        uint32_t              timeline =
            segment->frame == NO_ID ? NO_ID : path.frames.items[segment->frame].timeline;

        if (segment->step == step && !add_cause(walk,
                                                describe(walk, segment_event(&path, segment),
                                                         timeline, (enum part)segment->part),
                                                segment->end_ns - segment->start_ns))
            return false;
    }
    return true;
}

/* No text before any. */
static int compare_text(const char *a, const char *b)
{
    return a == b ? 0 : !a || !b ? (a ? 1 : -1) : strcmp(a, b);
}

static int compare_alike(const void *left, const void *right)
{
    const struct why_cause *a = left, *b = right;

    if (a->class != b->class || a->name != b->name)
        return IN_ORDER(COMPARE(a->class, b->class), compare_text(a->name, b->name));
    return compare_text(a->owner, b->owner);
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

int why_compare_ns(const void *left, const void *right)
{
    const struct why_cause *a = left, *b = right;

    return IN_ORDER(COMPARE(b->ns, a->ns), COMPARE(b->count, a->count), compare_alike(a, b));
}

static int compare_excess(const void *left, const void *right)
{
    const struct why_cause *a = left, *b = right;

    return IN_ORDER(COMPARE(b->ns - b->usual_ns, a->ns - a->usual_ns), COMPARE(b->count, a->count),
                    compare_alike(a, b));
}

void why_walk_compare(struct why_walk *walk, struct why_walk *usual)
{
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
