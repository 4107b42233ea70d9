/* What `tfprof rules new`, `test` and `lint` do for authors of rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "rules/catalogue.h"

struct outcome {
    struct rules_checked checked;
    uint32_t             remarks;
    struct text          report, remarks_text;
};

/* The template with `from` (must be there; NULL: none) replaced by `to`, tested and linted. */
static struct outcome author(struct arena *arena, const char *from, const char *to)
{
    char           directory[] = "/tmp/tfprof-author-XXXXXX", path[128];
    struct text    script = { .arena = arena }, edited = { .arena = arena };
    struct outcome outcome = { .report.arena = arena, .remarks_text.arena = arena };
    struct err     err = { 0 };
    struct str     whole;
    size_t         at;

    rule_template("acme/slow-decode", &script);
    whole = text_str(&script);
    at = from ? str_search(whole, str_from(from)) : whole.len;
    assert_true(!from || at < whole.len);
    text_add(&edited, str_slice(whole, 0, at));
    if (from) {
        text_add(&edited, str_from(to));
        text_add(&edited, str_slice(whole, at + strlen(from), whole.len));
    }
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/slow-decode.lua", directory);
    assert_true(file_write(path, text_str(&edited), &err));
    assert_true(rules_check(directory, NULL, arena, &outcome.report, &outcome.checked, &err));
    assert_true(rules_lint(directory, arena, &outcome.remarks_text, &outcome.remarks, &err));
    unlink(path);
    rmdir(directory);
    return outcome;
}

static bool says(const struct text *report, const char *words)
{
    return str_contains(text_str(report), str_from(words));
}

static void the_template_is_a_tested_rule(void **state)
{
    struct arena   arena = { 0 };
    struct outcome outcome = author(&arena, NULL, NULL);

    (void)state;
    assert_int_equal(outcome.checked.rule_count, 1);
    assert_int_equal(outcome.checked.fault_count, 0);
    assert_int_equal(outcome.checked.untested_count, 0);
    assert_int_equal(outcome.remarks, 0);
    arena_free(&arena);
}

/* A fiftieth of the threshold: halved or doubled it stays below. 90 % of the step stays above. */
static void numbers_far_from_the_threshold_are_untested(void **state)
{
    struct arena   arena = { 0 };
    struct outcome outcome =
        author(&arena,
               "[\"part.input_ns\"] = 1.2e6 },\n      replay = { 1.2e6 } },\n    { name = \"just "
               "below it\", finding = false,\n      facts = { [\"step.median_ns\"] = 1e7, "
               "[\"part.input_ns\"] = 0.8e6 } },",
               "[\"part.input_ns\"] = 9e6 }, replay = { 1.2e6 } },\n"
               "    { name = \"none\", finding = false,\n"
               "      facts = { [\"step.median_ns\"] = 1e7, [\"part.input_ns\"] = 2e4 } },");

    (void)state;
    assert_int_equal(outcome.checked.fault_count, 0);
    assert_true(says(&outcome.report, "parameter min_share halved and doubled"));
    assert_true(says(&outcome.report, "part.input_ns halved and doubled"));
    assert_true(says(&outcome.report, "    min_share = { default = 0.1"));
    arena_free(&arena);
}

/* The example's words are shown where they stand. It no longer keeps quiet, and no other does. */
static void faults_show_the_line(void **state)
{
    struct arena   arena = { 0 };
    struct outcome outcome =
        author(&arena, "[\"part.input_ns\"] = 0.8e6", "[\"part.input_ns\"] = 8e6");

    (void)state;
    assert_int_equal(outcome.checked.fault_count, 2);
    assert_true(
        says(&outcome.report, "slow-decode.lua:44:15: example 2 should be one that is quiet"));
    assert_true(says(&outcome.report, "    { name = \"just below it\""));
    arena_free(&arena);
}

static void a_script_that_does_not_load_shows_the_line(void **state)
{
    struct arena   arena = { 0 };
    struct outcome outcome =
        author(&arena, "local share = input_ns / step_ns", "local share = = 1");

    (void)state;
    assert_int_equal(outcome.checked.fault_count, 1);
    assert_true(says(&outcome.report, "slow-decode.lua:20:5: unexpected symbol near '='"));
    assert_true(says(&outcome.report, "    local share = = 1"));
    assert_int_equal(outcome.remarks, 1);
    arena_free(&arena);
}

static void lint_names_what_is_not_used(void **state)
{
    struct arena   arena = { 0 };
    struct outcome outcome = author(
        &arena, "  params = {\n",
        "  params = {\n    unused = { default = 1, unit = \"count\", doc = \"nothing\" },\n");

    (void)state;
    assert_int_equal(outcome.remarks, 1);
    assert_true(says(&outcome.remarks_text, "slow-decode.lua:12:5: this parameter is not used"));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_template_is_a_tested_rule),
        cmocka_unit_test(numbers_far_from_the_threshold_are_untested),
        cmocka_unit_test(faults_show_the_line),
        cmocka_unit_test(a_script_that_does_not_load_shows_the_line),
        cmocka_unit_test(lint_names_what_is_not_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
