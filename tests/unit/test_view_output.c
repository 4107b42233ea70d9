/* Where a view goes; answers and errors as the original gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "view/output.h"

static void test_scan(void **state)
{
    static const struct {
        const char           *text;
        enum view_output_kind kind;
        const char           *outfile, *error;
    } rows[] = {
        { "", OUTPUT_STDOUT, NULL, NULL },
        { "none", OUTPUT_NONE, NULL, NULL },
        { "timeline:outfile=t", OUTPUT_TIMELINE, "t", NULL },
        { "file:outfile=a=b", OUTPUT_FILE, "a=b", NULL },
        { "file:outfile==a", OUTPUT_FILE, "a", NULL },
        { "pprof:outfile=p,outfile=q", OUTPUT_PPROF, "q", NULL },
        { "foo", OUTPUT_STDOUT, NULL,
          "E.g. Unknown output type: foo, Valid types: file,none,pprof,stdout,timeline" },
        { "timeline:outfile", OUTPUT_STDOUT, NULL,
          "Visualize format: -output timeline:key=value,key=value,..." },
        { "timeline:foo=1", OUTPUT_STDOUT, NULL,
          "Unrecognized options foo for output_type: timeline" },
        { "stdout:outfile=x", OUTPUT_STDOUT, NULL,
          "Unrecognized options outfile for output_type: stdout" },
        { "timeline", OUTPUT_STDOUT, NULL, "Missing required output_options for timeline" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena       arena = { 0 };
        struct view_output output;
        struct err         err = { 0 };

        assert_int_equal(view_output_scan(rows[i].text, &arena, &output, &err), !rows[i].error);
        if (rows[i].error) {
            assert_string_equal(err.text, rows[i].error);
        } else {
            assert_int_equal(output.kind, rows[i].kind);
            if (rows[i].outfile)
                assert_string_equal(output.outfile, rows[i].outfile);
            else
                assert_null(output.outfile);
        }
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
