/* advise as a command: what is refused before a profile is read, and the status it ends with. */
#include "cli/command.h"

#include "base/macros.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDING TESTS_DIR "/../cases/recordings/tf2-input-sequential-map"

static bool run(int count, const char *const *arguments, int *status, struct err *err)
{
    struct arena arena = { 0 };
    char        *copies[8];
    bool         is_done;

    for (int i = 0; i < count; i++)
        copies[i] = (char *)(uintptr_t)arguments[i];
    *status = 0;
    is_done = command_run(count, copies, &arena, status, err);
    arena_free(&arena);
    return is_done;
}

/* The profile does not exist: an answer about the setting comes before that of the file. */
TEST(settings_are_checked_before_the_profile)
{
    static const struct {
        const char   *option;
        enum err_code code;
        const char   *said;
    } cases[] = {
        { "--only=input-bond-step", ERR_USAGE, "did you mean 'input-bound-step'?" },
        { "--skip=nothing-like-it-at-all", ERR_USAGE, "no rule, category or tag is called" },
        { "--set=input-bound-step.min_shar=1", ERR_USAGE, "did you mean 'min_share'?" },
        { "--set=input-bound-step.min_share=2", ERR_USAGE, "is not between 0 and 1" },
        { "--set=input-bound-step.min_share=x", ERR_USAGE, "is no number" },
        { "--set=min_share", ERR_USAGE, "is not RULE.PARAM=VALUE" },
        { "--rules=/nowhere/at/all", ERR_USAGE, "is no directory of rules, and no rule" },
        { "--only=input", ERR_INPUT, "o such file" },
        { "--set=input-bound-step.min_share=0.2", ERR_INPUT, "o such file" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *arguments[] = { "advise", cases[i].option, "/nowhere/a.xplane.pb" };
        struct err  err = { 0 };
        char        line[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];
        int         status;

        print_message("%s\n", cases[i].option);
        assert_false(run(3, arguments, &status, &err));
        assert_int_equal(err_exit_code(err.code), err_exit_code(cases[i].code));
        assert_non_null(strstr(err_format(&err, line, sizeof line), cases[i].said));
    }
}

/* The recording waits for its input, a warning or more, and nothing in it vetoes advice. */
TEST(a_gate_ends_with_one)
{
    static const struct {
        const char *fail_on;
        int         status;
    } cases[] = { { "--fail-on=warn", 1 }, { "--fail-on=veto", 0 } };
    char path[] = "/tmp/tfprof-advise-XXXXXX";
    int  file = mkstemp(path);

    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *arguments[] = { "advise", "-o",    path,     cases[i].fail_on,
                                    "--only", "input", RECORDING };
        struct err  err = { 0 };
        int         status;

        assert_true(run(7, arguments, &status, &err));
        assert_int_equal(status, cases[i].status);
    }
    unlink(path);
}

/* A rule that raises is named, and only --rule-errors=fail makes it an error (exit 5). */
TEST(a_failing_rule_is_an_error_on_request)
{
    static const char script[] =
        "-- Raises.\n"
        "return rule { id = \"raises\", api = 1, version = \"1.0.0\", title = \"t\",\n"
        "category = \"host\", severity = \"info\", check = function() error(\"oh\") end }\n";
    char  directory[] = "/tmp/tfprof-rules-XXXXXX", file[64], out[64], option[64];
    FILE *stream;

    assert_non_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/raises.lua", directory);
    snprintf(out, sizeof out, "%s/out", directory);
    snprintf(option, sizeof option, "--rules=%s", directory);
    stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(script, stream);
    fclose(stream);
    for (int is_strict = 0; is_strict <= 1; is_strict++) {
        const char *arguments[] = {
            "advise", option, "--only=raises",
            "-o",     out,    is_strict ? "--rule-errors=fail" : "--rule-errors=warn",
            RECORDING
        };
        struct err err = { 0 };
        int        status;

        assert_int_equal(run(7, arguments, &status, &err), !is_strict);
        assert_int_equal(status, 0);
        if (is_strict)
            assert_int_equal(err_exit_code(err.code), 5);
    }
    unlink(file);
    unlink(out);
    rmdir(directory);
}
