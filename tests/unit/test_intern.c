#include "base/intern.h"
#include "testing.h"

#include <stdio.h>

enum { MANY = 20000 };

TEST(equal_names_have_one_id)
{
    struct arena  arena = { 0 };
    struct intern names;

    assert_true(intern_init(&names, &arena));
    assert_int_equal(intern_add(&names, STR("")), 0);
    assert_int_equal(intern_add(&names, STR("MatMul")), 1);
    assert_int_equal(intern_add(&names, STR("a\0b")), 2);
    assert_int_equal(intern_add(&names, STR("a\0c")), 3);
    assert_int_equal(intern_add(&names, STR("MatMul")), 1);
    assert_int_equal(intern_find(&names, STR("a\0c")), 3);
    assert_int_equal(intern_find(&names, STR("a")), NO_ID);
    assert_string_equal(intern_str(&names, 1).data, "MatMul");
    assert_int_equal(intern_str(&names, 99).len, 0);
    assert_int_equal(intern_str(&names, NO_ID).len, 0);
    arena_free(&arena);
}

TEST(ids_survive_growth)
{
    struct arena  arena = { 0 };
    struct intern names;
    char          name[32];

    assert_true(intern_init(&names, &arena));
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 1; i < MANY; i++) {
            snprintf(name, sizeof name, "op_%u", i);
            assert_int_equal(intern_add(&names, str_from(name)), i);
        }
    assert_int_equal(names.count, MANY);
    arena_free(&arena);
}

TEST(past_the_budget_there_is_no_id)
{
    char name[32];

    for (size_t budget = 0; budget <= 40000; budget += 1000) {
        struct arena  arena = { .budget_bytes = budget + 16 };
        struct intern names;
        uint32_t      id = 0;

        if (!intern_init(&names, &arena)) {
            arena_free(&arena);
            continue;
        }
        for (uint32_t i = 1; id != NO_ID && i < MANY; i++) {
            snprintf(name, sizeof name, "op_%u", i);
            id = intern_add(&names, str_from(name));
        }
        assert_int_equal(id, NO_ID);
        /* What was added before is still there. */
        for (uint32_t i = 1; i < names.count; i++) {
            snprintf(name, sizeof name, "op_%u", i);
            assert_int_equal(intern_find(&names, str_from(name)), i);
        }
        arena_free(&arena);
    }
}

TEST(sparse_keys_are_mapped)
{
    struct arena  arena = { 0 };
    struct id_map map = { .arena = &arena };

    assert_int_equal(id_map_get(&map, 5), NO_ID);
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(id_map_put(&map, UINT64_MAX - (uint64_t)i * 4096, i));
    assert_true(id_map_put(&map, 0, 7));
    assert_true(id_map_put(&map, 0, 8)); /* replaces */
    assert_int_equal(id_map_get(&map, 0), 8);
    assert_int_equal(map.count, MANY + 1);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(id_map_get(&map, UINT64_MAX - (uint64_t)i * 4096), i);
    assert_int_equal(id_map_get(&map, 12345), NO_ID);
    arena_free(&arena);

    struct arena  small = { .budget_bytes = 512 };
    struct id_map refused = { .arena = &small };

    assert_false(id_map_put(&refused, 1, 1)); /* 64 keys alone are 512 bytes, values do not fit */
    assert_int_equal(id_map_get(&refused, 1), NO_ID);
    arena_free(&small);
}

TEST(a_copy_grows_apart)
{
    struct arena  arena = { 0 };
    struct intern first, second;

    assert_true(intern_init(&first, &arena));
    assert_int_equal(intern_add(&first, STR("a")), 1);
    assert_true(intern_copy(&second, &first, &arena));
    assert_int_equal(intern_find(&second, STR("a")), 1);
    assert_int_equal(intern_add(&second, STR("b")), 2);
    assert_int_equal(intern_find(&first, STR("b")), NO_ID);
    for (uint32_t i = 0; i < 1000; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(intern_add(&second, str_from(name)), i + 3);
    }
    assert_int_equal(first.count, 2);
    assert_true(str_equal(intern_str(&second, 1), STR("a")));
    arena_free(&arena);
}

TEST(names_stand_above_others)
{
    struct arena  arena = { 0 };
    struct intern low, middle, high;

    assert_true(intern_init(&low, &arena)); /* 0: "" */
    assert_int_equal(intern_add(&low, STR("a")), 1);
    intern_stack(&middle, &low, &arena);
    assert_int_equal(intern_add(&middle, STR("")), 0);
    assert_int_equal(intern_add(&middle, STR("a")), 1);
    assert_int_equal(intern_add(&middle, STR("b")), 2);
    assert_int_equal(intern_add(&middle, STR("b")), 2);
    intern_stack(&high, &middle, &arena);
    assert_int_equal(intern_find(&high, STR("c")), NO_ID);
    assert_int_equal(intern_add(&high, STR("c")), 3);
    assert_int_equal(intern_add(&high, STR("b")), 2);
    assert_int_equal(intern_find(&high, STR("a")), 1);
    assert_int_equal(intern_find(&middle, STR("c")), NO_ID);
    assert_true(str_equal(intern_str(&high, 1), STR("a")));
    assert_true(str_equal(intern_str(&high, 2), STR("b")));
    assert_true(str_equal(intern_str(&high, 3), STR("c")));
    assert_int_equal(intern_str(&high, 4).len, 0);
    assert_int_equal(intern_str(&middle, 3).len, 0);
    assert_int_equal(intern_str(&high, NO_ID).len, 0);
    arena_free(&arena);
}

TEST(room_is_made_ahead)
{
    struct arena  arena = { 0 }, tiny = { .budget_bytes = 64 << 10 };
    struct intern names;

    assert_true(intern_init(&names, &arena));
    assert_true(intern_reserve(&names, 1000));
    assert_true(names.capacity >= 1001);
    assert_int_equal(intern_add(&names, STR("x")), 1);
    assert_int_equal(intern_find(&names, STR("")), 0);
    arena_free(&arena);
    assert_true(intern_init(&names, &tiny));
    assert_false(intern_reserve(&names, 1000000));
    assert_int_equal(intern_add(&names, STR("x")), 1);
    arena_free(&tiny);
}
