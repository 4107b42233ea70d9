/* pipelines: batches of input pipelines and what the slowest were made of. */
#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

/*
 * Two steps of 1000 us. The program asks for a batch at 0..40 in the first and 0..300 in the
 * second, each through Prefetch, which waits on the program's thread for its own. There Batch runs
 * 50 us before the second is asked for and goes on to 280; in it Map runs 100..250. calls 2, mean
 * (40 + 300) / 2 = 170, least 40, most 300 us; over 50 us: 1 in the slowest: Root 300 - Prefetch's
 * 290 = 10, Prefetch 290 - Batch's 280 = 10, Batch 280 - Map's 150 = 130, Map 150: the bottleneck,
 * first at work at 100 us of the step. The call before the first step, of 900 us, counts for
 * nothing.
 */
TEST(the_slowest_batch_is_taken_apart)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, main, producer;

    host = builder_start_host(&b, FORMAT_XSPACE);
    main = builder_timeline(&b, host, NO_ID, "python");
    producer = builder_timeline(&b, host, NO_ID, "tf_data_prefetch");
    builder_step(&b, host, 1000000, 2000000);
    builder_step(&b, host, 2000000, 3000000);
    builder_slice(&b, main, "Iterator::Root", ACTIVITY_INPUT_STAGE, 0, 900000);
    builder_slice(&b, main, "Iterator::Root", ACTIVITY_INPUT_STAGE, 1000000, 40000);
    builder_slice(&b, main, "Iterator::Root", ACTIVITY_INPUT_STAGE, 2000000, 300000);
    builder_slice(&b, main, "Iterator::Root::Prefetch", ACTIVITY_INPUT_STAGE, 2005000, 290000);
    builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch", ACTIVITY_INPUT_STAGE, 1950000,
                  330000);
    builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch::Map", ACTIVITY_INPUT_STAGE,
                  2100000, 150000);
    builder_finish(&b);
    assert_true(analysis_pipelines.run(&b.study, &err));
    assert_true(builder_cell(&b, "pipelines", NULL, NULL, "calls") == 2);
    assert_true(builder_cell(&b, "pipelines", "pipeline", "Iterator::Root", "mean_ns") == 170000);
    assert_true(builder_cell(&b, "pipelines", "kind", "host", "min_ns") == 40000);
    assert_true(builder_cell(&b, "pipelines", "host", "h", "max_ns") == 300000);
    assert_true(builder_cell(&b, "pipelines", NULL, NULL, "slow_calls") == 1);
    assert_true(builder_cell(&b, "pipelines", "bottleneck", "Iterator::Root::Prefetch::Batch::Map",
                             "bottleneck_ns") == 150000);
    static const struct {
        const char *stage;
        double      self_ns, total_ns;
    } stages[] = {
        { "Iterator::Root", 10000, 300000 },
        { "Iterator::Root::Prefetch", 10000, 290000 },
        { "Iterator::Root::Prefetch::Batch", 130000, 280000 },
        { "Iterator::Root::Prefetch::Batch::Map", 150000, 150000 },
    };
    for (size_t i = 0; i < ARRAY_COUNT(stages); i++) {
        assert_true(builder_cell(&b, "slow_batches", "stage", stages[i].stage, "self_ns") ==
                    stages[i].self_ns);
        assert_true(builder_cell(&b, "slow_batches", "stage", stages[i].stage, "total_ns") ==
                    stages[i].total_ns);
    }
    assert_true(builder_cell(&b, "slow_batches", "stage", "Iterator::Root::Prefetch::Batch::Map",
                             "start_ns") == 2100000);
    assert_true(builder_cell(&b, "slow_batches", NULL, NULL, "is_bottleneck") == 1);
    builder_free(&b);
}

/* What hands batches to accelerators has a generator right below it; each host has its own. */
TEST(pipelines_of_hosts_and_devices)
{
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start(&b, FORMAT_XSPACE);
    for (int i = 0; i < 2; i++) {
        uint32_t host = builder_host(&b, i ? "second" : "first");
        uint32_t main = builder_timeline(&b, host, NO_ID, "python");

        builder_slice(&b, main, "Iterator::Prefetch", ACTIVITY_INPUT_STAGE, 0, 10000 + i * 10000);
        builder_slice(&b, main, "Iterator::Prefetch::Generator", ACTIVITY_INPUT_BUFFER, 0, 5000);
        builder_slice(&b, main, "Iterator::Root", ACTIVITY_INPUT_STAGE, 30000, 3000 + i * 1000);
    }
    builder_finish(&b);
    assert_true(analysis_pipelines.run(&b.study, &err));
    assert_true(builder_cell(&b, "pipelines", "kind", "device", "max_ns") == 20000);
    assert_true(builder_cell(&b, "pipelines", "kind", "host", "max_ns") == 4000);
    assert_true(builder_cell(&b, "pipelines", "host", "first", "max_ns") == 10000);
    builder_free(&b);
}

TEST(without_iterators_it_says_why)
{
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start(&b, FORMAT_KINETO);
    builder_slice(&b, builder_timeline(&b, builder_host(&b, "h"), NO_ID, "main"), "op", ACTIVITY_OP,
                  0, 10);
    builder_finish(&b);
    assert_true(analysis_pipelines.run(&b.study, &err));
    assert_string_equal(facts_why_absent(&b.study.facts, "pipelines")->reason,
                        "no tf.data iterator events in the steps");
    builder_free(&b);
}
