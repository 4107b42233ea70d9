/*
 * A TPU core tells each op's time twice: on its own clock, and on the host's as well as the
 * profiler knew it, which can be late by more than an op takes. What the core's clock says is right
 * up to a shift and a drift; nothing is seen before it happens, so these are the lowest line under
 * how far the two are apart. Where the host's clock was wrong for a while, a few ops look as if
 * they were: no drift explains them, and they are left out of it. Lines of the core that are on the
 * host's clock alone are moved along with its ops.
 */
#include "base/macros.h"
#include "base/sort.h"
#include "read/xspace/xspace_decode.h"

#include <stdlib.h>

#define MOST_DRIFT 1e-4 /* of one clock against the other */
#define MOST_PS (INT64_MAX / 4)
enum {
    BATCH = 512,
    ROUNDING_NS = 2, /* both clocks are rounded */
};

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

    return IN_ORDER(COMPARE(x->clock_ns, y->clock_ns), COMPARE(y->clock_end_ns, x->clock_end_ns),
                    COMPARE(x->host_ns, y->host_ns), COMPARE(y->host_end_ns, x->host_end_ns));
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

struct point { /* how far the host's clock is ahead */
    int64_t clock_ns, shift_ns;
};
struct line {
    int64_t      from_ns; /* on the device's clock */
    int64_t      shift_ns;
    double       drift;
    struct point to; /* where it ends */
};
struct points {
    struct point *items;
    size_t        count;
    size_t       *hull; /* rows, the lower hull */
    size_t        hull_count;
};

static double rise(const struct point *a, const struct point *b)
{
    return (double)(b->shift_ns - a->shift_ns) / (double)(b->clock_ns - a->clock_ns);
}

static void find_hull(struct points *points)
{
    const struct point *items = points->items;
    size_t             *hull = points->hull, count = 0;

    for (size_t i = 0; i < points->count; i++) {
        if (count && items[hull[count - 1]].clock_ns == items[i].clock_ns)
            continue;
        while (count > 1 && rise(&items[hull[count - 2]], &items[i]) <=
                                rise(&items[hull[count - 2]], &items[hull[count - 1]]))
            count--;
        hull[count++] = i;
    }
    points->hull_count = count;
}

/* The side of the hull under the middle is the line. */
static struct line middle_side(const struct points *points, int64_t middle_ns)
{
    const struct point *items = points->items;
    struct line         line = { 0 };
    size_t              side = 0;

    while (side + 2 < points->hull_count && items[points->hull[side + 1]].clock_ns < middle_ns)
        side++;
    line.from_ns = items[points->hull[side]].clock_ns;
    line.shift_ns = items[points->hull[side]].shift_ns;
    if (points->hull_count > 1)
        line.drift = rise(&items[points->hull[side]], &items[points->hull[side + 1]]);
    line.to = points->hull_count > 1 ? items[points->hull[side + 1]]
                                     : (struct point) { line.from_ns, line.shift_ns };
    return line;
}

/* Drops the lower end of a line that is too steep, and what tells the same shift as it does; how
 * many. */
static size_t drop_lower(struct points *points, const struct line *line)
{
    struct point lower = { line->from_ns, line->shift_ns };
    size_t       kept = 0, count = points->count;

    if (line->to.shift_ns < lower.shift_ns)
        lower = line->to;
    for (size_t i = 0; i < count; i++) {
        const struct point *point = &points->items[i];
        double              apart = (double)(point->clock_ns - lower.clock_ns);

        if ((double)(point->shift_ns - lower.shift_ns) >
            ROUNDING_NS + MOST_DRIFT * (apart < 0 ? -apart : apart))
            points->items[kept++] = *point;
    }
    points->count = kept;
    return count - kept;
}

static struct point lowest(const struct clock *clock)
{
    const struct stretch *items = clock->list.items;
    size_t                low = 0;

    for (size_t i = 1; i < clock->list.count; i++)
        if (items[i].host_ns - items[i].clock_ns < items[low].host_ns - items[low].clock_ns)
            low = i;
    return (struct point) { items[low].clock_ns, items[low].host_ns - items[low].clock_ns };
}

static bool fit_line(struct clock *clock, struct line *line)
{
    enum { MOST_WRONG = 10, MOST_ROUNDS = 16 }; /* one op in so many */
    const struct stretch *ops = clock->list.items;
    size_t                count = clock->list.count, dropped = 0;
    int64_t       middle_ns = ops[0].clock_ns + (ops[count - 1].clock_ns - ops[0].clock_ns) / 2;
    struct points points = { .count = count };
    struct point  low = lowest(clock);

    points.items = arena_new_array(&clock->scratch, struct point, count);
    points.hull = arena_new_array(&clock->scratch, size_t, count);
    if (!points.items || !points.hull)
        return false;
    for (size_t i = 0; i < count; i++)
        points.items[i] = (struct point) { ops[i].clock_ns, ops[i].host_ns - ops[i].clock_ns };
    for (int round = 0; round < MOST_ROUNDS && dropped * MOST_WRONG <= count; round++) {
        find_hull(&points);
        *line = middle_side(&points, middle_ns);
        if (line->drift <= MOST_DRIFT && line->drift >= -MOST_DRIFT)
            return true;
        dropped += drop_lower(&points, line);
    }
    *line = (struct line) { .from_ns = low.clock_ns, .shift_ns = low.shift_ns };
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
    const struct stretch *list = clock->list.items;
    size_t                behind =
        LOWER_BOUND(clock->list.count, i, (is_clock ? list[i].clock_ns : list[i].host_ns) <= at_ns);

    return behind - (behind > 0);
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
