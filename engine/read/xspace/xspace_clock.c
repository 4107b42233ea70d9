/*
 * A TPU core tells each op's time twice: on its own clock, and on the host's as well as the
 * profiler knew it, which can be late by more than an op takes. What the core's clock says is right
 * up to a shift and a drift; nothing is seen before it happens, so these are the lowest line under
 * how far the two are apart. Lines of the core that are on the host's clock alone are moved along
 * with its ops.
 */
#include "read/xspace/xspace_decode.h"

#include <stdlib.h>

#define MOST_DRIFT 1e-4 /* of one clock against the other */
#define MOST_PS (INT64_MAX / 4)
enum { BATCH = 512 };

/* An op that is in no other, by both clocks, and where it belongs. */
struct stretch {
    int64_t host_ns, host_end_ns, clock_ns, clock_end_ns, placed_ns;
};
struct clock {
    struct profile *profile;
    struct arena    scratch;
    VEC(struct stretch) list;
    bool is_steady; /* on the device's clock nothing overlaps but what is in another */
};

static int64_t floor_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

/* Whole ns, as other events are: both ends rounded down. */
static bool clock_of(const struct profile *profile, uint32_t event, int64_t *start_ns,
                     int64_t *end_ns)
{
    int64_t start_ps, length_ps;

    if (!profile_stat(profile, STAT_DEVICE_START_PS, event, &start_ps) ||
        !profile_stat(profile, STAT_DEVICE_PS, event, &length_ps) || start_ps > MOST_PS ||
        start_ps < -MOST_PS || length_ps < 0 || length_ps > MOST_PS)
        return false;
    *start_ns = floor_ns(start_ps);
    *end_ns = floor_ns(start_ps + length_ps);
    return true;
}

/* Earlier ones first, and what holds others before them. */
static int by_clock(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    if (x->clock_ns != y->clock_ns)
        return x->clock_ns < y->clock_ns ? -1 : 1;
    if (x->clock_end_ns != y->clock_end_ns)
        return x->clock_end_ns > y->clock_end_ns ? -1 : 1;
    if (x->host_ns != y->host_ns)
        return x->host_ns < y->host_ns ? -1 : 1;
    return (x->host_end_ns < y->host_end_ns) - (x->host_end_ns > y->host_end_ns);
}

/* Keeps those that are in no other. Late times of the host can fall together, so that they do not
 * tell the order; what both clocks tell must not contradict the device's. */
static void keep_outer(struct clock *clock)
{
    size_t kept = 0;

    clock->is_steady = true;
    for (size_t i = 0; i < clock->list.count; i++) {
        const struct stretch *next = &clock->list.items[i];
        const struct stretch *last = kept ? &clock->list.items[kept - 1] : NULL;

        if (last && next->host_end_ns <= last->host_end_ns &&
            next->clock_end_ns <= last->clock_end_ns)
            continue;
        clock->is_steady &=
            !last || (next->clock_ns >= last->clock_end_ns && next->host_ns >= last->host_ns);
        clock->list.items[kept++] = *next;
    }
    clock->list.count = kept;
}

/* All ops of the line, in the order of its times on the host's clock. */
static bool list_ops(struct clock *clock, const struct timeline *timeline)
{
    const struct profile *profile = clock->profile;

    clock->list.count = 0;
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t       event = timeline->first_event + i;
        struct stretch next = { .host_ns = event_start_ns(profile, event),
                                .host_end_ns = event_end_ns(profile, event) };

        if (clock_of(profile, event, &next.clock_ns, &next.clock_end_ns) &&
            !vec_push(&clock->list, &clock->scratch, next))
            return false;
    }
    return true;
}

static bool collect(struct clock *clock, const struct timeline *timeline)
{
    if (!list_ops(clock, timeline))
        return false;
    if (clock->list.count > 1)
        qsort(clock->list.items, clock->list.count, sizeof *clock->list.items, by_clock);
    keep_outer(clock);
    if (clock->is_steady)
        return true;
    if (!list_ops(clock, timeline))
        return false;
    keep_outer(clock);
    clock->is_steady = false;
    return true;
}

struct line {
    int64_t from_ns; /* on the device's clock */
    int64_t shift_ns;
    double  drift;
};

static double rise(const struct stretch *a, const struct stretch *b)
{
    double apart = (double)((b->host_ns - b->clock_ns) - (a->host_ns - a->clock_ns));

    return apart / (double)(b->clock_ns - a->clock_ns);
}

/* The lower hull of all shifts, in place of its list; its side under the middle is the line. */
static bool fit_line(struct clock *clock, struct line *line)
{
    const struct stretch *items = clock->list.items;
    size_t               *hull = arena_new_array(&clock->scratch, size_t, clock->list.count);
    int64_t               middle_ns =
        items[0].clock_ns + (items[clock->list.count - 1].clock_ns - items[0].clock_ns) / 2;
    size_t count = 0, side = 0, low = 0;

    if (!hull)
        return false;
    for (size_t i = 0; i < clock->list.count; i++) {
        if (count && items[hull[count - 1]].clock_ns == items[i].clock_ns)
            continue;
        while (count > 1 && rise(&items[hull[count - 2]], &items[i]) <=
                                rise(&items[hull[count - 2]], &items[hull[count - 1]]))
            count--;
        hull[count++] = i;
    }
    while (side + 2 < count && items[hull[side + 1]].clock_ns < middle_ns)
        side++;
    for (size_t i = 1; i < count; i++)
        if (items[hull[i]].host_ns - items[hull[i]].clock_ns <
            items[hull[low]].host_ns - items[hull[low]].clock_ns)
            low = i;
    *line = (struct line) { .from_ns = items[hull[side]].clock_ns };
    if (count > 1)
        line->drift = rise(&items[hull[side]], &items[hull[side + 1]]);
    if (line->drift > MOST_DRIFT || line->drift < -MOST_DRIFT) {
        line->drift = 0;
        side = low;
    }
    line->shift_ns = items[hull[side]].host_ns - items[hull[side]].clock_ns;
    return true;
}

/* Where the line says, but never before the op ahead is over. Without a clock that can be used ops
 * keep their place and have its lengths. */
static bool place(struct clock *clock)
{
    struct line line = { 0 };
    int64_t     end_ns = INT64_MIN;

    if (clock->is_steady && !fit_line(clock, &line))
        return false;
    for (size_t i = 0; i < clock->list.count; i++) {
        struct stretch *stretch = &clock->list.items[i];

        stretch->placed_ns = stretch->host_ns;
        if (clock->is_steady)
            stretch->placed_ns = stretch->clock_ns + line.shift_ns +
                                 (int64_t)(line.drift * (double)(stretch->clock_ns - line.from_ns));
        if (stretch->placed_ns < end_ns)
            stretch->placed_ns = end_ns;
        end_ns = stretch->placed_ns + (stretch->clock_end_ns - stretch->clock_ns);
    }
    return true;
}

/* The last stretch that begins at `at_ns` or before; the first where none does. */
static size_t find(const struct clock *clock, int64_t at_ns, bool is_clock)
{
    size_t low = 0, high = clock->list.count;

    while (high - low > 1) {
        size_t                middle = low + (high - low) / 2;
        const struct stretch *stretch = &clock->list.items[middle];

        if ((is_clock ? stretch->clock_ns : stretch->host_ns) <= at_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t between(int64_t at_ns, int64_t from_ns, int64_t to_ns, int64_t low_ns,
                       int64_t high_ns)
{
    double part = to_ns > from_ns ? (double)(at_ns - from_ns) / (double)(to_ns - from_ns) : 0;

    return low_ns + (int64_t)(part * (double)(high_ns - low_ns) + 0.5);
}

/* A time of the host's clock: in an op and between ops in proportion, so that order is kept. */
static int64_t from_host(const struct clock *clock, int64_t at_ns)
{
    size_t                index = find(clock, at_ns, false);
    const struct stretch *here = &clock->list.items[index];
    int64_t               end_ns = here->placed_ns + (here->clock_end_ns - here->clock_ns);

    if (at_ns < here->host_ns)
        return here->placed_ns - (here->host_ns - at_ns);
    if (at_ns <= here->host_end_ns)
        return between(at_ns, here->host_ns, here->host_end_ns, here->placed_ns, end_ns);
    if (index + 1 == clock->list.count)
        return end_ns + (at_ns - here->host_end_ns);
    return between(at_ns, here->host_end_ns, here[1].host_ns, end_ns, here[1].placed_ns);
}

static int64_t from_clock(const struct clock *clock, int64_t at_ns)
{
    size_t                index = find(clock, at_ns, true);
    const struct stretch *here = &clock->list.items[index];
    int64_t               end_ns = here->placed_ns + (here->clock_end_ns - here->clock_ns);

    if (at_ns <= here->clock_end_ns || index + 1 == clock->list.count)
        return here->placed_ns + (at_ns - here->clock_ns);
    return between(at_ns, here->clock_end_ns, here[1].clock_ns, end_ns, here[1].placed_ns);
}

static void move(const struct clock *clock, uint32_t event, int64_t *start_ns, int64_t *end_ns)
{
    int64_t               clock_ns, clock_end_ns, host_ns = *start_ns;
    const struct stretch *inside = &clock->list.items[find(clock, host_ns, false)];
    int64_t               limit_ns = inside->placed_ns + (inside->clock_end_ns - inside->clock_ns);
    bool                  is_inside = *end_ns <= inside->host_end_ns;

    *start_ns = from_host(clock, host_ns);
    *end_ns = from_host(clock, *end_ns);
    if (!clock_of(clock->profile, event, &clock_ns, &clock_end_ns))
        return;
    if (clock->is_steady)
        *start_ns = from_clock(clock, clock_ns);
    *end_ns = *start_ns + (clock_end_ns - clock_ns);
    if (!clock->is_steady && is_inside && *end_ns > limit_ns)
        *end_ns = limit_ns > *start_ns ? limit_ns : *start_ns;
}

static bool move_line(const struct clock *clock, struct line_task *task)
{
    struct profile        *profile = clock->profile;
    const struct timeline *timeline = &profile->timelines.items[task->timeline];
    int64_t  starts_ns[BATCH], lengths_ns[BATCH], last_ns = INT64_MIN, last_end_ns = 0;
    uint32_t count;
    bool     is_sorted = true;

    task->start_ns = INT64_MAX;
    task->end_ns = INT64_MIN;
    for (uint32_t i = 0; i < timeline->event_count; i += count) {
        uint32_t first = timeline->first_event + i;

        count = timeline->event_count - i < BATCH ? timeline->event_count - i : BATCH;
        for (uint32_t n = 0; n < count; n++) {
            int64_t start_ns = event_start_ns(profile, first + n);
            int64_t end_ns = event_end_ns(profile, first + n);

            move(clock, first + n, &start_ns, &end_ns);
            is_sorted &= start_ns > last_ns || (start_ns == last_ns && end_ns <= last_end_ns);
            last_ns = start_ns;
            last_end_ns = end_ns;
            starts_ns[n] = start_ns;
            lengths_ns[n] = end_ns - start_ns;
            task->start_ns = start_ns < task->start_ns ? start_ns : task->start_ns;
            task->end_ns = end_ns > task->end_ns ? end_ns : task->end_ns;
        }
        if (!packed_write(&profile->event_starts_ns, profile->arena, first, starts_ns, count) ||
            !packed_write(&profile->event_durations_ns, profile->arena, first, lengths_ns, count))
            return false;
    }
    return is_sorted || xspace_sort(profile, timeline);
}

static bool move_device(struct xspace_tasks *tasks, struct profile *profile, uint32_t device)
{
    struct clock clock = { .profile = profile,
                           .scratch.budget_bytes = profile->arena->budget_bytes };
    bool         ok = true;

    for (size_t i = 0; ok && clock.list.count == 0 && i < profile->timelines.count; i++)
        if (profile->timelines.items[i].device == device &&
            profile->timelines.items[i].kind == TIMELINE_OPS)
            ok = collect(&clock, &profile->timelines.items[i]);
    ok = ok && (clock.list.count == 0 || place(&clock));
    for (size_t i = 0; ok && clock.list.count && i < tasks->list.count; i++) {
        struct line_task      *task = &tasks->list.items[i];
        const struct timeline *timeline = &profile->timelines.items[task->timeline];

        if (timeline->device == device && timeline->event_count)
            ok = move_line(&clock, task);
    }
    arena_free(&clock.scratch);
    return ok;
}

bool xspace_clocks(struct xspace_tasks *tasks, struct profile *profile)
{
    for (uint32_t i = 0; i < profile->devices.count; i++)
        if (stat_count(&profile->stats[STAT_DEVICE_PS]) > 0 && !move_device(tasks, profile, i))
            return false;
    return true;
}
