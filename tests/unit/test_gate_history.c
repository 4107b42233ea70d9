#include "gate/history.h"

#include "base/macros.h"
#include "otava_series.h"
#include "testing.h"

#include <math.h>

enum { MOST = 80 };

static const double drop_to_half[] = { 1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96,
                                       0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49, 0.51, 0.50, 0.49 };
static const double series_1[] = {
    1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55
};
static const double series_2[] = {
    2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78
};

/* Series and answers of Apache Otava's own tests (analysis_test, series_test, tigerbeetle_test). */
static const struct {
    const double         *values;
    size_t                count;
    struct change_options options;
    size_t                expected_count;
    size_t                expected[MOST];
} published[] = {
#define SERIES(values) values, ARRAY_COUNT(values)
    { SERIES(drop_to_half), { 10, 0.0001, 0 }, 1, { 10 } },
    { SERIES(series_1), { 50, 0.001, 0 }, 1, { 6 } },
    { SERIES(series_2), { 50, 0.001, 0 }, 1, { 4 } },
    { SERIES(series_1), { 50, 0.001, 0.2 }, 1, { 6 } },
    { SERIES(series_2), { 50, 0.001, 0.2 }, 0, { 0 } },
    { SERIES(tigerbeetle), { 30, 0.01, 0.05 }, 2, { 15, 71 } },
    { SERIES(tigerbeetle), { 30, 0.05, 0.05 }, 2, { 15, 71 } },
    { SERIES(tigerbeetle), { 30, 0.1, 0.05 }, 5, { 10, 11, 15, 71, 363 } },
    { SERIES(tigerbeetle), { 30, 0.2, 0.05 }, 4, { 10, 11, 15, 71 } },
    { SERIES(tigerbeetle),
      { 30, 0.2, 0 },
      70,
      { 3,   6,   7,   10,  11,  13,  15,  16,  28,  29,  35,  37,  39,  41,  44,  48,  49,  56,
        58,  61,  65,  66,  69,  71,  74,  76,  82,  95,  108, 117, 125, 126, 129, 131, 136, 137,
        142, 148, 165, 169, 187, 190, 192, 197, 200, 212, 220, 241, 243, 246, 247, 249, 250, 260,
        265, 266, 268, 278, 282, 288, 305, 306, 325, 330, 337, 338, 340, 347, 349, 363 } },
    { SERIES(tigerbeetle), { 30, 0.1, 0 }, 35, { 3,   6,   10,  11,  15,  16,  28,  29,  35,
                                                 37,  39,  41,  44,  48,  49,  61,  71,  95,
                                                 117, 131, 142, 148, 165, 169, 192, 206, 212,
                                                 260, 265, 268, 278, 282, 288, 305, 363 } },
    { SERIES(tigerbeetle),
      { 30, 0.01, 0 },
      14,
      { 15, 26, 61, 71, 95, 117, 131, 142, 148, 165, 169, 192, 212, 260 } },
    { SERIES(tigerbeetle),
      { 30, 0.001, 0 },
      11,
      { 15, 61, 71, 95, 117, 131, 142, 148, 192, 212, 260 } },
    { SERIES(tigerbeetle), { 30, 0.0001, 0 }, 8, { 71, 95, 117, 131, 142, 148, 192, 212 } },
    { SERIES(tigerbeetle), { 30, 0.00001, 0 }, 5, { 71, 95, 131, 192, 212 } },
#undef SERIES
};

TEST(published_examples_agree)
{
    for (size_t i = 0; i < ARRAY_COUNT(published); i++) {
        struct arena         arena = { 0 };
        struct change_points points;

        assert_true(change_points_find(published[i].values, published[i].count,
                                       &published[i].options, &arena, &points));
        assert_int_equal(points.list.count, published[i].expected_count);
        for (size_t at = 0; at < points.list.count; at++)
            assert_int_equal(points.list.items[at].index, published[i].expected[at]);
        arena_free(&arena);
    }
}

/* Levels on both sides: means of series_1 before and from 6: 0.9967 and 0.504. */
TEST(levels_are_means_of_both_sides)
{
    struct change_options options = { 50, 0.001, 0 };
    struct arena          arena = { 0 };
    struct change_points  points;

    assert_true(change_points_find(series_1, ARRAY_COUNT(series_1), &options, &arena, &points));
    assert_int_equal(points.list.count, 1);
    assert_true(fabs(points.list.items[0].before - (5.98 / 6)) <= 1e-9);
    assert_true(fabs(points.list.items[0].after - (2.52 / 5)) <= 1e-9);
    arena_free(&arena);
}

TEST(short_and_constant_series_have_none)
{
    static const double   same[] = { 5, 5, 5, 5, 5, 5 };
    struct change_options options = { 50, 0.001, 0 };
    struct arena          arena = { 0 };
    struct change_points  points;

    for (size_t count = 0; count <= ARRAY_COUNT(same); count++) {
        assert_true(change_points_find(same, count, &options, &arena, &points));
        assert_int_equal(points.list.count, 0);
    }
    arena_free(&arena);
}
