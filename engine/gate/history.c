#include "gate/history.h"

#include "gate/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct window { /* what one is searched with */
    const double *values;
    size_t        count;
    double       *rows, *columns; /* see best_split */
};

static double mean_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static struct moments moments_of(const double *values, size_t count)
{
    struct moments moments = { .count = count, .mean = mean_of(values, count) };
    double         sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (values[i] - moments.mean) * (values[i] - moments.mean);
    moments.deviation = sqrt(sum / (double)count);
    return moments;
}

static struct change_point test_split(const double *values, size_t from, size_t at, size_t to)
{
    struct moments left = moments_of(values + from, at - from);
    struct moments right = moments_of(values + at, to - at);

    return (struct change_point) {
        .index = at, .before = left.mean, .after = right.mean, .p_value = t_test(&left, &right)
    };
}

struct split {
    size_t index;
    double distance; /* below 0: none */
};

/*
 * The split of [from, to) with the largest energy distance between values [from, split) and
 * [split, end), over every split and end. With n and m values on the sides it is
 *     2/(n+m) * between - 2m/((n+m)(n-1)) * within left - 2n/((n+m)(m-1)) * within right,
 * each a sum of distances of pairs. For one end, the sums for neighbouring splits differ by one
 * value's distances to the left (columns) and to the right (rows).
 */
static struct split best_split(const struct window *window, size_t from, size_t to)
{
    const double *values = window->values;
    struct split  best = { from, -1 };

    for (size_t i = from; i < to; i++)
        window->columns[i] = window->rows[i] = 0;
    for (size_t i = from; i < to; i++)
        for (size_t j = from; j < i; j++)
            window->columns[i] += fabs(values[i] - values[j]);
    for (size_t end = from + 2; end <= to; end++) {
        double all = 0, left = 0, right, between, n, m;

        /* rows[i]: distances of i to those behind it, before `end` */
        for (size_t i = from; i + 1 < end; i++)
            window->rows[i] += fabs(values[i] - values[end - 1]);
        for (size_t i = from; i < end; i++)
            all += window->columns[i];
        right = all;
        for (size_t split = from + 1; split < end; split++) {
            double distance;

            /* values[split - 1] changes sides */
            left += window->columns[split - 1];
            right -= window->rows[split - 1];
            between = all - left - right;
            n = (double)(split - from);
            m = (double)(end - split);
            distance = 2 / (n + m) * between;
            if (n > 1)
                distance -= 2 * m / ((n + m) * (n - 1)) * left;
            if (m > 1)
                distance -= 2 * n / ((n + m) * (m - 1)) * right;
            if (distance > best.distance || (distance == best.distance && split < best.index))
                best = (struct split) { split, distance };
        }
    }
    return best;
}

static bool insert(struct change_points *points, struct change_point point, struct arena *arena)
{
    size_t at = points->list.count;

    if (!vec_push(&points->list, arena, point))
        return false;
    for (; at > 0 && points->list.items[at - 1].index > point.index; at--)
        points->list.items[at] = points->list.items[at - 1];
    points->list.items[at] = point;
    return true;
}

/* Borders of segment `i` of [0, count) cut at the points. */
static size_t segment_start(const struct change_points *points, size_t i)
{
    return i == 0 ? 0 : points->list.items[i - 1].index;
}

static size_t segment_end(const struct change_points *points, size_t i, size_t count)
{
    return i == points->list.count ? count : points->list.items[i].index;
}

/* Splits a window where the distance is largest, as long as the test agrees. */
static bool split_window(const struct window *window, double p_value, struct arena *arena,
                         struct change_points *points)
{
    for (;;) {
        struct split        best = { 0, -1 };
        size_t              segment = 0;
        struct change_point point;

        for (size_t i = 0; i <= points->list.count; i++) {
            size_t from = segment_start(points, i), to = segment_end(points, i, window->count);
            struct split split = { 0, -1 };

            if (to - from > 1)
                split = best_split(window, from, to);
            if (split.distance > best.distance) {
                best = split;
                segment = i;
            }
        }
        if (best.distance < 0)
            return true;
        point = test_split(window->values, segment_start(points, segment), best.index,
                           segment_end(points, segment, window->count));
        if (!(point.p_value <= p_value))
            return true;
        if (!insert(points, point, arena))
            return false;
    }
}

static bool is_known(const struct change_points *points, size_t index)
{
    for (size_t i = 0; i < points->list.count; i++)
        if (points->list.items[i].index == index)
            return true;
    return false;
}

/* Splits in windows that overlap by half. */
static bool split_series(const double *values, size_t count, size_t length, double p_value,
                         struct arena *arena, struct change_points *points)
{
    struct window window = {
        .rows = arena_new_array(arena, double, length + 1),
        .columns = arena_new_array(arena, double, length + 1),
    };

    if (!window.rows || !window.columns)
        return false;
    for (size_t start = 0; start < count;) {
        struct change_points found = { 0 };
        size_t               last = 0;

        window.values = values + start;
        window.count = count - start < length ? count - start : length;
        if (!split_window(&window, p_value, arena, &found))
            return false;
        for (size_t i = 0; i < found.list.count; i++) {
            struct change_point point = found.list.items[i];

            last = point.index += start;
            if (!is_known(points, point.index) && !insert(points, point, arena))
                return false;
        }
        start = last > start + length / 2 ? last : start + length / 2;
    }
    return true;
}

static void test_again(struct change_points *points, size_t i, const double *values, size_t count)
{
    if (i < points->list.count)
        points->list.items[i] =
            test_split(values, segment_start(points, i), points->list.items[i].index,
                       segment_end(points, i + 1, count));
}

/* Relative change, seen from the side where it is larger. */
static double magnitude(const struct change_point *point)
{
    double forward = point->before != 0 ? fabs(point->after / point->before - 1) : 0;
    double backward = point->after != 0 ? fabs(point->before / point->after - 1) : 0;

    return fmax(forward, backward);
}

/* The point to undo next; list.count: all may stay. */
static size_t weakest(const struct change_points *points, const struct change_options *options)
{
    size_t least = 0;

    for (size_t i = 1; i < points->list.count; i++)
        if (points->list.items[i].p_value > points->list.items[least].p_value)
            least = i;
    if (!(points->list.items[least].p_value < options->p_value))
        return least;
    least = 0;
    for (size_t i = 1; i < points->list.count; i++)
        if (magnitude(&points->list.items[i]) < magnitude(&points->list.items[least]))
            least = i;
    return magnitude(&points->list.items[least]) > options->magnitude ? points->list.count : least;
}

static void merge(struct change_points *points, const double *values, size_t count,
                  const struct change_options *options)
{
    while (points->list.count > 0) {
        size_t least = weakest(points, options);

        if (least == points->list.count)
            return;
        memmove(&points->list.items[least], &points->list.items[least + 1],
                (points->list.count - least - 1) * sizeof *points->list.items);
        points->list.count--;
        /* As Otava does it: the point before keeps the answer of its last test. */
        test_again(points, least, values, count);
        test_again(points, least + 1, values, count);
    }
}

/* What the first pass accepts, so that it finds candidates rather than answers. */
static double relaxed(double p_value)
{
    if (p_value < 0.05)
        return 10 * p_value;
    return p_value < 0.5 ? 2 * p_value : p_value;
}

bool change_points_find(const double *values, size_t count, const struct change_options *options,
                        struct arena *arena, struct change_points *points)
{
    size_t window = options->window < 2 ? 2 : options->window;

    *points = (struct change_points) { 0 };
    if (!split_series(values, count, window, relaxed(options->p_value), arena, points))
        return false;
    for (size_t i = 0; i < points->list.count; i++)
        test_again(points, i, values, count);
    merge(points, values, count, options);
    for (size_t i = 0; i < points->list.count; i++) {
        struct change_point *point = &points->list.items[i];
        size_t from = segment_start(points, i), to = segment_end(points, i + 1, count);

        point->before = mean_of(values + from, point->index - from);
        point->after = mean_of(values + point->index, to - point->index);
    }
    return true;
}
