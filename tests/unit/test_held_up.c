/* held_up: calls that took far longer than such a call usually takes, beside a run. */
#include "analyze/path/held_up.h"

#include "analyze/analysis.h"
#include "profile_builder.h"
#include "testing.h"

#include <math.h>

extern const struct analysis analysis_path;

enum { US = 1000, STEP_US = 10000 };

/* A step of 10 ms: as many calls of 10 us as told, every 100 us, and one of 5 ms behind them;
 * a program runs from a time for 1 ms. */
static double held_up_behind(int calls, int64_t run_us)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct err             err = { 0 };
    uint32_t               host = builder_start_host(&b, FORMAT_XSPACE);
    uint32_t               thread = builder_timeline(&b, host, NO_ID, "python");
    double                 ns = NAN;
    struct runs            runs = { 0 };
    struct run             run = { .start_ns = run_us * US, .end_ns = (run_us + 1000) * US };

    for (int i = 0; i < calls; i++)
        builder_slice(&b, thread, "Execute", ACTIVITY_DISPATCH, (int64_t)i * 100 * US, 10 * US);
    builder_slice(&b, thread, "Execute", ACTIVITY_DISPATCH, 4000 * US, 5000 * US);
    builder_step(&b, host, 0, STEP_US * US);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = thread;
    assert_true(path_begin(&b.study) && analysis_path.run(&b.study, &err));
    assert_true(vec_push(&runs.list, &scratch, run));
    assert_true(held_up_find(&b.study, &runs, &scratch, &ns));
    arena_free(&scratch);
    builder_free(&b);
    return ns;
}

/* 5000 us less the 10 that it usually takes. */
TEST(a_call_held_up_counts_beyond_what_is_usual)
{
    assert_float_equal(held_up_behind(20, 3500), 4990 * US, 1);
}

/* Of nine calls nobody knows what is usual. */
TEST(few_calls_tell_nothing)
{
    assert_float_equal(held_up_behind(8, 3500), 0, 0);
}

/* What begins in the call, at 4.1 ms, is its own work. */
TEST(a_call_that_runs_its_own_program_is_not_held_up)
{
    assert_float_equal(held_up_behind(20, 4100), 0, 0);
}
