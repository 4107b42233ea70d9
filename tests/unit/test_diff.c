/* diff: parts of two recorded steps, and that they sum to the change of the step. */
#include "base/macros.h"
#include "read/read.h"
#include "view/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PROFILES CASES_DIR "/recordings/tf1-mnist-softmax/profile/"

static void read_side(const char *path, struct arena *arena, struct profile *profile)
{
    struct read_options options = { .is_classic = true, .threads = 1 };
    struct err          err = { 0 };

    assert_true(profile_init(profile, arena));
    assert_true(read_profile(&path, 1, &options, profile, &err));
    assert_non_null(profile->classic);
}

static void parts_sum_to_the_step(void **state)
{
    static const char *const paths[][2] = {
        { PROFILES "run_meta_0", PROFILES "run_meta_1" },
        { PROFILES "profile_11", PROFILES "run_meta_3" },
        { PROFILES "run_meta_2", PROFILES "graph.pbtxt" }, /* no steps there */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        struct arena   arenas[3] = { 0 };
        struct profile sides[2];
        struct diff    diff;

        for (int side = 0; side < 2; side++)
            read_side(paths[i][side], &arenas[side], &sides[side]);
        assert_true(diff_make(sides[0].classic, sides[1].classic, 2, &arenas[2], &diff));
        for (int by = 0; by < DIFF_BY_COUNT; by++) {
            struct diff_sums sums[2] = { 0 };

            assert_true(diff.parts[by].count > 1);
            for (size_t n = 0; n < diff.parts[by].count; n++)
                for (int side = 0; side < 2; side++) {
                    sums[side].ns += diff.parts[by].items[n].sides[side].ns;
                    sums[side].bytes += diff.parts[by].items[n].sides[side].bytes;
                }
            for (int side = 0; side < 2; side++) {
                assert_int_equal(sums[side].ns, diff.step[side].ns);
                assert_int_equal(sums[side].bytes, diff.step[side].bytes);
            }
        }
        for (int n = 0; n < 3; n++)
            arena_free(&arenas[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_sum_to_the_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
