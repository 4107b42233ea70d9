#include "analyze/eager/eager_pauses.h"

#include "base/sample.h"
#include "base/sort.h"

#include <stdlib.h>

enum {
    SHORTEST_NS = 80000, /* modules and dispatching need less between two calls */
    OVER_TYPICAL = 8,    /* and times the median pause, where everything is slow */
    FEWEST_STEPS = 3     /* that tell what every step has */
};
static const double IN_MOST_STEPS = 0.25;
static const double LONGER = 1.15; /* than the median step, at most, that is like it */
struct busy {                      /* a call or a range of the program */
    int64_t  start_ns, end_ns;
    uint32_t window;
};
struct pause_list {
    VEC(double) pauses; /* of all steps, step by step */
    size_t *first;      /* by step, and the end */
    size_t  step_count;
};

static int compare_busy(const void *a, const void *b)
{
    const struct busy *left = a, *right = b;

    return IN_ORDER(COMPARE(left->window, right->window), COMPARE(left->start_ns, right->start_ns));
}

static size_t gather_busy(const struct eager_calls *calls, struct busy *busy)
{
    size_t count = 0;

    for (size_t i = 0; i < calls->list.count; i++) {
        const struct eager_call *call = &calls->list.items[i];

        busy[count++] = (struct busy) { call->start_ns, call->end_ns, call->window };
    }
    for (size_t i = 0; i < calls->ranges.count; i++) {
        const struct eager_range *range = &calls->ranges.items[i];

        busy[count++] = (struct busy) { range->start_ns, range->end_ns, range->window };
    }
    if (count > 1)
        qsort(busy, count, sizeof *busy, compare_busy);
    return count;
}

static bool list_pauses(const struct eager_calls *calls, struct arena *scratch,
                        struct pause_list *list)
{
    struct busy *busy =
        arena_new_array(scratch, struct busy, calls->list.count + calls->ranges.count + 1);
    size_t count, at = 0;

    list->step_count = calls->windows.count;
    list->first = arena_new_array(scratch, size_t, list->step_count + 1);
    if (!busy || !list->first)
        return false;
    count = gather_busy(calls, busy);
    for (size_t step = 0; step < list->step_count; step++) {
        const struct interval *window = &calls->windows.items[step];
        int64_t                end_ns = window->start_ns;

        list->first[step] = list->pauses.count;
        for (; at < count && busy[at].window == step; at++) {
            double pause_ns = (double)(busy[at].start_ns - end_ns);

            if (busy[at].end_ns <= end_ns)
                continue;
            if (!vec_push(&list->pauses, scratch, pause_ns > 0 ? pause_ns : 0))
                return false;
            end_ns = busy[at].end_ns;
        }
        if (!vec_push(&list->pauses, scratch,
                      window->end_ns > end_ns ? (double)(window->end_ns - end_ns) : 0))
            return false;
    }
    list->first[list->step_count] = list->pauses.count;
    return true;
}

static size_t length_of(const struct pause_list *list, size_t step)
{
    return list->first[step + 1] - list->first[step];
}

/* Steps of the same calls: by place, the median over the steps. */
static void sum_by_place(const struct pause_list *list, double least_ns, double *values,
                         double *sum_ns, double *longest_ns)
{
    for (size_t place = 0; place < length_of(list, 0); place++) {
        double pause_ns;

        for (size_t step = 0; step < list->step_count; step++)
            values[step] = list->pauses.items[list->first[step] + place];
        pause_ns = sample_median(values, list->step_count);
        if (pause_ns < least_ns)
            continue;
        *sum_ns += pause_ns;
        *longest_ns = pause_ns > *longest_ns ? pause_ns : *longest_ns;
    }
}

/* Steps that differ: what three of four have at least. */
static void sum_by_step(const struct pause_list *list, double least_ns, double *values,
                        double *sum_ns, double *longest_ns)
{
    for (int is_longest = 0; is_longest < 2; is_longest++) {
        for (size_t step = 0; step < list->step_count; step++) {
            values[step] = 0;
            for (size_t i = list->first[step]; i < list->first[step + 1]; i++) {
                double pause_ns = list->pauses.items[i];

                if (is_longest && pause_ns >= least_ns)
                    values[step] = pause_ns > values[step] ? pause_ns : values[step];
                else if (pause_ns >= least_ns)
                    values[step] += pause_ns;
            }
        }
        *(is_longest ? longest_ns : sum_ns) =
            sample_quantile(values, list->step_count, IN_MOST_STEPS);
    }
}

/* Of a long recording only some steps are looked at. One as long as the median step has no pause
 * that the others lack. */
static bool is_typical(const struct windows *windows)
{
    for (size_t i = 0; i < windows->count; i++)
        if ((double)(windows->items[i].end_ns - windows->items[i].start_ns) >
            LONGER * windows->step_ns)
            return false;
    return true;
}

bool eager_pauses(const struct eager_calls *calls, struct arena *scratch, double *sum_ns,
                  double *longest_ns)
{
    struct pause_list list = { 0 };
    double           *values, least_ns;
    bool              is_alike = true;

    *sum_ns = *longest_ns = 0;
    if (calls->windows.count < FEWEST_STEPS && !is_typical(&calls->windows))
        return true;
    if (!list_pauses(calls, scratch, &list))
        return false;
    values = arena_new_array(scratch, double, list.pauses.count);
    if (!values)
        return false;
    for (size_t i = 0; i < list.pauses.count; i++)
        values[i] = list.pauses.items[i];
    least_ns = OVER_TYPICAL * sample_median(values, list.pauses.count);
    least_ns = least_ns > SHORTEST_NS ? least_ns : SHORTEST_NS;
    for (size_t step = 1; step < list.step_count; step++)
        is_alike = is_alike && length_of(&list, step) == length_of(&list, 0);
    (is_alike ? sum_by_place : sum_by_step)(&list, least_ns, values, sum_ns, longest_ns);
    return true;
}
