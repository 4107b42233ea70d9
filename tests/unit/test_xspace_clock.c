/* Ops of a core that tells them on its own clock as well. */
#include "testing.h"
#include "xspace_builder.h"

#define US INT64_C(1000000) /* in picoseconds */

static struct xspace_builder builder;

struct op_time {
    int64_t start_us, us; /* on the host's clock, as well as the profiler knew it */
    int64_t device_start_us, device_us;
    int64_t expected_start_us;
};

static void add_ops(int64_t type, const struct op_time *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        xspace_event(&builder, type, ops[i].start_us * US, ops[i].us * US);
        xspace_number(&builder, "device_offset_ps", ops[i].device_start_us * US);
        xspace_number(&builder, "device_duration_ps", ops[i].device_us * US);
    }
}

static void starts(int64_t *type)
{
    xspace_start(&builder);
    xspace_plane(&builder, "/device:TPU:0");
    *type = xspace_type(&builder, "%add = f32[8] add(f32[8] %a, f32[8] %b)", "add");
}

static const struct timeline *line_of(const struct profile *profile, enum timeline_kind kind)
{
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == kind)
            return &profile->timelines.items[i];
    fail();
    return NULL;
}

static void expect(const struct profile *profile, const struct op_time *ops, size_t count)
{
    const struct timeline *timeline = line_of(profile, TIMELINE_OPS);

    assert_int_equal(timeline->event_count, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = timeline->first_event + i;

        assert_int_equal(event_start_ns(profile, event), ops[i].expected_start_us * 1000);
        assert_int_equal(event_duration_ns(profile, event), ops[i].device_us * 1000);
    }
}

/* Both clocks are 1000 us apart. The host's is 300 us late while the second run is under way, so
 * that one of its ops looks 300 us longer and what follows as much later. A program's run and a
 * transfer are on the host's clock alone: the run of 300 us looks like 600. */
TEST(late_clock_is_put_right)
{
    static const struct op_time ops[] = {
        { 1000, 100, 0, 100, 1000 },    { 1100, 200, 100, 200, 1100 },
        { 2000, 400, 1000, 100, 2000 }, { 2400, 200, 1100, 200, 2100 },
        { 3000, 100, 2000, 100, 3000 }, { 3100, 200, 2100, 200, 3100 },
        { 4000, 100, 3000, 100, 4000 }, { 4100, 200, 3100, 200, 4100 },
    };
    struct arena           arena = { 0 };
    struct profile         profile;
    const struct timeline *modules;
    int64_t                type, run;

    starts(&type);
    run = xspace_type(&builder, "jit_f(7)", NULL);
    xspace_line(&builder, 1, "XLA Modules");
    xspace_event(&builder, run, 2000 * US, 600 * US);
    xspace_line(&builder, 3, "XLA Ops");
    add_ops(type, ops, sizeof ops / sizeof *ops);
    xspace_take(&builder, &arena, &profile);
    expect(&profile, ops, sizeof ops / sizeof *ops);
    modules = line_of(&profile, TIMELINE_MODULES);
    assert_int_equal(event_start_ns(&profile, modules->first_event), 2000000);
    assert_int_equal(event_duration_ns(&profile, modules->first_event), 300000);
    assert_int_equal(profile.start_ns, 1000000);
    assert_int_equal(profile.end_ns, 4300000);
    arena_free(&arena);
}

/* Both clocks are 1000 us apart. When the host's is put right while an op is under way, what
 * follows falls together: an op of 100 us has no length any more and stands behind the one that
 * followed it. */
TEST(order_is_the_cores)
{
    static const struct op_time ops[] = {
        { 1000, 100, 0, 100, 0 }, { 1400, 300, 100, 500, 0 },  { 1700, 300, 700, 400, 0 },
        { 1700, 0, 600, 100, 0 }, { 3000, 100, 2000, 100, 0 },
    };
    static const struct op_time expected[] = {
        { .device_us = 100, .expected_start_us = 1000 },
        { .device_us = 500, .expected_start_us = 1100 },
        { .device_us = 100, .expected_start_us = 1600 },
        { .device_us = 400, .expected_start_us = 1700 },
        { .device_us = 100, .expected_start_us = 3000 },
    };
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        type;

    starts(&type);
    xspace_line(&builder, 3, "XLA Ops");
    add_ops(type, ops, sizeof ops / sizeof *ops);
    xspace_take(&builder, &arena, &profile);
    expect(&profile, expected, sizeof expected / sizeof *expected);
    arena_free(&arena);
}

/* The core's clock runs 50 us a second fast: ops follow the host's, with the core's lengths. What
 * lies in an op moves with it. */
TEST(drift_is_followed)
{
    static const struct op_time ops[] = {
        { 0, 100, 5000, 100, 0 },
        { 10, 20, 5010, 20, 10 },
        { 1000000, 100, 1005050, 100, 1000000 },
        { 1000050, 40, 1005100, 40, 1000050 },
        { 2000000, 100, 2005100, 100, 2000000 },
    };
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        type;

    starts(&type);
    xspace_line(&builder, 3, "XLA Ops");
    add_ops(type, ops, sizeof ops / sizeof *ops);
    xspace_take(&builder, &arena, &profile);
    expect(&profile, ops, sizeof ops / sizeof *ops);
    arena_free(&arena);
}

/* Starts that stand still are no clock: places as the host says, lengths as the core says. */
TEST(lengths_are_the_cores)
{
    static const struct op_time ops[] = {
        { 10, 500, 0, 400, 10 },
        { 1010, 500, 0, 400, 1010 },
        { 2010, 500, 0, 400, 2010 },
    };
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        type;

    starts(&type);
    xspace_line(&builder, 3, "XLA Ops");
    add_ops(type, ops, sizeof ops / sizeof *ops);
    xspace_take(&builder, &arena, &profile);
    expect(&profile, ops, sizeof ops / sizeof *ops);
    arena_free(&arena);
}

/* The clocks are 1000 us apart; for one op of thirty the host's was 500 us behind for a while. */
TEST(a_clock_that_was_wrong_is_left_out)
{
    enum { COUNT = 30, WRONG = 12 };
    struct op_time ops[COUNT];
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        type;

    starts(&type);
    xspace_line(&builder, 3, "XLA Ops");
    for (int i = 0; i < COUNT; i++)
        ops[i] = (struct op_time) { 1000 * (i + 1), 100, 1000 * i, 100, 1000 * (i + 1) };
    ops[WRONG].start_us -= 500;
    add_ops(type, ops, COUNT);
    xspace_take(&builder, &arena, &profile);
    expect(&profile, ops, COUNT);
    arena_free(&arena);
}
