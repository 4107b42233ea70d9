/* The repl: when a statement is whole, what completes it, and that a line's limits hold. */
#include <string.h>

#include "testing.h"

#include "base/macros.h"
#include "cli/input.h"
#include "rules/repl.h"

TEST(lines_complete)
{
    static const struct {
        const char *line;
        size_t      from;
        const char *words; /* the first ones */
    } rows[] = {
        { "fm", 0, "fmt" },
        { "fmt.p", 4, "pct" },
        { "p:t", 2, "table" },
        { "p:table(\"iter", 9, "iterators" },
        { "p.fact[\"step.med", 8, "step.median_ns" },
        { "p:table(\"steps\"):wh", 17, "where" },
        { "q:gr", 2, "group" },
        { "p:table(\"steps\"):top(\"dur", 22, "duration_ns" },
        { "p:table(\"steps\"):where { durat", 25, "duration_ns" },
        { "string.rev", 7, "reverse" },
        { "x.y", 2, "" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena      arena = { 0 };
        struct repl_words words;
        size_t            from;

        assert_true(repl_complete(str_from(rows[i].line), &arena, &words, &from));
        assert_int_equal(from, rows[i].from);
        assert_int_equal(words.items.count, rows[i].words[0] != 0);
        if (words.items.count > 0)
            assert_string_equal(words.items.items[0], rows[i].words);
        arena_free(&arena);
    }
}

TEST(lines_are_answered)
{
    static const struct {
        const char       *line;
        enum repl_outcome outcome;
        const char       *said; /* in the text, or the fault */
    } rows[] = {
        { "1 + 1", REPL_DONE, "2\n" },
        { "x = {", REPL_MORE, "" },
        { "7 }", REPL_DONE, "" },
        { "x[1]", REPL_DONE, "7\n" },
        { "local y = 1", REPL_DONE, "" },
        { "y", REPL_DONE, "" },
        { "return 'a', 2", REPL_DONE, "a\n2\n" },
        { "if true then", REPL_MORE, "" },
        { ")", REPL_FAULT, "unexpected symbol" },
        { "3", REPL_DONE, "3\n" }, /* what was wrong is forgotten */
        { "io.open('/etc/passwd')", REPL_FAULT, "nil value" },
        { "('a'):rep(1e9)", REPL_FAULT, "rep makes at most" },
        { "local t = {} while true do t[#t + 1] = { 1, 2, 3, 4 } end", REPL_FAULT,
          "not enough memory" },
        { "pcall(function() while true do end end)", REPL_FAULT, "too long" },
        { "4", REPL_DONE, "4\n" }, /* the budget is a line's */
        { "local t = {} t.t = t return t", REPL_DONE, "{ … }" },
        { "p:table('steps'):count()", REPL_DONE, "12\n" },
        { "{ { a = 1 }, { b = 'x' } }", REPL_DONE, "a  b\n1  \n   x\n" },
        { "finding { }", REPL_FAULT, "condition is missing" },
        { "rule { }", REPL_FAULT, "id is missing" },
        { "p = nil", REPL_DONE, "" },
        { "{}", REPL_DONE, "{}" },
    };
    struct input        input;
    struct input_values values = { .threads = 1 };
    struct option_list  operands = { 0 };
    struct arena        arena = { 0 };
    struct err          err = { 0 };
    struct repl_shape   shape = { 0 };
    struct repl        *repl;

    assert_true(
        vec_push(&operands.values, &arena, CASES_DIR "/recordings/tf2-input-sequential-map"));
    assert_true(input_load(&input, &values, &operands, &err));
    repl = repl_new(&input.study, &shape, &arena, &err);
    assert_non_null(repl);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct repl_answer answer;
        enum repl_outcome  outcome = repl_line(repl, rows[i].line, &arena, &answer);
        const char        *said = outcome == REPL_FAULT ? answer.fault : answer.text.data;

        if (outcome != rows[i].outcome || !strstr(said ? said : "", rows[i].said))
            fail_msg("%s: %d, %s", rows[i].line, outcome, said ? said : "");
    }
    repl_free(repl);
    input_free(&input);
    arena_free(&arena);
}
