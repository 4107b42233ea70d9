#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

/*
 * Six steps of 10 us. In each, on one stream: a product alone for 100 ns, a product beside a
 * collective for 130 ns, and five other kernels of 100 ns; in the last third of the steps all but
 * the fifth of them take 8 % more, that one 30 % more.
 *
 * Contention: alone 100 (4 steps) and 108 (2): median 100; beside 130 and 140: median 130. Six
 * calls lose 30 each: 30 a step, ratio 1.3. Slowdown: the others run five times a step, 1.08 four
 * times and 1.3 once: median 1.08. The product runs too seldom in a third of the steps to count
 * there.
 */
TEST(products_and_clocks)
{
    static const char     *others[] = { "a", "b", "c", "d", "e" };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu, stream, comm;
    double                 alike_ns, all_ns;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    stream = builder_timeline(&b, host, gpu, "stream 7");
    comm = builder_timeline(&b, host, gpu, "stream 20");
    for (int step = 0; step < 6; step++) {
        int64_t at = step * 10000;
        bool    is_late = step >= 4;

        builder_step(&b, host, at, at + 10000);
        builder_slice(&b, stream, "ampere_sgemm_128x64_tn", ACTIVITY_KERNEL, at,
                      is_late ? 108 : 100);
        builder_slice(&b, stream, "ampere_sgemm_128x64_tn", ACTIVITY_KERNEL, at + 1000,
                      is_late ? 140 : 130);
        builder_slice(&b, comm, "ncclAllReduce", ACTIVITY_COLLECTIVE, at + 1000, 500);
        for (int i = 0; i < 5; i++)
            for (int n = 0; n < 5; n++)
                builder_slice(&b, stream, others[i], ACTIVITY_KERNEL,
                              at + 2000 + i * 1000 + n * 150,
                              !is_late ? 100
                              : i == 4 ? 130
                                       : 108);
    }
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_kernel_speed.run(&b.study, &err));
    assert_true(builder_fact(&b, "contention.kernels") == 1);
    assert_true(builder_fact(&b, "contention.ns") == 30);
    assert_true(fabs(builder_fact(&b, "contention.ratio") - 1.3) < 1e-12);
    /* a to e have ten calls a third, the product only four: five kernels */
    assert_true(builder_fact(&b, "kernels.slowdown_kernels") == 5);
    assert_true(fabs(builder_fact(&b, "kernels.slowdown") - 1.08) < 1e-12);
    /* 20 calls of 100 and 10 of 108 each for four, 10 of 130 for the fifth */
    alike_ns = 4 * (20 * 100 + 10 * 108);
    all_ns = alike_ns + 20 * 100 + 10 * 130;
    assert_true(fabs(builder_fact(&b, "kernels.slowdown_alike") - alike_ns / all_ns) < 1e-12);
    builder_free(&b);
}

TEST(few_calls_say_nothing)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu;

    host = builder_start_host(&b, FORMAT_KINETO);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    builder_slice(&b, builder_timeline(&b, host, gpu, "stream 7"), "ampere_sgemm", ACTIVITY_KERNEL,
                  0, 100);
    builder_step(&b, host, 0, 1000);
    builder_finish(&b);
    assert_true(analysis_devices.run(&b.study, &err));
    assert_true(analysis_kernel_speed.run(&b.study, &err));
    assert_non_null(facts_why_absent(&b.study.facts, "contention.ns"));
    assert_non_null(facts_why_absent(&b.study.facts, "kernels.slowdown_alike"));
    builder_free(&b);
}
