#include "base/arena.h"
#include "testing.h"

#include <string.h>

static bool is_all(const char *bytes, size_t count, char value)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

TEST(memory_is_zeroed_aligned_and_apart)
{
    static const size_t sizes[] = { 0,
                                    1,
                                    15,
                                    16,
                                    17,
                                    4096,
                                    100000,
                                    ARENA_LARGE_BYTES - 1,
                                    ARENA_LARGE_BYTES,
                                    ARENA_LARGE_BYTES + 1,
                                    3000000 };
    struct arena        arena = { 0 };
    char               *memory[ARRAY_COUNT(sizes)];

    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        memory[i] = arena_alloc(&arena, sizes[i]);
        assert_non_null(memory[i]);
        assert_int_equal((uintptr_t)memory[i] % 16, 0);
        assert_true(is_all(memory[i], sizes[i], 0));
        memset(memory[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
        assert_true(is_all(memory[i], sizes[i], (char)(i + 1)));
    arena_free(&arena);
    assert_null(arena.block);
    assert_int_equal(arena.used_bytes, 0);
    arena_free(&arena);
}

TEST(budget_is_kept)
{
    struct arena arena = { .budget_bytes = 64 };

    assert_non_null(arena_alloc(&arena, 48));
    assert_null(arena_alloc(&arena, 17)); /* 32 when rounded; 16 are left */
    assert_non_null(arena_alloc(&arena, 16));
    assert_null(arena_alloc(&arena, 1));
    assert_null(arena_alloc(&arena, 0)); /* even nothing takes a place of its own */
    arena_free(&arena);
    assert_non_null(arena_alloc(&arena, 64)); /* the budget outlives the memory */
    arena_free(&arena);
}

TEST(impossible_sizes_are_refused)
{
    struct arena arena = { 0 };
    char        *memory = arena_alloc(&arena, 300000);

    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX / 2));
    assert_null(arena_alloc_array(&arena, SIZE_MAX / 8 + 2, 8));
    assert_null(arena_alloc_array(&arena, (size_t)1 << 40, (size_t)1 << 40));
    assert_null(arena_grow(&arena, memory, 300000, SIZE_MAX));
    arena_free(&arena);
}

TEST(growing_keeps_bytes_and_zeroes_new_ones)
{
    static const size_t sizes[] = { 10, 1000, ARENA_LARGE_BYTES, ARENA_LARGE_BYTES * 3, 5000001 };
    struct arena        arena = { 0 };
    char               *memory = NULL, *other;
    size_t              before = 0;

    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        memory = arena_grow(&arena, memory, before, sizes[i]);
        assert_non_null(memory);
        assert_true(is_all(memory, before, 'x'));
        assert_true(is_all(memory + before, sizes[i] - before, 0));
        memset(memory, 'x', sizes[i]);
        other = arena_alloc(&arena, 100); /* between the steps, so that nothing can grow in place */
        memset(other, 'y', 100);
        before = sizes[i];
    }
    memory = arena_shrink(&arena, memory, before, ARENA_LARGE_BYTES);
    assert_true(is_all(memory, ARENA_LARGE_BYTES, 'x'));
    memory = arena_grow(&arena, memory, ARENA_LARGE_BYTES, ARENA_LARGE_BYTES * 2);
    assert_true(is_all(memory + ARENA_LARGE_BYTES, ARENA_LARGE_BYTES, 0));
    arena_free(&arena);
}

/* What was freed is used again: small memory, large memory, and what either grows into. */
TEST(memory_is_zeroed_again)
{
    for (int round = 0; round < 4; round++) {
        struct arena arena = { 0 };
        char        *small = arena_alloc(&arena, 100), *large;

        assert_true(is_all(small, 100, 0));
        small = arena_grow(&arena, small, 100, 5000);
        assert_true(is_all(small, 5000, 0));
        memset(small, 'x', 5000);
        large = arena_alloc(&arena, ARENA_LARGE_BYTES);
        assert_true(is_all(large, ARENA_LARGE_BYTES, 0));
        large = arena_grow(&arena, large, ARENA_LARGE_BYTES, ARENA_LARGE_BYTES * 2);
        assert_true(is_all(large, ARENA_LARGE_BYTES * 2, 0));
        memset(large, 'x', ARENA_LARGE_BYTES * 2);
        arena_free(&arena);
    }
}

TEST(what_was_allocated_last_grows_where_it_is)
{
    struct arena arena = { .budget_bytes = 4096 };
    char        *memory = arena_alloc(&arena, 16);

    assert_ptr_equal(arena_grow(&arena, memory, 16, 1000), memory);
    assert_int_equal(arena.used_bytes, 1008); /* 1000 in sixteens; the first 16 are part of it */
    assert_null(arena_grow(&arena, memory, 1000, 5000));
    assert_non_null(arena_alloc(&arena, 16));
    assert_ptr_not_equal(arena_grow(&arena, memory, 1000, 2000), memory);
    arena_free(&arena);
}

TEST(shrinking_returns_budget)
{
    struct arena arena = { .budget_bytes = 2 << 20 };
    char        *memory = arena_alloc(&arena, 2 << 20);

    assert_non_null(memory);
    assert_null(arena_alloc(&arena, 16));
    assert_non_null(arena_shrink(&arena, memory, 2 << 20, 1 << 20));
    assert_non_null(arena_alloc(&arena, 1 << 20));
    arena_free(&arena);
}

TEST(strings_are_copied_with_nuls)
{
    struct arena arena = { .budget_bytes = 128 };
    struct str   copy = arena_str(&arena, STR("a\0b"));

    assert_int_equal(copy.len, 3);
    assert_memory_equal(copy.data, "a\0b\0", 4);
    assert_string_equal(arena_text(&arena, "%d-%s", 7, "x"), "7-x");
    assert_int_equal(arena_str(&arena, (struct str) { 0 }).len, 0);
    assert_non_null(arena_str(&arena, (struct str) { "", 0 }).data);
    assert_null(arena_text(&arena, "%200d", 1));
    arena_free(&arena);
}

/* Small and large blocks, into an arena with and without some. */
TEST(joining_takes_all)
{
    struct arena arena = { 0 }, first = { 0 }, second = { 0 }, none = { 0 };
    char        *small, *large;

    small = memset(arena_alloc(&first, 100), 'x', 100);
    arena_join(&arena, &first);
    arena_join(&arena, &none);
    assert_null(first.block);
    assert_int_equal(arena.used_bytes, 112);
    large = memset(arena_alloc(&second, ARENA_LARGE_BYTES), 'y', ARENA_LARGE_BYTES);
    assert_non_null(arena_alloc(&second, 10));
    arena_join(&arena, &second);
    assert_int_equal(arena.used_bytes, 112 + 16 + ARENA_LARGE_BYTES);
    assert_int_equal(second.used_bytes, 0);
    assert_true(is_all(small, 100, 'x'));
    large = arena_grow(&arena, large, ARENA_LARGE_BYTES, ARENA_LARGE_BYTES * 8);
    assert_true(is_all(large, ARENA_LARGE_BYTES, 'y'));
    assert_non_null(arena_alloc(&arena, 10));
    arena_free(&second);
    arena_free(&arena);
}
