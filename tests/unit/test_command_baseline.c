/* baseline as a command: what stands in the file, and that nothing is left of one that fails. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "command_sample.h"

#define RECORDING CASES_DIR "/recordings/tf2-input-sequential-map"

TEST(baselines_say_what_they_are_of)
{
    /* The program marks its steps "train"; the recording has no device. */
    static const char *const arguments[] = { "baseline",      RECORDING,  RECORDING, "--reason",
                                             "a faster disk", "--config", "none",    NULL };
    static const char *const expected[] = {
        "\"schema\": \"tfprof.baseline/1\"",
        "\"comment\": \"a faster disk\"",
        "\"format\": \"xspace\"",
        "\"framework\": \"tensorflow\"",
        "\"devices\": []",
        "\"step_marker\": \"train\"",
        "{\"name\":\"compiles\",\"value\":0}",
    };
    struct arena arena = { 0 };
    struct str   answer, rest;
    size_t       runs = 0;

    answer = command_answer(arguments, &arena);
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
        print_message("%s\n", expected[i]);
        assert_true(str_contains(answer, str_from(expected[i])));
    }
    for (rest = answer; str_contains(rest, STR("\"step_ms\"")); runs++)
        rest = str_slice(rest, str_search(rest, STR("\"step_ms\"")) + 1, rest.len);
    assert_int_equal(runs, 2); /* a profile is a run of its own */
    arena_free(&arena);
}

TEST(failures_leave_no_file)
{
    char        path[] = "/tmp/tfprof-baseline-XXXXXX";
    const char *gone[] = { "baseline", "/nowhere/a.xplane.pb", "-o", path, NULL };
    const char *none[] = { "baseline", "-o", path, NULL };

    assert_non_null(mkdtemp(path));
    assert_int_equal(rmdir(path), 0); /* a name that is free */
    command_refuses(gone, "o such file");
    command_refuses(none, "no profile given");
    assert_false(file_exists(path));
}
