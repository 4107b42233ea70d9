#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

struct call {
    const char *ranges[2]; /* outer, inner; NULL: none */
    int64_t     ns;
};

static void build(struct profile_builder *b, const struct call *calls, size_t count)
{
    struct err err = { 0 };
    uint32_t   host, gpu, thread, stream;
    int64_t    now = 0;

    host = builder_start_host(b, FORMAT_KINETO);
    gpu = builder_device(b, host, "GPU 0", "", DEVICE_GPU);
    thread = builder_timeline(b, host, NO_ID, "main");
    stream = builder_timeline(b, host, gpu, "stream 7");
    builder_step(b, host, 0, 50000);
    builder_step(b, host, 50000, 100000);
    for (size_t i = 0; i < count; i++, now += 1000) {
        uint32_t from, to;

        for (int j = 0; j < 2; j++)
            if (calls[i].ranges[j])
                builder_slice(b, thread, calls[i].ranges[j], ACTIVITY_ANNOTATION, now + j,
                              90 - 2 * j);
        from = builder_slice(b, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, now + 10, 5);
        to = builder_slice(b, stream, "ncclDevKernel_AllReduce", ACTIVITY_COLLECTIVE, now + 20,
                           calls[i].ns);
        builder_flow(b, from, to, FLOW_LAUNCH);
    }
    builder_finish(b);
    assert_true(analysis_devices.run(&b->study, &err));
    assert_true(analysis_comm_regions.run(&b->study, &err));
}

/*
 * Two steps; ns of collectives: experts 300 + 100, attention 200 (the optimizer's range inside it
 * is PyTorch's), none 400: of 1000 in all 40 % and 20 %; a step 1 call of 200 ns, half a call of
 * 100.
 */
TEST(innermost_range_of_the_user_counts)
{
    static const struct call calls[] = {
        { { "model", "experts" }, 300 },
        { { "experts", NULL }, 100 },
        { { "attention", "Optimizer.step#SGD.step" }, 200 },
        { { NULL, NULL }, 400 },
    };
    struct profile_builder b;

    build(&b, calls, ARRAY_COUNT(calls));
    assert_true(builder_cell(&b, "comm_regions", "region", "experts", "count") == 1);
    assert_true(builder_cell(&b, "comm_regions", "region", "experts", "ns") == 200);
    assert_true(fabs(builder_cell(&b, "comm_regions", "region", "experts", "share") - 0.4) < 1e-12);
    assert_true(builder_cell(&b, "comm_regions", "region", "attention", "count") == 0.5);
    assert_true(builder_cell(&b, "comm_regions", "region", "attention", "ns") == 100);
    assert_true(builder_cell(&b, "comm_regions", NULL, NULL, "ns") == 200); /* most first */
    builder_free(&b);
}

TEST(ranges_are_asked_for)
{
    static const struct call calls[] = { { { "DistributedDataParallel.forward", NULL }, 100 } };
    struct profile_builder   b;

    build(&b, calls, ARRAY_COUNT(calls));
    assert_non_null(facts_why_absent(&b.study.facts, "comm_regions")->capture);
    builder_free(&b);
}
