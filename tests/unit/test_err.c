#include "base/err.h"
#include "testing.h"

#include <string.h>

TEST(innermost_place_comes_last)
{
    struct err err = { 0 };
    char       text[256];

    assert_false(err_set_at(&err, ERR_FORMAT, 18231, "duration_ps is %d", -5));
    assert_false(err_in(&err, "events[%d]", 17));
    assert_false(err_in(&err, "lines[0]"));
    assert_false(err_in(&err, "planes[2]"));
    err_source(&err, "run.xplane.pb");
    err_source(&err, "outer.zip"); /* the inner one stays */
    err_advise(&err, "record it %s", "again");
    assert_string_equal(err_format(&err, text, sizeof text),
                        "run.xplane.pb: byte 18231: planes[2].lines[0].events[17]: "
                        "duration_ps is -5; record it again");
}

TEST(text_input_has_line_and_column)
{
    struct err err = { 0 };
    char       text[256];

    err_set(&err, ERR_FORMAT, "no such field");
    err.line = 3;
    err.column = 14;
    err_source(&err, "graph.pbtxt");
    assert_string_equal(err_format(&err, text, sizeof text), "graph.pbtxt:3:14: no such field");
}

TEST(control_bytes_are_escaped)
{
    struct err err = { 0 };
    char       text[256];

    err_set(&err, ERR_FORMAT, "name '%s'", "a\x1b[31m\n\x7f");
    assert_string_equal(err_format(&err, text, sizeof text), "name 'a\\x1B[31m\\x0A\\x7F'");
}

TEST(small_buffers_are_respected)
{
    struct err err = { 0 };
    char       text[64];

    err_set(&err, ERR_USAGE, "a\nb and more");
    err_source(&err, "source");
    for (size_t bytes = 1; bytes <= 40; bytes++) {
        memset(text, '#', sizeof text);
        err_format(&err, text, bytes);
        assert_true(strlen(text) < bytes);
        assert_int_equal(text[bytes], '#');
    }
}

TEST(deep_paths_stay_bounded)
{
    struct err err = { 0 };

    err_set(&err, ERR_FORMAT, "too deep");
    for (int i = 0; i < 1000; i++)
        err_in(&err, "children[%d]", i);
    assert_true(strlen(err.path) < ERR_PATH_BYTES);
    assert_int_equal(strncmp(err.path, "children[999].", 14), 0);
}

TEST(codes_become_exit_statuses)
{
    /* The list in err.h: 0 fine, 2 usage, 3 input or output, 4 inconclusive, 5 a rule failed. */
    static const struct {
        enum err_code code;
        int           status;
    } rows[] = {
        { ERR_NONE, 0 },  { ERR_USAGE, 2 },  { ERR_INPUT, 3 },  { ERR_FORMAT, 3 },
        { ERR_LIMIT, 3 }, { ERR_OUTPUT, 3 }, { ERR_SCRIPT, 5 }, { ERR_INCONCLUSIVE, 4 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_int_equal(err_exit_code(rows[i].code), rows[i].status);
}
