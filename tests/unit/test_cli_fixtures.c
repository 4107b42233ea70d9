/* Fixtures of rules: what holds, what does not, what nobody would notice; and docs/synth.md. */

#include "testing.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/rules_fixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct outcome {
    struct fixtures_run  run;
    struct rules_checked checked;
    struct text          report;
};

/* The rule that `rules new` writes, with one fixture in a folder below it, tested. It fires where
 * the step waits a tenth of its time for input. */
static struct outcome test_fixture(struct arena *arena, struct str fixture)
{
    char           directory[] = "/tmp/tfprof-fixtures-XXXXXX", rule[64], folder[64], path[96];
    struct text    script = { .arena = arena };
    struct outcome outcome = { .report.arena = arena };
    struct err     err = { 0 };

    assert_non_null(mkdtemp(directory));
    snprintf(rule, sizeof rule, "%s/slow-decode.lua", directory);
    snprintf(folder, sizeof folder, "%s/tests", directory);
    snprintf(path, sizeof path, "%s/one.synth", folder);
    rule_template("acme/slow-decode", &script);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_true(file_write(rule, text_str(&script), &err));
    assert_true(file_write(path, fixture, &err));
    assert_true(rules_fixtures(directory, arena, &outcome.report, &outcome.run, &err));
    assert_true(rules_check(directory, &outcome.run.trials, arena, &outcome.report,
                            &outcome.checked, &err));
    unlink(path);
    unlink(rule);
    rmdir(folder);
    rmdir(directory);
    assert_int_equal(outcome.run.fixture_count, 1);
    return outcome;
}

/* Steps of 10 ms of which `next` waits for a part. Replay takes 0.95 of the wait as the middle. */
static const struct {
    const char *text;
    uint32_t    faults, untested;
    const char *says; /* in the report; NULL: nothing */
} rows[] = {
    { "step 10ms x5\n  next 1.2ms\nexpect acme/slow-decode finding impact 11.4% +- 0.1%\n", 0, 0,
      NULL },
    { "step 10ms x5\n  next 1.2ms\nexpect acme/slow-decode finding impact 1.14ms +- 10us\n", 0, 0,
      NULL },
    { "format kineto\nstep 10ms x5\n  next 0.8ms\nexpect acme/slow-decode silent\nexpect none\n", 0,
      0, NULL },
    { "format profile\nstep x5\n  op A 0us\nexpect acme/slow-decode skipped because counts\n", 0, 0,
      NULL },
    { "step 10ms x5\n  next 1.2ms\nexpect acme/slow-decode silent\n", 1, 0,
      "one.synth:3:8: acme/slow-decode finds 'Waiting for input takes 1.20 ms of each step' with "
      "an impact of 1.14 ms; expected is silence" },
    { "step 10ms x5\n  next 1.2ms\nexpect none\n", 1, 0, "expected is no finding" },
    { "step 10ms x5\n  next 0.8ms\nexpect acme/slow-decode finding\n", 1, 0,
      "acme/slow-decode keeps quiet; expected is a finding" },
    { "step 10ms x5\n  next 2.4ms\nexpect acme/slow-decode finding impact 11% +- 1%\n", 1, 0,
      "with an impact of 22.8 %; expected is a finding with an impact of 11.0 % +- 1.00 %" },
    { "step x5\n  op A 1ms\nexpect acme/slow-deode silent\n", 1, 0,
      "one.synth:3:8: no rule here is called 'acme/slow-deode'\n"
      "    expect acme/slow-deode silent\n"
      "           ^\n" },
    { "step x5\n  op A 1\n", 1, 0, "one.synth:2:8: a time needs a unit" },
    { "step x5\n  op A 1ms\n", 1, 0, "expects nothing" },
    /* Half or twice of 1 us is as far from the threshold. */
    { "step 10ms x5\n  next 1us\nexpect acme/slow-decode silent\n", 0, 1,
      "untested: every fixture holds with its times and sizes halved and doubled" },
};

TEST(fixtures_hold_or_are_reported)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena   arena = { 0 };
        struct outcome outcome = test_fixture(&arena, str_from(rows[i].text));

        print_message("%s%s", rows[i].text, outcome.report.data ? outcome.report.data : "");
        assert_int_equal(outcome.run.fault_count, rows[i].faults);
        assert_int_equal(outcome.checked.fault_count, 0);
        assert_int_equal(outcome.checked.untested_count, rows[i].untested);
        if (rows[i].says)
            assert_non_null(strstr(outcome.report.data, rows[i].says));
        else
            assert_int_equal(outcome.report.len, 0);
        arena_free(&arena);
    }
}

/* The path of a recorded profile; relative ones begin at the fixture. */
TEST(recorded_profiles_are_fixtures_too)
{
    static const char fixture[] = "profile " CASES_DIR "/recordings/tf2-input-sequential-map\n"
                                  "expect acme/slow-decode finding\n";
    struct arena      arena = { 0 };
    struct outcome    outcome = test_fixture(&arena, str_from(fixture));

    assert_int_equal(outcome.run.fault_count, 0);
    arena_free(&arena);
    outcome = test_fixture(&arena, STR("profile nowhere.pb\nexpect acme/slow-decode finding\n"));
    assert_int_equal(outcome.run.fault_count, 1);
    assert_non_null(strstr(outcome.report.data, "tests/nowhere.pb"));
    arena_free(&arena);
}

TEST(the_page_is_right)
{
    static const char begin[] = "```synth\n", end[] = "```\n";
    struct arena      arena = { 0 };
    struct file       page;
    struct err        err = { 0 };
    struct str        text;
    struct outcome    outcome;

    assert_true(file_open(&page, TESTS_DIR "/../docs/synth.md", 0, &err));
    text = str_slice(page.bytes, str_search(page.bytes, STR(begin)) + sizeof begin - 1,
                     page.bytes.len);
    text = str_slice(text, 0, str_search(text, STR(end)));
    assert_true(text.len > 100);
    outcome = test_fixture(&arena, text);
    print_message("%s", outcome.report.data ? outcome.report.data : "");
    assert_int_equal(outcome.run.fault_count, 0);
    assert_true(outcome.run.trials.list.items[0].has_fired);
    file_close(&page);
    arena_free(&arena);
}
