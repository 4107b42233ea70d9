/* memory_timeline: peaks, owners and growth of small histories. */
#include "analyze/memory/memory_timeline.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

struct fixture {
    struct profile_builder  b;
    struct arena            scratch;
    struct memory_timelines timelines;
};

static void add(struct fixture *f, struct memory_event event)
{
    event.event = NO_ID;
    event.reserved_bytes = event.reserved_bytes ? event.reserved_bytes : -1;
    event.available_bytes = -1;
    event.peak_bytes = -1;
    event.fragmentation = event.fragmentation > 0 ? event.fragmentation : -1;
    assert_true(vec_push(&f->b.profile.memory_events, &f->b.arena, event));
}

static void make(struct fixture *f)
{
    struct windows windows;

    builder_finish(&f->b);
    assert_true(windows_make(&f->b.study, &f->scratch, &windows));
    assert_true(memory_timelines_make(&f->b.study, &windows, &f->scratch, &f->timelines));
}

static void release(struct fixture *f)
{
    arena_free(&f->scratch);
    builder_free(&f->b);
}

/*
 * One step. Bytes in use: 100 (a), 400 (+ 300 b), 350 (a's 100 freed, then 50 of c), 550 (+ 200 b
 * again), 250 (b's first 300 freed; the event does not say how much). The peak is 550 at 50 ns, of
 * which b holds 500 in two blocks and c 50.
 */
TEST(peak_and_owners)
{
    struct fixture                f = { 0 };
    const struct memory_timeline *line;
    uint32_t                      host, gpu, a, b, c;

    host = builder_start_host(&f.b, FORMAT_KINETO);
    gpu = builder_device(&f.b, host, "GPU 0", "", DEVICE_GPU);
    f.b.profile.devices.items[gpu].memory_bytes = 1000;
    builder_step(&f.b, host, 0, 1000);
    a = builder_name(&f.b, "a");
    b = builder_name(&f.b, "b");
    c = builder_name(&f.b, "c");
    for (int i = 0; i < 6; i++) {
        const struct memory_event events[] = {
            { .time_ns = 10, .bytes = 100, .address = 1, .op_name = a, .kind = MEMORY_ALLOCATE },
            { .time_ns = 20, .bytes = 300, .address = 2, .op_name = b, .kind = MEMORY_ALLOCATE },
            { .time_ns = 30, .bytes = 100, .address = 1, .kind = MEMORY_FREE },
            { .time_ns = 40, .bytes = 50, .address = 1, .op_name = c, .kind = MEMORY_ALLOCATE },
            { .time_ns = 50,
              .bytes = 200,
              .address = 3,
              .op_name = b,
              .kind = MEMORY_ALLOCATE,
              .reserved_bytes = 800,
              .fragmentation = 0.25 },
            { .time_ns = 60, .bytes = 0, .address = 2, .kind = MEMORY_FREE },
        };
        struct memory_event event = events[i];

        event.device = gpu;
        event.in_use_bytes = -1;
        add(&f, event);
    }
    make(&f);
    assert_int_equal(f.timelines.list.count, 1);
    line = &f.timelines.list.items[0];
    assert_int_equal(line->host, host);
    assert_true(line->peak_bytes == 550 && line->peak_time_ns == 50);
    assert_true(line->reserved_bytes == 800 && line->fragmentation == 0.25);
    assert_true(line->capacity_bytes == 1000);
    assert_true(line->allocation_count == 4 && line->allocated_bytes == 650);
    assert_int_equal(line->owner_count, 2);
    assert_int_equal(line->owners[0].op_name, b);
    assert_true(line->owners[0].bytes == 500 && line->owners[0].count == 2);
    assert_int_equal(line->owners[1].op_name, c);
    assert_false(line->has_growth);
    /* Times of 1.125 ns each: every event has one of its own. */
    assert_int_equal(line->moment_count, 6);
    assert_true(line->moments[4].time_ns == 50 && line->moments[4].bytes == 550);
    assert_true(line->moments[4].reserved_bytes == 800 && line->moments[5].bytes == 250);
    release(&f);
}

/* 8000 events of 1 ns each in 400 times of 20 ns (20.9975): the bytes are 1000 at each 17th event
 * and 1 elsewhere, so that each time holds one of 1000, and the first keeps the event at 16 ns. */
TEST(moments_keep_what_is_fullest)
{
    struct fixture                f = { 0 };
    const struct memory_timeline *line;
    uint32_t                      host;

    host = builder_start_host(&f.b, FORMAT_KINETO);
    builder_step(&f.b, host, 0, 8000);
    for (int i = 0; i < 8000; i++)
        add(&f, (struct memory_event) { .time_ns = i,
                                        .device = NO_ID,
                                        .kind = MEMORY_ALLOCATE,
                                        .bytes = 1,
                                        .in_use_bytes = i % 17 == 16 ? 1000 : 1 });
    make(&f);
    line = &f.timelines.list.items[0];
    assert_in_range(line->moment_count, 380, MEMORY_MOMENTS);
    assert_true(line->moments[0].time_ns == 16);
    for (size_t i = 0; i + 1 < line->moment_count; i++) /* the last time may end before a 17th */
        assert_true(line->moments[i].bytes == 1000);
    release(&f);
}

/* Bytes in use at the ends of six steps; the slope is that of a straight line through them. */
TEST(growth_over_steps)
{
    static const struct {
        int64_t ends[6];
        bool    is_growing;
        double  slope;
    } cases[] = {
        { { 100, 110, 120, 130, 140, 150 }, true, 10 },
        { { 100, 100, 100, 100, 100, 100 }, false, 0 },
        /* falls once: y - mean is -30 -10 10 -20 20 30, x - mean -2.5 to 2.5; their products sum
         * to 75 + 15 - 5 - 10 + 30 + 75 = 180, the squares of x to 17.5 */
        { { 100, 120, 140, 110, 150, 160 }, false, 180 / 17.5 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct fixture f = { 0 };
        uint32_t       host;

        host = builder_start_host(&f.b, FORMAT_KINETO);
        for (int step = 0; step < 6; step++) {
            builder_step(&f.b, host, step * 100, (step + 1) * 100);
            add(&f, (struct memory_event) { .time_ns = step * 100 + 90,
                                            .device = NO_ID,
                                            .kind = MEMORY_ALLOCATE,
                                            .bytes = 1,
                                            .in_use_bytes = cases[i].ends[step] });
        }
        make(&f);
        assert_true(f.timelines.list.items[0].has_growth);
        assert_int_equal(f.timelines.list.items[0].is_growing, cases[i].is_growing);
        assert_true(fabs(f.timelines.list.items[0].growth_bytes - cases[i].slope) < 1e-9);
        release(&f);
    }
}

/* Devices come before the host, though it has more. */
TEST(devices_come_first)
{
    struct fixture f = { 0 };
    uint32_t       host, gpu;

    host = builder_start_host(&f.b, FORMAT_KINETO);
    gpu = builder_device(&f.b, host, "GPU 0", "", DEVICE_GPU);
    builder_step(&f.b, host, 0, 100);
    add(&f, (struct memory_event) { .time_ns = 5,
                                    .device = NO_ID,
                                    .bytes = 900,
                                    .kind = MEMORY_ALLOCATE,
                                    .in_use_bytes = 900 });
    add(&f, (struct memory_event) { .time_ns = 6,
                                    .device = gpu,
                                    .bytes = 10,
                                    .kind = MEMORY_ALLOCATE,
                                    .in_use_bytes = 10 });
    make(&f);
    assert_int_equal(f.timelines.list.count, 2);
    assert_int_equal(f.timelines.list.items[0].device, gpu);
    assert_int_equal(f.timelines.list.items[1].device, NO_ID);
    release(&f);
}
