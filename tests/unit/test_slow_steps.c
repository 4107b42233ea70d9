/* slow_steps: what the few slow steps do that the others do not. Times in ms. */
#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

extern const struct analysis analysis_path, analysis_slow_steps;

enum { MS = 1000000, STEPS = 6 };

/* Six steps of an op of 10 ms; the last one has 20 ms more, behind it. */
static int64_t add_steps(struct profile_builder *b, uint32_t *thread)
{
    uint32_t host = builder_start_host(b, FORMAT_KINETO);

    *thread = builder_timeline(b, host, NO_ID, "main");
    for (int i = 0; i < STEPS; i++) {
        int64_t start_ns = (int64_t)i * 10 * MS;

        builder_slice(b, *thread, "aten::mm", ACTIVITY_OP, start_ns, 10 * MS);
        builder_step(b, host, start_ns, start_ns + (i + 1 < STEPS ? 10 : 30) * MS);
    }
    return STEPS * 10 * MS;
}

static void run(struct profile_builder *b, uint32_t thread)
{
    struct err err = { 0 };

    builder_finish(b);
    for (size_t i = 0; i < STEPS; i++)
        b->study.steps.list.items[i].timeline = thread;
    b->study.steps.median_ns = 10 * MS;
    b->study.steps.list.items[STEPS - 1].is_outlier = true;
    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
    assert_true(analysis_slow_steps.run(&b->study, &err));
}

static void check(const struct profile_builder *b, const char *name, const char *column,
                  double expected)
{
    double value = builder_cell(b, "slow_steps", "name", name, column);

    if (!(fabs(value - expected) < 1))
        fail_msg("%s of %s is %g, not %g", column, name, value, expected);
}

/* save 0..20 with write 0..15 in it, and write again inside of that: the others have neither, so it
 * is the outer one that stands for the excess of 20. */
TEST(the_outermost_call_that_others_lack_is_named)
{
    struct profile_builder b;
    uint32_t               thread;
    int64_t                at_ns = add_steps(&b, &thread);

    builder_slice(&b, thread, "save", ACTIVITY_PYTHON, at_ns, 20 * MS);
    builder_slice(&b, thread, "write", ACTIVITY_PYTHON, at_ns, 15 * MS);
    builder_slice(&b, thread, "write", ACTIVITY_PYTHON, at_ns, 12 * MS);
    run(&b, thread);
    check(&b, "save", "excess_ns", 20 * MS);
    check(&b, "save", "extra_ns", 20 * MS);
    check(&b, "save", "usual_ns", 0);
    check(&b, "save", "is_only", 1);
    builder_free(&b);
}

/* The op itself runs again for 20: 30 of it beside 10 in the others, in whatever is around it. */
TEST(the_innermost_that_takes_longer_is_named)
{
    struct profile_builder b;
    uint32_t               thread;
    int64_t                at_ns = add_steps(&b, &thread);

    builder_slice(&b, thread, "aten::mm", ACTIVITY_OP, at_ns, 20 * MS);
    run(&b, thread);
    check(&b, "aten::mm", "extra_ns", 20 * MS);
    check(&b, "aten::mm", "usual_ns", 10 * MS);
    check(&b, "aten::mm", "is_only", 0);
    builder_free(&b);
}

/* Nothing is recorded behind the op for 20, up to a short call that ends the step. */
TEST(a_pause_is_told_by_what_came_before)
{
    struct profile_builder b;
    uint32_t               thread;
    int64_t                at_ns = add_steps(&b, &thread);

    builder_slice(&b, thread, "end", ACTIVITY_PYTHON, at_ns + 19 * MS, MS);
    run(&b, thread);
    check(&b, "aten::mm", "extra_ns", 19 * MS);
    check(&b, "aten::mm", "usual_ns", 0);
    check(&b, "aten::mm", "is_only", 1);
    builder_free(&b);
}

/* The op's second run, of 20, is a pool thread's, for which the leading one waits. */
TEST(what_is_waited_for_is_named)
{
    struct profile_builder b;
    uint32_t               thread;
    int64_t                at_ns = add_steps(&b, &thread);
    uint32_t               pool = builder_timeline(&b, 0, NO_ID, "pool");

    builder_slice(&b, thread, "aten::mm", ACTIVITY_OP, at_ns, 20 * MS);
    builder_slice(&b, thread, "wait", ACTIVITY_WAIT, at_ns, 20 * MS);
    builder_slice(&b, pool, "aten::conv2d", ACTIVITY_OP, at_ns, 20 * MS);
    run(&b, thread);
    check(&b, "aten::conv2d", "extra_ns", 20 * MS);
    builder_free(&b);
}
