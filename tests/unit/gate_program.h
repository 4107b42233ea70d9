/* gate_program: summaries of programs made by hand, for tests of the gate. */
#ifndef TFPROF_TESTS_GATE_PROGRAM_H
#define TFPROF_TESTS_GATE_PROGRAM_H

#include "gate/counts.h"
#include "gate/gate.h"
#include "gate/statistics.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { STEPS = 32 };

struct program {
    double step_ns, noise; /* of a step, relative */
    double run_noise;      /* of a run, relative */
    double launches;
    double factor; /* of every kernel */
};
static const struct program usual = { 100e6, 0.02, 0, 4000, 1 };

/* About normal: the sum of twelve uniform numbers. */
static inline double noise(struct random *random)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)(random_next(random) >> 11) / 9007199254740992.0;
    return sum;
}

static inline bool add_kernel(struct summary *summary, const char *name, double ns,
                              struct arena *arena)
{
    struct item item = {
        .name = name, .group = "", .file = "", .dtype = "", .trait = "", .ns = ns, .count = 10
    };

    return vec_push(&summary->items[ITEM_KERNEL].rows, arena, item);
}

static inline void make(struct summary *summary, const struct program *program, size_t runs,
                        struct random *random, struct arena *arena)
{
    static const char *const names[] = { "gemm", "conv", "softmax", "norm", "relu", "adam" };

    *summary = (struct summary) { .name = "made", .version = "", .comment = "" };
    summary->identity = (struct identity) { .format = "xspace",
                                            .framework = "jax",
                                            .framework_version = "",
                                            .hosts = 1,
                                            .world_size = -1,
                                            .step_source = "marker",
                                            .step_marker = "train",
                                            .work_hash = "" };
    for (size_t i = 0; i < runs; i++) {
        struct run run = { .name = "run", .step_count = STEPS };
        double     level = program->step_ns * (1 + program->run_noise * noise(random));

        run.step_ns = arena_new_array(arena, double, STEPS);
        run.counts = arena_new_array(arena, struct count_value, count_spec_count);
        for (size_t at = 0; at < count_spec_count; at++)
            run.counts[at] = (struct count_value) { .value = NAN, .low = NAN, .high = NAN };
        run.counts[COUNT_LAUNCHES] =
            (struct count_value) { program->launches, program->launches, program->launches, true };
        for (size_t step = 0; step < STEPS; step++)
            run.step_ns[step] = level * (1 + program->noise * noise(random));
        assert_true(vec_push(&summary->runs, arena, run));
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(add_kernel(summary, names[i], 1e6 * (double)(i + 1) * program->factor, arena));
    summary->items[ITEM_KERNEL].is_complete = true;
}

static inline bool add_fact(struct summary *summary, const char *name, double value,
                            struct arena *arena)
{
    struct series series = { .name = name, .values = arena_new_array(arena, double, 1) };

    series.values[0] = value;
    return vec_push(&summary->facts, arena, series);
}

static inline struct item row(const char *name, const char *group, const char *dtype,
                              const char *trait, double ns)
{
    return (struct item) { .name = name,
                           .group = group,
                           .file = "",
                           .dtype = dtype,
                           .trait = trait,
                           .ns = ns,
                           .count = 4 };
}

/* Milliseconds, of the first run. */
static inline void set_steps(struct summary *summary, const double *ms, size_t count)
{
    summary->runs.items[0].step_count = count;
    for (size_t i = 0; i < count; i++)
        summary->runs.items[0].step_ns[i] = 1e6 * ms[i];
}

#endif
