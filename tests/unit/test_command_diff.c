/* diff as a command: two recorded steps whose parts were added up by hand. */
#include "command_sample.h"

#define BEFORE CASES_DIR "/published-example/step0.pbtxt"
#define AFTER CASES_DIR "/published-example/step1.pbtxt"

/* Of step 0, in us: gradient 4000 + 1500, MatMul 300 + 200 + 20 + 10, _send_x 5, read 3, W 1: 6039,
 * from 995 to 1700 + 4000. Bytes: 100, 8960, 0, 64, 800. Of step 1: MatMul 25, loss 9, read 6: 40,
 * from 2001 to 2020 + 25. */
static void parts_sum_to_the_step(void **state)
{
    static const char *const arguments[] = { "diff", BEFORE, AFTER, "--format", "json", NULL };
    static const char *const expected[] = {
        "\"before_ns\": 4705000,\n    \"before_bytes\": 9924,",
        "\"after_ns\": 44000,",
        "\"name\": \"fc/MatMul\",\n      \"before_ns\": 530000,\n      \"before_bytes\": 8960,",
        "\"name\": \"loss\",\n      \"before_ns\": 0,",
        /* 4705 - 6039, 44 - 40. */
        "\"name\": \"(waiting, less what ran at once)\",\n      \"before_ns\": -1334000,",
        "\"after_ns\": 4000,",
    };
    struct arena arena = { 0 };
    struct str   answer;

    (void)state;
    answer = command_answer(arguments, &arena);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        print_message("%s\n", expected[i]);
        assert_true(str_contains(answer, str_from(expected[i])));
    }
    arena_free(&arena);
}

/* Both names below "fc" are one scope of one part: 530 + 3 + 1 and 25 + 6. */
static void depth_says_what_a_scope_is(void **state)
{
    static const char *const arguments[] = { "diff", BEFORE,     AFTER,  "--depth",
                                             "1",    "--format", "json", NULL };
    struct arena             arena = { 0 };
    struct str               answer;

    (void)state;
    answer = command_answer(arguments, &arena);
    assert_true(str_contains(answer, STR("\"name\": \"fc\",\n      \"before_ns\": 534000,")));
    assert_true(str_contains(answer, STR("\"after_ns\": 31000,")));
    arena_free(&arena);
}

static void two_recordings_are_needed(void **state)
{
    static const char *const one[] = { "diff", BEFORE, NULL };
    static const char *const three[] = { "diff", BEFORE, AFTER, AFTER, NULL };
    static const char *const gone[] = { "diff", BEFORE, "/nowhere/step", NULL };

    (void)state;
    command_refuses(one, "diff needs two recordings");
    command_refuses(three, "diff needs two recordings");
    command_refuses(gone, "o such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_sum_to_the_step),
        cmocka_unit_test(depth_says_what_a_scope_is),
        cmocka_unit_test(two_recordings_are_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
