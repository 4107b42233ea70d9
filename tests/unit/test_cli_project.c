/* tfprof.toml: what it may say, where what is wrong stands, and which suppressions are told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "base/file.h"
#include "cli/command.h"
#include "cli/project.h"
#include "rules/catalogue.h"

#define RECORDING TESTS_DIR "/../cases/recordings/tf2-input-sequential-map"

static const char whole[] = "[gate]\n"
                            "baseline = \"base.tfbase\"\n"
                            "budgets = [ \"step_ms.p50 <= 210\", \"findings.error == 0\" ]\n"
                            "max-regression = \"5%\"\n"
                            "fail-on = \"error\"\n"
                            "inconclusive = \"warn\"\n"
                            "[rules]\n"
                            "paths = [ \"perf/rules\", \"/abs\" ]\n"
                            "preset = \"strict\"\n"
                            "only = [ \"input\" ]\n"
                            "skip = [ \"hot-op\" ]\n"
                            "set = [ \"hot-op.min_share=0.2\" ]\n"
                            "[rule.tiny-kernels]\n"
                            "severity = \"off\"\n"
                            "min_share = 0.1\n"
                            "[rule.\"acme/slow.decode\"]\n"
                            "is_loud = true\n"
                            "[[suppress]]\n"
                            "rule = \"hot-op\"\n"
                            "subject = \"val\"\n"
                            "reason = \"r\"\n"
                            "until = 2001-01-31\n"
                            "[[suppress]]\n"
                            "rule = \"big-logits\"\n"
                            "reason = \"s\"\n";

/* A file in a folder of its own; its path. */
static const char *write_file(char folder[64], char path[96], const char *text)
{
    struct err err = { 0 };

    snprintf(folder, 64, "/tmp/tfprof-project-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, 96, "%s/tfprof.toml", folder);
    assert_true(file_write(path, str_from(text), &err));
    return path;
}

static void remove_file(const char *folder, const char *path)
{
    unlink(path);
    rmdir(folder);
}

TEST(all_of_it_is_read)
{
    static const struct {
        const char *rule, *key, *value;
        uint32_t    line;
    } settings[] = {
        { "input", "", "", 10 },
        { "hot-op", "", "", 11 },
        { "hot-op", "min_share", "0.2", 12 },
        { "tiny-kernels", "severity", "off", 14 },
        { "tiny-kernels", "min_share", "0.1", 15 },
        { "acme/slow.decode", "is_loud", "true", 17 },
    };
    struct arena          arena = { 0 };
    struct project        project;
    struct advise_options options = { 0 };
    struct err            err = { 0 };
    char                  folder[64], path[96], expected[128];

    write_file(folder, path, whole);
    assert_true(vec_push(&options.set.values, &arena, "hot-op.min_share=0.3"));
    assert_true(project_load(&project, path, &arena, &err));
    assert_true(project_apply(&project, &options, &arena, &err));
    assert_string_equal(project.budgets.values.items[1], "findings.error == 0");
    assert_string_equal(project.max_regression, "5%");
    snprintf(expected, sizeof expected, "%s/perf/rules", folder);
    assert_string_equal(options.rule_directories.values.items[0], expected);
    assert_string_equal(options.rule_directories.values.items[1], "/abs");
    assert_string_equal(options.preset, "strict");
    assert_string_equal(options.only.values.items[0], "input");
    assert_string_equal(options.set.values.items[0], "hot-op.min_share=0.3"); /* after settings */
    assert_int_equal(options.settings.count, 6);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct rule_setting *setting = &options.settings.items[i];

        assert_string_equal(setting->rule, settings[i].rule);
        assert_string_equal(setting->key ? setting->key : "", settings[i].key);
        assert_string_equal(setting->value ? setting->value : "", settings[i].value);
        assert_int_equal(setting->line, settings[i].line);
    }
    assert_int_equal(options.suppressions->list.count, 2);
    assert_true(options.suppressions->list.items[0].is_expired);
    assert_false(options.suppressions->list.items[1].is_expired);
    remove_file(folder, path);
    arena_free(&arena);
}

TEST(faults_have_their_place)
{
    static const struct {
        const char *text, *said;
        uint32_t    line;
    } rows[] = {
        { "[gate]\nbudget = []\n", "did you mean budgets?", 2 },
        { "[gates]\nbudgets = []\n", "did you mean gate?", 2 },
        { "[gate]\nbudgets = [ \"step_m.p50 <= 210\" ]\n", "did you mean step_ms.p50?", 2 },
        { "[gate]\nbudgets = [ \"step_ms.p50 <= fast\" ]\n", "'fast' in the budget", 2 },
        { "preset = \"all\"\n", "put it below [rules]", 1 },
        { "[rules]\npreset = \"strickt\"\n", "recommended|strict|all, not 'strickt'", 2 },
        { "[rules]\npaths = \"rules\"\n", "array of strings", 2 },
        { "[rules]\nset = [ \"hot-op\" ]\n", "is not RULE.PARAM=VALUE", 2 },
        { "[rule.x]\nmin_share = [ 1 ]\n", "a string, a number", 2 },
        { "[[suppress]]\nrule = \"x\"\n", "needs a reason", 2 },
        { "[[suppress]]\nrule = \"x\"\nreason = \"r\"\nuntil = \"2030-01-01\"\n", "without quotes",
          4 },
        { "[[suppress]]\nrul = \"x\"\n", "did you mean rule?", 2 },
        { "[[suppress]]\nuntil = 2030-13-01\n", "2030-13-01 is no day", 2 },
        { "[[suppress]]\nuntil = 2030-02-29\n", "2030-02-29 is no day", 2 },
        { "[[suppress]]\nuntil = 2100-02-29\n", "2100-02-29 is no day", 2 }, /* no leap year */
        { "[[suppress]]\nuntil = 2030-04-31\n", "2030-04-31 is no day", 2 },
        { "[[suppress]]\nuntil = 2030-04-00\n", "2030-04-00 is no day", 2 },
        { "[[suppress]]\nuntil = 2028-02-29\n", "needs a rule", 2 }, /* is one */
        { "[[suppress]]\nrule = \"x\"\nreason = \"r\"\nsubject = \"(\"\n", "(", 2 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena   arena = { 0 };
        struct project project;
        struct err     err = { 0 };
        char           folder[64], path[96], text[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];

        write_file(folder, path, rows[i].text);
        assert_false(project_load(&project, path, &arena, &err));
        err_format(&err, text, sizeof text);
        if (!strstr(text, rows[i].said) || err.line != rows[i].line || !strstr(text, path))
            fail_msg("row %zu: %s", i, text);
        remove_file(folder, path);
        arena_free(&arena);
    }
}

/* Names of rules are looked up when rules are loaded; the place is still told. */
TEST(unknown_rules_have_their_place)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        { "[rules]\nonly = [ \"inputs\" ]\n", "did you mean 'input'?" },
        { "[rules]\nskip = [ \"hot-opp\" ]\n", "did you mean 'hot-op'?" },
        { "[rules]\nset = [ \"hot-op.min_shar=1\" ]\n", "did you mean 'min_share'?" },
        { "[rule.hot-op]\nmin_share = \"1x\"\n", "is no number of the unit share" },
        { "[rule.hot-op]\nmin_share = 2\n", "is not between 0 and 1" },
        { "[rule.hot-oq]\nmin_share = 1\n", "did you mean 'hot-op'?" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena          arena = { 0 };
        struct project        project;
        struct advise_options options = { 0 };
        struct err            err = { 0 };
        char                  folder[64], path[96], text[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];

        write_file(folder, path, rows[i].text);
        assert_true(project_load(&project, path, &arena, &err));
        assert_true(project_apply(&project, &options, &arena, &err));
        assert_false(advise_check(&options, &err));
        err_format(&err, text, sizeof text);
        if (!strstr(text, rows[i].said) || err.line != 2 || !strstr(text, path))
            fail_msg("row %zu: %s", i, text);
        remove_file(folder, path);
        arena_free(&arena);
    }
}

/* What the list of rules shows of them. */
TEST(rules_are_as_the_project_has_them)
{
    static const char       text[] = "[rules]\npreset = \"strict\"\n"
                                     "[rule.tiny-kernels]\nseverity = \"error\"\nmin_share = \"7%\"\n"
                                     "[rule.hot-op]\nseverity = \"off\"\n";
    struct arena            arena = { 0 };
    struct advise_options   options = { 0 };
    struct rule_explanation explanation;
    struct err              err = { 0 };
    char                    folder[64], path[96];

    write_file(folder, path, text);
    assert_true(project_load_into(path, &options, &arena, &err));
    assert_true(rule_explain("tiny-kernels", &options, NULL, &arena, &explanation, &err));
    assert_int_equal(explanation.info.severity, SEVERITY_ERROR);
    for (size_t i = 0; i < explanation.info.params.count; i++) {
        const struct rule_param *param = &explanation.info.params.items[i];

        if (strcmp(param->name, "min_share") == 0)
            assert_true(param->is_set && param->number == 0.07);
        else if (strcmp(param->name, "max_queue") == 0)
            assert_false(param->is_set);
    }
    assert_true(rule_explain("hot-op", &options, NULL, &arena, &explanation, &err));
    assert_true(explanation.info.is_off);
    assert_true(rule_explain("tiny-kernels", NULL, NULL, &arena, &explanation, &err));
    assert_int_not_equal(explanation.info.severity, SEVERITY_ERROR);
    remove_file(folder, path);
    arena_free(&arena);
}

/* Runs advise with this configuration; what it says on standard error. */
static void advise_with(const char *text, const char *only, char said[4096], int *status)
{
    char         folder[64], path[96], config[128], select[64], log[96];
    struct arena arena = { 0 };
    struct err   err = { 0 };
    FILE        *file;
    int          kept = dup(STDERR_FILENO);
    size_t       len;

    write_file(folder, path, text);
    snprintf(config, sizeof config, "--config=%s", path);
    snprintf(select, sizeof select, "--only=%s", only);
    snprintf(log, sizeof log, "%s/log", folder);
    char *arguments[] = { (char[]) { "advise" }, config, select,
                          (char[]) { "-o" },     log,    (char[]) { RECORDING } };

    file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    *status = command_run(6, arguments, &arena, status, &err) ? *status : err_exit_code(err.code);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    len = fread(said, 1, 4095, file);
    said[len] = 0;
    fclose(file);
    unlink(log);
    remove_file(folder, path);
    arena_free(&arena);
}

#define SUPPRESS(rule, more) "[[suppress]]\nrule = \"" rule "\"\nreason = \"r\"\n" more

/* The recording has one sequential map that is found, and few steps to skip rules for kernels. */
TEST(suppressions_are_told)
{
    static const struct {
        const char *text, *only, *said; /* NULL: nothing is */
    } rows[] = {
        { SUPPRESS("tfdata-sequential-map", ""), "input", NULL },
        { SUPPRESS("tfdata-sequential-map", "subject = \"nowhere\"\n"), "input",
          ":2: the suppression of tfdata-sequential-map takes nothing away" },
        { SUPPRESS("tfdata-sequential-map", "until = 2001-01-01\n"), "input",
          "expired on 2001-01-01" },
        { SUPPRESS("tfdata-sequential-mop", ""), "input",
          "is about no rule there is; did you mean tfdata-sequential-map?" },
        { SUPPRESS("tiny-kernels", ""), "input", NULL },        /* not asked */
        { SUPPRESS("unfused-attention", ""), "kernels", NULL }, /* could not look */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char said[4096];
        int  status = 0;

        advise_with(rows[i].text, rows[i].only, said, &status);
        assert_int_equal(status, 0);
        if (rows[i].said ? !strstr(said, rows[i].said) : said[0])
            fail_msg("row %zu: %s", i, said);
    }
}
