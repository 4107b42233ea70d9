/* judge_counts: what a step does, counted. Counts are the same in every run of a program, so they
 * show a change of one launch where times show nothing. */
#include "gate/judge.h"

#include <math.h>

struct side {
    double value, low, high; /* most over runs */
    bool   is_known, is_steady;
};

static struct side side_of(const struct summary *summary, size_t spec)
{
    struct side side = {
        .low = INFINITY, .high = -INFINITY, .value = -INFINITY, .is_steady = true
    };

    for (size_t i = 0; i < summary->runs.count; i++) {
        const struct count_value *count = &summary->runs.items[i].counts[spec];

        if (!isfinite(count->value))
            continue;
        side.is_known = true;
        side.is_steady &= count->is_steady;
        side.value = fmax(side.value, count->value);
        side.low = fmin(side.low, count->low);
        side.high = fmax(side.high, count->high);
    }
    return side;
}

/* Facts are means over steps: the last digits depend on where the recording was cut. */
static double tolerance(const struct judging *judging, const struct count_spec *spec)
{
    static const double MEAN_TOLERANCE = 0.001;

    return fmax(judging->limits->count_tolerance, spec->source == COUNT_FACT ? MEAN_TOLERANCE : 0);
}

/* Shared out over batches, what a step does once is a part of one: a whole one more is more. */
static bool has_grown(const struct judging *judging, const struct count_spec *spec, double before,
                      double after)
{
    static const double BATCH_TOLERANCE = 0.02, WHOLE = 1 - 1e-9;

    if (judging->result->is_per_batch && spec->unit == UNIT_COUNT && after < before + WHOLE)
        return false;
    return after > before * (1 + fmax(tolerance(judging, spec),
                                      judging->result->is_per_batch ? BATCH_TOLERANCE : 0));
}

static const char *title_of(struct judging *judging, const struct count_spec *spec,
                            const struct side *before, const struct side *after)
{
    double change = after->value - before->value;

    if (change == 0)
        return arena_text(judging->arena, "%s: %s as before", spec->title,
                          judge_value(judging->arena, after->value, spec->unit));
    return arena_text(judging->arena, "%s: %s, was %s (%s%s)", spec->title,
                      judge_value(judging->arena, after->value, spec->unit),
                      judge_value(judging->arena, before->value, spec->unit),
                      change > 0 ? "+" : "-",
                      judge_value(judging->arena, fabs(change), spec->unit));
}

/* A recording that shows less than the baseline's must not pass for one that does less. */
static bool add_unknown(struct judging *judging, struct check check, const struct count_spec *spec)
{
    check.has_after = false;
    check.outcome = OUTCOME_WARN;
    check.title = arena_text(judging->arena, "%s: not in this recording, %s before", spec->title,
                             judge_value(judging->arena, check.before, spec->unit));
    check.detail = "record as the baseline was recorded, so that it can be held";
    return judge_add(judging, check);
}

/* So that a baseline that shows less, or has lost some, does not pass for one that holds. */
static bool add_unheld(struct judging *judging, struct check check, const struct count_spec *spec)
{
    check.has_before = false;
    check.outcome = OUTCOME_WARN;
    check.title = arena_text(judging->arena, "%s: %s, not in the baseline", spec->title,
                             judge_value(judging->arena, check.after, spec->unit));
    check.detail = "write a new baseline from a recording that shows it, so that it is held";
    return judge_add(judging, check);
}

static bool judge_count(struct judging *judging, size_t index)
{
    const struct count_spec *spec = &count_specs[index];
    struct side  before = side_of(judging->before, index), after = side_of(judging->after, index);
    struct check check = {
        .id = arena_text(judging->arena, "count/%s", spec->name),
        .rule = "count-grew",
        .kind = CHECK_COUNT,
        .is_free = spec->cost == COSTS_TIME_ALONE,
        .has_before = true,
        .has_after = true,
        .before = before.value,
        .after = after.value,
        .unit = spec->unit,
    };

    if (!before.is_known && after.is_known && after.value > 0)
        return add_unheld(judging, check, spec);
    if (!before.is_known || (before.value == 0 && (!after.is_known || after.value == 0)))
        return true;
    if (!after.is_known)
        return add_unknown(judging, check, spec);
    check.title = title_of(judging, spec, &before, &after);
    if (before.is_steady && after.is_steady) {
        bool is_more = has_grown(judging, spec, before.value, after.value);

        check.outcome = is_more ? OUTCOME_FAIL : OUTCOME_PASS;
        check.detail = is_more ? "the same in nearly every step, so one more is one more" : "";
    } else {
        bool is_more = has_grown(judging, spec, before.high, after.low);

        check.is_varying = true;
        check.outcome = is_more ? OUTCOME_FAIL : OUTCOME_PASS;
        check.detail = is_more ? "varies, but every step has more than any step before"
                               : "varies from step to step";
    }
    return judge_add(judging, check);
}

bool judge_counts(struct judging *judging)
{
    for (size_t i = 0; judging->is_comparable && i < count_spec_count; i++)
        if (!judge_count(judging, i))
            return false;
    return true;
}
