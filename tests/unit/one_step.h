/*
 * one_step: a step of 400 us made by hand, its event graph for tests (times in us):
 *   thread: launch of A 10..15, a sync 20..130 that waits for A, launch of B 280..285; between and
 *           behind them nothing is recorded
 *   stream: A 20..120, B 290..390, each 10 behind the begin of its launch
 */
#ifndef TFPROF_TESTS_ONE_STEP_H
#define TFPROF_TESTS_ONE_STEP_H

#include "analyze/schedule/event_graph.h"
#include "profile_builder.h"

#include <math.h>

enum { US = 1000 };

struct one_step {
    struct profile_builder b;
    struct arena           scratch;
    struct event_graph     graph;
    uint32_t               thread, stream, other;
};

static inline uint32_t one_launch(struct one_step *step, int64_t start_us)
{
    return builder_slice(&step->b, step->thread, "cudaLaunchKernel", ACTIVITY_LAUNCH, start_us * US,
                         5 * US);
}

static inline void one_kernel(struct one_step *step, uint32_t call, const char *name,
                              int64_t start_us, int64_t end_us)
{
    builder_flow(&step->b, call,
                 builder_slice(&step->b, step->stream, name, ACTIVITY_KERNEL, start_us * US,
                               (end_us - start_us) * US),
                 FLOW_LAUNCH);
}

/* With another thread, which the graph looks at before the main one. */
static inline void one_step_begin_beside(struct one_step *step, const char *other)
{
    uint32_t host, gpu;

    *step = (struct one_step) { 0 };
    host = builder_start_host(&step->b, FORMAT_KINETO);
    gpu = builder_device(&step->b, host, "GPU 0", "NVIDIA A100", DEVICE_GPU);
    if (other)
        step->other = builder_timeline(&step->b, host, NO_ID, other);
    step->thread = builder_timeline(&step->b, host, NO_ID, "main");
    step->stream = builder_timeline(&step->b, host, gpu, "stream 1");
    builder_step(&step->b, host, 0, 400 * US);
}

static inline void one_step_begin(struct one_step *step)
{
    one_step_begin_beside(step, NULL);
}

static inline void one_step_end(struct one_step *step)
{
    struct err err = { 0 };

    builder_finish(&step->b);
    step->b.study.steps.list.items[0].timeline = step->thread;
    step->b.study.steps.median_ns = step->b.study.steps.mean_ns = 400 * US;
    step->b.study.path.leader = step->thread;
    assert_true(event_graph_make(&step->graph, &step->b.study, NO_ID, &step->scratch, &err));
    assert_int_equal(step->graph.windows.count, 1);
}

static inline void one_step_make(struct one_step *step)
{
    uint32_t a, late;

    one_step_begin(step);
    a = one_launch(step, 10);
    builder_slice(&step->b, step->thread, "cudaStreamSynchronize", ACTIVITY_SYNC, 20 * US,
                  110 * US);
    late = one_launch(step, 280);
    one_kernel(step, a, "A", 20, 120);
    one_kernel(step, late, "B", 290, 390);
    one_step_end(step);
}

static inline void one_step_free(struct one_step *step)
{
    arena_free(&step->scratch);
    builder_free(&step->b);
}

/* The node of the name that begins then; the test ends without. */
static inline uint32_t one_node(const struct one_step *step, const char *name, int64_t start_us)
{
    for (uint32_t i = 0; i < step->graph.nodes.count; i++)
        if (str_equal(event_graph_name(&step->graph, i), str_from(name)) &&
            step->graph.nodes.items[i].start_ns == start_us * US)
            return i;
    fail_msg("no node %s at %d us", name, (int)start_us);
    return NO_ID;
}

/* Within a nanosecond, of numbers in us. */
static inline void same(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-3))
        fail_msg("%.9g is not %.9g", value, expected);
}

#endif
