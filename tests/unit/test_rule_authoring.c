/* What `tfprof rules new`, `test` and `lint` do for authors of rules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "base/file.h"
#include "rules/catalogue.h"

#ifdef __linux__
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

struct outcome {
    struct rules_checked checked;
    uint32_t             remarks;
    struct text          report, remarks_text;
    bool                 has_filter, has_no_filter; /* of system calls, in test and lint both */
};

/* The template with `from` (must be there; NULL: none) replaced by `to`, tested and linted. */
static struct outcome author(struct arena *arena, const char *from, const char *to)
{
    char                directory[] = "/tmp/tfprof-author-XXXXXX", path[128];
    struct text         script = { .arena = arena }, edited = { .arena = arena };
    struct outcome      outcome = { .report.arena = arena, .remarks_text.arena = arena };
    struct rules_linted linted;
    struct err          err = { 0 };
    struct str          whole;
    size_t              at;

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
    assert_true(rules_lint(directory, arena, &outcome.remarks_text, &linted, &err));
    outcome.remarks = linted.remark_count;
    outcome.has_filter = !linted.is_unfiltered && !outcome.checked.is_unfiltered;
    outcome.has_no_filter = linted.is_unfiltered && outcome.checked.is_unfiltered;
    unlink(path);
    rmdir(directory);
    return outcome;
}

static bool says(const struct text *report, const char *words)
{
    return str_contains(text_str(report), str_from(words));
}

TEST(the_template_is_a_tested_rule)
{
    struct arena   arena = { 0 };
    struct outcome outcome = author(&arena, NULL, NULL);

    assert_int_equal(outcome.checked.rule_count, 1);
    assert_int_equal(outcome.checked.fault_count, 0);
    assert_int_equal(outcome.checked.untested_count, 0);
    assert_int_equal(outcome.remarks, 0);
    arena_free(&arena);
}

/* A fiftieth of the threshold: halved or doubled it stays below. 90 % of the step stays above. */
TEST(numbers_far_from_the_threshold_are_untested)
{
    struct arena   arena = { 0 };
    struct outcome outcome =
        author(&arena,
               "[\"part.input_ns\"] = 1.2e6 },\n      replay = { 1.2e6 } },\n    { name = \"just "
               "below it\", finding = false,\n      facts = { [\"step.ns\"] = 1e7, "
               "[\"part.input_ns\"] = 0.8e6 } },",
               "[\"part.input_ns\"] = 9e6 }, replay = { 1.2e6 } },\n"
               "    { name = \"none\", finding = false,\n"
               "      facts = { [\"step.ns\"] = 1e7, [\"part.input_ns\"] = 2e4 } },");

    assert_int_equal(outcome.checked.fault_count, 0);
    assert_true(says(&outcome.report, "parameter min_share halved and doubled"));
    assert_true(says(&outcome.report, "part.input_ns halved and doubled"));
    assert_true(says(&outcome.report, "    min_share = { default = 0.1"));
    arena_free(&arena);
}

/* The example's words are shown where they stand. It no longer keeps quiet, and no other does. */
TEST(faults_show_the_line)
{
    struct arena   arena = { 0 };
    struct outcome outcome =
        author(&arena, "[\"part.input_ns\"] = 0.8e6", "[\"part.input_ns\"] = 8e6");

    assert_int_equal(outcome.checked.fault_count, 2);
    assert_true(
        says(&outcome.report, "slow-decode.lua:44:15: example 2 should be one that is quiet"));
    assert_true(says(&outcome.report, "    { name = \"just below it\""));
    arena_free(&arena);
}

TEST(a_script_that_does_not_load_shows_the_line)
{
    struct arena   arena = { 0 };
    struct outcome outcome =
        author(&arena, "local share = input_ns / step_ns", "local share = = 1");

    assert_int_equal(outcome.checked.fault_count, 1);
    assert_true(says(&outcome.report, "slow-decode.lua:20:5: unexpected symbol near '='"));
    assert_true(says(&outcome.report, "    local share = = 1"));
    assert_int_equal(outcome.remarks, 1);
    arena_free(&arena);
}

/* What a function of ours complains about stands in the line that calls it: in the template, 19. */
TEST(complaints_name_the_line_of_the_script)
{
    struct arena   arena = { 0 };
    struct outcome outcome = author(&arena, "p.fact[\"step.ns\"],", "p.fact[\"step.medain_ns\"],");

    assert_true(says(&outcome.report, "slow-decode.lua:19: no analysis makes a fact "
                                      "'step.medain_ns'; did you mean 'step.median_ns'?"));
    arena_free(&arena);
}

TEST(lint_names_what_is_not_used)
{
    struct arena   arena = { 0 };
    struct outcome outcome = author(
        &arena, "  params = {\n",
        "  params = {\n    unused = { default = 1, unit = \"count\", doc = \"nothing\" },\n");

    assert_int_equal(outcome.remarks, 1);
    assert_true(says(&outcome.remarks_text, "slow-decode.lua:12:5: this parameter is not used"));
    arena_free(&arena);
}

/* Messages of the loader know no line: the field or name that they are about has one. */
TEST(faults_of_fields_show_the_line)
{
    static const struct {
        const char *from, *to, *said;
    } rows[] = {
        { "api = 1", "api = 2", "slow-decode.lua:5:3: api must be 1" },
        { "  title = ", "  titel = ", "slow-decode.lua:6:3: a rule has no field 'titel'" },
        { "severity = \"warn\"", "severity = \"warm\"",
          "slow-decode.lua:7:23: severity is one of" },
        { "  category = \"input\",", "", "slow-decode.lua:3:8: category is missing" },
        { "needs = { \"step.ns\"", "needs = { \"step.medain_ns\"",
          "slow-decode.lua:10:14: no analysis makes a fact or table 'step.medain_ns'" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena   arena = { 0 };
        struct outcome outcome = author(&arena, rows[i].from, rows[i].to);

        assert_int_equal(outcome.checked.fault_count, 1);
        if (!says(&outcome.report, rows[i].said))
            fail_msg("not '%s' in:\n%s", rows[i].said, outcome.report.data);
        arena_free(&arena);
    }
}

TEST(words_of_rules_steer_no_terminal)
{
    struct arena   arena = { 0 };
    struct outcome outcome = author(&arena, "if share < cfg.min_share then return nil end",
                                    "error('\\27[2J\\n::error::')");

    assert_int_equal(outcome.checked.rule_count, 1);
    assert_true(says(&outcome.report, "\\x1b[2J\\x0a::error::"));
    assert_false(says(&outcome.report, "\x1b"));
    arena_free(&arena);
}

/* What does not load is quoted: it might be a file that only the one who looks may read. */
TEST(links_lead_nowhere_else)
{
    char                 directory[] = "/tmp/tfprof-author-XXXXXX", path[128];
    char                 secret[] = "/tmp/tfprof-secret-XXXXXX";
    int                  file = mkstemp(secret);
    struct arena         arena = { 0 };
    struct text          report = { .arena = &arena };
    struct rules_checked checked = { 0 };
    struct err           err = { 0 };

    assert_true(file >= 0);
    close(file);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/slow-decode.lua", directory);
    assert_int_equal(symlink(secret, path), 0);
    assert_false(rules_check(directory, NULL, &arena, &report, &checked, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_true(str_contains(str_from(err.text), STR("leads out of")));
    unlink(path);
    unlink(secret);
    rmdir(directory);
    arena_free(&arena);
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

/* From here on this process is one of a system without filters of system calls. */
static bool refuse_filters(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof steps / sizeof *steps, steps };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

TEST(it_is_known_whether_system_calls_are_filtered)
{
    struct arena arena = { 0 };
    pid_t        pid;
    int          status = 0;

    assert_true(author(&arena, NULL, NULL).has_filter);
    pid = fork();
    if (pid == 0)
        _exit(refuse_filters() && author(&arena, NULL, NULL).has_no_filter ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    arena_free(&arena);
}

#else

TEST(it_is_known_whether_system_calls_are_filtered)
{
    struct arena arena = { 0 };

    assert_true(author(&arena, NULL, NULL).has_no_filter);
    arena_free(&arena);
}

#endif
