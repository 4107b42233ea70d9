/* event_graph_waits: what a thread waited for. */
#include "analyze/schedule/event_graph_build.h"

enum {
    CLOSE_NS = 30000, /* a call that ends so soon after a kernel waited for it */
    QUEUE_NS = 500000 /* a launch whose kernel runs so much later may find a full queue */
};

#define WAITING_KINDS                                                                              \
    (KIND_BIT(ACTIVITY_WAIT) | KIND_BIT(ACTIVITY_INPUT_WAIT) | KIND_BIT(ACTIVITY_INPUT_STAGE) |    \
     KIND_BIT(ACTIVITY_INPUT_BUFFER))
#define DEVICE_KINDS                                                                               \
    (KIND_BIT(ACTIVITY_LAUNCH) | KIND_BIT(ACTIVITY_TRANSFER) | KIND_BIT(ACTIVITY_ALLOC))

static uint32_t kind_bit(const struct build *build, uint32_t frame)
{
    if (frame == NO_ID)
        return KIND_BIT(ACTIVITY_OTHER);
    return KIND_BIT(
        event_activity(build->profile, build->graph->path.frames.items[frame].event)->kind);
}

/* The work of other threads that ended last before `piece` did, while it went on: work that was
 * handed to them in it, and collectives that go on beside the thread. */
static uint32_t awaited_thread(const struct build *build, uint32_t line, const struct piece *piece,
                               bool began_inside)
{
    uint32_t host = build->graph->lines.items[line].host;
    int64_t  latest_ns = piece->start_ns;
    uint32_t best = NO_ID;

    for (uint32_t i = 0; i < build->lines.count; i++) {
        const struct graph_line *of = &build->graph->lines.items[i];
        const struct build_line *other = &build->lines.items[i];

        if (of->host != host || of->is_device || i == line || other->last == NO_ID ||
            (began_inside && makes_input(build, node_at(build, other->last))) ||
            (began_inside && other->burst_start_ns < piece->start_ns &&
             node_at(build, other->last)->class != PART_COMMUNICATION))
            continue;
        if (node_at(build, other->last)->end_ns <= piece->end_ns &&
            node_at(build, other->last)->end_ns > latest_ns) {
            latest_ns = node_at(build, other->last)->end_ns;
            best = other->last;
        }
    }
    return best;
}

static int64_t launched_ns(const struct build *build, const struct graph_node *node)
{
    uint32_t launch;

    if (node->frame == NO_ID)
        return node->start_ns;
    launch = build->launch_of[build->graph->path.frames.items[node->frame].event];
    return launch == NO_ID ? INT64_MIN : event_start_ns(build->profile, launch);
}

uint32_t build_ended_on(const struct build *build, uint32_t line, int64_t time_ns,
                        int64_t before_ns)
{
    uint32_t node = build->lines.items[line].last;

    for (int i = 0; i < LOOK_BACK && node != NO_ID; i++, node = build->previous.items[node])
        if (node_at(build, node)->end_ns <= time_ns &&
            launched_ns(build, node_at(build, node)) <= before_ns)
            return node;
    return NO_ID;
}

/* The device work whose end let a call return: of the streams it is known to wait for, else of all
 * of its host. NO_ID: none ended while it waited. */
static uint32_t awaited_work(const struct build *build, uint32_t line, const struct piece *piece)
{
    uint32_t host = build->graph->lines.items[line].host;
    uint32_t row =
        id_map_get(&build->wait_of_call, build->graph->path.frames.items[piece->frame].event);
    int64_t  before_ns = piece->start_ns, latest_ns = piece->start_ns;
    uint32_t stream = NO_ID, best = NO_ID;

    if (row != NO_ID) {
        stream = build->waits.items[row].stream_line;
        if (build->waits.items[row].before_ns < before_ns)
            before_ns = build->waits.items[row].before_ns;
    }
    for (uint32_t i = 0; i < build->lines.count; i++) {
        uint32_t node;

        if (!build->graph->lines.items[i].is_device || build->graph->lines.items[i].host != host ||
            (stream != NO_ID && i != stream))
            continue;
        node = build_ended_on(build, i, piece->end_ns + CLOCK_NS, before_ns);
        if (node != NO_ID && node_at(build, node)->end_ns > latest_ns) {
            latest_ns = node_at(build, node)->end_ns;
            best = node;
        }
    }
    return best;
}

/* Work that the call itself enqueued and that ended before it returned. */
static uint32_t own_work(const struct build *build, const struct piece *piece)
{
    uint32_t call = build->graph->path.frames.items[piece->frame].event;

    for (uint32_t i = 0; i < build->lines.count; i++) {
        uint32_t node = build->lines.items[i].last;

        if (!build->graph->lines.items[i].is_device)
            continue;
        for (int k = 0; k < 4 && node != NO_ID; k++, node = build->previous.items[node]) {
            uint32_t frame = node_at(build, node)->frame;

            if (frame != NO_ID && node_at(build, node)->end_ns <= piece->end_ns + CLOCK_NS &&
                build->launch_of[build->graph->path.frames.items[frame].event] == call)
                return node;
        }
    }
    return NO_ID;
}

/* A launch that lasts because the queue of its stream is full returns when a kernel starts. */
static bool finds_full_queue(const struct build *build, const struct piece *piece, uint32_t work)
{
    uint32_t line = node_at(build, work)->line;
    int64_t  since_ns = launched_ns(build, node_at(build, build->lines.items[line].last));

    /* Far behind: what the stream runs now was enqueued long ago. */
    return since_ns != INT64_MIN && piece->start_ns - since_ns > QUEUE_NS;
}

/* Steps of a host that runs ahead of its device end with the device's work, and no call says so: a
 * thread that does nothing till then waits for it. */
static uint32_t closing_work(const struct build *build, uint32_t line, const struct piece *piece)
{
    uint32_t host = build->graph->lines.items[line].host;

    for (uint32_t i = 0; i < build->lines.count; i++) {
        uint32_t node;

        if (!build->graph->lines.items[i].is_device || build->graph->lines.items[i].host != host)
            continue;
        node = build_ended_on(build, i, piece->end_ns, INT64_MAX);
        if (node != NO_ID && node_at(build, node)->end_ns == piece->end_ns)
            return node;
    }
    return NO_ID;
}

uint32_t build_awaited(const struct build *build, uint32_t line, const struct piece *piece,
                       enum edge_kind *edge)
{
    uint32_t bit = kind_bit(build, piece->frame), node;
    int64_t  length_ns = piece->end_ns - piece->start_ns;

    *edge = EDGE_SYNC;
    if (piece->frame == NO_ID && piece->end_ns == build->lines.items[line].window_end_ns &&
        (node = closing_work(build, line, piece)) != NO_ID)
        return node;
    if (bit & KIND_BIT(ACTIVITY_SYNC))
        if ((node = awaited_work(build, line, piece)) != NO_ID || build->graph->has_device)
            return node;
    if (bit & DEVICE_KINDS) {
        if ((node = own_work(build, piece)) != NO_ID)
            return node;
        node = awaited_work(build, line, piece);
        if (node == NO_ID || piece->end_ns - node_at(build, node)->end_ns > CLOSE_NS ||
            ((bit & KIND_BIT(ACTIVITY_LAUNCH)) && !finds_full_queue(build, piece, node)))
            return NO_ID;
        return node;
    }
    *edge = EDGE_HANDOVER;
    if (bit & WAITING_KINDS)
        return awaited_thread(build, line, piece, false);
    node = awaited_thread(build, line, piece, (bit & KIND_BIT(ACTIVITY_SYNC)) == 0);
    if (node != NO_ID && piece->end_ns - node_at(build, node)->end_ns > length_ns / 5 + PAUSE_NS)
        return NO_ID;
    return node;
}
