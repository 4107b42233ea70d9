#include "base/vec.h"
#include "testing.h"

TEST(items_keep_their_order)
{
    struct arena arena = { 0 };
    VEC(uint32_t) squares = { 0 };

    for (uint32_t i = 0; i < 300000; i++)
        assert_true(vec_push(&squares, &arena, i * 2));
    assert_int_equal(squares.count, 300000);
    for (uint32_t i = 0; i < 300000; i++)
        assert_int_equal(squares.items[i], i * 2);
    vec_fit(&squares, &arena);
    assert_int_equal(squares.capacity, 300000);
    assert_int_equal(squares.items[299999], 599998);
    assert_true(vec_push(&squares, &arena, 7));
    assert_int_equal(squares.items[300000], 7);
    arena_free(&arena);
}

TEST(past_the_budget_nothing_is_lost)
{
    struct arena arena = { .budget_bytes = 200 };
    VEC(uint64_t) numbers = { 0 };

    /* 8 items are 64 bytes, which grow where they are: 16 are 128; 32 would be 256. */
    for (uint64_t i = 0; vec_push(&numbers, &arena, i); i++)
        assert_true(i < 16);
    assert_int_equal(numbers.count, 16);
    assert_int_equal(numbers.items[15], 15);
    assert_false(vec_reserve(&numbers, &arena, SIZE_MAX));
    assert_false(vec_reserve(&numbers, &arena, SIZE_MAX / 8));
    assert_int_equal(numbers.capacity, 16);
    arena_free(&arena);
}

TEST(appending_takes_or_copies)
{
    struct arena arena = { 0 }, tight = { .budget_bytes = 64 };
    VEC(uint32_t) all = { 0 }, none = { 0 }, some = { 0 };

    assert_true(vec_push(&some, &arena, 1) && vec_push(&some, &arena, 2));
    assert_true(vec_append(&all, &arena, &none));
    assert_true(vec_append(&all, &arena, &some));
    assert_ptr_equal(all.items, some.items);
    assert_true(vec_append(&all, &arena, &none));
    assert_true(vec_append(&all, &arena, &some));
    assert_int_equal(all.count, 4);
    assert_int_equal(all.items[1], 2);
    assert_int_equal(all.items[2], 1);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(vec_push(&some, &arena, i));
    assert_false(vec_append(&all, &tight, &some));
    assert_int_equal(all.count, 4);
    arena_free(&arena);
    arena_free(&tight);
}
