#include "analyze/schedule/charge.h"

#include "analyze/device/device_activity.h"
#include "analyze/schedule/chain.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/interval.h"

#include <stdlib.h>

/* Work in the step that is charged. What the second run began before the first had ended, on a
 * stream that was free, stands for the same of a third run, a step later. */
struct started {
    int64_t  start_ns, end_ns;
    uint32_t row;
    int64_t  moved_ns;
};
struct charging {
    const struct schedule *schedule;
    struct arena          *arena;
    double                *part_ns;
    int64_t                from_ns, end_ns; /* of the step */
    size_t                 segment;         /* of the path, that was looked for last */
    uint32_t               device;          /* that the composition follows; NO_ID: none */
    VEC(struct started) started;            /* its work, by start */
    struct intervals busy;
};

/* What an edit is about by its class stays what it is, so that taking it away shows there. */
static bool is_edited_by_class(enum part part)
{
    return part == PART_INPUT || part == PART_COMMUNICATION || part == PART_COPY;
}

static bool is_device_work(const struct segment *segment)
{
    return segment->on_device && segment->frame != NO_ID &&
           (segment->part == PART_COMPUTE || segment->part == PART_COMMUNICATION ||
            segment->part == PART_COPY);
}

/* A thread's time counts as the composition has it. Where that has a device's work instead, which
 * goes on at another time now, it counts as what the thread did. */
static void charge_thread(struct charging *charging, const struct chain *chain)
{
    const struct path *path = &charging->schedule->graph->study->path;
    int64_t            length_ns = chain->recorded_to_ns - chain->recorded_from_ns;
    double             left_ns = (double)chain->ns;

    if (length_ns > 0)
        charging->segment = path_segment_near(path, chain->recorded_from_ns, charging->segment);
    for (size_t i = charging->segment; length_ns > 0 && i < path->segments.count &&
                                       path->segments.items[i].start_ns < chain->recorded_to_ns;
         i++) {
        const struct segment *segment = &path->segments.items[i];
        int64_t from_ns = segment->start_ns > chain->recorded_from_ns ? segment->start_ns
                                                                      : chain->recorded_from_ns;
        int64_t to_ns =
            segment->end_ns < chain->recorded_to_ns ? segment->end_ns : chain->recorded_to_ns;
        double ns = (double)chain->ns * (double)(to_ns - from_ns) / (double)length_ns;

        if (is_device_work(segment))
            continue;
        charging->part_ns[segment->part] += ns;
        left_ns -= ns;
    }
    charging->part_ns[chain->part] += left_ns;
}

/* Charges the time before a node's start, back to `from_ns`, to what it waited for. */
static void charge_wait(struct charging *charging, uint32_t row, int64_t at_ns, int64_t from_ns)
{
    const struct event_graph *graph = charging->schedule->graph;
    struct chain              chain = chain_from(charging->schedule, row, at_ns);

    while (chain.at_ns > from_ns && chain_step(&chain, from_ns)) {
        const struct graph_line *line = &graph->lines.items[chain.line];

        if ((line->is_device && chain.is_work) || line->host != graph->study->steps.host ||
            is_edited_by_class(chain.part))
            charging->part_ns[chain.part] += (double)chain.ns;
        else
            charge_thread(charging, &chain);
    }
    if (chain.at_ns > from_ns)
        charging->part_ns[PART_IDLE_OTHER] += (double)(chain.at_ns - from_ns);
}

static bool is_followed(const struct charging *charging, uint32_t row)
{
    const struct event_graph *graph = charging->schedule->graph;
    const struct graph_line  *line = &graph->lines.items[graph->nodes.items[row].line];

    return line->is_device &&
           graph->study->profile->timelines.items[line->timeline].device == charging->device;
}

static int by_start(const void *a, const void *b)
{
    const struct started *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x->row, y->row));
}

/* What lies in the step of a node that runs so much later. */
static bool add_work(struct charging *charging, uint32_t row, int64_t later_ns)
{
    struct started work = { charging->schedule->start_ns[row] + later_ns,
                            charging->schedule->end_ns[row] + later_ns, row, later_ns };

    if (work.start_ns < charging->from_ns)
        work.start_ns = charging->from_ns;
    if (work.end_ns > charging->end_ns)
        work.end_ns = charging->end_ns;
    return work.start_ns >= work.end_ns || vec_push(&charging->started, charging->arena, work);
}

static bool find_work(struct charging *charging)
{
    const struct schedule   *schedule = charging->schedule;
    const struct device_row *leading = device_activity_leading(schedule->graph->study);

    charging->device = leading ? leading->device : NO_ID;
    for (uint32_t row = 0; leading && row < schedule->graph->nodes.count; row++)
        if (is_followed(charging, row) &&
            (!add_work(charging, row, 0) ||
             !add_work(charging, row, charging->end_ns - charging->from_ns)))
            return false;
    if (charging->started.count)
        qsort(charging->started.items, charging->started.count, sizeof *charging->started.items,
              by_start);
    return true;
}

/* What the device does; of works at once the one that counts most. */
static bool charge_work(struct charging *charging)
{
    static const uint8_t order[] = { PART_COMPUTE, PART_HOST,  PART_COMMUNICATION,
                                     PART_COPY,    PART_INPUT, PART_OUTPUT };

    for (size_t i = 0; i < ARRAY_COUNT(order); i++) {
        struct intervals done = { 0 }, more = { 0 };

        for (size_t k = 0; k < charging->started.count; k++) {
            const struct started *work = &charging->started.items[k];

            if (charging->schedule->graph->nodes.items[work->row].class == order[i] &&
                !intervals_add(&done, charging->arena, work->start_ns, work->end_ns))
                return false;
        }
        intervals_settle(&done);
        if (!intervals_subtract(&done, &charging->busy, charging->arena, &more))
            return false;
        charging->part_ns[order[i]] += (double)intervals_total_ns(&more);
        for (size_t k = 0; k < more.list.count; k++)
            if (!intervals_add(&charging->busy, charging->arena, more.list.items[k].start_ns,
                               more.list.items[k].end_ns))
                return false;
        intervals_settle(&charging->busy);
    }
    return true;
}

/* The first of the device's works, from `*next` on, that starts at a time. */
static const struct started *starting_at(const struct charging *charging, int64_t time_ns,
                                         size_t *next)
{
    while (*next + 1 < charging->started.count && charging->started.items[*next].start_ns < time_ns)
        (*next)++;
    return &charging->started.items[*next];
}

bool charge_schedule(const struct schedule *schedule, struct arena *arena,
                     double part_ns[PART_COUNT])
{
    struct charging charging = { .schedule = schedule,
                                 .arena = arena,
                                 .part_ns = part_ns,
                                 .from_ns = schedule->from_ns,
                                 .end_ns = schedule->end_ns[schedule->last_node] };
    int64_t         at_ns = charging.from_ns;
    double          scale = schedule->step_ns / (double)(charging.end_ns - charging.from_ns);
    size_t          next = 0;

    for (int part = 0; part < PART_COUNT; part++)
        part_ns[part] = 0;
    if (charging.end_ns <= at_ns)
        return true;
    if (!find_work(&charging) || !charge_work(&charging))
        return false;
    for (size_t i = 0; i < charging.busy.list.count; i++) {
        const struct interval *busy = &charging.busy.list.items[i];
        const struct started  *first = starting_at(&charging, busy->start_ns, &next);

        if (busy->start_ns > at_ns)
            charge_wait(&charging, first->row, busy->start_ns - first->moved_ns,
                        at_ns - first->moved_ns);
        at_ns = busy->end_ns;
    }
    charge_wait(&charging, schedule->last_node, charging.end_ns, at_ns);
    for (int part = 0; part < PART_COUNT; part++)
        part_ns[part] *= scale;
    return true;
}
