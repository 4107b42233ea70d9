/* explain as a command: a rule alone and with a profile, and names that are none. */
#include "command_sample.h"

#define RECORDING CASES_DIR "/recordings/tf2-input-sequential-map"

TEST(rules_explain_themselves)
{
    static const char *const arguments[] = { "explain", "input-bound-step", NULL };
    static const char *const expected[] = {
        "The step waits for its input",
        "input-bound-step",
        "Needs       step.ns, input.wait_ns, input.wait_share",
        "min_share",
    };
    struct arena arena = { 0 };
    struct str   answer;

    answer = command_answer(arguments, &arena);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
        assert_true(str_contains(answer, str_from(expected[i])));
    arena_free(&arena);
}

/* The recording waits for its input: what the rule needs is there, and it found something. */
TEST(profiles_give_the_numbers)
{
    static const char *const alone[] = { "explain", "input-bound-step", "--format", "json", NULL };
    static const char *const with_profile[] = { "explain", "input-bound-step",
                                                RECORDING, "--format",
                                                "json",    NULL };
    struct arena             arena = { 0 };
    struct str               without, with;

    without = command_answer(alone, &arena);
    with = command_answer(with_profile, &arena);
    assert_true(str_contains(without, STR("\"id\": \"input-bound-step\"")));
    assert_true(str_contains(with, STR("\"id\": \"input-bound-step\"")));
    /* What the recording costs has a range; more than high_share of it waits, an error by the
     * rule's words, but its low end is 12 % of the step: a warning. */
    assert_true(str_contains(with, STR("\"low_ms\"")));
    assert_false(str_contains(with, STR("\"severity\": \"error\"")));
    assert_false(str_contains(without, STR("\"low_ms\"")));
    arena_free(&arena);
}

/* The command is one that a shell takes as it is: run, it answers with the step after the edit. */
TEST(the_price_can_be_checked)
{
    static const char *const explained[] = { "explain", "tfdata-sequential-map", RECORDING, NULL };
    struct arena             arena = { 0 };
    struct str               answer;
    const char              *edit, *end;

    answer = command_answer(explained, &arena);
    edit = strstr(answer.data, "Check tfprof whatif PROFILE --edit '");
    assert_non_null(edit);
    edit = strchr(edit, '\'') + 1;
    end = strchr(edit, '\'');
    assert_non_null(end);
    const char *checked[] = { "whatif", RECORDING, "--edit",
                              arena_text(&arena, "%.*s", (int)(end - edit), edit), NULL };
    answer = command_answer(checked, &arena);
    assert_true(str_contains(answer, STR("then most is")));
    arena_free(&arena);
}

TEST(unknown_rules_are_named)
{
    static const char *const misspelled[] = { "explain", "input-bond-step", NULL };
    static const char *const none[] = { "explain", NULL };
    static const char *const gone[] = { "explain", "input-bound-step", "/nowhere/a.xplane.pb",
                                        NULL };

    command_refuses(misspelled, "did you mean 'input-bound-step'?");
    command_refuses(none, "no rule given");
    command_refuses(gone, "o such file");
}
