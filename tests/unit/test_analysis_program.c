#include "analyze/analysis.h"

#include "profile_builder.h"
#include "testing.h"

static uint32_t add_op(struct profile_builder *b, const char *module, const char *name,
                       const char *tensors, const char *attrs)
{
    uint32_t   id = builder_op(b, name, name, tensors);
    struct op *op = &b->profile.ops.items[id];
    struct str rest = str_from(attrs);

    op->module = op->program = builder_name(b, module);
    op->first_attr = (uint32_t)b->profile.attrs.count;
    while (rest.len > 0) {
        struct str  word = str_cut(&rest, ' ');
        struct attr attr = { profile_intern(&b->profile, word), builder_name(b, "true") };

        assert_true(vec_push(&b->profile.attrs, &b->arena, attr));
        op->attr_count++;
    }
    return id;
}

/*
 * jit_step takes f32[100] twice (400 bytes each, the first given away), f32[50] (200) and a batch
 * bf16[10] (20), and gives out f32[100], f32[100], f32[50] and a number: a state of 1000 bytes in 3
 * arrays, 400 of it donated, of 1020 bytes. jit_other takes less time, and what it gives is another
 * version of what it takes. Another program named jit_step, which gives all away, did not run.
 */
TEST(state_and_what_is_donated)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, thread, dot, other;

    host = builder_start_host(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, host, NO_ID, "main");
    builder_step(&b, host, 0, 100000);
    add_op(&b, "jit_step", "a", "-> f32[100]", "entry donated");
    add_op(&b, "jit_step", "b", "-> f32[100]", "entry");
    add_op(&b, "jit_step", "c", "-> f32[50]", "entry");
    add_op(&b, "jit_step", "x", "-> bf16[10]", "entry");
    add_op(&b, "jit_step", "tuple", "-> f32[100] f32[100] f32[50] f32[]", "root");
    dot = add_op(&b, "jit_step", "dot", "f32[100] -> f32[]", "");
    for (int i = 0; i < 2; i++) {
        uint32_t not_run =
            add_op(&b, "jit_step", i ? "tuple" : "a", "-> f32[100]", i ? "root" : "entry donated");

        b.profile.ops.items[not_run].program = builder_name(&b, "jit_step(2)");
    }
    add_op(&b, "jit_other", "y", "-> f32[7]", "entry");
    other = add_op(&b, "jit_other", "neg", "f32[7] -> f32[7]", "root");
    builder_event(&b, thread, builder_activity(&b, "dot", ACTIVITY_OP, dot), 0, 3000);
    builder_event(&b, thread, builder_activity(&b, "neg", ACTIVITY_OP, other), 5000, 1000);
    builder_finish(&b);
    assert_true(analysis_program.run(&b.study, &err));
    assert_true(builder_fact(&b, "program.parameter_bytes") == 1020);
    assert_true(builder_fact(&b, "program.state_bytes") == 1000);
    assert_true(builder_fact(&b, "program.state_count") == 3);
    assert_true(builder_fact(&b, "program.donated_bytes") == 400);
    assert_true(builder_fact(&b, "program.time_share") == 0.75);
    assert_true(builder_cell(&b, "programs", "program", "jit_step", "results") == 4);
    assert_true(builder_cell(&b, "programs", "program", "jit_step", "state") == 3);
    /* x: ten of bf16. */
    assert_true(builder_cell(&b, "programs", "program", "jit_step", "brought_bytes") == 20);
    assert_true(builder_cell(&b, "programs", "program", "jit_other", "results") == 1);
    assert_true(builder_cell(&b, "programs", "program", "jit_other", "state") == 1);
    assert_true(builder_cell(&b, "programs", "program", "jit_other", "brought_bytes") == 0);
    assert_string_equal(
        intern_str(b.study.facts.names, (uint32_t)builder_fact(&b, "program.name")).data,
        "jit_step");
    builder_free(&b);
}

TEST(without_programs_nothing_is_said)
{
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start_host(&b, FORMAT_KINETO);
    builder_finish(&b);
    assert_true(analysis_program.run(&b.study, &err));
    assert_non_null(facts_why_absent(&b.study.facts, "program.state_bytes"));
    builder_free(&b);
}
