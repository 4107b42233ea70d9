#include "testing.h"

#include "profile_builder.h"
#include "read/xspace/xspace_functions.h"

/* A call of 100..1000 ns that starts a function at 200 and waits for it: the run lasts until 1000.
 * One whose run was recorded whole (1200..1900 of 1100..2000) stays as it is, and so does a start
 * outside of such a call, and one that nobody hands over. */
TEST(a_start_becomes_a_run)
{
    static const struct {
        const char *name;
        int64_t     at_ns, ns, expected_ns;
        bool        is_handed_over;
    } rows[] = {
        { "EagerKernelExecute", 100, 900, 900, false },
        { "FunctionRun", 200, 20, 800, true },
        { "EagerKernelExecute", 1100, 900, 900, false },
        { "FunctionRun", 1200, 700, 700, true },
        { "FunctionRun", 2100, 20, 20, true },
        { "EagerKernelExecute", 3000, 900, 900, false },
        { "FunctionRun", 3100, 20, 20, false },
    };
    struct profile_builder b;
    uint32_t               thread, tags[ARRAY_COUNT(rows)], call, run;

    builder_start(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "python");
    call = builder_activity(&b, "EagerKernelExecute", ACTIVITY_DISPATCH, NO_ID);
    run = builder_activity(&b, "FunctionRun", ACTIVITY_RUN, NO_ID);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        tags[i] = builder_event(&b, thread, rows[i].name[0] == 'F' ? run : call, rows[i].at_ns,
                                rows[i].ns);
        if (rows[i].is_handed_over)
            builder_stat(&b, tags[i], STAT_PRODUCER, (int64_t)i + 1);
    }
    builder_finish(&b);
    assert_true(xspace_extend_functions(&b.profile));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_int_equal(event_duration_ns(&b.profile, b.rows[tags[i]]), rows[i].expected_ns);
    builder_free(&b);
}
