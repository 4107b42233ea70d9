/* command_sample: runs a command as its arguments say, with what it writes to a file of its own. */
#ifndef TFPROF_TESTS_COMMAND_SAMPLE_H
#define TFPROF_TESTS_COMMAND_SAMPLE_H

#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE_ARGUMENTS = 12 };

/* arguments end in NULL. */
static inline bool command_sample(const char *const *arguments, struct err *err)
{
    struct arena arena = { 0 };
    char        *copies[SAMPLE_ARGUMENTS];
    int          count = 0, status = 0;
    bool         is_done;

    for (; arguments[count]; count++)
        copies[count] = (char *)(uintptr_t)arguments[count];
    is_done = command_run(count, copies, &arena, &status, err);
    arena_free(&arena);
    assert_int_equal(status, 0);
    return is_done;
}

/* The command ends well; what it wrote to -o, which is added, lives in the arena. */
static inline struct str command_answer(const char *const *arguments, struct arena *arena)
{
    char        path[] = "/tmp/tfprof-command-XXXXXX";
    const char *with_output[SAMPLE_ARGUMENTS + 3];
    int         descriptor = mkstemp(path), count = 0;
    struct file file = { 0 };
    struct err  err = { 0 };
    struct str  answer;

    assert_true(descriptor >= 0);
    close(descriptor);
    for (; arguments[count]; count++)
        with_output[count] = arguments[count];
    with_output[count++] = "-o";
    with_output[count++] = path;
    with_output[count] = NULL;
    assert_true(command_sample(with_output, &err));
    assert_true(file_open(&file, path, 0, &err));
    answer = arena_str(arena, file.bytes);
    file_close(&file);
    unlink(path);
    return answer;
}

/* The command refuses, in these words. */
static inline void command_refuses(const char *const *arguments, const char *said)
{
    char       line[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];
    struct err err = { 0 };

    assert_false(command_sample(arguments, &err));
    assert_non_null(strstr(err_format(&err, line, sizeof line), said));
}

#endif
