#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "base/macros.h"
#include "profile_builder.h"

#include <string.h>

/*
 * Two ranks, one step of 1000 us, two all-reduces matched by name and order. Rank 0 joins at 100
 * and 600, rank 1 at 300 and 610; all end at 400 and 700. Rank 1 is last in both, late by 200 and
 * 10: mean 105. Rank 0 spends 300 + 100 us in them; a kernel of its device hides 150..250.
 */
TEST(the_late_rank_is_named)
{
    static const int64_t   starts[2][2] = { { 100000, 600000 }, { 300000, 610000 } };
    static const int64_t   ends[2] = { 400000, 700000 };
    static const char     *names[] = { "h0", "h1" };
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start(&b, FORMAT_KINETO);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t host = builder_host(&b, names[rank]);
        uint32_t gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
        uint32_t comm = builder_timeline(&b, host, gpu, "stream 20");
        uint32_t compute = builder_timeline(&b, host, gpu, "stream 7");

        builder_step(&b, host, 0, 1000000);
        for (int i = 0; i < 2; i++)
            builder_stat(&b,
                         builder_slice(&b, comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                       ACTIVITY_COLLECTIVE, starts[rank][i],
                                       ends[i] - starts[rank][i]),
                         STAT_BYTES, 4096);
        builder_slice(&b, compute, "gemm", ACTIVITY_KERNEL, 150000, 100000);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_comm.run(&b.study, &err));
    assert_true(builder_fact(&b, "comm.count_per_step") == 2);
    assert_true(builder_fact(&b, "comm.ns") == 400000);
    assert_true(builder_fact(&b, "comm.exposed_ns") == 300000);
    assert_true(fabs(builder_fact(&b, "comm.overlap") - 0.25) < 1e-12);
    assert_true(builder_fact(&b, "comm.small_count") == 2);
    assert_true(builder_fact(&b, "comm.skew_ns") == 105000);
    /* Rank 1's parts are the shortest, of 100 and 90 us; rank 0's take 200 and 10 more. */
    assert_true(builder_fact(&b, "comm.wait_ns") == 210000);
    assert_true(builder_fact(&b, "comm.matched_count") == 2);
    assert_true(builder_fact(&b, "comm.alone_count") == 0);
    assert_true(builder_fact(&b, "ranks.slowest") == 1);
    assert_true(builder_fact(&b, "ranks.slowest_late_ns") == 105000);
    assert_true(builder_fact(&b, "ranks.slowest_last_share") == 1);
    assert_true(builder_fact(&b, "ranks.spread") == 0);
    assert_true(builder_cell(&b, "collectives", "type", "all-reduce", "max_ns") == 300000);
    assert_true(builder_cell(&b, "collectives", "type", "all-reduce", "median_ns") == 200000);
    assert_true(builder_cell(&b, "collectives", "type", "all-reduce", "same_bytes") == 1);
    /* the first is hidden by a third, the second by nothing */
    assert_true(builder_cell(&b, "collectives", "type", "all-reduce", "solo_count") == 1);
    assert_true(builder_cell(&b, "ranks", "host", "h0", "comm_ns") == 400000);
    builder_free(&b);
}

/* Two ranks come 100 us apart to a collective that takes either of them 10 us. */
TEST(a_skew_longer_than_the_collective_is_no_share)
{
    static const char     *names[] = { "h0", "h1" };
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start(&b, FORMAT_XSPACE);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t host = builder_host(&b, names[rank]);
        uint32_t thread = builder_timeline(&b, host, NO_ID, "python");

        builder_step(&b, host, 0, 1000000);
        builder_slice(&b, thread, "all-reduce", ACTIVITY_COLLECTIVE, 100000 * (int64_t)rank, 10000);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_comm.run(&b.study, &err));
    assert_true(builder_fact(&b, "comm.skew_ratio") == 10);
    assert_true(builder_fact(&b, "comm.skew_share") == 1);
    builder_free(&b);
}

TEST(one_rank_without_collectives_is_said)
{
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start_host(&b, FORMAT_XSPACE);
    builder_finish(&b);
    assert_true(analysis_comm.run(&b.study, &err));
    assert_non_null(facts_why_absent(&b.study.facts, "comm.exposed_share"));
    assert_non_null(facts_why_absent(&b.study.facts, "ranks.spread"));
    builder_free(&b);
}

/* "record_param_comms" stands for all collectives of PyTorch: two all-reduces of 10 ns and a
 * broadcast of 30 are two rows. */
TEST(types_of_one_name_are_told_apart)
{
    struct profile_builder b;
    struct err             err = { 0 };
    struct collective      row = { .bytes_in = -1, .bytes_out = -1, .sequence = -1 };
    uint32_t               host, thread;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "main");
    builder_step(&b, host, 0, 1000);
    row.type = builder_name(&b, "all-reduce");
    assert_true(vec_push(&b.profile.collectives, &b.arena, row));
    row.type = builder_name(&b, "broadcast");
    assert_true(vec_push(&b.profile.collectives, &b.arena, row));
    for (int64_t i = 0; i < 3; i++)
        builder_stat(&b,
                     builder_slice(&b, thread, "record_param_comms", ACTIVITY_COLLECTIVE, 100 * i,
                                   i == 1 ? 30 : 10),
                     STAT_COLLECTIVE, i == 1);
    builder_finish(&b);
    assert_true(analysis_comm.run(&b.study, &err));
    assert_true(builder_cell(&b, "collectives", "type", "all-reduce", "count") == 2);
    assert_true(builder_cell(&b, "collectives", "type", "all-reduce", "ns") == 20);
    assert_true(builder_cell(&b, "collectives", "type", "broadcast", "count") == 1);
    assert_true(builder_cell(&b, "collectives", "type", "broadcast", "ns") == 30);
    builder_free(&b);
}

/*
 * 90 MB over 300 GB/s, as an A100's links carry in one direction, take 300 us. An all-reduce of
 * four makes it 2 * 3 / 4 of that: 450 us, 0.45 of the shorter of two calls, 1000 and 2000 us long.
 * An H100's switches add: 90 MB over 450 GB/s once, 200 us. Nothing is told where the ranks are of
 * two machines or the machine's size is not recorded.
 */
TEST(links_tell_the_least_time)
{
    static const struct {
        const char *device, *ranks;
        uint32_t    device_count;
        double      share; /* 0: not told */
    } rows[] = {
        { "NVIDIA A100-SXM4-40GB", "[0, 1, 2, 3]", 8, 0.45 },
        { "NVIDIA A100-SXM4-40GB", "[12, 13, 14, 15]", 8, 0.45 },
        { "NVIDIA A100-SXM4-40GB", "[6, 7, 8, 9]", 8, 0 },
        { "NVIDIA A100-SXM4-40GB", "[0, 1, 2, 3]", 0, 0 },
        { "NVIDIA A100-SXM4-40GB", "default_pg", 8, 0 },
        { "NVIDIA H100 80GB HBM3", "[0, 1, 2, 3]", 8, 0.2 },
        { "an abacus", "[0, 1, 2, 3]", 8, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct profile_builder b;
        struct err             err = { 0 };
        struct collective      row = {
                 .bytes_in = 90000000, .bytes_out = 90000000, .group_size = 4, .sequence = -1
        };
        uint32_t host, device, line;
        double   share;

        host = builder_start_host(&b, FORMAT_KINETO);
        b.profile.hosts.items[host].device_count = rows[i].device_count;
        device = builder_device(&b, host, "GPU 0", rows[i].device, DEVICE_GPU);
        b.profile.devices.items[device].compute_major = strstr(rows[i].device, "H100") ? 9 : 8;
        line = builder_timeline(&b, host, device, "stream 20");
        builder_step(&b, host, 0, 4000000);
        row.type = builder_name(&b, "all-reduce");
        row.group = builder_name(&b, rows[i].ranks);
        assert_true(vec_push(&b.profile.collectives, &b.arena, row));
        for (int64_t j = 0; j < 2; j++)
            builder_stat(&b,
                         builder_slice(&b, line, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                       ACTIVITY_COLLECTIVE, 1000 + 2000000 * j, 1000000 * (2 - j)),
                         STAT_COLLECTIVE, 0);
        builder_finish(&b);
        assert_true(analysis_devices.run(&b.study, &err) && analysis_comm.run(&b.study, &err));
        share = builder_cell(&b, "collectives", "type", "all-reduce", "link_share");
        if (rows[i].share > 0 ? !(fabs(share - rows[i].share) < 1e-9) : !isnan(share))
            fail_msg("%s, %s: %g", rows[i].device, rows[i].ranks, share);
        builder_free(&b);
    }
}
