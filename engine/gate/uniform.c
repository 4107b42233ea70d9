/* uniform: is everything slower? Then it is the machine, not the code. Clocks slow down everything
 * by one factor. Other programs on a processor slow down what runs long, or on several threads,
 * most; but they leave nothing that takes much time as it was, which a change of code does. */
#include "gate/judge.h"

#include "base/sample.h"
#include "base/sort.h"
#include "gate/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_ITEMS = 5 };
static const double SPREAD = 0.05, SMALLEST_FACTOR = 1.02, COVERED_SHARE = 0.5,
                    SAME_WORK = 0.9, /* of the ops' time, in ops that both call as often */
    SPARED = 0.4,                    /* of the time, that another load may leave as it was */
    SHARED_CHANGE = 0.33;            /* of the step's change, that the rest has at least */

struct ratios {
    double *values;
    size_t  count;
    double  matched_ns, all_ns;
};
struct stretch { /* a row of the path of a step, whose times sum to the step's */
    double before_ns, after_ns;
};

/* Ratio of the mean time of a call, for rows of one type that both have equally often. */
static bool collect(const struct item_list *before, const struct item_list *after,
                    struct arena *scratch, struct ratios *ratios)
{
    ratios->values = arena_new_array(scratch, double, after->rows.count + 1);
    if (!ratios->values)
        return false;
    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i], *was = item_find(before, item);

        ratios->all_ns += item->ns;
        if (!was || was->ns <= 0 || strcmp(was->dtype, item->dtype) != 0 ||
            fabs(was->count - item->count) > 0.01 * was->count)
            continue;
        ratios->matched_ns += item->ns;
        ratios->values[ratios->count++] = item->ns / was->ns;
    }
    return true;
}

static double factor_of(struct ratios *ratios)
{
    double low, high, factor;

    if (ratios->count < FEWEST_ITEMS || ratios->matched_ns < COVERED_SHARE * ratios->all_ns)
        return 0;
    low = sample_kth(ratios->values, ratios->count, ratios->count / 10);
    high = sample_kth(ratios->values, ratios->count, ratios->count - 1 - ratios->count / 10);
    factor = sample_middle(ratios->values, ratios->count);
    return factor >= SMALLEST_FACTOR && high - low <= SPREAD * factor ? factor : 0;
}

static int least_slowed_first(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    double                slowed = a->after_ns * b->before_ns, other = b->after_ns * a->before_ns;

    return COMPARE(slowed, other);
}

/* What either has; NULL: memory ran out. */
static struct stretch *parts_of(const struct item_list *before, const struct item_list *after,
                                struct arena *scratch, size_t *count)
{
    struct stretch *parts =
        arena_new_array(scratch, struct stretch, before->rows.count + after->rows.count + 1);

    for (size_t i = 0; parts && i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i], *was = item_find(before, item);

        parts[(*count)++] = (struct stretch) { was ? was->ns : 0, item->ns };
    }
    for (size_t i = 0; parts && i < before->rows.count; i++)
        if (!item_find(after, &before->rows.items[i]))
            parts[(*count)++] = (struct stretch) { before->rows.items[i].ns, 0 };
    return parts;
}

/* Takes out the row that grew most: what one change of code would be. */
static size_t leave_out_suspect(struct stretch *parts, size_t count)
{
    size_t most = 0;

    for (size_t i = 1; i < count; i++)
        if (parts[i].after_ns - parts[i].before_ns > parts[most].after_ns - parts[most].before_ns)
            most = i;
    if (count > 0)
        parts[most] = parts[count - 1];
    return count > 0 ? count - 1 : 0;
}

/* How many times as long all rows take but those that were least slowed and took SPARED of the
 * time; 0 for few rows. */
static double slowed_by(struct stretch *parts, size_t count)
{
    double all_ns = 0, seen_ns = 0;

    if (count < FEWEST_ITEMS)
        return 0;
    qsort(parts, count, sizeof *parts, least_slowed_first);
    for (size_t i = 0; i < count; i++)
        all_ns += parts[i].before_ns;
    for (size_t i = 0; i < count; i++) {
        seen_ns += parts[i].before_ns;
        if (seen_ns > SPARED * all_ns)
            return parts[i].after_ns / parts[i].before_ns;
    }
    return 0;
}

double load_factor(const struct judging *judging, double change)
{
    const struct summary *before = judging->before, *after = judging->after;
    struct ratios         ops = { 0 };
    struct stretch       *parts;
    size_t                count = 0;
    double                factor;

    /* A device has clocks of its own, and its kernels tell. */
    if (after->items[ITEM_KERNEL].rows.count > 0 ||
        !collect(&before->items[ITEM_OP], &after->items[ITEM_OP], judging->scratch, &ops) ||
        ops.matched_ns < SAME_WORK * ops.all_ns)
        return 0;
    parts = parts_of(&before->items[ITEM_PATH], &after->items[ITEM_PATH], judging->scratch, &count);
    if (!parts)
        return 0;
    factor = slowed_by(parts, leave_out_suspect(parts, count));
    return factor >= 1 + SHARED_CHANGE * change ? factor : 0;
}

double uniform_factor(const struct judging *judging)
{
    static const enum item_kind kinds[] = { ITEM_KERNEL, ITEM_OP };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct ratios ratios = { 0 };
        double        factor;

        if (!collect(&judging->before->items[kinds[i]], &judging->after->items[kinds[i]],
                     judging->scratch, &ratios))
            return 0;
        if (ratios.count >= FEWEST_ITEMS && (factor = factor_of(&ratios)) > 0)
            return factor;
    }
    return 0;
}
