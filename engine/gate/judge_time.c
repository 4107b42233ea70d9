/* judge_time: is the step slower, and is that more than chance? Both significance and size are
 * asked for; with few runs the variation between runs is unknown, so small changes count less. */
#include "gate/judge.h"

#include "base/sample.h"
#include "gate/statistics.h"

#include <math.h>
#include <string.h>

enum { FEWEST_STEPS = 5, MANN_WHITNEY_RUNS = 4 };
/* Two-sided: half of it is the chance that equal programs look slower, and four runs a side that
 * overlap nowhere are still below it. */
static const double ALPHA = 0.03;
static const double SMALLEST_CHANGE = 0.02, STEP_ALPHA = 0.01, OUTLIER_Z = 3.5,
                    LEAST_MAD = 0.02,      /* of the median: steps of a few that happen to agree */
    EXPLAINED_SHARE = 0.03,                /* a uniform factor explains a change up to this */
    LARGE_CHANGE = 0.15,                   /* worth recording again when it may be chance */
    TREND_ALPHA = 0.1, DRIFT_SHARE = 0.95; /* of a change, that a drift must make up */

struct side {
    struct observations observed;
    double              step_ns; /* the median of all steps */
    size_t              step_count;
};

/* Steps far above the median are pauses of the machine or of the program, not its pace. */
static size_t drop_outliers(double *values, size_t count, struct arena *scratch)
{
    double *copy = arena_new_array(scratch, double, count + 1), median, mad;
    size_t  kept = 0;

    if (!copy || count < FEWEST_STEPS)
        return count;
    memcpy(copy, values, count * sizeof *copy);
    median = sample_middle(copy, count);
    for (size_t i = 0; i < count; i++)
        copy[i] = fabs(values[i] - median);
    mad = fmax(sample_middle(copy, count), median * LEAST_MAD);
    for (size_t i = 0; i < count; i++)
        kept += 0.6745 * (values[i] - median) / mad <= OUTLIER_Z;
    if (count - kept > count / 5)
        return count; /* too many to be outliers */
    kept = 0;
    for (size_t i = 0; i < count; i++)
        if (0.6745 * (values[i] - median) / mad <= OUTLIER_Z)
            values[kept++] = values[i];
    return kept;
}

static bool side_start(struct side *side, const struct summary *summary, struct arena *scratch)
{
    size_t   runs = summary->runs.count;
    double **values = arena_new_array(scratch, double *, runs + 1);
    size_t  *counts = arena_new_array(scratch, size_t, runs + 1);

    if (!values || !counts)
        return false;
    for (size_t i = 0; i < runs; i++) {
        const struct run *run = &summary->runs.items[i];

        values[i] = arena_new_array(scratch, double, run->step_count + 1);
        if (!values[i])
            return false;
        if (run->step_count > 0)
            memcpy(values[i], run->step_ns, run->step_count * sizeof(double));
        counts[i] = run->step_count;
    }
    side->observed = (struct observations) { values, counts, runs };
    side->step_ns = observations_median(&side->observed, scratch);
    for (size_t i = 0; i < runs; i++) {
        const struct run *run = &summary->runs.items[i];

        counts[i] = drop_outliers(values[i], run->step_count, scratch);
        side->step_count += counts[i];
    }
    return true;
}

/* Medians of runs that have steps, in `medians`. */
static size_t run_medians(const struct side *side, double *medians, struct arena *scratch)
{
    size_t kept = 0;

    for (size_t i = 0; i < side->observed.run_count; i++) {
        struct observations one = { &side->observed.runs[i], &side->observed.counts[i], 1 };

        if (side->observed.counts[i] > 0)
            medians[kept++] = observations_median(&one, scratch);
    }
    return kept;
}

struct judgement {
    bool        is_significant;
    double      p_value; /* over runs where there are enough of them, else over steps */
    const char *how;
};

static bool all_above(const double *x, size_t x_count, const double *y, size_t y_count)
{
    for (size_t i = 0; i < x_count; i++)
        for (size_t j = 0; j < y_count; j++)
            if (x[i] <= y[j])
                return false;
    return true;
}

/* p of the steps of all runs of one side against those of the other. */
static double compare_steps(const struct side *before, const struct side *after,
                            struct arena *scratch)
{
    enum { MOST = 1000 }; /* evenly spaced: the test looks at all pairs */
    const struct side *sides[] = { before, after };
    double            *pooled[2];
    size_t             kept[2];

    for (int i = 0; i < 2; i++) {
        size_t at = 0;

        pooled[i] = arena_new_array(scratch, double, sides[i]->step_count + 1);
        if (!pooled[i])
            return 1;
        for (size_t run = 0; run < sides[i]->observed.run_count; run++)
            for (size_t step = 0; step < sides[i]->observed.counts[run]; step++)
                pooled[i][at++] = sides[i]->observed.runs[run][step];
        kept[i] = at < MOST ? at : MOST;
        for (size_t row = 0; row < kept[i]; row++)
            pooled[i][row] = pooled[i][row * at / kept[i]];
    }
    return mann_whitney(pooled[1], kept[1], pooled[0], kept[0], scratch, NULL);
}

static bool judge_significance(struct judging *judging, const struct side *before,
                               const struct side *after, struct judgement *judgement)
{
    struct gate_result *result = judging->result;
    double *x = arena_new_array(judging->scratch, double, after->observed.run_count + 1);
    double *y = arena_new_array(judging->scratch, double, before->observed.run_count + 1);

    if (!x || !y)
        return false;
    size_t n = run_medians(after, x, judging->scratch);
    size_t m = run_medians(before, y, judging->scratch);

    if (n >= MANN_WHITNEY_RUNS && m >= MANN_WHITNEY_RUNS) {
        result->p_value = mann_whitney(x, n, y, m, judging->scratch, NULL);
        judgement->p_value = result->p_value;
        judgement->is_significant = result->p_value < ALPHA;
        judgement->how = arena_text(judging->arena, "Mann-Whitney over %zu and %zu runs, p = %.3g",
                                    m, n, result->p_value);
    } else {
        judgement->p_value = compare_steps(before, after, judging->scratch);
        judgement->is_significant = result->change_low > SMALLEST_CHANGE && all_above(x, n, y, m) &&
                                    judgement->p_value < STEP_ALPHA;
        judgement->how = arena_text(
            judging->arena, "%zu and %zu steps resampled in blocks: %s to %s; %s",
            before->step_count, after->step_count,
            judge_percent(judging->arena, result->change_low),
            judge_percent(judging->arena, result->change_high),
            n == 1 && m == 1 ? "one run a side, so changes below 2 % do not count"
                             : "fewer than four runs a side, so changes below 2 % do not count");
    }
    return judgement->how != NULL;
}

static const char *time_title(struct judging *judging, const char *verb)
{
    const struct gate_result *result = judging->result;

    return arena_text(judging->arena, "%s %s: %s, was %s (%s)",
                      judging->result->is_per_batch ? "batch" : "step", verb,
                      judge_value(judging->arena, result->after_ns, UNIT_NS),
                      judge_value(judging->arena, result->before_ns, UNIT_NS),
                      judge_percent(judging->arena, result->change));
}

static struct check time_check(const struct judging *judging)
{
    return (struct check) {
        .id = "time/step",
        .rule = "step-regressed",
        .kind = CHECK_TIME,
        .has_before = judging->result->has_step,
        .has_after = judging->result->has_step,
        .before = judging->result->before_ns,
        .after = judging->result->after_ns,
        .unit = UNIT_NS,
    };
}

/* Scale of a side's steps about their median, as the deviation of a normal distribution. */
static double spread_of(const struct side *side, struct arena *scratch)
{
    static const double NORMAL = 1.4826;
    double             *values = arena_new_array(scratch, double, side->step_count + 1), median;
    size_t              count = 0;

    if (!values)
        return 0;
    for (size_t run = 0; run < side->observed.run_count; run++)
        for (size_t step = 0; step < side->observed.counts[run]; step++)
            values[count++] = side->observed.runs[run][step];
    median = sample_middle(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    return NORMAL * sample_middle(values, count);
}

/* Steps a side that would show a difference as large as this one nine times in ten, at STEP_ALPHA:
 * 2 ((z(1 - alpha / 2) + z(0.9)) deviation / difference)^2, over the 0.955 that Mann and Whitney's
 * test needs more than Student's. */
static size_t steps_to_settle(const struct judging *judging, const struct side *before,
                              const struct side *after)
{
    static const double Z = 2.576 + 1.282, EFFICIENCY = 0.955, MOST = 1e6;
    double              difference = judging->result->after_ns - judging->result->before_ns;
    double x = spread_of(before, judging->scratch), y = spread_of(after, judging->scratch);
    double steps = Z * Z * (x * x + y * y) / (difference * difference) / EFFICIENCY;

    return (size_t)ceil(fmin(fmax(steps, FEWEST_STEPS), MOST));
}

/* What to record so that the next comparison can tell. Steps of one run share the state of the
 * machine: where there are enough of them, it is runs that are missing. */
static const char *what_settles(struct judging *judging, const struct side *before,
                                const struct side *after)
{
    size_t needed = steps_to_settle(judging, before, after);

    if (needed > before->step_count || needed > after->step_count)
        return arena_text(judging->arena,
                          "about %zu steps a side would settle it, or %d runs a side", needed,
                          MANN_WHITNEY_RUNS);
    return arena_text(judging->arena, "%d runs a side would settle it", MANN_WHITNEY_RUNS);
}

/* No slow-down that is sure. A large one that chance rarely makes cannot be told from the
 * recordings; one of the limit or more that chance may well have made is a warning. */
static bool add_unsure(struct judging *judging, const struct judgement *judgement,
                       const struct side *before, const struct side *after)
{
    const struct gate_result *result = judging->result;
    struct check              check = time_check(judging);
    double                    limit = judging->limits->max_regression;
    bool is_faster = result->change < -SMALLEST_CHANGE && result->change_high < 0;
    bool is_doubtful = result->change >= SMALLEST_CHANGE;
    bool is_probable =
        is_doubtful && result->change >= fmax(LARGE_CHANGE, limit) && judgement->p_value < ALPHA;

    check.detail = judgement->how;
    check.title = time_title(judging, is_faster     ? "faster"
                                      : is_probable ? "probably slower"
                                      : is_doubtful ? "not surely slower"
                                                    : "not slower");
    if (is_doubtful && result->change >= limit) {
        check.outcome = is_probable ? OUTCOME_INCONCLUSIVE : OUTCOME_WARN;
        check.detail = arena_text(judging->arena, "%s; p = %.3g; %s", judgement->how,
                                  judgement->p_value, what_settles(judging, before, after));
    }
    return check.detail && judge_add(judging, check);
}

/* By how much the steps of a run that followed would be slower (faster), were the drift of every
 * run of a side to go on, as a share of the baseline's step; 0 where one of its runs has none. */
static double drift_of(const struct judging *judging, const struct side *side, bool falling)
{
    double least_ns = INFINITY;

    for (size_t run = 0; run < side->observed.run_count; run++) {
        struct trend trend =
            trend_find(side->observed.runs[run], side->observed.counts[run], judging->scratch);

        if ((falling ? trend.p_falling : trend.p_rising) >= TREND_ALPHA)
            return 0;
        least_ns = fmin(least_ns, falling ? -trend.next_rise : trend.next_rise);
    }
    return isfinite(least_ns) && least_ns > 0 ? least_ns / judging->result->before_ns : 0;
}

/* With few runs: a baseline that becomes slower as it runs, or runs that become faster, differ as
 * much from themselves. */
static bool is_drift(const struct judging *judging, const struct side *before,
                     const struct side *after, double *share)
{
    if (before->observed.run_count >= MANN_WHITNEY_RUNS &&
        after->observed.run_count >= MANN_WHITNEY_RUNS)
        return false;
    *share = drift_of(judging, before, false) + drift_of(judging, after, true);
    return *share >= DRIFT_SHARE * judging->result->change;
}

static bool add_drift(struct judging *judging, double share)
{
    struct check check = time_check(judging);
    const char  *title = time_title(judging, "slower");

    check.outcome = OUTCOME_INCONCLUSIVE;
    check.title =
        title ? arena_text(judging->arena, "%s, but its pace drifts within a recording", title)
              : NULL;
    check.detail = arena_text(judging->arena,
                              "going on like that, the next recording differs by %.3g %%; record "
                              "longer, past the warm-up, or four runs a side",
                              100 * share);
    return check.detail && judge_add(judging, check);
}

/* A slow-down fails when it is no chance, matters, and may be as large as the limit. */
static bool add_verdict(struct judging *judging, const struct judgement *judgement,
                        const struct side *before, const struct side *after)
{
    struct gate_result *result = judging->result;
    struct check        check = time_check(judging);
    double              limit = judging->limits->max_regression;
    bool                is_large = result->change >= fmin(SMALLEST_CHANGE, limit);
    double              factor, drift;

    if (!judgement->is_significant || !is_large || result->change <= 0)
        return add_unsure(judging, judgement, before, after);
    check.detail = judgement->how;
    factor = uniform_factor(judging);
    check.title = time_title(judging, "slower");
    if (factor > 0 && 1 + result->change <= factor + EXPLAINED_SHARE) {
        check.rule = "uniform-slowdown";
        check.outcome = OUTCOME_INCONCLUSIVE;
        result->likely_cause = arena_text(
            judging->arena,
            "everything is %.3g times as slow: clocks, power, temperature or other load on the "
            "machine rather than the code; run again on a quiet machine with locked clocks",
            factor);
        check.detail = result->likely_cause;
        return check.detail && judge_add(judging, check);
    }
    if (is_drift(judging, before, after, &drift))
        return add_drift(judging, drift);
    check.outcome =
        result->change >= limit || result->change_high >= limit ? OUTCOME_FAIL : OUTCOME_WARN;
    return judge_add(judging, check);
}

static bool add_too_few(struct judging *judging, const struct side *before,
                        const struct side *after)
{
    struct check check = time_check(judging);

    check.outcome = OUTCOME_INCONCLUSIVE;
    check.title = arena_text(judging->arena,
                             "too few steps to compare times: %zu before and %zu now, %d needed",
                             before->step_count, after->step_count, FEWEST_STEPS);
    check.detail = "record more steps, or give several runs on both sides";
    return judge_add(judging, check);
}

static bool compare(struct judging *judging, const struct side *before, const struct side *after)
{
    bool has_runs = before->observed.run_count >= MANN_WHITNEY_RUNS &&
                    after->observed.run_count >= MANN_WHITNEY_RUNS;
    struct gate_result   *result = judging->result;
    struct interval_share change;
    struct judgement      judgement;
    double                grain_ns;

    /* Of uneven steps the advice says the mean; older baselines do not have it. */
    if (!summary_fact(judging->before, "step.ns", judging->scratch, &result->before_ns) ||
        !summary_fact(judging->after, "step.ns", judging->scratch, &result->after_ns)) {
        result->before_ns = before->step_ns;
        result->after_ns = after->step_ns;
    }
    result->has_step = result->before_ns > 0 && result->after_ns > 0;
    if (!result->has_step)
        return add_too_few(judging, before, after);
    grain_ns = part_grain_ns(fmax(result->before_ns, result->after_ns));
    result->before_ns = round(result->before_ns / grain_ns) * grain_ns;
    result->after_ns = round(result->after_ns / grain_ns) * grain_ns;
    result->change = result->after_ns / result->before_ns - 1;
    if (before->step_count < FEWEST_STEPS || after->step_count < FEWEST_STEPS)
        return add_too_few(judging, before, after);
    if (!bootstrap_change(&before->observed, &after->observed, has_runs ? 0.95 : 0.99,
                          judging->scratch, &change))
        return false;
    result->change_low = change.low;
    result->change_high = change.high;
    return judge_significance(judging, before, after, &judgement) &&
           add_verdict(judging, &judgement, before, after);
}

bool judge_time(struct judging *judging)
{
    struct side before = { 0 }, after = { 0 };

    judging->result->runs_before = judging->before->runs.count;
    judging->result->runs_after = judging->after->runs.count;
    if (!side_start(&before, judging->before, judging->scratch) ||
        !side_start(&after, judging->after, judging->scratch))
        return false;
    judging->result->steps_before = before.step_count;
    judging->result->steps_after = after.step_count;
    if (!judging->is_comparable || !isfinite(judging->limits->max_regression))
        return true;
    return compare(judging, &before, &after);
}
