/* excess_program: one thread of a PyTorch program on the host, written op after op, and what the
 * analysis of excess claims of it. */
#ifndef TFPROF_TESTS_EXCESS_PROGRAM_H
#define TFPROF_TESTS_EXCESS_PROGRAM_H

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One thread of a PyTorch program on the host, written op after op; a step lasts as long as they
 * do. */
enum { MOST_KNOWN = 32 };
struct known {
    char     name[96], tensors[96];
    uint32_t activity;
};
struct program {
    struct profile_builder b;
    uint32_t               host, thread;
    int64_t                now, step_ns; /* the step that began there is being written */
    struct known           known[MOST_KNOWN];
    size_t                 known_count;
};

static inline void start(struct program *program)
{
    *program = (struct program) { 0 };
    builder_start(&program->b, FORMAT_KINETO);
    program->b.profile.framework = builder_name(&program->b, "pytorch");
    program->b.profile.has_shapes = true;
    program->host = builder_host(&program->b, "h");
    program->thread = builder_timeline(&program->b, program->host, NO_ID, "python");
}

/* Calls of one op with the same shapes are one activity, as readers make them. */
static inline uint32_t activity_of(struct program *program, const char *name,
                                   enum activity_kind kind, const char *tensors)
{
    for (size_t i = 0; i < program->known_count; i++)
        if (strcmp(program->known[i].name, name) == 0 &&
            strcmp(program->known[i].tensors, tensors ? tensors : "") == 0)
            return program->known[i].activity;
    struct known *known = &program->known[program->known_count++];

    assert_true(program->known_count <= MOST_KNOWN);
    snprintf(known->name, sizeof known->name, "%s", name);
    snprintf(known->tensors, sizeof known->tensors, "%s", tensors ? tensors : "");
    known->activity = builder_activity(
        &program->b, name, kind, tensors ? builder_op(&program->b, name, name, tensors) : NO_ID);
    return known->activity;
}

static inline uint32_t slice(struct program *program, const char *name, enum activity_kind kind,
                             const char *tensors, int64_t ns)
{
    return builder_event(&program->b, program->thread, activity_of(program, name, kind, tensors),
                         program->now, ns);
}

/* An op of `ns`, and time goes on to its end. */
static inline uint32_t run(struct program *program, const char *name, const char *tensors,
                           int64_t ns)
{
    uint32_t tag = slice(program, name, ACTIVITY_OP, tensors, ns);

    program->now += ns;
    return tag;
}

/* A step ends here. */
static inline void end_step(struct program *program)
{
    builder_step(&program->b, program->host, program->step_ns, program->now);
    program->step_ns = program->now;
}

static inline void finish(struct program *program)
{
    struct err err = { 0 };

    if (program->now > program->step_ns)
        end_step(program);
    builder_finish(&program->b);
    for (size_t i = 0; i < program->b.study.steps.list.count; i++)
        program->b.study.steps.list.items[i].timeline = program->thread;
    program->b.study.recording = &program->b.profile;
    if (program->b.profile.devices.count)
        assert_true(analysis_devices.run(&program->b.study, &err));
    assert_true(path_begin(&program->b.study));
    assert_true(analysis_path.run(&program->b.study, &err));
    assert_true(analysis_excess.run(&program->b.study, &err));
}

static inline double claimed(const struct program *program, const char *flaw)
{
    const struct table *table = facts_find_table(&program->b.study.facts, "excess");
    double              sum = 0;

    assert_non_null(table);
    for (size_t i = 0; i < table->row_count; i++) {
        uint32_t name = (uint32_t)table->columns[table_column(table, "flaw")][i];

        if (str_equal(intern_str(program->b.study.facts.names, name), str_from(flaw)))
            sum += table->columns[table_column(table, "ns")][i];
    }
    return sum;
}

/* Cells and what is needed add up to the step, and so do the rows of the table of work. */
static inline void assert_sums(const struct program *program)
{
    const struct facts *facts = &program->b.study.facts;
    const struct table *cells = facts_find_table(facts, "excess");
    const struct table *work = facts_find_table(facts, "work");
    double              ns = 0, work_ns = 0, needed_ns = 0;

    for (size_t i = 0; i < cells->row_count; i++)
        ns += cells->columns[table_column(cells, "ns")][i];
    for (size_t i = 0; i < work->row_count; i++) {
        work_ns += work->columns[table_column(work, "ns")][i];
        needed_ns += work->columns[table_column(work, "necessary_ns")][i];
    }
    assert_true(fabs(builder_fact(&program->b, "excess.step_ns") - (double)program->now) < 1);
    assert_true(fabs(builder_fact(&program->b, "excess.necessary_ns") + ns - (double)program->now) <
                1);
    assert_true(fabs(work_ns - (double)program->now) < 1);
    assert_true(fabs(needed_ns + ns - (double)program->now) < 1);
}

/* A node of the backward pass with an op in it. */
static inline void node(struct program *program, const char *op, const char *tensors, int64_t ns)
{
    slice(program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR, NULL, ns);
    run(program, op, tensors, ns);
}

static inline void trained(struct program *program, const char *shapes, int64_t ns)
{
    uint32_t forward = run(program, "aten::linear", shapes, ns);
    uint32_t other = run(program, "aten::detach", "f32[8,64]", 1000);

    builder_flow(&program->b, forward, other, FLOW_FORWARD_BACKWARD);
}

#endif
