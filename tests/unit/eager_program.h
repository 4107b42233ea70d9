/* eager_program: one thread of a PyTorch program, written call after call. */
#ifndef TFPROF_TESTS_EAGER_PROGRAM_H
#define TFPROF_TESTS_EAGER_PROGRAM_H

#include "profile_builder.h"

struct program {
    struct profile_builder b;
    uint32_t               host, thread;
    int64_t                now;
};

static inline void start(struct program *program)
{
    builder_start(&program->b, FORMAT_KINETO);
    program->b.profile.framework = builder_name(&program->b, "pytorch");
    program->host = builder_host(&program->b, "h");
    program->thread = builder_timeline(&program->b, program->host, NO_ID, "python");
    program->now = 0;
    builder_step(&program->b, program->host, 0, 1000000);
}

/* A call of `ns`, 100 ns behind the one before; its tag. */
static inline uint32_t call(struct program *program, const char *name, const char *tensors,
                            int64_t ns)
{
    uint32_t op = tensors ? builder_op(&program->b, name, name, tensors) : NO_ID;
    uint32_t tag =
        builder_event(&program->b, program->thread,
                      builder_activity(&program->b, name, ACTIVITY_OP, op), program->now, ns);

    program->now += ns + 100;
    return tag;
}

/* A forward call and, later, its backward node of `backward_ns`. */
static inline void numbered(struct program *program, uint32_t tag, int64_t number)
{
    builder_stat(&program->b, tag, STAT_SEQUENCE, number);
}

static inline void node(struct program *program, int64_t number, int64_t ns)
{
    uint32_t tag =
        builder_slice(&program->b, program->thread, "autograd::engine::evaluate_function: X",
                      ACTIVITY_EXECUTOR, program->now, ns);

    builder_stat(&program->b, tag, STAT_SEQUENCE, number);
    program->now += ns;
}

static inline double cell(const struct program *program, const char *table, const char *column)
{
    return builder_cell(&program->b, table, NULL, NULL, column);
}

#endif
