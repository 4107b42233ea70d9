#include "base/packed.h"
#include "testing.h"

#include <stdlib.h>

enum { COUNT = 1000 };

static void assert_column(const struct packed *column, const int64_t *values, size_t count)
{
    int64_t *read = malloc((count + 1) * sizeof *read);

    assert_non_null(read);
    assert_int_equal(column->count, count);
    packed_read(column, 0, count, read);
    for (size_t i = 0; i < count; i++) {
        assert_true(packed_get(column, i) == values[i]);
        assert_true(read[i] == values[i]);
    }
    free(read);
}

/* Values of each width, in steps that do and do not end with a block. */
TEST(values_come_back)
{
    static const struct {
        int64_t first, step;
    } rows[] = { { 7, 0 },
                 { -5, 1 },
                 { INT64_MIN, 300 },
                 { 0, 70000 },
                 { 12, 1 << 25 },
                 { 1, INT64_C(1) << 33 },
                 { INT64_MIN, INT64_C(1) << 53 } };
    static const size_t batches[] = { 1, 127, 128, 129, 500 };

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            struct arena  arena = { 0 };
            struct packed column = { 0 };
            int64_t       values[COUNT];

            for (int64_t i = 0; i < COUNT; i++)
                values[i] = rows[r].first + i * rows[r].step;
            for (size_t i = 0; i < COUNT; i += batches[b])
                assert_true(packed_append(&column, &arena, values + i,
                                          COUNT - i < batches[b] ? COUNT - i : batches[b]));
            assert_column(&column, values, COUNT);
            packed_fit(&column, &arena);
            assert_column(&column, values, COUNT);
            arena_free(&arena);
        }
}

/* 128 values up to 255 take a byte each, 128 equal ones none. */
TEST(blocks_are_as_wide_as_needed)
{
    struct arena  arena = { 0 };
    struct packed column = { 0 };
    int64_t       values[2 * PACKED_ROWS];

    for (int64_t i = 0; i < PACKED_ROWS; i++) {
        values[i] = 1000000000000 + 2 * i;
        values[PACKED_ROWS + i] = -1;
    }
    assert_true(packed_append(&column, &arena, values, 2 * PACKED_ROWS));
    assert_int_equal(column.used, PACKED_ROWS);
    arena_free(&arena);
}

TEST(rows_can_be_written)
{
    struct arena  arena = { 0 };
    struct packed column = { 0 };
    int64_t       values[COUNT];

    for (int64_t i = 0; i < COUNT; i++)
        values[i] = i % 100;
    assert_true(packed_append(&column, &arena, values, COUNT));
    for (size_t i = 0; i < COUNT; i += 7) { /* fits, is below the base, is too wide */
        values[i] = i % 3 == 0 ? 99 : i % 3 == 1 ? -1 : INT64_C(1) << (i % 60);
        assert_true(packed_set(&column, &arena, i, values[i]));
    }
    assert_column(&column, values, COUNT);
    for (size_t i = 100; i < 400; i++)
        values[i] = (int64_t)i * -3;
    assert_true(packed_write(&column, &arena, 100, values + 100, 300));
    assert_column(&column, values, COUNT);
    assert_true(packed_append(&column, &arena, values, 1)); /* the last block has moved */
    assert_int_equal(packed_get(&column, COUNT), values[0]);
    arena_free(&arena);
}

/* 3, 6, 9 … 3000: the first that is at least 3n is in row n - 1. */
TEST(ascending_columns_are_searched)
{
    struct arena  arena = { 0 };
    struct packed column = { 0 };
    int64_t       values[COUNT];

    assert_int_equal(packed_find(&column, 5), 0);
    for (int64_t i = 0; i < COUNT; i++)
        values[i] = 3 * i + 3;
    assert_true(packed_append(&column, &arena, values, COUNT));
    for (int64_t value = -3; value <= 3 * COUNT + 3; value++)
        assert_int_equal(packed_find(&column, value), value <= 3          ? 0
                                                      : value > 3 * COUNT ? COUNT
                                                                          : (value + 2) / 3 - 1);
    arena_free(&arena);
}

TEST(past_the_budget_nothing_is_lost)
{
    struct arena  arena = { .budget_bytes = 8000 };
    struct packed column = { 0 };
    int64_t       value = 0;

    while (packed_append(&column, &arena, &value, 1))
        value += INT64_C(1) << 40;
    assert_true(column.count > 0);
    for (size_t i = 0; i < column.count; i++)
        assert_true(packed_get(&column, i) == (int64_t)i << 40);
    arena_free(&arena);
}
