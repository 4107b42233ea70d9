/* An excerpt of a recording with 200 steps of 10 events each. */
#include "analyze/recording/excerpt.h"
#include "analyze/step/window.h"
#include "profile_builder.h"
#include "testing.h"

enum { STEPS = 200, EVENTS = 10, STEP_NS = 1000, EVENT_NS = 50 };

/* Step s is [1000 s, 1000 s + 1000); its event i begins 100 i behind its start. One event of a rare
 * kind stands in step 100, and one slice encloses all of the second thread's steps. */
static void build(struct profile_builder *builder)
{
    uint32_t host, thread, other, op, compile;

    host = builder_start_host(builder, FORMAT_XSPACE);
    thread = builder_timeline(builder, host, NO_ID, "python");
    other = builder_timeline(builder, host, NO_ID, "pool");
    op = builder_activity(builder, "MatMul", ACTIVITY_OP, NO_ID);
    compile = builder_activity(builder, "compile", ACTIVITY_COMPILE, NO_ID);
    for (int s = 0; s < STEPS; s++) {
        builder_step(builder, host, s * STEP_NS, (s + 1) * STEP_NS);
        for (int i = 0; i < EVENTS; i++) {
            uint32_t tag =
                builder_event(builder, thread, op, s * STEP_NS + i * 2 * EVENT_NS, EVENT_NS);

            builder_stat(builder, tag, STAT_ITERATION, s);
        }
    }
    builder_event(builder, thread, compile, 100 * STEP_NS + 60, 10);
    builder_slice(builder, other, "all", ACTIVITY_OTHER, 0, (int64_t)STEPS * STEP_NS);
    builder_finish(builder);
}

TEST(short_recordings_are_whole)
{
    struct profile_builder builder;
    struct err             err = { 0 };

    build(&builder);
    assert_true(excerpt_make(&builder.study, STEPS * EVENTS + 2, &err));
    assert_ptr_equal(builder.study.profile, &builder.profile);
    for (size_t i = 0; i < STEPS; i++)
        assert_true(builder.study.steps.list.items[i].is_sampled);
    builder_free(&builder);
}

/* 2002 events, at most 800: 400 are aimed at, which is 200 * 400 / 2002 = 39 steps: 8 stretches of
 * 39 / 8 = 4 steps, so 32 steps and 320 ops, and the two rare events. Rare is what has 800 / 256 =
 * 3 events or fewer. */
TEST(long_ones_are_sampled)
{
    struct profile_builder builder;
    struct arena           scratch = { 0 };
    struct windows         windows;
    const struct profile  *part;
    struct err             err = { 0 };

    build(&builder);
    assert_true(excerpt_make(&builder.study, 800, &err));
    part = builder.study.profile;
    assert_ptr_equal(builder.study.recording, &builder.profile);
    assert_int_equal(builder.profile.event_count, STEPS * EVENTS + 2);
    assert_int_equal(part->event_count, 32 * EVENTS + 2);
    assert_int_equal(part->timelines.items[0].event_count, 32 * EVENTS + 1);
    assert_int_equal(part->timelines.items[1].first_event, 32 * EVENTS + 1);
    assert_int_equal(part->timelines.items[1].event_count, 1);
    assert_int_equal(part->notes.count, 1);
    assert_true(windows_make(&builder.study, &scratch, &windows));
    assert_int_equal(windows.count, 32);
    assert_int_equal(windows.items[0].start_ns, 0);
    assert_int_equal(windows.items[4].start_ns, 25 * STEP_NS); /* 200 / 8 */
    assert_int_equal(part->stats[STAT_ITERATION].events.count, 32 * EVENTS);
    for (uint32_t i = 0; i < part->event_count; i++) { /* stats stay with their events */
        int64_t step;

        if (profile_stat(part, STAT_ITERATION, i, &step))
            assert_int_equal(step, event_start_ns(part, i) / STEP_NS);
    }
    arena_free(&scratch);
    builder_free(&builder);
}
