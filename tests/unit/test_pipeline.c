
#include "testing.h"

#include "analyze/input/pipeline.h"
#include "model/profile.h"

/*
 * Prefetch > MapAndBatch on two threads > TFRecord. A batch takes MapAndBatch 16 us of its
 * function, 8 on two threads, and 2 us in Prefetch's thread; reading feeds it with 6 us, serially.
 * The slowest part is the function: 8 us.
 */
static struct stage stages[] = {
    { .parent = NO_ID, .section = NO_ID, .is_async = true, .parallelism = 1 },
    { .parent = 0, .is_async = true, .parallelism = 2, .self_ns = 2000, .cpu_ns = 16000 },
    { .parent = 1, .section = 1, .parallelism = 1, .self_ns = 6000 },
};
static const struct pipeline pipeline = {
    .stages = { .items = stages, .count = 3, .capacity = 3 },
    .core_count = 2,
};

TEST(period_is_the_slowest_part)
{
    uint32_t slowest;

    assert_float_equal(pipeline_period_ns(&pipeline, NULL, NULL, &slowest), 8000, 1e-9);
    assert_int_equal(slowest, 1);
}

TEST(unexplained_time_stays_with_the_slowest_part)
{
    static const double as_it_is[] = { 1, 1, 1 }, tenth[] = { 1, 0.1, 1 }, read[] = { 1, 1, 0 };

    /* Four times what is explained: 8 us become 32. */
    assert_float_equal(pipeline_scaled_period_ns(&pipeline, as_it_is, NULL, 4), 32000, 1e-9);
    /* A tenth of the function: 0.8 us times 4; reading then holds the pipeline with its own 6 us.
     */
    assert_float_equal(pipeline_scaled_period_ns(&pipeline, tenth, NULL, 4), 6000, 1e-9);
    /* Reading costs nothing: the function still takes 32. */
    assert_float_equal(pipeline_scaled_period_ns(&pipeline, read, NULL, 4), 32000, 1e-9);
}
