/* collective_list: types by name, matching over hosts, and who comes late. */
#include "analyze/comm/collective_list.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

TEST(types_by_name)
{
    static const struct {
        const char *name, *type;
    } cases[] = {
        { "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "all-reduce" },
        { "ncclKernel_ReduceScatter_RING_LL_Sum_half", "reduce-scatter" },
        { "all-gather-start.3", "all-gather" },
        { "ragged-all-to-all.1", "ragged-all-to-all" },
        { "all-to-all.1", "all-to-all" },
        { "collective-permute-done.2", "collective-permute" },
        { "nccl:_reduce", "reduce" },
        { "ncclKernel_SendRecv_RING", "send-recv" },
        { "something", "collective" },
    };
    struct profile_builder b;
    uint32_t               thread, tags[ARRAY_COUNT(cases)];

    builder_start(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "t");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        tags[i] = builder_slice(&b, thread, cases[i].name, ACTIVITY_COLLECTIVE, (int64_t)i * 10, 5);
    builder_finish(&b);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(collective_type(&b.profile, b.rows[tags[i]]), cases[i].type);
    builder_free(&b);
}

struct fixture {
    struct profile_builder b;
    struct arena           scratch;
    struct collective_list list;
};

static void make(struct fixture *f)
{
    struct windows windows;

    builder_finish(&f->b);
    assert_true(windows_make(&f->b.study, &f->scratch, &windows));
    assert_true(collective_list_make(&f->b.study, &windows, &f->scratch, &f->list));
}

static void release(struct fixture *f)
{
    arena_free(&f->scratch);
    builder_free(&f->b);
}

/*
 * Three hosts, two rounds of one collective, starts (ns):
 *   round 0: 100, 140, 110: host 1 is last, 40 late; host 2 is 10 late
 *   round 1: 500, 520, 590: host 2 is last, 90 late; host 1 is 20 late
 * Host 0 records a second piece of round 0 at 130, in another stream and under another name: a
 * collective of its own, on one host alone, which matches nobody. Skew 40 + 90.
 */
TEST(lateness_by_host)
{
    static const int64_t starts[2][3] = { { 100, 140, 110 }, { 500, 520, 590 } };
    struct fixture       f = { 0 };

    builder_start(&f.b, FORMAT_KINETO);
    for (uint32_t host = 0; host < 3; host++) {
        uint32_t id = builder_host(&f.b, "h"), gpu, stream;

        gpu = builder_device(&f.b, id, "GPU 0", "", DEVICE_GPU);
        stream = builder_timeline(&f.b, id, gpu, "stream 20");
        builder_step(&f.b, id, 0, 1000);
        for (int round = 0; round < 2; round++)
            builder_slice(&f.b, stream, "ncclAllReduce", ACTIVITY_COLLECTIVE, starts[round][host],
                          100);
        if (host == 0)
            builder_slice(&f.b, builder_timeline(&f.b, id, gpu, "stream 21"), "ncclBroadcast",
                          ACTIVITY_COLLECTIVE, 130, 5);
        /* the call that launches it is no collective of its own */
        builder_slice(&f.b, builder_timeline(&f.b, id, NO_ID, "main"), "nccl:all_reduce",
                      ACTIVITY_COLLECTIVE, 50, 500);
    }
    make(&f);
    assert_int_equal(f.list.items.count, 7);
    assert_true(f.list.matched_count == 2);
    assert_true(f.list.skew_ns == 130);
    assert_true(f.list.hosts[0].late_ns == 0 && f.list.hosts[0].last_count == 0);
    assert_true(f.list.hosts[1].late_ns == 60 && f.list.hosts[1].last_count == 1);
    assert_true(f.list.hosts[2].late_ns == 100 && f.list.hosts[2].last_count == 1);
    assert_true(f.list.hosts[2].count == 2);
    release(&f);
}

/*
 * The step of host 0 begins at 1000. Its collectives start at 1100 and 1500, those of host 1 at
 * 990, just before the step, and 1560: the first pair is one collective although half of it lies
 * outside. Host 0 is 110 late at the first, host 1 60 at the second. A pair at 100 and 120 lies
 * outside.
 */
TEST(matches_over_the_edge)
{
    static const int64_t starts[3][2] = { { 100, 120 }, { 1100, 990 }, { 1500, 1560 } };
    struct fixture       f = { 0 };

    builder_start(&f.b, FORMAT_KINETO);
    for (uint32_t host = 0; host < 2; host++) {
        uint32_t id = builder_host(&f.b, "h");
        uint32_t thread = builder_timeline(&f.b, id, NO_ID, "gloo");

        if (host == 0)
            builder_step(&f.b, id, 1000, 2000);
        for (int round = 0; round < 3; round++)
            builder_slice(&f.b, thread, "gloo:all_reduce", ACTIVITY_COLLECTIVE, starts[round][host],
                          5);
    }
    make(&f);
    assert_int_equal(f.list.items.count, 3);
    assert_true(f.list.matched_count == 2);
    assert_true(f.list.skew_ns == 170);
    assert_true(f.list.hosts[0].late_ns == 110 && f.list.hosts[0].last_count == 1);
    assert_true(f.list.hosts[1].late_ns == 60 && f.list.hosts[1].last_count == 1);
    release(&f);
}

/* Numbers in a group match, where order does not: host 1 lacks the first. */
TEST(numbers_match_before_order)
{
    struct collective first = { .sequence = 7, .bytes_in = -1 }, second = first;
    struct fixture    f = { 0 };

    builder_start(&f.b, FORMAT_KINETO);
    second.sequence = 8;
    assert_true(vec_push(&f.b.profile.collectives, &f.b.arena, first));
    assert_true(vec_push(&f.b.profile.collectives, &f.b.arena, second));
    for (uint32_t host = 0; host < 2; host++) {
        uint32_t id = builder_host(&f.b, "h");
        uint32_t stream = builder_timeline(
            &f.b, id, builder_device(&f.b, id, "GPU 0", "", DEVICE_GPU), "stream 20");

        builder_step(&f.b, id, 0, 1000);
        for (int64_t row = host; row < 2; row++)
            builder_stat(&f.b,
                         builder_slice(&f.b, stream, "ncclAllReduce", ACTIVITY_COLLECTIVE,
                                       100 + 300 * row + 5 * host, 50),
                         STAT_COLLECTIVE, row);
    }
    make(&f);
    assert_true(f.list.matched_count == 1); /* the second: 400 and 405 */
    assert_true(f.list.skew_ns == 5);
    release(&f);
}

/*
 * Two devices of one process run on threads of the host, each twice through an all-reduce, in runs
 * 5 and 6: 100..200 beside 140..205, then 300..400 beside 390..410. Each pair is one collective. A
 * third thread's, in another run, overlaps the first pair and is none of them. Of two devices with
 * streams each has its own turns.
 */
TEST(devices_of_one_process)
{
    static const struct {
        int     thread;
        int64_t start_ns, end_ns, run;
    } slices[] = { { 0, 100, 200, 5 },
                   { 1, 140, 205, 5 },
                   { 2, 150, 160, 9 },
                   { 0, 300, 400, 6 },
                   { 1, 390, 410, 6 } };
    struct fixture f = { 0 };
    uint32_t       host, threads[3];
    size_t         pairs = 0;

    host = builder_start_host(&f.b, FORMAT_XSPACE);
    builder_step(&f.b, host, 0, 1000);
    for (int i = 0; i < 3; i++)
        threads[i] = builder_timeline(&f.b, host, NO_ID, "tf_XLAPjRtCpuClient");
    for (size_t i = 0; i < ARRAY_COUNT(slices); i++)
        builder_stat(&f.b,
                     builder_slice(&f.b, threads[slices[i].thread], "all-reduce.1",
                                   ACTIVITY_COLLECTIVE, slices[i].start_ns,
                                   slices[i].end_ns - slices[i].start_ns),
                     STAT_RUN_ID, slices[i].run);
    make(&f);
    assert_int_equal(f.list.items.count, 5);
    for (size_t i = 1; i < f.list.items.count; i++)
        if (collective_is_other(&f.list.items.items[i], &f.list.items.items[i - 1])) {
            int64_t start_ns = f.list.items.items[i].start_ns;

            assert_true(start_ns == 140 || start_ns == 390);
            pairs++;
        }
    assert_int_equal(pairs, 2);
    release(&f);
}

/* GPUs of two hosts, two each, all in both rounds: on host 1 the second GPU comes 50 late. */
TEST(devices_have_their_own_turns)
{
    struct fixture f = { 0 };

    builder_start(&f.b, FORMAT_XSPACE);
    for (uint32_t host = 0; host < 2; host++) {
        uint32_t id = builder_host(&f.b, "h");

        builder_step(&f.b, id, 0, 1000);
        for (int gpu = 0; gpu < 2; gpu++) {
            uint32_t stream = builder_timeline(
                &f.b, id, builder_device(&f.b, id, "GPU", "", DEVICE_GPU), "stream 20");

            for (int64_t round = 0; round < 2; round++)
                builder_slice(&f.b, stream, "ncclAllReduce", ACTIVITY_COLLECTIVE,
                              100 + 400 * round + 50 * (gpu && host), 100);
        }
    }
    make(&f);
    assert_true(f.list.matched_count == 2);
    assert_true(f.list.hosts[1].late_ns == 100 && f.list.hosts[1].last_count == 2);
    assert_true(f.list.hosts[0].late_ns == 0);
    release(&f);
}

/*
 * Two ranks on one clock, five collectives of 20 ms that end at 100, 200 … 500 ms; rank 1 comes 2
 * ms late to each, and the recording of its second one is lost. By turn its third would be rank 0's
 * second, 100 ms early. Right: four pairs of 2 ms lateness, one without a partner.
 */
TEST(a_lost_collective_leaves_one_alone)
{
    enum { MS = 1000000 };
    struct fixture f = { 0 };

    builder_start(&f.b, FORMAT_KINETO);
    for (uint32_t host = 0; host < 2; host++) {
        uint32_t id = builder_host(&f.b, "h");
        uint32_t stream = builder_timeline(
            &f.b, id, builder_device(&f.b, id, "GPU 0", "", DEVICE_GPU), "stream 20");

        builder_step(&f.b, id, 0, 600 * MS);
        for (int64_t i = 1; i <= 5; i++)
            if (host == 0 || i != 2)
                builder_slice(&f.b, stream, "ncclKernel_SendRecv", ACTIVITY_COLLECTIVE,
                              (100 * i - 20 + 2 * host) * MS, (20 - 2 * host) * MS);
    }
    make(&f);
    assert_int_equal(f.list.items.count, 9);
    assert_true(f.list.matched_count == 4);
    assert_true(f.list.matched_by[MATCHED_BY_ENDS] == 4);
    assert_true(f.list.alone_count == 1);
    assert_true(f.list.skew_ns == 8 * MS);
    assert_true(f.list.hosts[1].last_count == 4 && f.list.hosts[1].late_ns == 8 * MS);
    assert_true(f.list.hosts[0].late_ns == 0);
    release(&f);
}

/*
 * Three ranks, of which 1 and 2 have a collective that rank 0 is no part of (another group), and
 * pairs of one turn that rank 0 leaves before rank 2 has come: 100..110 and 150..160 ms cannot be
 * one.
 */
TEST(turns_alone_make_no_pair)
{
    enum { MS = 1000000 };
    static const int64_t starts_ms[3][2] = { { 100, 300 }, { 150, 300 }, { 150, 305 } };
    struct fixture       f = { 0 };

    builder_start(&f.b, FORMAT_KINETO);
    for (uint32_t host = 0; host < 3; host++) {
        uint32_t id = builder_host(&f.b, "h");
        uint32_t stream = builder_timeline(
            &f.b, id, builder_device(&f.b, id, "GPU 0", "", DEVICE_GPU), "stream 20");

        builder_step(&f.b, id, 0, 600 * MS);
        builder_slice(&f.b, stream, "ncclAllReduce", ACTIVITY_COLLECTIVE, starts_ms[host][0] * MS,
                      10 * MS);
        builder_slice(&f.b, stream, "ncclAllReduce", ACTIVITY_COLLECTIVE, starts_ms[host][1] * MS,
                      (320 - starts_ms[host][1]) * MS);
    }
    make(&f);
    assert_true(f.list.matched_count == 2); /* ranks 1 and 2 at 150, all at 300 */
    assert_true(f.list.alone_count == 1);
    assert_true(f.list.skew_ns == 5 * MS);
    assert_true(f.list.hosts[2].last_count == 1 && f.list.hosts[2].late_ns == 5 * MS);
    assert_true(f.list.hosts[1].late_ns == 0);
    release(&f);
}
