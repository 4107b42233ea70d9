#include "gate/statistics.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint32_t random_below(struct random *random, uint32_t bound)
{
    return (uint32_t)(((random_next(random) >> 32) * bound) >> 32);
}

/* P(U <= u) under the hypothesis of no difference. The number of arrangements with a given U is a
 * coefficient of the Gaussian binomial: the product over i of (1 - q^(m+i)) / (1 - q^i). */
static double exact_tail(size_t n, size_t m, double u, struct arena *scratch)
{
    size_t  degree = n * m;
    double *ways = arena_new_array(scratch, double, degree + 1);
    double  total = 0, tail = 0;

    if (!ways)
        return 1;
    ways[0] = 1;
    for (size_t i = 1; i <= n; i++) {
        for (size_t at = degree + 1; at-- > m + i;)
            ways[at] -= ways[at - m - i];
        for (size_t at = i; at <= degree; at++)
            ways[at] += ways[at - i];
    }
    for (size_t at = 0; at <= degree; at++) {
        total += ways[at];
        tail += (double)at <= u ? ways[at] : 0;
    }
    return tail / total;
}

struct ranked {
    double value;
    bool   is_x;
};

static int by_value(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    return COMPARE(a->value, b->value);
}

/* U counts, for each pair, 1 when x is larger and a half when both are equal. *ties: the sum over
 * groups of equal values of t^3 - t. */
static double count_u(struct ranked *pooled, size_t count, double *ties)
{
    double u = 0, y_below = 0;

    *ties = 0;
    qsort(pooled, count, sizeof *pooled, by_value);
    for (size_t from = 0, to; from < count; from = to) {
        double same, x_same = 0;

        for (to = from; to < count && !(pooled[to].value > pooled[from].value); to++)
            x_same += pooled[to].is_x;
        same = (double)(to - from);
        *ties += same * same * same - same;
        u += x_same * (y_below + (same - x_same) / 2);
        y_below += same - x_same;
    }
    return u;
}

static double normal_tail(double n, double m, double u, double ties)
{
    double total = n + m, mean = n * m / 2;
    double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));

    if (variance <= 0)
        return 1;
    return fmin(1, erfc(fmax(0, fabs(u - mean) - 0.5) / sqrt(2 * variance)));
}

double mann_whitney(const double *x, size_t x_count, const double *y, size_t y_count,
                    struct arena *scratch, double *u)
{
    enum { EXACT_MOST = 50 };
    size_t         count = x_count + y_count;
    struct ranked *pooled = arena_new_array(scratch, struct ranked, count + 1);
    double         u_x, ties;

    if (u)
        *u = 0;
    if (!pooled || x_count == 0 || y_count == 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        pooled[i] = i < x_count ? (struct ranked) { x[i], true }
                                : (struct ranked) { y[i - x_count], false };
    u_x = count_u(pooled, count, &ties);
    if (u)
        *u = u_x;
    if (ties == 0 && x_count <= EXACT_MOST && y_count <= EXACT_MOST)
        return fmin(1, 2 * exact_tail(x_count, y_count,
                                      fmin(u_x, (double)x_count * (double)y_count - u_x), scratch));
    return normal_tail((double)x_count, (double)y_count, u_x, ties);
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST_TERMS = 300 };
    const double tiny = 1e-300;
    double       c = 1, d = 1 - (a + b) * x / (a + 1), h;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    h = d;
    for (int i = 1; i <= MOST_TERMS; i++) {
        double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
        double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
        double delta;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        delta = d * c;
        h *= delta;
        if (fabs(delta - 1) < 1e-15)
            break;
    }
    return h;
}

static double regularized_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_p(double t, double df)
{
    return isfinite(t) ? regularized_beta(df / 2, 0.5, df / (df + t * t)) : 0;
}

double t_test(const struct moments *left, const struct moments *right)
{
    double n = (double)left->count, m = (double)right->count, df = n + m - 2;

    if (df < 1)
        return 1;
    double pooled = ((n - 1) * left->deviation * left->deviation +
                     (m - 1) * right->deviation * right->deviation) /
                    df;
    double error = sqrt(pooled * (1 / n + 1 / m));

    if (error == 0)
        return left->mean == right->mean;
    return student_p((left->mean - right->mean) / error, df);
}
