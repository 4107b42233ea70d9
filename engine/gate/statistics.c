#include "gate/statistics.h"

#include <math.h>
#include <string.h>

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

/* U counts, for each pair, 1 when x is larger and a half when both are equal. */
static double count_u(const double *x, size_t x_count, const double *y, size_t y_count,
                      bool *has_ties)
{
    double u = 0;

    for (size_t i = 0; i < x_count; i++)
        for (size_t j = 0; j < y_count; j++) {
            u += x[i] > y[j] ? 1 : x[i] == y[j] ? 0.5 : 0;
            *has_ties |= x[i] == y[j];
        }
    return u;
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

/* Sum over groups of equal values of t^3 - t. */
static double tie_term(const double *x, size_t x_count, const double *y, size_t y_count)
{
    double sum = 0;

    for (size_t i = 0; i < x_count + y_count; i++) {
        double value = i < x_count ? x[i] : y[i - x_count], same = 0;

        for (size_t j = 0; j < x_count + y_count; j++)
            same += (j < x_count ? x[j] : y[j - x_count]) == value;
        sum += same * same - 1; /* each member of a group of t adds (t^3 - t) / t */
    }
    return sum;
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
    bool   has_ties = false;
    double u_x = count_u(x, x_count, y, y_count, &has_ties);
    double other = (double)x_count * (double)y_count - u_x, least = fmin(u_x, other), ties;

    if (u)
        *u = u_x;
    if (x_count == 0 || y_count == 0)
        return 1;
    ties = tie_term(x, x_count, y, y_count);
    if (!has_ties && ties == 0 && x_count <= EXACT_MOST && y_count <= EXACT_MOST)
        return fmin(1, 2 * exact_tail(x_count, y_count, least, scratch));
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
