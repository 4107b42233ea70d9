/* judge_time: is the step slower, and is that more than chance? Both significance and size are
 * asked for; with few runs the variation between runs is unknown, so small changes count less. */
#include "base/sample.h"
#include "gate/sides.h"

#include <math.h>

static const double SMALLEST_CHANGE = 0.02,
                    EXPLAINED_SHARE = 0.03, /* a uniform factor explains a change up to this */
    BLIND_CHANGE = 0.5, TREND_ALPHA = 0.1,
                    DRIFT_SHARE = 0.95; /* of a change, that a drift must make up */

struct judgement {
    bool        is_significant;
    double      p_value; /* over runs where there are enough of them, else over steps */
    const char *how;
};

/* p of the steps of all runs of one side against those of the other. */
static double compare_steps(const struct side *before, const struct side *after,
                            struct arena *scratch)
{
    size_t  n = 0, m = 0;
    double *x = side_pooled(after, scratch, &n), *y = side_pooled(before, scratch, &m);

    return x && y ? mann_whitney(x, n, y, m, scratch, NULL) : 1;
}

static bool all_above(const double *x, size_t x_count, const double *y, size_t y_count)
{
    for (size_t i = 0; i < x_count; i++)
        for (size_t j = 0; j < y_count; j++)
            if (x[i] <= y[j])
                return false;
    return true;
}

static bool judge_significance(struct judging *judging, const struct side *before,
                               const struct side *after, struct judgement *judgement)
{
    struct gate_result *result = judging->result;
    double *x = arena_new_array(judging->scratch, double, after->observed.run_count + 1);
    double *y = arena_new_array(judging->scratch, double, before->observed.run_count + 1);

    if (!x || !y)
        return false;
    size_t n = side_run_medians(after, x, judging->scratch);
    size_t m = side_run_medians(before, y, judging->scratch);

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

const char *judge_time_title(struct judging *judging, const char *verb)
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

/* Whether the fast quarter of the steps is slower by the limit. */
static bool is_fast_slower(struct judging *judging, const struct side *before,
                           const struct side *after)
{
    static const double FAST = 0.25;
    size_t              n = 0, m = 0;
    double             *x = side_pooled(after, judging->scratch, &n);
    double             *y = side_pooled(before, judging->scratch, &m);

    return x && y &&
           sample_quantile(x, n, FAST) >=
               (1 + judging->limits->max_regression) * sample_quantile(y, m, FAST);
}

/* By which the machine was slower when the baseline was recorded, where that makes this step look
 * faster; 0: it was not. */
static double past_slowness(const struct judging *judging)
{
    struct judging past = *judging;

    past.before = judging->after;
    past.after = judging->before;
    return load_factor(&past, judging->result->after_ns, judging->result->before_ns);
}

/* Faster as all of the same work is: that says nothing about the code, whose counts then fail for
 * themselves. */
static bool add_slow_baseline(struct judging *judging, struct check check, double factor)
{
    check.outcome = OUTCOME_WARN;
    check.title = judge_time_title(judging, "faster");
    check.detail =
        arena_text(judging->arena,
                   "the same work took %.3g times as long, as it does beside other programs: write "
                   "a new baseline on a quiet machine",
                   factor);
    return check.detail && judge_add(judging, check);
}

/* No slow-down that is sure. One of the limit or more that chance may have made cannot be told
 * from the recordings; nor can a smaller one where steps vary so much that the program may be half
 * as slow again, or that it may be slower by the limit and does more. Where steps vary so much, a
 * median that fell proves nothing either when those that nothing disturbed take longer. */
static bool add_unsure(struct judging *judging, const struct judgement *judgement,
                       const struct side *before, const struct side *after)
{
    struct gate_result *result = judging->result;
    struct check        check = time_check(judging);
    bool                is_faster = result->change < -SMALLEST_CHANGE && result->change_high < 0;
    bool                is_doubtful = result->change >= SMALLEST_CHANGE;
    bool                is_blind =
        (result->change_high >= BLIND_CHANGE &&
         (result->change > 0 || is_fast_slower(judging, before, after))) ||
        (result->change_high >= judging->limits->max_regression && grown_count(result, true));

    double past = is_faster ? past_slowness(judging) : 0;
    if (past > 0)
        return add_slow_baseline(judging, check, past);
    result->pace = is_faster ? PACE_FASTER : PACE_UNKNOWN;
    check.detail = judgement->how;
    check.title =
        judge_time_title(judging, is_faster      ? "faster"
                                  : !is_doubtful ? is_blind ? "not surely as fast" : "not slower"
                                  : judgement->p_value < ALPHA ? "probably slower"
                                                               : "not surely slower");
    if ((is_doubtful && result->change >= judging->limits->max_regression) || is_blind) {
        check.outcome = OUTCOME_INCONCLUSIVE;
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
    const char  *title = judge_time_title(judging, "slower");

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

/* Everything is slower: that says nothing about the code. */
static bool add_machine(struct judging *judging, struct check check, const char *likely_cause)
{
    check.rule = "uniform-slowdown";
    check.outcome = OUTCOME_INCONCLUSIVE;
    judging->result->likely_cause = check.detail = likely_cause;
    return likely_cause && judge_add(judging, check);
}

/* What slowed down the whole machine, as far as it shows; NULL: it did not. */
static const char *find_machine(const struct judging *judging)
{
    double change = judging->result->change, factor = uniform_factor(judging);

    if (factor > 0 && 1 + change <= factor + EXPLAINED_SHARE)
        return arena_text(judging->arena,
                          "everything is %.3g times as slow: clocks, power, temperature or other "
                          "load on the machine rather than the code; run again on a quiet machine "
                          "with locked clocks",
                          factor);
    factor = load_factor(judging, judging->result->before_ns, judging->result->after_ns);
    if (factor > 0)
        return arena_text(
            judging->arena,
            "the same work takes %.3g times as long, as it does beside other programs "
            "on the machine, rather than the code; run again on a quiet "
            "machine",
            factor);
    return NULL;
}

/* A slow-down fails when it is no chance, matters, and may be as large as the limit. */
static bool add_verdict(struct judging *judging, const struct judgement *judgement,
                        const struct side *before, const struct side *after)
{
    struct gate_result *result = judging->result;
    struct check        check = time_check(judging);
    double              limit = judging->limits->max_regression;
    bool                is_large = result->change >= fmin(SMALLEST_CHANGE, limit);
    const char         *machine;
    double              drift;

    if (!judgement->is_significant || !is_large || result->change <= 0)
        return add_unsure(judging, judgement, before, after);
    check.detail = judgement->how;
    check.title = judge_time_title(judging, "slower");
    machine = find_machine(judging);
    if (machine)
        return add_machine(judging, check, machine);
    if (is_drift(judging, before, after, &drift))
        return add_drift(judging, drift);
    result->pace = PACE_SLOWER;
    check.outcome =
        result->change >= limit || result->change_high >= limit ? OUTCOME_FAIL : OUTCOME_WARN;
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
        return judge_few_steps(judging, before, after, time_check(judging));
    grain_ns = part_grain_ns(fmax(result->before_ns, result->after_ns));
    result->before_ns = round(result->before_ns / grain_ns) * grain_ns;
    result->after_ns = round(result->after_ns / grain_ns) * grain_ns;
    result->change = result->after_ns / result->before_ns - 1;
    if (before->step_count < FEWEST_STEPS || after->step_count < FEWEST_STEPS)
        return judge_few_steps(judging, before, after, time_check(judging));
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
    if (!isfinite(judging->limits->max_regression))
        return true;
    if (!judging->is_comparable)
        return judge_other_work(judging, &before, &after);
    return compare(judging, &before, &after);
}
