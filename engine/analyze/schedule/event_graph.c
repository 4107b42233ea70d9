/* event_graph: merges the lines of each step into nodes. */
#include "analyze/schedule/event_graph_build.h"

#include "analyze/path/work.h"
#include "base/heap.h"

enum {
    MAY_WAIT_NS = 20000,    /* shorter stretches of a thread are taken as work */
    LONG_LAUNCH_NS = 100000 /* longer ways from a call to its work have another cause */
};

/* Of a collective, what its thread does before it turns to something inside. */
static const double COLLECTIVE_SHARE = 0.9;

uint32_t event_graph_edges_end(const struct event_graph *graph, uint32_t node)
{
    return node + 1 < graph->nodes.count ? graph->nodes.items[node + 1].first_edge
                                         : (uint32_t)graph->edges.count;
}

struct str event_graph_name(const struct event_graph *graph, uint32_t node)
{
    const struct profile *profile = graph->study->profile;
    uint32_t              frame = graph->nodes.items[node].frame;

    if (frame == NO_ID)
        return STR("");
    return profile_str(profile,
                       event_activity(profile, graph->path.frames.items[frame].event)->name);
}

int32_t event_graph_rank(const struct event_graph *graph, uint32_t host)
{
    int32_t rank = graph->study->profile->hosts.items[host].rank;

    return rank >= 0 ? rank : (int32_t)host;
}

bool event_graph_has_kind(const struct event_graph *graph, uint32_t frame, uint32_t kinds)
{
    return frame != NO_ID && (graph->path.frames.items[frame].kinds & kinds);
}

enum part graph_edge_class(const struct graph_edge *edge)
{
    static const uint8_t classes[EDGE_KIND_COUNT] = {
        [EDGE_ORDER] = PART_HOST,
        [EDGE_STREAM] = PART_IDLE_DEPENDENCY,
        [EDGE_LAUNCH] = PART_IDLE_LAUNCH,
        [EDGE_EVENT] = PART_IDLE_DEPENDENCY,
        [EDGE_SYNC] = PART_IDLE_SYNC,
        [EDGE_HANDOVER] = PART_HOST,
        [EDGE_COLLECTIVE] = PART_COMMUNICATION,
        [EDGE_STEP] = PART_HOST,
    };

    /* The distance is counted from the begin of the call: where it is long, the host was inside the
     * call for most of it, which is the host's time and no launch latency. */
    if (edge->kind == EDGE_LAUNCH && edge->lag_ns > LONG_LAUNCH_NS)
        return PART_HOST;
    return classes[edge->kind];
}

/* Whether a stretch of a thread may be a wait, so that it gets a node at both ends. */
static bool may_wait(const struct build *build, const struct build_line *line,
                     const struct piece *piece)
{
    const struct frame *frame;
    uint8_t             kind;

    if (piece->frame == NO_ID)
        return !line->flat.is_device && piece->end_ns - piece->start_ns >= MAY_WAIT_NS;
    frame = &build->graph->path.frames.items[piece->frame];
    if (id_map_get(&build->collective_of, frame->event) != NO_ID)
        return piece->start_ns == event_start_ns(build->profile, frame->event) &&
               (double)(piece->end_ns - piece->start_ns) >=
                   COLLECTIVE_SHARE * (double)event_duration_ns(build->profile, frame->event);
    if (line->flat.is_device)
        return false;
    kind = event_activity(build->profile, frame->event)->kind;
    return kind == ACTIVITY_SYNC ||
           (piece->end_ns - piece->start_ns >= MAY_WAIT_NS && kind != ACTIVITY_OP &&
            kind != ACTIVITY_COMPILE && kind != ACTIVITY_TRACING && kind != ACTIVITY_GC);
}

static int64_t device_key_ns(const struct build *build, const struct build_line *line,
                             const struct piece *piece)
{
    int64_t key_ns = piece->start_ns;

    if (piece->frame != NO_ID) {
        uint32_t launch = build->launch_of[build->graph->path.frames.items[piece->frame].event];

        if (launch != NO_ID && event_start_ns(build->profile, launch) > key_ns &&
            event_start_ns(build->profile, launch) < piece->end_ns)
            key_ns = event_start_ns(build->profile, launch);
    }
    return key_ns > line->piece.key_ns ? key_ns : line->piece.key_ns;
}

/* Puts the line's next piece in place. */
static void advance(struct build *build, uint32_t row)
{
    struct build_line       *line = &build->lines.items[row];
    const struct graph_line *shown = &build->graph->lines.items[row];
    struct piece             piece = { .frame = NO_ID, .phase = PIECE_NONE };
    const struct leaf       *leaf = NULL;

    if (line->piece.phase == PIECE_ENTER) {
        line->piece.phase = PIECE_LEAVE;
        line->piece.key_ns = line->piece.end_ns;
        return;
    }
    if (line->next_leaf < line->flat.leaves.count &&
        line->flat.leaves.items[line->next_leaf].start_ns < line->window_end_ns)
        leaf = &line->flat.leaves.items[line->next_leaf];
    piece.start_ns = line->reached_ns;
    piece.end_ns = leaf ? leaf->start_ns : line->window_end_ns;
    if (shown->is_leader && (!line->flat.is_device || !leaf) && piece.end_ns > piece.start_ns) {
        piece.phase = PIECE_WHOLE;
    } else if (leaf) {
        piece = (struct piece) { leaf->start_ns, leaf->end_ns, 0, leaf->frame, PIECE_WHOLE };
        line->next_leaf++;
    }
    piece.key_ns = line->flat.is_device ? device_key_ns(build, line, &piece) : piece.start_ns;
    if (piece.phase == PIECE_WHOLE && may_wait(build, line, &piece))
        piece.phase = PIECE_ENTER;
    if (piece.phase != PIECE_NONE)
        line->reached_ns = piece.end_ns;
    line->piece = piece;
}

/* Lines by the time of their next piece. At equal times a wait that ends comes first, since what
 * goes on behind it may cause the others; then hosts, which launch what devices begin. */
struct heap {
    uint32_t *lines;
    size_t    count;
};

static int order_of(const struct build_line *line)
{
    return line->piece.phase == PIECE_LEAVE ? 0 : line->flat.is_device ? 2 : 1;
}

static bool is_before(const void *context, uint32_t a, uint32_t b)
{
    const struct build      *build = context;
    const struct build_line *left = &build->lines.items[a], *right = &build->lines.items[b];

    if (left->piece.key_ns != right->piece.key_ns)
        return left->piece.key_ns < right->piece.key_ns;
    if (order_of(left) != order_of(right))
        return order_of(left) < order_of(right);
    return a < b;
}

/* Skips what lies before the host's step; false: the host has none in this group. */
static bool start_line(struct build *build, uint32_t row, const struct graph_window *windows,
                       size_t count)
{
    struct build_line *line = &build->lines.items[row];

    for (size_t i = 0; i < count; i++) {
        const struct step *step;

        if (windows[i].host != build->graph->lines.items[row].host)
            continue;
        step = &build->study->steps.list.items[windows[i].step];
        line->window_end_ns = step->end_ns;
        line->reached_ns = step->start_ns;
        line->piece = (struct piece) { .phase = PIECE_NONE, .key_ns = step->start_ns };
        while (line->next_leaf < line->flat.leaves.count &&
               line->flat.leaves.items[line->next_leaf].start_ns < step->start_ns)
            line->next_leaf++;
        advance(build, row);
        return line->piece.phase != PIECE_NONE;
    }
    return false;
}

static bool build_group(struct build *build, struct graph_window *windows, size_t count,
                        struct heap *heap)
{
    heap->count = 0;
    for (size_t i = 0; i < count; i++)
        if (build->leader_of_host[windows[i].host] != NO_ID &&
            !build_step(build, &windows[i], (uint32_t)i))
            return false;
    for (uint32_t row = 0; row < build->lines.count; row++)
        if (start_line(build, row, windows, count))
            heap->lines[heap->count++] = row;
    for (size_t i = heap->count / 2; i-- > 0;)
        heap_sift_down(heap->lines, heap->count, i, is_before, build);
    while (heap->count) {
        uint32_t row = heap->lines[0];

        if (!(build->lines.items[row].flat.is_device ? build_device : build_host)(build, row))
            return false;
        advance(build, row);
        if (build->lines.items[row].piece.phase == PIECE_NONE)
            heap->lines[0] = heap->lines[--heap->count];
        heap_sift_down(heap->lines, heap->count, 0, is_before, build);
    }
    for (size_t i = 0; i < count; i++)
        if (build->leader_of_host[windows[i].host] != NO_ID)
            windows[i].last_node = build->lines.items[build->leader_of_host[windows[i].host]].last;
    return true;
}

static bool build_groups(struct build *build)
{
    struct graph_window *windows = build->graph->windows.items;
    size_t               first = 0, end, count = build->graph->windows.count;
    struct heap heap = { arena_new_array(build->scratch, uint32_t, build->lines.count + 1), 0 };

    if (!heap.lines)
        return false;
    for (; first < count; first = end) {
        for (end = first + 1; end < count && windows[end].group == windows[first].group;)
            end++;
        if (!build_group(build, windows + first, end - first, &heap))
            return false;
    }
    return true;
}

/* A piece is mostly one node, with one cause: growing bit by bit would copy all of it again and
 * again. */
static bool reserve(struct build *build)
{
    size_t pieces = build->graph->windows.count;

    for (size_t i = 0; i < build->lines.count; i++)
        pieces += build->lines.items[i].flat.leaves.count;
    return vec_reserve(&build->graph->nodes, build->arena, pieces) &&
           vec_reserve(&build->graph->edges, build->arena, pieces) &&
           vec_reserve(&build->previous, build->scratch, pieces) &&
           vec_reserve(&build->others, build->scratch, pieces);
}

bool event_graph_make(struct event_graph *graph, const struct study *study, uint32_t first,
                      struct arena *arena, struct err *err)
{
    struct arena scratch = { .budget_bytes = arena->budget_bytes };
    struct build build = { .graph = graph,
                           .study = study,
                           .profile = study->profile,
                           .arena = arena,
                           .scratch = &scratch,
                           .first_step = first };
    bool         ok = true;

    *graph = (struct event_graph) { .study = study };
    if (study->profile->event_count > 0)
        ok = build_windows(&build);
    if (ok && graph->windows.count) {
        ok = build_lines(&build) && build_launches(&build) && build_waits(&build) &&
             build_collectives(&build);
        if (ok) {
            build_means(&build);
            ok = reserve(&build) && build_groups(&build);
        }
    }
    if (ok && (!graph->nodes.count || graph->windows.items[0].base == NO_ID))
        graph->windows.count = 0;
    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the graph of the steps does not fit the memory budget");
}
