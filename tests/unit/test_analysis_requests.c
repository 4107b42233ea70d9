/*
 * Requests and batches, worked out by hand. Two threads ask for batches: one request of 2 examples
 * at 10 us, one of 3 at 20 us, both go into batch 7 of 100 to 150 us, which holds 8 with padding;
 * one of 4 at 200 us goes into batch 8 of 260 to 300 us of unknown size. The second request's call
 * waits until 170 us. A link to a batch that was not recorded, and one that no request begins, are
 * nothing.
 */
#include "analyze/analysis.h"
#include "profile_builder.h"
#include "testing.h"

#include <math.h>

extern const struct analysis analysis_requests;

enum { US = 1000 };

static void ask(struct profile_builder *b, uint32_t line, int64_t at_us, int64_t examples,
                int64_t id)
{
    uint32_t request =
        builder_slice(b, line, "ScheduleWithEagerSplit", ACTIVITY_OTHER, at_us * US, 4 * US);
    uint32_t link =
        builder_slice(b, line, "ScheduleOutputTask", ACTIVITY_OTHER, (at_us + 1) * US, US);

    builder_stat(b, request, STAT_TASK_SIZE, examples);
    builder_stat(b, link, STAT_PRODUCER, id);
}

static uint32_t work_off(struct profile_builder *b, uint32_t line, int64_t from_us, int64_t to_us,
                         int64_t id)
{
    uint32_t batch = builder_slice(b, line, "ProcessBatch", ACTIVITY_OTHER, from_us * US,
                                   (to_us - from_us) * US);

    builder_stat(b, batch, STAT_CONSUMER, id);
    return batch;
}

static void run(struct profile_builder *b)
{
    struct err err = { 0 };

    builder_finish(b);
    assert_true(analysis_requests.run(&b->study, &err));
}

TEST(requests_wait_and_batches_are_filled)
{
    struct profile_builder b;
    uint32_t               host, first, second, worker, joined;

    builder_start(&b, FORMAT_XSPACE);
    host = builder_host(&b, "vm");
    first = builder_timeline(&b, host, NO_ID, "first");
    second = builder_timeline(&b, host, NO_ID, "second");
    worker = builder_timeline(&b, host, NO_ID, "batch_threads");
    ask(&b, first, 10, 2, 7);
    builder_slice(&b, second, "BatchingSessionRun", ACTIVITY_RUN, 18 * US, (170 - 18) * US);
    ask(&b, second, 20, 3, 7);
    ask(&b, first, 200, 4, 8);
    ask(&b, first, 400, 1, 99);
    work_off(&b, worker, 100, 150, 7);
    joined = builder_slice(&b, worker, "ConcatInputTensors", ACTIVITY_OTHER, 101 * US, US);
    builder_stat(&b, joined, STAT_BATCH_SIZE, 8);
    builder_stat(&b, joined, STAT_PADDING, 3);
    work_off(&b, worker, 260, 300, 8);
    work_off(&b, worker, 310, 320, 55);
    run(&b);

    assert_true(builder_fact(&b, "requests.count") == 3);
    assert_true(builder_fact(&b, "requests.batches") == 2);
    /* 150 - 10, 170 - 18 and 300 - 200; of them 100 - 10, 100 - 18 and 260 - 200 before the batch.
     */
    assert_true(fabs(builder_fact(&b, "requests.latency_ns") - (140 + 152 + 100) * US / 3.0) <
                1e-6);
    assert_true(fabs(builder_fact(&b, "requests.wait_ns") - (90 + 82 + 60) * US / 3.0) < 1e-6);
    assert_true(fabs(builder_fact(&b, "requests.wait_share") - 232 / 392.0) < 1e-9);
    assert_true(fabs(builder_fact(&b, "requests.per_s") - 3 / 290e-6) < 1e-6);
    assert_true(builder_fact(&b, "requests.batch_ns") == 45 * US);
    assert_true(builder_fact(&b, "requests.batch_examples") == 4.5);
    assert_true(builder_fact(&b, "requests.padding_share") == 3 / 8.0);
    /* The middle one of three, and the last. */
    assert_true(builder_cell(&b, "latencies", NULL, NULL, "latency_ns") == 140 * US);
    assert_true(builder_cell(&b, "latencies", NULL, NULL, "batch_ns") == 50 * US);
    assert_true(builder_cell(&b, "latencies", NULL, NULL, "rest_ns") == 0);
    assert_true(builder_cell(&b, "batches", NULL, NULL, "requests") == 2);
    assert_true(builder_cell(&b, "batches", NULL, NULL, "examples") == 5);
    assert_true(builder_cell(&b, "batches", NULL, NULL, "wait_ns") == 90 * US);
    builder_free(&b);
}

TEST(without_requests_nothing_is_said)
{
    struct profile_builder b;
    uint32_t               worker;

    builder_start(&b, FORMAT_XSPACE);
    worker = builder_timeline(&b, builder_host(&b, "vm"), NO_ID, "batch_threads");
    work_off(&b, worker, 100, 150, 7);
    run(&b);
    assert_true(isnan(builder_fact(&b, "requests.count")));
    builder_free(&b);
}
