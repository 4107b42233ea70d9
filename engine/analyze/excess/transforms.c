#include "analyze/excess/transforms.h"

#include "base/macros.h"

#include <stddef.h>

/* What libraries of transforms take for a length, up to a factor, as pocketfft and its descendant
 * in XLA guess it: its prime factors, of which those above 5 have no code of their own. */
static double factors_cost(int64_t length)
{
    static const double OTHER_FACTOR = 1.1;
    double              cost = 0;
    int64_t             left = length;

    for (int64_t factor = 2; factor * factor <= left; factor++)
        for (; left % factor == 0; left /= factor)
            cost += factor <= 5 ? (double)factor : OTHER_FACTOR * (double)factor;
    if (left > 1)
        cost += left <= 5 ? (double)left : OTHER_FACTOR * (double)left;
    return cost * (double)length;
}

/* The next length without prime factors above 11. */
static int64_t good_length(int64_t length)
{
    static const int64_t primes[] = { 2, 3, 5, 7, 11 };

    for (;; length++) {
        int64_t left = length;

        for (size_t i = 0; i < ARRAY_COUNT(primes); i++)
            while (left % primes[i] == 0)
                left /= primes[i];
        if (left == 1)
            return length;
    }
}

/* With large prime factors a transform is made by two of twice the length (Bluestein), where that
 * is less. */
static double transform_cost(int64_t length)
{
    static const double CHIRP = 2 * 1.5; /* two of them, and their products: as they guess it */
    double              direct = factors_cost(length);
    double              chirp = CHIRP * factors_cost(good_length(2 * length - 1));

    return direct < chirp ? direct : chirp;
}

double transform_kept(int64_t length)
{
    static const double  WORTH = 1.5; /* guesses of what is alike are no further off */
    static const int64_t LONGEST = (int64_t)1 << 32;
    double               cost, good;

    if (length < 2 || length > LONGEST)
        return 1;
    cost = transform_cost(length);
    good = transform_cost(good_length(length));
    return cost > WORTH * good ? good / cost : 1;
}
