/* uniform: is everything slower? Then it is the machine, not the code. Clocks slow down everything
 * by one factor. Other programs on a processor hold up work in some steps and not in others, so
 * that at its fastest it takes as long as before; a change of code shows then, too. Or they slow
 * down most of it, while a change of code leaves the rest as it was. */
#include "gate/judge.h"

#include "base/sample.h"

#include <math.h>
#include <string.h>

enum { FEWEST_ITEMS = 5 };
static const double SPREAD = 0.05, SMALLEST_FACTOR = 1.02, COVERED_SHARE = 0.5,
                    SAME_WORK = 0.9, /* of the ops' time, in ops that both call as often */
    SHARED_CHANGE = 0.33,            /* of the step's change, that shows in that work too */
    SPARED = 0.4, AS_IT_WAS = 0.1,   /* of the time, that another load may leave so, within this */
    CODES_SHARE = 0.5;               /* of what work grew, that it also grew at its fastest */

struct same_work {                               /* rows of one type that both have equally often */
    double *before_ns, *after_ns;                /* [row] */
    size_t  count, most;                         /* most: the row that grew most */
    double  each_ns, grown_ns, fastest_grown_ns; /* of rows that each step has: before, how much
                                                  * longer now, how much longer at their fastest */
    double all_before_ns, all_after_ns, other_ns; /* other: of other rows, after */
};

static bool has_accelerator(const struct judging *judging)
{
    return judging->after->items[ITEM_KERNEL].rows.count > 0;
}

/* How long a host takes to ask an accelerator for an op has little to do with its shapes. */
static bool is_same(const struct item *was, const struct item *is, bool is_on_host)
{
    return was && was->ns > 0 && strcmp(was->dtype, is->dtype) == 0 &&
           (!is_on_host || strcmp(was->trait, is->trait) == 0) &&
           fabs(was->count - is->count) <= 0.01 * was->count;
}

static bool find_same_work(struct same_work *work, const struct judging *judging,
                           enum item_kind kind)
{
    const struct item_list *before = &judging->before->items[kind];
    const struct item_list *after = &judging->after->items[kind];

    *work = (struct same_work) { .count = 0 };
    work->before_ns = arena_new_array(judging->scratch, double, after->rows.count + 1);
    work->after_ns = arena_new_array(judging->scratch, double, after->rows.count + 1);
    if (!work->before_ns || !work->after_ns)
        return false;
    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i], *was = item_find(before, item);
        size_t             row = work->count;

        if (!is_same(was, item, kind == ITEM_OP && !has_accelerator(judging))) {
            work->other_ns += item->ns;
            continue;
        }
        work->all_before_ns += work->before_ns[row] = was->ns;
        work->all_after_ns += work->after_ns[row] = item->ns;
        if (was->fastest_ns > 0 && item->fastest_ns > 0) {
            work->each_ns += was->ns;
            work->grown_ns += item->ns - was->ns;
            work->fastest_grown_ns += item->fastest_ns - was->fastest_ns;
        }
        if (item->ns - was->ns > work->after_ns[work->most] - work->before_ns[work->most])
            work->most = row;
        work->count++;
    }
    return work->count >= FEWEST_ITEMS;
}

static bool covers(const struct same_work *work, double share)
{
    return work->all_after_ns >= share * (work->all_after_ns + work->other_ns);
}

/* By which all became slower; 0: not by one. */
static double common_factor(const struct judging *judging, enum item_kind kind)
{
    struct same_work work;
    double           low, high, factor;

    if (!find_same_work(&work, judging, kind) || !covers(&work, COVERED_SHARE))
        return 0;
    for (size_t i = 0; i < work.count; i++)
        work.after_ns[i] /= work.before_ns[i];
    low = sample_kth(work.after_ns, work.count, work.count / 10);
    high = sample_kth(work.after_ns, work.count, work.count - 1 - work.count / 10);
    factor = sample_middle(work.after_ns, work.count);
    return factor >= SMALLEST_FACTOR && high - low <= SPREAD * factor ? factor : 0;
}

double uniform_factor(const struct judging *judging)
{
    double factor = common_factor(judging, ITEM_KERNEL);

    return factor > 0 ? factor : common_factor(judging, ITEM_OP);
}

/* Whether an accelerator, which other programs on the host do not slow down, takes as long as
 * before for what both run there; true without one. */
static bool is_device_steady(const struct judging *judging, double tolerance)
{
    struct same_work kernels;

    if (!has_accelerator(judging))
        return true;
    return find_same_work(&kernels, judging, ITEM_KERNEL) && covers(&kernels, COVERED_SHARE) &&
           fabs(kernels.all_after_ns / kernels.all_before_ns - 1) <= tolerance;
}

/* Whether work that both do as often takes longer on the whole, but not at its fastest. Other
 * programs on a processor hold up some of its executions and leave others alone; what the code
 * makes slower is slower in each step. */
static bool is_held_up(const struct same_work *work)
{
    return work->each_ns >= SAME_WORK * work->all_before_ns &&
           work->fastest_grown_ns < CODES_SHARE * work->grown_ns;
}

/* By which all of it but the row that grew most takes longer: that one may be a change of code. */
static double rest_factor(const struct same_work *work)
{
    return (work->all_after_ns - work->after_ns[work->most]) /
           (work->all_before_ns - work->before_ns[work->most]);
}

/* Share of the time in rows that take as long as before, within `tolerance`. */
static double steady_share(const struct same_work *work, double tolerance)
{
    double steady_ns = 0;

    for (size_t i = 0; i < work->count; i++)
        if (fmax(work->after_ns[i], work->before_ns[i]) <=
            (1 + tolerance) * fmin(work->after_ns[i], work->before_ns[i]))
            steady_ns += work->before_ns[i];
    return steady_ns / work->all_before_ns;
}

double load_factor(const struct judging *judging, double before_ns, double after_ns)
{
    double           change_ns = SHARED_CHANGE * (after_ns - before_ns);
    double           factor = 1 + change_ns / before_ns;
    struct same_work work;

    if (!is_device_steady(judging, factor - 1) || !find_same_work(&work, judging, ITEM_OP) ||
        !covers(&work, SAME_WORK))
        return 0;
    if (is_held_up(&work) && work.all_after_ns - work.all_before_ns >= change_ns)
        return work.all_after_ns / work.all_before_ns;
    if (rest_factor(&work) < factor ||
        (!has_accelerator(judging) && steady_share(&work, fmin(factor - 1, AS_IT_WAS)) >= SPARED))
        return 0;
    return rest_factor(&work);
}
