/* Which window of a repeating schedule is read, of files as PyTorch's handler names them. */
#include "base/file.h"
#include "base/text.h"
#include "read/windows.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The row chosen of files whose steps are marked from first to last; none where first is 0. */
static size_t chosen(char **names, int (*steps)[2], size_t count)
{
    char         directory[] = "/tmp/tfprof-windows-XXXXXX", path[200];
    struct arena arena = { 0 };
    struct err   err = { 0 };
    size_t       row, end;

    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < count; i++) {
        struct text text = { .arena = &arena };

        text_add(&text, STR("{\"traceEvents\": ["));
        for (int step = steps[i][0]; step && step <= steps[i][1]; step++)
            text_print(&text, "{\"ph\": \"X\", \"name\": \"ProfilerStep#%d\"},\n", step);
        text_add(&text, STR("{\"name\": \"ProfilerStep\"}]}"));
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        assert_true(file_write(path, text_str(&text), &err));
    }
    row = window_choose(directory, names, count, 0, &arena, &end);
    assert_int_equal(end, count);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
    arena_free(&arena);
    return row;
}

TEST(the_last_whole_window_is_read)
{
    char *three[] = { (char[]) { "host_42.99.pt.trace.json" },
                      (char[]) { "host_42.1000.pt.trace.json" },
                      (char[]) { "host_42.2000.pt.trace.json" } };

    /* each of three steps */
    assert_int_equal(chosen(three, (int[][2]) { { 3, 5 }, { 8, 10 }, { 13, 15 } }, 3), 2);
    /* the program ended in the third */
    assert_int_equal(chosen(three, (int[][2]) { { 3, 5 }, { 8, 10 }, { 13, 13 } }, 3), 1);
    /* before a step of it was marked; 9 to 10 are two steps, by their numbers */
    assert_int_equal(chosen(three, (int[][2]) { { 3, 5 }, { 9, 10 }, { 0, 0 } }, 3), 1);
    /* programs that mark no steps */
    assert_int_equal(chosen(three, (int[][2]) { { 0, 0 }, { 0, 0 }, { 0, 0 } }, 3), 2);
}

TEST(training_is_read_rather_than_evaluation)
{
    char *two[] = { (char[]) { "fit-[Strategy]S.training_step.10.pt.trace.json" },
                    (char[]) { "fit-[Strategy]S.validation_step.20.pt.trace.json" } };

    /* longer windows of evaluation do not make those of training cut ones */
    assert_int_equal(chosen(two, (int[][2]) { { 3, 4 }, { 1, 9 } }, 2), 0);
}

TEST(a_mark_that_two_runs_share)
{
    enum { RUN = 4 << 20, PADDING = RUN + 100 };
    char        *two[] = { (char[]) { "h_1.1.pt.trace.json" }, (char[]) { "h_1.2.pt.trace.json" } };
    char         directory[] = "/tmp/tfprof-windows-XXXXXX", path[200];
    struct arena arena = { 0 };
    struct err   err = { 0 };
    char        *bytes = arena_alloc(&arena, PADDING);
    size_t       end;

    /* The first file's second mark lies across the end of the stream's first run of 4 MiB. */
    assert_non_null(bytes);
    memset(bytes, ' ', PADDING);
    memcpy(bytes, "\"ProfilerStep#1\"", 16);
    memcpy(bytes + RUN - 8, "\"ProfilerStep#2\"", 16);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/%s", directory, two[0]);
    assert_true(file_write(path, (struct str) { bytes, PADDING }, &err));
    snprintf(path, sizeof path, "%s/%s", directory, two[1]);
    assert_true(file_write(path, STR("\"ProfilerStep#3\" "), &err));
    assert_int_equal(window_choose(directory, two, 2, 0, &arena, &end), 0);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", directory, two[0]);
    unlink(path);
    rmdir(directory);
    arena_free(&arena);
}
