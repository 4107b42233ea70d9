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

#endif
