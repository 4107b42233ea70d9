#include "base/trace.h"
#include "testing.h"

#include <stdlib.h>

TEST(categories_have_levels)
{
    /* Read once, at the first use: set before. */
    assert_int_equal(setenv("TFPROF_TRACE", "read,rules:2,bad:x,", 1), 0);
    assert_true(trace_is_on("read", 1));
    assert_false(trace_is_on("read", 2));
    assert_true(trace_is_on("rules", 2));
    assert_false(trace_is_on("rules", 3));
    assert_false(trace_is_on("rule", 1));
    assert_false(trace_is_on("bad", 1));
    assert_false(trace_is_on("", 1));
}

TEST(time_does_not_go_back)
{
    int64_t before_ns = trace_now_ns();

    assert_true(before_ns > 0);
    assert_true(trace_now_ns() >= before_ns);
}
