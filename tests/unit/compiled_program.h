/* compiled_program: programs that XLA compiled, of a few instructions written by hand. */
#ifndef TFPROF_TESTS_COMPILED_PROGRAM_H
#define TFPROF_TESTS_COMPILED_PROGRAM_H

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/excess/compiled.h"
#include "model/op_graph.h"
#include "profile_builder.h"

#include <math.h>

struct program {
    struct profile_builder b;
    struct arena           scratch;
    struct compiled        compiled;
    VEC(struct op_edge) edges;
};

static inline void start(struct program *program)
{
    *program = (struct program) { 0 };
    builder_start(&program->b, FORMAT_XSPACE);
    program->b.profile.framework = builder_name(&program->b, "jax");
}

/* `caller` is what holds it, or NO_ID; `from` what it takes in. */
static inline uint32_t add(struct program *program, const char *type, const char *tensors,
                           const char *origin, uint32_t caller, uint32_t from)
{
    uint32_t   row = builder_op(&program->b, type, type, tensors);
    struct op *op = &program->b.profile.ops.items[row];

    op->origin = origin ? builder_name(&program->b, origin) : 0;
    op->module = op->program = builder_name(&program->b, "jit_f");
    op->caller = caller == NO_ID ? 0 : caller + 1;
    if (from != NO_ID)
        assert_true(vec_push(&program->edges, &program->b.arena,
                             (struct op_edge) { .from = from, .to = row }));
    return row;
}

static inline void link(struct program *program, uint32_t from, uint32_t to)
{
    assert_true(
        vec_push(&program->edges, &program->b.arena, (struct op_edge) { .from = from, .to = to }));
}

static inline void mark(struct program *program, uint32_t row, const char *name)
{
    struct attr attr = { builder_name(&program->b, name), builder_name(&program->b, "true") };
    struct op  *op = &program->b.profile.ops.items[row];

    op->first_attr = (uint32_t)program->b.profile.attrs.count;
    op->attr_count = 1;
    assert_true(vec_push(&program->b.profile.attrs, &program->b.arena, attr));
}

static inline void release(struct program *program)
{
    arena_free(&program->scratch);
    builder_free(&program->b);
}

/* "axes" "1", "compares" "EQ": names and values in turn, up to NULL. */
static inline void describe(struct program *program, uint32_t row, const char *const *words)
{
    struct op *op = &program->b.profile.ops.items[row];

    op->first_attr = (uint32_t)program->b.profile.attrs.count;
    for (; words[0]; words += 2, op->attr_count++) {
        struct attr attr = { builder_name(&program->b, words[0]),
                             builder_name(&program->b, words[1]) };

        assert_true(vec_push(&program->b.profile.attrs, &program->b.arena, attr));
    }
}

static inline void link_at(struct program *program, uint32_t from, uint32_t to, uint16_t place)
{
    assert_true(vec_push(&program->edges, &program->b.arena,
                         (struct op_edge) { .from = from, .to = to, .place = place }));
}

static inline void link_second(struct program *program, uint32_t from, uint32_t to)
{
    link_at(program, from, to, 1);
}

static inline uint32_t add_flops(struct program *program, const char *type, const char *tensors,
                                 const char *origin, uint32_t from, uint32_t also, int64_t flops)
{
    uint32_t row = add(program, type, tensors, origin, NO_ID, from);

    program->b.profile.ops.items[row].flops = flops;
    if (also != NO_ID)
        link(program, also, row);
    return row;
}

/* The step of `thread` that ends at now_ns, judged. */
static inline void judge(struct program *program, uint32_t host, uint32_t thread, int64_t now_ns)
{
    struct profile_builder *b = &program->b;
    struct err              err = { 0 };

    b->profile.graph = op_graph_new(&b->arena, (uint32_t)b->profile.ops.count, program->edges.items,
                                    program->edges.count, &err);
    builder_step(b, host, 0, now_ns);
    builder_finish(b);
    b->study.steps.list.items[0].is_sampled = true;
    b->study.steps.list.items[0].timeline = thread;
    b->study.recording = &b->profile;
    assert_true(analysis_devices.run(&b->study, &err));
    assert_true(path_begin(&b->study));
    assert_true(analysis_path.run(&b->study, &err));
    assert_true(analysis_excess.run(&b->study, &err));
}

/* Of a step of 10 ms the instructions `at` take one each, in order, `ns` ns. */
static inline void run_step(struct program *program, const uint32_t *at, const int64_t *ns,
                            size_t count)
{
    struct profile_builder *b = &program->b;
    uint32_t                host = builder_host(b, "h"), thread;
    int64_t                 now = 0;

    thread = builder_timeline(b, host, NO_ID, "tf_XLAEigen");
    for (size_t i = 0; i < count; i++) {
        builder_event(b, thread, builder_activity(b, "op", ACTIVITY_OP, at[i]), now, ns[i]);
        now += ns[i];
    }
    judge(program, host, thread, now);
}

/* The same as kernels of a GPU, for which the host waits. */
static inline void run_step_on_device(struct program *program, const uint32_t *at,
                                      const int64_t *ns, size_t count)
{
    struct profile_builder *b = &program->b;
    uint32_t                host = builder_host(b, "h"), thread, gpu, stream;
    int64_t                 now = 0;

    gpu = builder_device(b, host, "/device:GPU:0", "NVIDIA H100", DEVICE_GPU);
    thread = builder_timeline(b, host, NO_ID, "python");
    stream = builder_timeline(b, host, gpu, "Stream #14");
    for (size_t i = 0; i < count; i++) {
        builder_event(b, stream, builder_activity(b, "kernel", ACTIVITY_KERNEL, at[i]), now, ns[i]);
        now += ns[i];
    }
    builder_slice(b, thread, "BlockHostUntilDone", ACTIVITY_SYNC, 0, now);
    judge(program, host, thread, now);
}

static inline double claimed(const struct program *program, const char *flaw)
{
    double ns = builder_cell(&program->b, "excess", "flaw", flaw, "ns");

    return isnan(ns) ? 0 : ns;
}

#endif
