#include "base/macros.h"
#include "base/sort.h"
#include "testing.h"

#include <stdlib.h>

enum { COUNT = 500 };

struct item {
    uint32_t key, index;
};

static int compare(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Orders that take each way: one pass, insertion, and qsort after insertion gave up halfway. */
static uint32_t in_order(uint32_t i)
{
    return i / 2;
}
static uint32_t swapped(uint32_t i)
{
    return i ^ 1;
}
static uint32_t reversed(uint32_t i)
{
    return COUNT - i;
}
static uint32_t scattered(uint32_t i)
{
    return i * 2654435761U >> 20;
}
static uint32_t first_is_last(uint32_t i)
{
    return i == 0 ? COUNT : i;
}

/* Three stretches in order; and one that is merged last, where pairs leave it over. */
static uint32_t stretches(uint32_t i)
{
    return i % 170 * 3 + i / 170;
}

static void sorts_like_qsort(void (*sort)(void *, size_t, size_t,
                                          int (*)(const void *, const void *)))
{
    uint32_t (*const orders[])(uint32_t) = { in_order,  swapped,       reversed,
                                             scattered, first_is_last, stretches };

    for (size_t order = 0; order < ARRAY_COUNT(orders); order++)
        for (uint32_t count = 0; count <= COUNT; count += count < 4 ? 1 : 31) {
            struct item items[COUNT], expected[COUNT];

            for (uint32_t i = 0; i < count; i++)
                items[i] = expected[i] = (struct item) { orders[order](i), i };
            sort(items, count, sizeof *items, compare);
            if (count)
                qsort(expected, count, sizeof *expected, compare);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(items[i].key, expected[i].key);
                assert_int_equal(items[i].index, expected[i].index);
            }
        }
}

TEST(any_order_is_sorted_like_qsort)
{
    sorts_like_qsort(sort_nearly_sorted);
    sorts_like_qsort(sort_stretches);
}

/* By hand: 2 and 4 stand twice, and 3 not at all. */
TEST(lower_bounds_are_the_first_rows_not_before)
{
    static const int    values[] = { 1, 2, 2, 4, 4, 9 };
    static const size_t first_not_below[] = { 0, 0, 1, 3, 3, 5, 5, 5, 5, 5, 6 };

    for (int value = 0; value <= 10; value++)
        assert_int_equal(LOWER_BOUND(ARRAY_COUNT(values), i, values[i] < value),
                         first_not_below[value]);
    assert_int_equal(LOWER_BOUND(0, i, values[i] < 1), 0);
}
