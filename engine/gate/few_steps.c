/*
 * few_steps: what two to four steps tell. No test of ranks can be sure of so few, and they may all
 * share one bad moment of the machine. So two witnesses must agree: their times, by Student's test,
 * and the exact counts of what a step does, which load on the machine does not change; or times
 * that are so far apart that load is no explanation.
 */
#include "base/sample.h"
#include "gate/sides.h"

#include <math.h>
#include <string.h>

static const double LEAST_DEVIATION = 0.1, /* of steps, relative: so few may happen to agree */
    LEAST_MORE = 0.1,                      /* of a count, that a change of the pace may rest on */
    TELLING_FACTOR = 5; /* between all steps of two sides: load does that to some, not to all */

/* Steps of one program differ by factors: their logarithms. */
static struct moments log_moments(const double *steps, size_t count, double *logs)
{
    double n = (double)count;

    for (size_t i = 0; i < count; i++)
        logs[i] = log(steps[i]);
    return (struct moments) {
        .mean = sample_mean(logs, count),
        .deviation = fmax(sample_deviation(logs, count) * sqrt(n / (n - 1)), LEAST_DEVIATION),
        .count = count,
    };
}

/* Whether each value of x is more than `factor` times any of y. */
static bool is_above(const double *x, size_t x_count, const double *y, size_t y_count,
                     double factor)
{
    for (size_t i = 0; i < x_count; i++)
        for (size_t j = 0; j < y_count; j++)
            if (x[i] <= factor * y[j])
                return false;
    return true;
}

struct distance side_distance(const struct side *before, const struct side *after, double factor,
                              struct arena *scratch)
{
    struct distance distance = { .p_value = 1 };
    size_t          n = 0, m = 0;
    double         *x = side_pooled(after, scratch, &n), *y = side_pooled(before, scratch, &m);
    double         *logs = arena_new_array(scratch, double, n + m + 1);

    if (!x || !y || !logs || n < 2 || m < 2)
        return distance;

    struct moments left = log_moments(x, n, logs), right = log_moments(y, m, logs);

    distance.p_value = t_test(&left, &right);
    distance.is_slower = distance.p_value < STEP_ALPHA && is_above(x, n, y, m, factor);
    distance.is_faster = distance.p_value < STEP_ALPHA && is_above(y, m, x, n, factor);
    return distance;
}

const struct check *grown_count(const struct gate_result *result, bool is_after)
{
    for (size_t i = 0; i < result->checks.count; i++) {
        const struct check *check = &result->checks.items[i];
        double              more = is_after ? check->after : check->before;
        double              less = is_after ? check->before : check->after;

        if (check->kind == CHECK_COUNT && strcmp(check->rule, "count-grew") == 0 &&
            check->has_before && check->has_after && more > less * (1 + LEAST_MORE) &&
            (!is_after || check->outcome == OUTCOME_FAIL))
            return check;
    }
    return NULL;
}

static enum pace pace_of(const struct gate_result *result, const struct distance *distance,
                         bool is_far)
{
    if (distance->is_slower && (is_far || grown_count(result, true)))
        return PACE_SLOWER;
    if (distance->is_faster && !grown_count(result, true) && (is_far || grown_count(result, false)))
        return PACE_FASTER;
    return PACE_UNKNOWN;
}

/* The witness beside the times. */
static const char *second_witness(struct judging *judging)
{
    bool                is_slower = judging->result->pace == PACE_SLOWER;
    const struct check *count = grown_count(judging->result, is_slower);

    if (!count)
        return arena_text(judging->arena, "each is at least %g times as %s as any before",
                          TELLING_FACTOR, is_slower ? "long" : "short");
    return arena_text(judging->arena, "a step does %s: %s", is_slower ? "more" : "less",
                      count->title);
}

static const char *explain(struct judging *judging, const struct side *before,
                           const struct side *after, double p_value)
{
    const struct gate_result *result = judging->result;
    const char               *witness;

    if (!result->has_step || before->step_count < 2 || after->step_count < 2)
        return "record more steps, or give several runs on both sides";
    if (result->pace == PACE_UNKNOWN)
        return arena_text(judging->arena, "p = %.3g; %s", p_value,
                          what_settles(judging, before, after));
    witness = second_witness(judging);
    return witness ? arena_text(judging->arena,
                                "%zu and %zu steps, by Student's test of their logarithms "
                                "p = %.2g; and %s",
                                before->step_count, after->step_count, p_value, witness)
                   : NULL;
}

bool judge_few_steps(struct judging *judging, const struct side *before, const struct side *after,
                     struct check check)
{
    struct gate_result *result = judging->result;
    struct distance     apart = side_distance(before, after, 1, judging->scratch);
    struct distance     far = side_distance(before, after, TELLING_FACTOR, judging->scratch);

    if (result->has_step)
        result->pace = pace_of(result, &apart, far.is_slower || far.is_faster);
    check.detail = explain(judging, before, after, apart.p_value);
    switch (result->pace) {
    case PACE_UNKNOWN:
        check.outcome = OUTCOME_INCONCLUSIVE;
        check.title = arena_text(judging->arena,
                                 "too few steps to compare times: %zu before and %zu now, %d "
                                 "needed",
                                 before->step_count, after->step_count, FEWEST_STEPS);
        break;
    case PACE_SLOWER:
        check.outcome =
            result->change >= judging->limits->max_regression ? OUTCOME_FAIL : OUTCOME_WARN;
        check.title = judge_time_title(judging, "slower");
        break;
    case PACE_FASTER:
        check.title = judge_time_title(judging, "faster");
        break;
    }
    return check.detail && judge_add(judging, check);
}
