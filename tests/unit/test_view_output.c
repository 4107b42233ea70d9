/* Where a view goes; answers and errors as the original gives them. */

#include "testing.h"

#include "base/macros.h"
#include "view/output.h"

TEST(test_scan)
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
          "-output is stdout, none, file, timeline, pprof or folded, not 'foo'" },
        { "timeline:outfile", OUTPUT_STDOUT, NULL,
          "-output timeline takes outfile=FILE, not 'outfile'" },
        { "timeline:foo=1", OUTPUT_STDOUT, NULL,
          "-output timeline takes outfile=FILE, not 'foo=1'" },
        { "stdout:outfile=x", OUTPUT_STDOUT, NULL, "-output stdout takes nothing behind it" },
        { "timeline", OUTPUT_STDOUT, NULL, "-output timeline needs a file" },
    };

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
