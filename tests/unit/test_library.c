/* library: what is there is filled whole, what is not there is told with what it is for. */
#include "base/library.h"

#include "base/macros.h"
#include "testing.h"

#include <string.h>

static double (*cosine)(double);
static double (*unknown)(double);

TEST(functions_can_be_called)
{
    static const struct library_symbol symbols[] = { { "cos", &cosine, NULL } };
    struct library library = { "libm.so.6", "for tests", symbols, ARRAY_COUNT(symbols), false };
    struct err     err = { 0 };

    assert_true(library_need(&library, &err));
    assert_true(library_need(&library, &err));
    assert_true(cosine(0) == 1);
}

TEST(a_library_that_is_not_there_is_named)
{
    struct library library = { "libnot-there.so.9", "to do nothing", NULL, 0, false };
    struct err     err = { 0 };

    assert_false(library_need(&library, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_string_equal(err.text, "libnot-there.so.9, needed to do nothing, is not installed");
}

TEST(a_function_that_is_not_there_is_named)
{
    static const struct library_symbol symbols[] = { { "cosine_of_nothing", &unknown, NULL } };
    struct library library = { "libm.so.6", "for tests", symbols, ARRAY_COUNT(symbols), false };
    struct err     err = { 0 };

    assert_false(library_need(&library, &err));
    assert_string_equal(err.text, "libm.so.6, needed for tests, has no cosine_of_nothing");
    assert_false(library.is_loaded);
}
