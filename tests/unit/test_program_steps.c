#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

extern const struct analysis analysis_devices, analysis_serving;

struct a_run {
    const char *name;
    int64_t     start_ns, duration_ns;
};

/* A TPU's runs of programs, each busy with one op for four fifths of its time. */
static void serve(struct profile_builder *b, const struct a_run *runs, size_t count)
{
    struct err err = { 0 };
    uint32_t   host = builder_start_host(b, FORMAT_XSPACE);
    uint32_t   device = builder_device(b, host, "TPU:0", "TPU v6", DEVICE_TPU);
    uint32_t   modules = builder_timeline(b, host, device, "XLA Modules");
    uint32_t   ops = builder_timeline(b, host, device, "XLA Ops");
    uint32_t   last = (uint32_t)count - 1;

    b->profile.timelines.items[modules].kind = TIMELINE_MODULES;
    b->profile.timelines.items[ops].kind = TIMELINE_OPS;
    for (uint32_t i = 0; i < count; i++) {
        builder_stat(b,
                     builder_slice(b, modules, runs[i].name, ACTIVITY_RUN, runs[i].start_ns,
                                   runs[i].duration_ns),
                     STAT_RUN_ID, i + 1);
        builder_slice(b, ops, "fusion", ACTIVITY_OP, runs[i].start_ns, runs[i].duration_ns * 4 / 5);
    }
    builder_step(b, host, 0, runs[last].start_ns + runs[last].duration_ns);
    builder_finish(b);
    assert_true(analysis_devices.run(&b->study, &err));
    assert_true(analysis_serving.run(&b->study, &err));
}

/* A prompt in 40 us, and three tokens in 10 us each, 5 us behind the run before: of the first one's
 * pause a program that puts the prompt into the cache takes 3, so that (2 + 5 + 5) / 3 us are idle.
 */
TEST(programs_of_a_server_are_its_steps)
{
    static const struct a_run runs[] = {
        { "jit_prefill(7)", 0, 40000 },         { "jit_insert(8)", 41000, 3000 },
        { "jit_decode_step(9)", 45000, 10000 }, { "jit_decode_step(9)", 60000, 10000 },
        { "jit_decode_step(9)", 75000, 10000 },
    };
    struct profile_builder b;

    serve(&b, runs, sizeof runs / sizeof *runs);
    assert_true(builder_fact(&b, "serving.steps") == 4);
    assert_true(builder_cell(&b, "engine_phases", "phase", "prefill", "steps") == 1);
    assert_true(builder_cell(&b, "engine_phases", "phase", "prefill", "step_ns") == 40000);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "steps") == 3);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "step_ns") == 10000);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "kernel_ns") == 8000);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "gap_ns") == 4000);
    builder_free(&b);
}

/* What nobody recorded is not 0. */
TEST(what_the_host_does_for_programs_is_not_told)
{
    static const char *const  unknown[] = { "host_ns",  "launches",     "read_backs",
                                            "kernels",  "graph_share",  "wait_ns",
                                            "requests", "tokens_per_s", "bandwidth_share" };
    static const struct a_run runs[] = { { "jit_decode_step(9)", 0, 10000 },
                                         { "jit_decode_step(9)", 15000, 10000 } };
    struct profile_builder    b;

    serve(&b, runs, 2);
    assert_true(builder_cell(&b, "engine_phases", "phase", "decode", "steps") == 2);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        print_message("%s\n", unknown[i]);
        assert_true(isnan(builder_cell(&b, "engine_phases", "phase", "decode", unknown[i])));
    }
    builder_free(&b);
}

/* Programs that decode pictures, or generate whole texts, are no server's steps; beside one that
 * reads prompts they are. */
TEST(decoding_alone_may_be_of_something_else)
{
    static const struct a_run runs[] = { { "jit_decode_images(9)", 0, 10000 },
                                         { "jit_generate(3)", 15000, 10000 },
                                         { "jit_prefill_chunk(4)", 30000, 20000 } };
    struct profile_builder    b;

    serve(&b, runs, 2);
    assert_true(isnan(builder_fact(&b, "serving.steps")));
    builder_free(&b);
    serve(&b, runs + 1, 2);
    assert_true(builder_fact(&b, "serving.steps") == 2);
    builder_free(&b);
}
