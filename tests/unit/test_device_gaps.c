/* device_gaps: each cause alone, told by what the launching thread did. */
#include "analyze/device/device_activity.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

/*
 * One gap of 100 us, from A's end at 100 to B's start at 200, in a step of 300 us. What stands
 * between decides; a call of the thread is 1 us unless said.
 */
struct gap_case {
    const char        *what;
    enum gap_cause     cause;
    int64_t            launch_us; /* of B; < 0: not recorded */
    enum activity_kind kind;      /* of an event of the thread, ACTIVITY_OTHER: none */
    int64_t            from_us, us;
    bool               is_awaited;
    int64_t            b_us; /* B's start, 0: 200 */
};

static enum gap_cause cause_of(const struct gap_case *wanted)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct device_activity activity;
    struct windows         windows;
    uint32_t               host, gpu, thread, stream, kernel, launch, sync;
    int64_t                start_us = wanted->b_us ? wanted->b_us : 200;
    enum gap_cause         cause = GAP_CAUSE_COUNT;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    thread = builder_timeline(&b, host, NO_ID, "main");
    stream = builder_timeline(&b, host, gpu, "stream 7");
    builder_step(&b, host, 0, 300000);
    builder_slice(&b, stream, "A", ACTIVITY_KERNEL, 0, 100000);
    kernel =
        builder_slice(&b, stream, "B", ACTIVITY_KERNEL, start_us * 1000, 300000 - start_us * 1000);
    if (wanted->launch_us >= 0) {
        launch = builder_slice(&b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                               wanted->launch_us * 1000, 1000);
        builder_flow(&b, launch, kernel, FLOW_LAUNCH);
    }
    if (wanted->kind != ACTIVITY_OTHER)
        builder_slice(&b, thread, "x", wanted->kind, wanted->from_us * 1000, wanted->us * 1000);
    if (wanted->is_awaited) {
        sync = builder_slice(&b, thread, "record", ACTIVITY_OTHER, 10000, 100);
        builder_flow(&b, sync, kernel, FLOW_SYNC);
    }
    builder_finish(&b);
    assert_true(windows_make(&b.study, &scratch, &windows));
    assert_true(device_activity_make(&b.study, &windows, &b.arena, &scratch, &activity));
    assert_int_equal(activity.rows.count, 1);
    assert_int_equal(activity.rows.items[0].gaps.count, 1);
    cause = activity.rows.items[0].gaps.items[0].cause;
    assert_true(activity.rows.items[0].cause_ns[cause] == (double)(start_us * 1000 - 100000));
    arena_free(&scratch);
    builder_free(&b);
    return cause;
}

TEST(causes)
{
    static const struct gap_case cases[] = {
        { "waits for input 51 of 100 us", GAP_INPUT, 190, ACTIVITY_INPUT_WAIT, 110, 51, false, 0 },
        { "for input only 49", GAP_HOST_LATE, 190, ACTIVITY_INPUT_WAIT, 110, 49, false, 0 },
        { "compiles 60", GAP_COMPILE, 190, ACTIVITY_COMPILE, 110, 60, false, 0 },
        { "traces 60", GAP_COMPILE, 190, ACTIVITY_TRACING, 110, 60, false, 0 },
        { "blocks 80", GAP_SYNC, 195, ACTIVITY_SYNC, 100, 80, false, 0 },
        { "blocks only 79", GAP_HOST_LATE, 195, ACTIVITY_SYNC, 100, 79, false, 0 },
        { "launches late", GAP_HOST_LATE, 101, ACTIVITY_OTHER, 0, 0, false, 0 },
        { "in time, and the device takes 5 us", GAP_LAUNCH, 50, ACTIVITY_OTHER, 0, 0, false, 105 },
        { "in time, another stream is awaited", GAP_DEPENDENCY, 50, ACTIVITY_OTHER, 0, 0, true, 0 },
        { "in time, the thread then blocks", GAP_OTHER, 50, ACTIVITY_SYNC, 60, 240, false, 0 },
        { "in time, it then waits for input", GAP_OTHER, 50, ACTIVITY_INPUT_WAIT, 60, 140, false,
          0 },
        { "in time, no reason seen", GAP_OTHER, 50, ACTIVITY_OTHER, 0, 0, false, 0 },
        { "no launch known", GAP_OTHER, -1, ACTIVITY_OTHER, 0, 0, false, 0 },
        { "no launch known, short", GAP_LAUNCH, -1, ACTIVITY_OTHER, 0, 0, false, 109 },
        { "the profiler flushes 51", GAP_PROFILER, 190, ACTIVITY_OVERHEAD, 110, 51, false, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        print_message("%s\n", cases[i].what);
        assert_int_equal(cause_of(&cases[i]), cases[i].cause);
    }
}

TEST(events_are_found_by_timeline)
{
    struct profile_builder b;
    struct timeline_index  index;
    uint32_t               host, lines[3], tags[3];

    host = builder_start_host(&b, FORMAT_KINETO);
    for (int i = 0; i < 3; i++) {
        lines[i] = builder_timeline(&b, host, NO_ID, "t");
        if (i != 1) /* the second stays empty */
            tags[i] = builder_slice(&b, lines[i], "x", ACTIVITY_OP, 10, 5);
    }
    builder_finish(&b);
    assert_true(timeline_index_make(&b.profile, &b.arena, &index));
    assert_int_equal(timeline_index_find(&b.profile, &index, b.rows[tags[0]]), lines[0]);
    assert_int_equal(timeline_index_find(&b.profile, &index, b.rows[tags[2]]), lines[2]);
    assert_int_equal(timeline_index_find(&b.profile, &index, 2), NO_ID);
    builder_free(&b);
}
