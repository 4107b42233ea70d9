#include "analyze/path/held_up.h"

#include "analyze/path/work.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

enum {
    LEAST_CALLS = 16,     /* of an activity, to know what is usual */
    TIMES_USUAL = 20,     /* the median, from which a call was held up */
    SHORTEST_NS = 200000, /* … and at least this long */
    OWN_NS = 20000,       /* what begins that late in a call may be its own */
    RUNS_ON_NS = 50000    /* what it waits for runs on in it for this long */
};

struct call {
    uint32_t activity, frame;
    int64_t  self_ns;
};

static int by_length(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->activity, y->activity), COMPARE(x->self_ns, y->self_ns),
                    COMPARE(x->frame, y->frame));
}

static size_t find_calls(const struct study *study, struct call *calls)
{
    const struct path *path = &study->path;
    size_t             count = 0;

    for (uint32_t f = 0; f < path->frames.count; f++) {
        uint32_t event = path->frames.items[f].event;

        if (path->frames.items[f].timeline == path->leader &&
            event_activity(study->profile, event)->kind == ACTIVITY_DISPATCH)
            calls[count++] = (struct call) { event_activity_id(study->profile, event), f,
                                             path->frame_self_ns[f] };
    }
    qsort(calls, count, sizeof *calls, by_length);
    return count;
}

struct running { /* by start: up to when one of the runs so far goes on */
    int64_t start_ns, until_ns;
};
struct runnings {
    struct running *items;
    size_t          count;
};

static int by_start(const void *a, const void *b)
{
    const struct running *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x->until_ns, y->until_ns));
}

static bool find_running(const struct runs *runs, struct arena *scratch, struct runnings *running)
{
    running->items = arena_new_array(scratch, struct running, runs->list.count + 1);
    running->count = runs->list.count;
    if (!running->items)
        return false;
    for (size_t i = 0; i < running->count; i++)
        running->items[i] =
            (struct running) { runs->list.items[i].start_ns, runs->list.items[i].end_ns };
    qsort(running->items, running->count, sizeof *running->items, by_start);
    for (size_t i = 1; i < running->count; i++)
        if (running->items[i].until_ns < running->items[i - 1].until_ns)
            running->items[i].until_ns = running->items[i - 1].until_ns;
    return true;
}

static bool waits_for_a_run(const struct study *study, const struct runnings *running,
                            uint32_t event)
{
    int64_t called_ns = event_start_ns(study->profile, event);
    size_t  begun = LOWER_BOUND(running->count, i, running->items[i].start_ns < called_ns + OWN_NS);

    return begun > 0 && running->items[begun - 1].until_ns > called_ns + RUNS_ON_NS;
}

/* Of calls of one activity, shortest first: marks by frame those that were held up; what they
 * usually take. */
static double mark_held(const struct study *study, const struct runnings *running,
                        const struct call *calls, size_t count, bool *is_held)
{
    int64_t usual_ns = calls[count / 2].self_ns;
    double  sum_ns = 0;

    for (size_t i = count; count >= LEAST_CALLS && i > 0; i--) {
        uint32_t frame = calls[i - 1].frame;

        if (calls[i - 1].self_ns < SHORTEST_NS || calls[i - 1].self_ns < TIMES_USUAL * usual_ns)
            break;
        if (!waits_for_a_run(study, running, study->path.frames.items[frame].event))
            continue;
        is_held[frame] = true;
        sum_ns += (double)usual_ns;
    }
    return sum_ns;
}

bool held_up_find(const struct study *study, const struct runs *runs, struct arena *scratch,
                  double *ns)
{
    const struct path *path = &study->path;
    struct call       *calls = arena_new_array(scratch, struct call, path->frames.count + 1);
    bool              *is_held = arena_new_array(scratch, bool, path->frames.count + 1);
    double             held_ns = 0, usual_ns = 0, total_ns = 0;
    struct runnings    running;
    size_t             count, end;

    *ns = 0;
    if (!calls || !is_held || !find_running(runs, scratch, &running))
        return false;
    if (!path->frame_self_ns)
        return true;
    count = find_calls(study, calls);
    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && calls[end].activity == calls[i].activity;)
            end++;
        usual_ns += mark_held(study, &running, &calls[i], end - i, is_held);
    }
    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                length_ns = (double)(segment->end_ns - segment->start_ns);

        total_ns += length_ns;
        if (segment->part == PART_HOST && segment->frame != NO_ID && is_held[segment->frame])
            held_ns += length_ns;
    }
    if (held_ns > usual_ns)
        *ns = (held_ns - usual_ns) / total_ns * steps_ns(&study->steps);
    return true;
}
