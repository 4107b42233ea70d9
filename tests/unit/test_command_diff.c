/* diff as a command: two recorded steps whose parts were added up by hand. */
#include "command_sample.h"

#define BEFORE CASES_DIR "/published-example/step0.pbtxt"
#define AFTER CASES_DIR "/published-example/step1.pbtxt"
#define PROFILE CASES_DIR "/recordings/tf1-mnist-softmax/profile/profile_11"
#define KERAS CASES_DIR "/pairs/tf2-keras-fit-overhead"
#define SUMMARIES CASES_DIR "/pairs/tf1-summaries-each-run"
#define GRAPH CASES_DIR "/recordings/tf1-mnist-softmax/profile/graph.pbtxt"

/* Step 0 goes from 990 to 1700 + 4000, its stream works from 1040 to 1340. Beside that ops of the
 * host run from 990 to 991, 995 to 1000, 1001 to 1004, 1010 to 1030 and 1340 to 2800: 1489, and for
 * 2921 nothing does. Of the bytes MatMul asked for 4096 + 4096 and 512 + 256 that it kept. Step 1
 * goes from 2001 to 2020 + 25; its ops take 6, 9 and 25 of that. */
TEST(parts_sum_to_the_step)
{
    static const char *const arguments[] = { "diff", BEFORE, AFTER, "--format", "json", NULL };
    static const char *const expected[] = {
        "\"before_ns\": 4710000,\n    \"after_ns\": 44000,\n    \"change_ns\": -4666000",
        "\"part\": \"compute\",\n      \"before_ns\": 300000,\n      \"after_ns\": 40000,",
        "\"part\": \"host\",\n      \"before_ns\": 1489000,\n      \"after_ns\": 0,",
        "\"part\": \"idle.other\",\n      \"before_ns\": 2921000,\n      \"after_ns\": 4000,",
        "\"name\": \"fc/MatMul\",\n      \"before_ns\": 300000,\n      \"after_ns\": 25000,",
        "\"before_bytes\": 8960,",
        "\"name\": \"loss\",\n      \"before_ns\": 0,\n      \"after_ns\": 9000,",
        "\"lists_sum_to_step\": true",
    };
    struct arena arena = { 0 };
    struct str   answer;

    answer = command_answer(arguments, &arena);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        print_message("%s\n", expected[i]);
        assert_true(str_contains(answer, str_from(expected[i])));
    }
    arena_free(&arena);
}

/* Both names below "fc" are one scope: 300 and 25 + 6. */
TEST(depth_says_what_a_scope_is)
{
    static const char *const arguments[] = { "diff", BEFORE,     AFTER,  "--depth",
                                             "1",    "--format", "json", NULL };
    struct arena             arena = { 0 };
    struct str               answer;

    answer = command_answer(arguments, &arena);
    assert_true(str_contains(answer, STR("\"name\": \"fc\",\n      \"before_ns\": 300000,\n"
                                         "      \"after_ns\": 31000,")));
    arena_free(&arena);
}

/* A ProfileProto says when each op ran, though not on which thread. */
TEST(a_profile_of_the_session_has_parts)
{
    static const char *const arguments[] = { "diff", PROFILE, PROFILE, "--format", "json", NULL };
    struct arena             arena = { 0 };
    struct str               answer;

    answer = command_answer(arguments, &arena);
    assert_true(str_contains(answer, STR("\"lists_sum_to_step\": true")));
    assert_true(str_contains(answer, STR("\"step\": {\n    \"before_ns\": 235500,")));
    assert_true(str_contains(answer, STR("\"part\": \"compute\"")));
    arena_free(&arena);
}

/* Keras runs 20 batches in one call after the fix, and one before. */
TEST(steps_of_more_batches_are_compared_by_the_batch)
{
    static const char *const arguments[] = { "diff",     KERAS "/slow", KERAS "/fixed",
                                             "--format", "json",        NULL };
    struct arena             arena = { 0 };
    struct str               answer;

    answer = command_answer(arguments, &arena);
    assert_true(str_contains(answer, STR("\"per\": \"batch\"")));
    assert_true(str_contains(answer, STR("\"batches_per_step\": 20")));
    /* 5068.61 us for 20, as the marks of its steps say. */
    assert_true(str_contains(answer, STR("\"after_ns\": 25343")));
    arena_free(&arena);
}

/* The graph has 14 nodes of the type, which run once a step; the fixed program runs them in none.
 * Runs and time are one row. */
TEST(ops_that_prepare_output_have_a_row)
{
    static const char *const arguments[] = {
        "diff", SUMMARIES "/slow", SUMMARIES "/fixed", "--format", "json", NULL
    };
    struct arena arena = { 0 };
    struct str   answer, row;
    size_t       at;

    answer = command_answer(arguments, &arena);
    at = str_search(answer, STR("\"part\": \"output\",\n      \"name\": \"HistogramSummary\""));
    assert_true(at < answer.len);
    row = str_slice(answer, at, at + str_find(str_slice(answer, at, answer.len), '}'));
    assert_true(str_contains(row, STR("\"before_runs\": 14,")));
    assert_true(str_contains(row, STR("\"after_runs\": 0,")));
    assert_false(str_contains(row, STR("\"before_ns\": 0,")));
    arena_free(&arena);
}

TEST(a_side_without_steps_is_told)
{
    static const char *const arguments[] = { "diff", BEFORE, GRAPH, NULL };

    command_refuses(arguments, "has no step to compare");
}

TEST(two_recordings_are_needed)
{
    static const char *const one[] = { "diff", BEFORE, NULL };
    static const char *const three[] = { "diff", BEFORE, AFTER, AFTER, NULL };
    static const char *const gone[] = { "diff", BEFORE, "/nowhere/step", NULL };

    command_refuses(one, "diff needs two recordings");
    command_refuses(three, "diff needs two recordings");
    command_refuses(gone, "o such file");
}
