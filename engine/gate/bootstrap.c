/* bootstrap: the change of a median between two sides, with an interval. */
#include "base/sample.h"
#include "base/sort.h"
#include "gate/statistics.h"

#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 1000, MOST_STEPS = 400, FEWEST_RUNS = 4 };

/* A run, thinned to what resampling can afford. The median of a resample is found by counting how
 * often each rank was drawn. */
struct resampled {
    double   *sorted;
    uint16_t *ranks; /* of each observation in its order */
    size_t    count;
};
struct sampler { /* one side */
    struct resampled *runs;
    size_t            run_count;
    double           *medians;
    uint16_t         *drawn; /* [rank] */
};

static int by_size(const void *left, const void *right)
{
    const double *const *a = left, *const *b = right;

    return IN_ORDER(COMPARE(**a, **b), COMPARE(*a, *b));
}

/* Evenly spaced observations. */
static bool thin(struct resampled *run, const double *values, size_t count, struct arena *scratch)
{
    size_t         kept = count < MOST_STEPS ? count : MOST_STEPS;
    const double **order = arena_alloc_array(scratch, kept + 1, sizeof(const double *));
    double        *thinned = arena_new_array(scratch, double, kept + 1);

    run->sorted = arena_new_array(scratch, double, kept + 1);
    run->ranks = arena_new_array(scratch, uint16_t, kept + 1);
    run->count = kept;
    if (!order || !thinned || !run->sorted || !run->ranks)
        return false;
    for (size_t i = 0; i < kept; i++) {
        thinned[i] = values[i * count / kept];
        order[i] = &thinned[i];
    }
    qsort(order, kept, sizeof *order, by_size);
    for (size_t rank = 0; rank < kept; rank++) {
        run->sorted[rank] = *order[rank];
        run->ranks[order[rank] - thinned] = (uint16_t)rank;
    }
    return true;
}

static bool sampler_start(struct sampler *sampler, const struct observations *side,
                          struct arena *scratch)
{
    sampler->run_count = 0;
    sampler->runs = arena_new_array(scratch, struct resampled, side->run_count + 1);
    sampler->medians = arena_new_array(scratch, double, side->run_count + 1);
    sampler->drawn = arena_new_array(scratch, uint16_t, MOST_STEPS);
    if (!sampler->runs || !sampler->medians || !sampler->drawn)
        return false;
    for (size_t i = 0; i < side->run_count; i++)
        if (side->counts[i] > 0 &&
            !thin(&sampler->runs[sampler->run_count++], side->runs[i], side->counts[i], scratch))
            return false;
    return true;
}

/* Of a sorted run of which each was drawn so often. */
static double median_drawn(const struct resampled *run, const uint16_t *drawn)
{
    size_t below = 0, rank = 0, next;

    while (below + drawn[rank] <= (run->count - 1) / 2)
        below += drawn[rank++];
    for (next = rank; below + drawn[rank] <= run->count / 2 && next + 1 < run->count;)
        if (drawn[++next])
            break;
    return (run->sorted[rank] + run->sorted[next]) / 2;
}

/* The cube root, rounded and at least 1; by whole numbers, so the same on every machine. */
static size_t cube_root(size_t count)
{
    size_t root = 1;

    while ((2 * root + 1) * (2 * root + 1) * (2 * root + 1) < 8 * count)
        root++;
    return root;
}

/* The median of a run of the same length from blocks of consecutive steps, wrapped at the end. */
static double resample_run(struct random *random, const struct resampled *run, uint16_t *drawn)
{
    size_t count = run->count, block = cube_root(count);

    memset(drawn, 0, count * sizeof *drawn);
    for (size_t done = 0; done < count;) {
        size_t at = random_below(random, (uint32_t)count);

        for (size_t i = 0; i < block && done < count; i++, done++) {
            drawn[run->ranks[at]]++;
            at = at + 1 < count ? at + 1 : 0;
        }
    }
    return median_drawn(run, drawn);
}

/* With enough runs to tell how they differ as a whole, runs are drawn too. */
static double sampler_draw(struct sampler *sampler, struct random *random)
{
    uint32_t count = (uint32_t)sampler->run_count;

    for (size_t i = 0; i < sampler->run_count; i++) {
        size_t run = count >= FEWEST_RUNS ? random_below(random, count) : i;

        sampler->medians[i] = resample_run(random, &sampler->runs[run], sampler->drawn);
    }
    return sample_middle(sampler->medians, sampler->run_count);
}

double observations_median(const struct observations *side, struct arena *scratch)
{
    double *medians = arena_new_array(scratch, double, side->run_count + 1);
    size_t  used = 0;

    for (size_t i = 0; medians && i < side->run_count; i++) {
        double *copy = arena_new_array(scratch, double, side->counts[i] + 1);

        if (!copy || side->counts[i] == 0)
            continue;
        memcpy(copy, side->runs[i], side->counts[i] * sizeof *copy);
        medians[used++] = sample_middle(copy, side->counts[i]);
    }
    return medians ? sample_middle(medians, used) : 0;
}

bool bootstrap_change(const struct observations *before, const struct observations *after,
                      double confidence, struct arena *scratch, struct interval_share *result)
{
    struct random  random = { .state = 20240229 };
    struct sampler left, right;
    double        *changes = arena_new_array(scratch, double, RESAMPLES);
    double         base = observations_median(before, scratch);
    size_t         outside = (size_t)((1 - confidence) / 2 * RESAMPLES);

    if (!changes || !sampler_start(&left, before, scratch) ||
        !sampler_start(&right, after, scratch) || base <= 0)
        return false;
    result->change = observations_median(after, scratch) / base - 1;
    for (size_t i = 0; i < RESAMPLES; i++) {
        double from = sampler_draw(&left, &random), to = sampler_draw(&right, &random);

        changes[i] = from > 0 ? to / from - 1 : 0;
    }
    result->low = sample_kth(changes, RESAMPLES, outside);
    result->high = sample_kth(changes, RESAMPLES, RESAMPLES - 1 - outside);
    return true;
}
