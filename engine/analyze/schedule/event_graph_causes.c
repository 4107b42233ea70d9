/* event_graph_causes: a node and what it waited for. */
#include "analyze/schedule/event_graph_build.h"

enum {
    RECENT_NODES = 24,    /* who may have given a thread its work: those last at something */
    GAP_MOST_NS = 10000,  /* a longer gap in the queue of a stream has another cause */
    EXPLAINED_NS = 20000, /* a start so little later than its causes needs no other cause */
    LONG_CALL_NS = 100000 /* work begins so soon after the call that enqueued it */
};

static enum part class_of(const struct build *build, uint32_t frame)
{
    uint8_t kind;

    if (frame == NO_ID)
        return PART_HOST;
    kind = event_activity(build->profile, build->graph->path.frames.items[frame].event)->kind;
    return kind == ACTIVITY_SYNC ? PART_IDLE_SYNC
                                 : work_part((enum work)build->graph->path.frame_work[frame]);
}

/* What workers of a loader do is input, whatever they do. */
static uint8_t host_class(const struct build *build, uint32_t line, uint32_t frame)
{
    return build->graph->lines.items[line].is_worker ? PART_INPUT : (uint8_t)class_of(build, frame);
}

/* What the composition charges most of a stretch of the leading thread to; PART_UNKNOWN: nothing.
 */
static enum part composed_part(const struct build *build, const struct graph_node *node)
{
    int64_t   part_ns[PART_COUNT];
    enum part most = PART_UNKNOWN;

    path_parts(&build->study->path, node->start_ns, node->end_ns, part_ns);
    for (int part = 0; part < PART_COUNT; part++)
        if (part_ns[part] > part_ns[most])
            most = (enum part)part;
    return most;
}

/* What a thread waited for where nothing recorded tells whose end let it go on: what the
 * composition says that others did meanwhile, so that both say the same of it. */
static uint8_t class_of_wait(const struct build *build, uint32_t line,
                             const struct graph_node *node)
{
    enum part part;

    if (build->graph->has_device ||
        build->graph->lines.items[line].host != build->study->steps.host ||
        (node->class != PART_HOST && node->class != PART_IDLE_SYNC))
        return node->class;
    part = composed_part(build, node);
    return part == PART_COMPUTE || part == PART_COMPILE || part == PART_OUTPUT ? (uint8_t)part
                                                                               : node->class;
}

static bool add_edge(struct build *build, uint32_t from, enum edge_kind kind, int64_t lag_ns,
                     bool from_start)
{
    struct graph_edge edge = { lag_ns, from, (uint8_t)kind, from_start };

    return from == NO_ID || vec_push(&build->graph->edges, build->arena, edge);
}

/* What threads of a host did, one behind the other. */
static struct others others_of(const struct build *build, uint32_t line)
{
    const struct graph_line *of = &build->graph->lines.items[line];
    uint32_t                 before = of->is_device ? NO_ID : build->last_on_host[of->host];
    struct others            others = { before, before };

    if (before != NO_ID && node_at(build, before)->line == line)
        others.elsewhere = build->others.items[before].elsewhere;
    return others;
}

/* The node's edges come behind it. */
static bool add_node(struct build *build, uint32_t line, struct graph_node node)
{
    struct build_line *of = &build->lines.items[line];
    uint32_t           row = (uint32_t)build->graph->nodes.count;

    node.line = line;
    node.first_edge = (uint32_t)build->graph->edges.count;
    if (!vec_push(&build->graph->nodes, build->arena, node) ||
        !vec_push(&build->previous, build->scratch, of->last) ||
        !vec_push(&build->others, build->scratch, others_of(build, line)))
        return false;
    of->last = row;
    if (!build->graph->lines.items[line].is_device)
        build->last_on_host[build->graph->lines.items[line].host] = row;
    return true;
}

static int64_t edge_time_ns(const struct build *build, const struct graph_edge *edge)
{
    const struct graph_node *from = node_at(build, edge->from);

    return (edge->from_start ? from->start_ns : from->end_ns) + edge->lag_ns;
}

/* When the last node's known causes let it start, by the recorded times; *kind: which was last. */
static int64_t ready_ns(const struct build *build, enum edge_kind *kind)
{
    const struct event_graph *graph = build->graph;
    uint32_t                  first = graph->nodes.items[graph->nodes.count - 1].first_edge;
    int64_t                   latest_ns = INT64_MIN;

    for (size_t e = first; e < graph->edges.count; e++) {
        int64_t time_ns = edge_time_ns(build, &graph->edges.items[e]);

        if (time_ns > latest_ns) {
            latest_ns = time_ns;
            *kind = (enum edge_kind)graph->edges.items[e].kind;
        }
    }
    return latest_ns;
}

bool build_step(struct build *build, struct graph_window *window, uint32_t window_row)
{
    const struct step *step = &build->study->steps.list.items[window->step];
    uint32_t           line = build->leader_of_host[window->host];
    uint32_t           before = build->lines.items[line].last;
    struct graph_node  node = { .start_ns = step->start_ns,
                                .end_ns = step->start_ns,
                                .frame = NO_ID,
                                .launcher = NO_ID,
                                .role = NODE_STEP,
                                .class = PART_HOST };
    (void)window_row;
    window->base = (uint32_t)build->graph->nodes.count;
    build->base_of_host[window->host] = window->base;
    return add_node(build, line, node) && add_edge(build, before, EDGE_STEP, 0, false);
}

/* Of the host's threads at work just before `time_ns` the one that did something last. */
static uint32_t handed_by(const struct build *build, uint32_t line, int64_t time_ns,
                          int64_t *lag_ns, bool *from_start)
{
    uint32_t row = build->last_on_host[build->graph->lines.items[line].host];
    bool     is_input = makes_input(build, node_at(build, build->lines.items[line].last));
    size_t   looked = 0;
    uint32_t best = NO_ID;
    int64_t  latest_ns = INT64_MIN;

    while (row != NO_ID && looked < RECENT_NODES) {
        const struct graph_node *node = node_at(build, row);
        bool                     is_own = node->line == line;
        uint32_t                 at = row;
        int64_t                  moment_ns;

        row = is_own ? build->others.items[at].elsewhere : build->others.items[at].any;
        if (is_own || (!is_input && makes_input(build, node)))
            continue;
        looked++;
        moment_ns = node->end_ns <= time_ns ? node->end_ns : node->start_ns;
        if (moment_ns > time_ns || moment_ns <= latest_ns)
            continue;
        latest_ns = moment_ns;
        best = at;
        *from_start = node->end_ns > time_ns;
    }
    *lag_ns = best == NO_ID ? 0 : time_ns - latest_ns;
    return best;
}

/* A collective that other ranks joined: it goes on once the last of them has come. One that a core
 * began before goes on from there too. */
static bool join(struct build *build, uint32_t line, const struct piece *piece, uint32_t row)
{
    const struct collective_instance *items = build->collectives.items.items;
    size_t                            first = row, end = row;
    uint32_t                          enter = build->lines.items[line].enter;
    int64_t                           latest_ns = node_at(build, enter)->end_ns;
    struct graph_node                 node = { .start_ns = piece->end_ns,
                                               .end_ns = piece->end_ns,
                                               .frame = piece->frame,
                                               .launcher = NO_ID,
                                               .role = NODE_JOIN,
                                               .class = PART_COMMUNICATION };

    while (first > 0 && items[first - 1].key == items[row].key)
        first--;
    while (end < build->collectives.items.count && items[end].key == items[row].key)
        end++;
    for (size_t i = first; i < end; i++)
        if (build->arrival[i] != NO_ID && node_at(build, build->arrival[i])->end_ns > latest_ns)
            latest_ns = node_at(build, build->arrival[i])->end_ns;
    node.start_ns = latest_ns < piece->end_ns ? latest_ns : piece->end_ns;
    node.own_ns = node.end_ns - node.start_ns;
    if (!add_node(build, line, node))
        return false;
    if (build->arrival[row] != enter && !add_edge(build, enter, EDGE_ORDER, 0, false))
        return false;
    for (size_t i = first; i < end; i++)
        if (!add_edge(build, build->arrival[i], i == row ? EDGE_ORDER : EDGE_COLLECTIVE, 0, false))
            return false;
    build->graph->joined_count++;
    return true;
}

/* A thread that waits for longer than the step lasts, as a producer whose queue is full: it waits
 * as long as the steps take, however long that is. */
static bool outlasts_step(const struct build *build, uint32_t line, const struct piece *piece)
{
    enum work work;

    if (piece->frame == NO_ID || build->graph->lines.items[line].is_leader ||
        piece->end_ns != build->lines.items[line].window_end_ns)
        return false;
    work = build->graph->path.frame_work[piece->frame];
    return (work == WORK_WAITING || work == WORK_INPUT_WAIT) &&
           event_end_ns(build->profile, build->graph->path.frames.items[piece->frame].event) >
               piece->end_ns;
}

static bool leave(struct build *build, uint32_t line)
{
    struct build_line  *of = &build->lines.items[line];
    const struct piece *piece = &of->piece;
    uint32_t            enter = of->enter, waited, row = NO_ID;
    enum edge_kind      kind;
    struct graph_node   node = { .start_ns = piece->start_ns,
                                 .end_ns = piece->end_ns,
                                 .frame = piece->frame,
                                 .launcher = NO_ID,
                                 .role = NODE_RESUME,
                                 .class = host_class(build, line, piece->frame) };

    if (piece->frame != NO_ID)
        row =
            id_map_get(&build->collective_of, build->graph->path.frames.items[piece->frame].event);
    if (row != NO_ID && build->arrival[row] == enter)
        return join(build, line, piece, row);
    waited = build_awaited(build, line, piece, &kind);
    if (waited != NO_ID) {
        node.start_ns = node_at(build, waited)->end_ns;
        if (node.start_ns > piece->end_ns)
            node.start_ns = piece->end_ns;
    } else if (outlasts_step(build, line, piece))
        node.start_ns = piece->end_ns;
    node.own_ns = node.end_ns - node.start_ns;
    node.class = class_of_wait(build, line, &node);
    return add_node(build, line, node) && add_edge(build, enter, EDGE_ORDER, 0, false) &&
           add_edge(build, waited, kind,
                    waited == NO_ID ? 0 : node.start_ns - node_at(build, waited)->end_ns, false);
}

/* It went into the step with a wait that outlasted the one before. */
static bool waits_since_before(const struct build *build, uint32_t line, const struct piece *piece,
                               uint32_t before)
{
    uint32_t base = build->base_of_host[build->graph->lines.items[line].host];

    return base != NO_ID && before != NO_ID && !build->graph->lines.items[line].is_leader &&
           node_at(build, before)->role == NODE_RESUME && node_at(build, before)->own_ns == 0 &&
           node_at(build, before)->frame == piece->frame &&
           piece->start_ns == node_at(build, base)->start_ns;
}

/* Causes of a piece at its start: the thread's own, or after a pause who gave it the work. */
static bool add_thread_causes(struct build *build, uint32_t line, const struct piece *piece,
                              uint32_t before)
{
    struct build_line *of = &build->lines.items[line];
    uint32_t           host = build->graph->lines.items[line].host, giver;
    int64_t            pause_ns =
        before == NO_ID ? INT64_MAX : piece->start_ns - node_at(build, before)->end_ns;
    int64_t lag_ns;
    bool    from_start = false, is_leader = build->graph->lines.items[line].is_leader;

    if (pause_ns <= PAUSE_NS || (is_leader && before != NO_ID))
        return add_edge(build, before, EDGE_ORDER, pause_ns, false) &&
               (!waits_since_before(build, line, piece, before) ||
                add_edge(build, build->base_of_host[host], EDGE_STEP, 0, true));
    of->burst_start_ns = piece->start_ns;
    giver = handed_by(build, line, piece->start_ns, &lag_ns, &from_start);
    if (before != NO_ID &&
        (giver == NO_ID || lag_ns > pause_ns)) /* nobody did anything meanwhile */
        return add_edge(build, before, EDGE_ORDER, pause_ns, false);
    if (giver == NO_ID) {
        giver = build->base_of_host[host];
        lag_ns = giver == NO_ID ? 0 : piece->start_ns - node_at(build, giver)->start_ns;
        from_start = true;
    }
    return add_edge(build, before, EDGE_ORDER, 0, false) &&
           add_edge(build, giver, EDGE_HANDOVER, lag_ns, from_start);
}

bool build_host(struct build *build, uint32_t line)
{
    struct build_line *of = &build->lines.items[line];
    struct piece       piece = of->piece;
    uint32_t           before = of->last, event = NO_ID, row;
    struct graph_node  node = { .start_ns = piece.start_ns,
                                .end_ns = piece.end_ns,
                                .own_ns = piece.end_ns - piece.start_ns,
                                .frame = piece.frame,
                                .launcher = NO_ID,
                                .role = NODE_HOST,
                                .class = host_class(build, line, piece.frame) };

    if (piece.phase == PIECE_LEAVE)
        return leave(build, line);
    if (piece.phase == PIECE_ENTER) {
        node.end_ns = node.start_ns;
        node.own_ns = 0;
        node.role = NODE_BLOCK;
    }
    if (!add_node(build, line, node) || !add_thread_causes(build, line, &piece, before))
        return false;
    of->enter = of->last;
    if (piece.frame == NO_ID)
        return true;
    event = build->graph->path.frames.items[piece.frame].event;
    if (build->node_of_call[event] == NO_ID)
        build->node_of_call[event] = of->last;
    row = id_map_get(&build->collective_of, event);
    if (row != NO_ID && piece.phase == PIECE_ENTER)
        build->arrival[row] = of->last;
    return true;
}

/* The launch of device work. One outside of the sample counts from the start of the step, at which
 * it has been if it came before: so long ago says nothing of what the work still waits for. */
static bool add_launch(struct build *build, uint32_t line, uint32_t event, uint32_t launch)
{
    int64_t  at_ns = event_start_ns(build->profile, launch);
    uint32_t thread = build->line_of_timeline[build->timeline_of_call[launch]];
    uint32_t host = build->graph->lines.items[line].host, from = build->node_of_call[launch];
    int64_t  lag_ns = build->graph->launch_ns;

    (void)event;
    if (from == NO_ID && thread != NO_ID && build->lines.items[thread].last != NO_ID &&
        at_ns >= node_at(build, build->base_of_host[host])->start_ns)
        from = build->lines.items[thread].last; /* a call that took no time */
    if (from == NO_ID)
        from = build->base_of_host[host];
    lag_ns += at_ns - node_at(build, from)->start_ns;
    return add_edge(build, from, EDGE_LAUNCH, lag_ns > 0 ? lag_ns : 0, true);
}

/* Waits for other streams that were enqueued before this work. */
static bool add_stream_waits(struct build *build, uint32_t line, int64_t launch_ns)
{
    struct build_line *of = &build->lines.items[line];

    while (of->wait != NO_ID && build->waits.items[of->wait].from_ns <= launch_ns) {
        const struct call_wait  *wait = &build->waits.items[of->wait];
        const struct graph_node *node = node_at(build, (uint32_t)build->graph->nodes.count - 1);
        uint32_t                 from =
            build_ended_on(build, wait->stream_line, node->start_ns + CLOCK_NS, wait->before_ns);

        of->wait = wait->next;
        if (from != NO_ID && wait->stream_line != line &&
            !add_edge(build, from, EDGE_EVENT, build->graph->gap_ns, false))
            return false;
    }
    return true;
}

/* Work of another stream of the device that ended just before `time_ns`. */
static uint32_t ended_beside(const struct build *build, uint32_t line, int64_t time_ns,
                             int64_t after_ns)
{
    const struct profile *profile = build->profile;
    uint32_t device = profile->timelines.items[build->graph->lines.items[line].timeline].device;
    uint32_t best = NO_ID;
    int64_t  latest_ns = after_ns > time_ns - EXPLAINED_NS ? after_ns : time_ns - EXPLAINED_NS;

    for (uint32_t i = 0; i < build->lines.count; i++) {
        uint32_t node;

        if (i == line ||
            profile->timelines.items[build->graph->lines.items[i].timeline].device != device)
            continue;
        node = build_ended_on(build, i, time_ns, INT64_MAX);
        if (node != NO_ID && node_at(build, node)->end_ns > latest_ns) {
            latest_ns = node_at(build, node)->end_ns;
            best = node;
        }
    }
    return best;
}

/* The last node of a call on its thread, of those just before; NO_ID: it is not among them. */
static uint32_t end_of_call(const struct build *build, uint32_t call)
{
    uint32_t thread = build->line_of_timeline[build->timeline_of_call[call]];
    uint32_t node = thread == NO_ID ? NO_ID : build->lines.items[thread].last;

    for (int i = 0; i < LOOK_BACK && node != NO_ID; i++, node = build->previous.items[node])
        if (node_at(build, node)->frame != NO_ID &&
            build->graph->path.frames.items[node_at(build, node)->frame].event == call)
            return node;
    return NO_ID;
}

/* A call that first loads code or stages memory lasts, and its work begins inside it or when it is
 * done. *is_settled: that is what the last node's start waited for. */
static bool settle_long_call(struct build *build, uint32_t call, int64_t ready, bool *is_settled)
{
    struct event_graph *graph = build->graph;
    uint32_t            row = (uint32_t)graph->nodes.count - 1, from;
    int64_t             start_ns = graph->nodes.items[row].start_ns;
    int64_t             end_ns = event_end_ns(build->profile, call);

    *is_settled = end_ns > ready && start_ns <= end_ns + LONG_CALL_NS;
    if (!*is_settled)
        return true;
    if (start_ns > end_ns && (from = end_of_call(build, call)) != NO_ID)
        return add_edge(build, from, EDGE_LAUNCH, start_ns - node_at(build, from)->end_ns, false);
    for (size_t e = graph->nodes.items[row].first_edge; e < graph->edges.count; e++)
        if (graph->edges.items[e].kind == EDGE_LAUNCH)
            graph->edges.items[e].lag_ns += start_ns - ready;
    return true;
}

/* Explains what the known causes do not: another stream's work that ended just then, else a delay.
 * A start before its causes allow it takes back their means. */
static bool settle_start(struct build *build, uint32_t line, uint32_t call)
{
    struct event_graph *graph = build->graph;
    uint32_t            row = (uint32_t)graph->nodes.count - 1, beside;
    enum edge_kind      kind = EDGE_ORDER;
    int64_t             start_ns = graph->nodes.items[row].start_ns, ready = ready_ns(build, &kind);
    bool                is_settled;

    if (ready == INT64_MIN)
        return true;
    if (start_ns < ready - EXPLAINED_NS) {
        for (size_t e = graph->nodes.items[row].first_edge; e < graph->edges.count; e++) {
            int64_t excess_ns = edge_time_ns(build, &graph->edges.items[e]) - start_ns;

            if (excess_ns > 0)
                graph->edges.items[e].lag_ns -= excess_ns;
        }
        return true;
    }
    if (start_ns <= ready + (kind == EDGE_LAUNCH ? graph->launch_ns / 2 : 0))
        return true;
    if (kind == EDGE_LAUNCH && call != NO_ID) {
        if (!settle_long_call(build, call, ready, &is_settled))
            return false;
        if (is_settled)
            return true;
    }
    if (kind == EDGE_STREAM && start_ns - ready < GAP_MOST_NS) {
        graph->edges.items[graph->nodes.items[row].first_edge].lag_ns += start_ns - ready;
        return true;
    }
    beside = ended_beside(build, line, start_ns, ready);
    if (beside != NO_ID)
        return add_edge(build, beside, EDGE_EVENT, start_ns - node_at(build, beside)->end_ns,
                        false);
    graph->nodes.items[row].delay_ns = start_ns - ready;
    return true;
}

static bool add_device_causes(struct build *build, uint32_t line, uint32_t event, uint32_t before)
{
    uint32_t launch = build->launch_of[event], host = build->graph->lines.items[line].host;
    const struct graph_node *node = node_at(build, build->lines.items[line].last);
    int64_t                  start_ns = node->start_ns, lag_ns = build->graph->gap_ns;
    bool                     goes_on = start_ns > event_start_ns(build->profile, event);

    if (before != NO_ID && node_at(build, before)->end_ns + lag_ns > start_ns)
        lag_ns = start_ns - node_at(build, before)->end_ns;
    if (!add_edge(build, before, EDGE_STREAM, lag_ns, false))
        return false;
    if (goes_on && before != NO_ID)
        return true;
    if (launch != NO_ID && (!add_launch(build, line, event, launch) ||
                            !add_stream_waits(build, line, event_start_ns(build->profile, launch))))
        return false;
    if (launch == NO_ID && before == NO_ID && build->base_of_host[host] != NO_ID)
        return add_edge(build, build->base_of_host[host], EDGE_STEP,
                        start_ns - node_at(build, build->base_of_host[host])->start_ns, true);
    return settle_start(build, line, launch);
}

bool build_device(struct build *build, uint32_t line)
{
    struct build_line *of = &build->lines.items[line];
    struct piece       piece = of->piece;
    uint32_t           before = of->last, launch, row = NO_ID, event = NO_ID;
    struct graph_node  node = { .start_ns = piece.start_ns,
                                .end_ns = piece.end_ns,
                                .own_ns = piece.end_ns - piece.start_ns,
                                .frame = piece.frame,
                                .launcher = NO_ID,
                                .role = NODE_DEVICE,
                                .class = (uint8_t)class_of(build, piece.frame) };

    if (piece.frame == NO_ID) { /* a device that leads: its step ends later than its work */
        node.role = NODE_HOST;
        node.class = PART_UNKNOWN;
        return add_node(build, line, node) && add_edge(build, before, EDGE_ORDER, 0, false);
    }
    event = build->graph->path.frames.items[piece.frame].event;
    row = id_map_get(&build->collective_of, event);
    if (piece.phase == PIECE_LEAVE)
        return join(build, line, &piece, row);
    launch = build->launch_of[event];
    if (launch != NO_ID && build->node_of_call[launch] != NO_ID)
        node.launcher = node_at(build, build->node_of_call[launch])->frame;
    if (piece.phase == PIECE_ENTER) {
        node.end_ns = node.start_ns;
        node.own_ns = 0;
        node.role = NODE_BLOCK;
    }
    if (!add_node(build, line, node) || !add_device_causes(build, line, event, before))
        return false;
    if (piece.phase == PIECE_ENTER && build->collectives.items.items[row].event == event)
        build->arrival[row] = of->last;
    row = id_map_get(&build->begun_by, event);
    if (row != NO_ID)
        build->arrival[row] = of->last;
    of->enter = of->last;
    return true;
}
