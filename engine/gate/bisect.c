#include "gate/bisect.h"

#include <math.h>

static const double LEAST_SPREAD = 0.01; /* of the good mean: two runs may be alike by chance */
static const double SURE_DISTANCE = 4;   /* spreads */

bool bisect_start(struct bisect *bisect, size_t last, struct arena *arena)
{
    *bisect = (struct bisect) { .last = last };
    bisect->is_skipped = arena_new_array(arena, bool, last + 1);
    bisect->chance = arena_new_array(arena, double, last + 1);
    return bisect->is_skipped && bisect->chance;
}

bool bisect_add(struct bisect *bisect, size_t revision, double value, struct arena *arena)
{
    return vec_push(&bisect->runs, arena, ((struct bisect_run) { revision, value }));
}

size_t bisect_runs(const struct bisect *bisect, size_t revision)
{
    size_t count = 0;

    for (size_t i = 0; i < bisect->runs.count; i++)
        count += bisect->runs.items[i].revision == revision;
    return count;
}

double bisect_mean(const struct bisect *bisect, size_t revision)
{
    double sum = 0, count = (double)bisect_runs(bisect, revision);

    for (size_t i = 0; i < bisect->runs.count; i++)
        if (bisect->runs.items[i].revision == revision)
            sum += bisect->runs.items[i].value / count;
    return sum;
}

static double freedom(const struct bisect *bisect)
{
    size_t runs = bisect_runs(bisect, 0) + bisect_runs(bisect, bisect->last);

    return runs > 3 ? (double)(runs - 2) : 1;
}

static void measure_ends(struct bisect *bisect)
{
    double squares = 0;

    bisect->good = bisect_mean(bisect, 0);
    bisect->bad = bisect_mean(bisect, bisect->last);
    for (size_t i = 0; i < bisect->runs.count; i++) {
        const struct bisect_run *run = &bisect->runs.items[i];
        double                   mean = run->revision == 0 ? bisect->good : bisect->bad;

        if (run->revision == 0 || run->revision == bisect->last)
            squares += (run->value - mean) * (run->value - mean);
    }
    bisect->spread = fmax(sqrt(squares / freedom(bisect)), LEAST_SPREAD * fabs(bisect->good));
}

bool bisect_can_tell(const struct bisect *bisect)
{
    double good = (double)bisect_runs(bisect, 0), bad = (double)bisect_runs(bisect, bisect->last);

    return good > 0 && bad > 0 &&
           fabs(bisect->bad - bisect->good) >=
               SURE_DISTANCE * bisect->spread * fmin(1, sqrt(1 / good + 1 / bad));
}

/* Logarithm of Student's density, up to what all have. */
static double log_likelihood(const struct bisect *bisect, double value, double mean)
{
    double nu = freedom(bisect), z = (value - mean) / (bisect->spread * sqrt(1.5));

    return -(nu + 1) / 2 * log1p(z * z / nu);
}

void bisect_settle(struct bisect *bisect)
{
    double most = -INFINITY, sum = 0;

    measure_ends(bisect);
    for (size_t first = 1; first <= bisect->last; first++) {
        double *chance = &bisect->chance[first];

        *chance = 0;
        for (size_t i = 0; i < bisect->runs.count; i++) {
            const struct bisect_run *run = &bisect->runs.items[i];

            if (run->revision > 0 && run->revision < bisect->last)
                *chance += log_likelihood(bisect, run->value,
                                          run->revision < first ? bisect->good : bisect->bad);
        }
        most = fmax(most, *chance);
    }
    for (size_t first = 1; first <= bisect->last; first++)
        sum += bisect->chance[first] = exp(bisect->chance[first] - most);
    for (size_t first = 1; first <= bisect->last; first++)
        bisect->chance[first] /= sum;
}

size_t bisect_next(const struct bisect *bisect)
{
    static const double NOTHING_LEFT = 1e-6; /* of the chance on one of its sides */
    double              until = 0, best = NOTHING_LEFT;
    size_t              next = 0;

    for (size_t revision = 1; revision < bisect->last; revision++) {
        double halves;

        until += bisect->chance[revision];
        halves = fmin(until, 1 - until);
        if (!bisect->is_skipped[revision] && halves > best) {
            best = halves;
            next = revision;
        }
    }
    return next;
}

size_t bisect_found(const struct bisect *bisect, double confidence, size_t *first, size_t *last)
{
    size_t found = 1;
    double sum;

    for (size_t revision = 2; revision <= bisect->last; revision++)
        if (bisect->chance[revision] > bisect->chance[found])
            found = revision;
    *first = *last = found;
    sum = bisect->chance[found];
    while (sum < confidence && (*first > 1 || *last < bisect->last)) {
        double below = *first > 1 ? bisect->chance[*first - 1] : -1,
               above = *last < bisect->last ? bisect->chance[*last + 1] : -1;

        sum += below >= above ? bisect->chance[--*first] : bisect->chance[++*last];
    }
    return found;
}
