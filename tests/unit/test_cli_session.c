/* Lines of the prompt: what they complete to. */

#include "testing.h"

#include "base/macros.h"
#include "cli/session.h"

#include <string.h>

#define FOLDER CASES_DIR "/recordings/tf1-mnist-softmax"

TEST(lines_complete)
{
    /* The recorded program has the types Placeholder, MatMul, Mul, … and 12 steps. */
    static const struct {
        const char *line;
        size_t      from;
        const char *words; /* all of them */
    } cases[] = {
        { "", 0, "advise code graph help op quit reset scope set" },
        { "s", 0, "scope set" },
        { "scope -min_p", 6, "-min_params -min_peak_bytes" },
        { "scope -order_by na", 16, "name" },
        { "scope -order_by=na", 6, "" },
        { "set -select bytes,p", 12, "bytes,params bytes,peak_bytes" },
        { "op -account_displayed_op_only t", 30, "true" },
        { "op -account_type_regexes MatM", 25, "MatMul" },
        { "op -output ti", 11, "timeline:outfile=" },
        { "op -viz", 3, "" }, /* a name of old */
        { "op -step 1", 9, "1 10 11" },
        { "op -step 1,1", 9, "1,10 1,11" }, /* 1 is there already */
        { "set -select micros,m", 12, "" },
        { "op -output file:outfile=" FOLDER "/profile/pro", 11,
          "file:outfile=" FOLDER "/profile/profile_11" },
        { "code -source " FOLDER "/prof", 13, FOLDER "/profile/" },
        { "op -op_types " FOLDER "/profile/graph", 13, FOLDER "/profile/graph.pbtxt" },
        { "op -output timeline:outfile=/nonexistent/", 11, "" },
        { "op -step ", 9, "-1 0 1 2 3 4 5 6 7 8 9 10 11" },
        { "scope -show_name_regexes gradients/Ma", 25, "gradients/MatMul_grad/" },
    };
    struct input        input = { 0 };
    struct input_values values = { .threads = 1 };
    struct session      session = { .input = &input };
    struct option_list  operands = { 0 };
    struct arena        arena = { 0 };
    struct err          err = { 0 };

    assert_true(vec_push(&operands.values, &arena,
                         CASES_DIR "/recordings/tf1-mnist-softmax/profile/profile_11"));
    assert_true(input_read(&input, &values, &operands, INPUT_VIEWS, &err));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct session_words words = { 0 };
        struct text          text = { .arena = &arena };
        size_t               from;

        print_message("%s\n", cases[i].line);
        assert_true(session_complete(&session, str_from(cases[i].line), &arena, &words, &from));
        text_add(&text, STR(""));
        for (size_t n = 0; n < words.items.count; n++)
            text_print(&text, "%s%s", n ? " " : "", words.items.items[n]);
        assert_string_equal(text.data ? text.data : "", cases[i].words);
        assert_int_equal(from, cases[i].from);
    }
    input_free(&input);
    arena_free(&arena);
}

/* What is set stays after the line, its answer and all that they held are gone. */
TEST(values_are_kept_behind_their_line)
{
    struct input             input = { 0 };
    struct input_values      values = { .threads = 1 };
    struct arena             arena = { 0 };
    struct session           session = { .input = &input, .arena = &arena, .trees.arena = &arena };
    struct option_list       operands = { 0 };
    struct err               err = { 0 };
    static const char *const lines[] = {
        "set -order_by bytes -select bytes,micros -show_name_regexes a.*,b -max_depth 7",
        "set -account_displayed_op_only yes",
        "",
    };

    assert_true(
        option_presets(session_options, session_option_count, &arena, &session.values, &err));
    assert_true(vec_push(&operands.values, &arena,
                         CASES_DIR "/recordings/tf1-mnist-softmax/profile/profile_11"));
    assert_true(input_read(&input, &values, &operands, INPUT_VIEWS, &err));
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        struct session_answer answer = { 0 };

        assert_true(session_line(&session, lines[i], false, &answer, &err));
        if (!*lines[i]) {
            struct str listed = text_str(&answer.text);

            assert_true(str_contains(listed, STR("-max_depth                  7\n")));
            assert_true(str_contains(listed, STR("-order_by                   bytes\n")));
            assert_true(str_contains(listed, STR("-select                     bytes,micros\n")));
            assert_true(str_contains(listed, STR("-show_name_regexes          a.*,b\n")));
            assert_true(str_contains(listed, STR("-account_displayed_op_only  true\n")));
        }
        arena_free(&answer.arena);
    }
    input_free(&input);
    arena_free(&arena);
}
