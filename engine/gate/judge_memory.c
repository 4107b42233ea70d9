/* judge_memory: memory that grows where every allocation is recorded, and so is as exact as a
 * count. Samples of an allocator, or peaks that depend on which ops happen to run side by side, are
 * not: those are said (diff_totals.c), and budgets can hold them. */
#include "gate/judge.h"

#include <math.h>
#include <string.h>

static const double PEAK_SHARE = 0.03,           /* workspaces of libraries come and go */
    GROWTH_SHARE = 0.01, GROWTH_BYTES = 1 << 20; /* a step: of the peak, and at least */

/* Least and most over runs. False: a run does not show it. */
static bool range_of(const struct summary *summary, const char *fact, double *low, double *high)
{
    const struct series *series = summary_series(summary, fact);

    *low = INFINITY;
    *high = -INFINITY;
    for (size_t run = 0; series && run < summary->runs.count; run++) {
        if (!isfinite(series->values[run]))
            return false;
        *low = fmin(*low, series->values[run]);
        *high = fmax(*high, series->values[run]);
    }
    return *low <= *high;
}

struct memory {
    double peak_low, peak_high;
    double growth_low, growth_high; /* bytes a step; 0: given back in between */
    bool   is_settled;              /* the peak does not depend on how long was recorded */
};

static double most_steps(const struct summary *summary)
{
    size_t most = 0;

    for (size_t run = 0; run < summary->runs.count; run++) {
        size_t count = summary->runs.items[run].step_count + summary->runs.items[run].left_out;

        most = count > most ? count : most;
    }
    return (double)most;
}

static bool memory_of(const struct summary *summary, struct memory *memory)
{
    double ignored, grows;

    if (!range_of(summary, "memory.peak_bytes", &memory->peak_low, &memory->peak_high))
        return false;
    memory->growth_low = memory->growth_high = 0;
    if (range_of(summary, "memory.is_growing", &grows, &ignored) && grows > 0)
        range_of(summary, "memory.growth_bytes_per_step", &memory->growth_low,
                 &memory->growth_high);
    memory->is_settled =
        memory->growth_high * most_steps(summary) <= PEAK_SHARE / 2 * memory->peak_low;
    return true;
}

static struct check memory_check(const char *id, const char *rule, double before, double after)
{
    return (struct check) {
        .id = id,
        .rule = rule,
        .kind = CHECK_COUNT,
        .has_before = true,
        .has_after = true,
        .before = before,
        .after = after,
        .unit = UNIT_BYTES,
    };
}

static const char *title_of(struct judging *judging, const char *what, double before, double after)
{
    return arena_text(judging->arena, "%s: %s, was %s", what,
                      judge_value(judging->arena, after, UNIT_BYTES),
                      judge_value(judging->arena, before, UNIT_BYTES));
}

static bool judge_growth(struct judging *judging, const struct memory *before,
                         const struct memory *after)
{
    double       more = after->growth_low - before->growth_high;
    struct check check = memory_check("count/memory_growth", "memory-growth-began",
                                      before->growth_high, after->growth_low);

    if (after->growth_low < GROWTH_BYTES && before->growth_high < GROWTH_BYTES)
        return true;
    check.title = title_of(judging, "memory kept a step", before->growth_high, after->growth_low);
    if (more >= GROWTH_BYTES && more >= GROWTH_SHARE * before->peak_high) {
        check.outcome = OUTCOME_FAIL;
        check.detail = "more is in use at the end of each step than of the one before";
    }
    return judge_add(judging, check);
}

static bool judge_peak(struct judging *judging, const struct memory *before,
                       const struct memory *after)
{
    double       tolerance = fmax(PEAK_SHARE, judging->limits->count_tolerance);
    struct check check =
        memory_check("count/memory_peak", "peak-memory-grew", before->peak_high, after->peak_low);

    if (!before->is_settled || !after->is_settled || before->peak_high <= 0)
        return true;
    check.title = title_of(judging, "memory peak", before->peak_high, after->peak_low);
    if (after->peak_low > before->peak_high * (1 + tolerance)) {
        check.outcome = OUTCOME_FAIL;
        check.detail = "every allocation was recorded, so this is no chance";
    }
    return judge_add(judging, check);
}

static bool judge_allocator(struct judging *judging)
{
    struct memory before, after;

    return !memory_of(judging->before, &before) || !memory_of(judging->after, &after) ||
           (judge_growth(judging, &before, &after) && judge_peak(judging, &before, &after));
}

/* What the op that leaves most behind does, in formats that keep it by op. */
static bool judge_residual(struct judging *judging)
{
    double       before, after, ignored;
    double       tolerance = fmax(PEAK_SHARE, judging->limits->count_tolerance);
    struct check check;

    if (!range_of(judging->before, "memory.residual_bytes", &ignored, &before) ||
        !range_of(judging->after, "memory.residual_bytes", &after, &ignored) ||
        (before == 0 && after == 0))
        return true;
    check = memory_check("count/memory_residual", "peak-memory-grew", before, after);
    check.title = title_of(judging, "most that an op leaves behind", before, after);
    check.outcome = after > before * (1 + tolerance) ? OUTCOME_FAIL : OUTCOME_PASS;
    return judge_add(judging, check);
}

bool judge_memory(struct judging *judging)
{
    if (!judging->is_comparable)
        return true;
    if (strcmp(judging->after->identity.format, "kineto") == 0)
        return judge_allocator(judging);
    return judge_residual(judging);
}
