/* uniform: is everything slower by one factor? Then it is the machine, not the code. */
#include "gate/judge.h"

#include "base/sample.h"
#include "gate/statistics.h"

#include <math.h>
#include <string.h>

enum { FEWEST_ITEMS = 5 };
static const double SPREAD = 0.05, SMALLEST_FACTOR = 1.02, COVERED_SHARE = 0.5;

struct ratios {
    double *values;
    size_t  count;
    double  matched_ns, all_ns;
};

/* Ratio of the mean time of a call, for rows that both have equally often. */
static bool collect(const struct item_list *before, const struct item_list *after,
                    struct arena *scratch, struct ratios *ratios)
{
    ratios->values = arena_new_array(scratch, double, after->rows.count + 1);
    if (!ratios->values)
        return false;
    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i], *was = item_find(before, item);

        ratios->all_ns += item->ns;
        if (!was || was->ns <= 0 || fabs(was->count - item->count) > 0.01 * was->count)
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
