/* Instructions of compiled programs: what fusions are by their contents, what results are made
 * from, and whose lines they are. */
#include "compiled_program.h"

static void finish(struct program *program)
{
    struct profile *profile = &program->b.profile;
    struct err      err = { 0 };

    profile->graph = op_graph_new(&program->b.arena, (uint32_t)profile->ops.count,
                                  program->edges.items, program->edges.count, &err);
    assert_non_null(profile->graph);
    assert_true(compiled_open(&program->compiled, profile, &program->scratch));
}

/* Contents by elements of results: a product of 2 * 8 * 64 flops outweighs 64 maxima; threefry's
 * arithmetic is drawing numbers; a fusion without contents stays elementwise. Of the fusion's time
 * the product takes 1024 / 8 of 1024 / 8 + 64 parts. */
TEST(fusions_are_their_contents)
{
    struct program program;
    uint32_t       dot, draw, bare, inner;

    start(&program);
    inner = add(&program, "dot", "f32[8,8] f32[8,8] -> f32[8,8]", "jit(f)/dot_general", 2, NO_ID);
    program.b.profile.ops.items[inner].flops = 1024;
    add(&program, "maximum", "f32[8,8] -> f32[8,8]", "jit(f)/jit(relu)/max", 2, inner);
    dot = add(&program, "fusion", "f32[8,8] -> f32[8,8]", "jit(f)/jit(relu)/max", NO_ID, NO_ID);
    add(&program, "xor", "u32[64] -> u32[64]", "jit(f)/jit(_uniform)/xor", 5, NO_ID);
    add(&program, "broadcast", "u32[] -> u32[4096]", "jit(f)/broadcast_in_dim", 5, NO_ID);
    draw = add(&program, "fusion", "u32[64] -> u32[64]", "jit(f)/add", NO_ID, NO_ID);
    bare = add(&program, "fusion", "f32[64] -> f32[64]", "jit(f)/add", NO_ID, NO_ID);
    finish(&program);
    assert_int_equal(program.compiled.op_class[dot], OP_PRODUCT);
    assert_true(program.compiled.weight[inner] == 128 && program.compiled.weight[dot] == 192);
    assert_int_equal(program.compiled.op_class[draw], OP_RANDOM);
    assert_int_equal(program.compiled.op_class[bare], OP_ELEMENTWISE);
    release(&program);
}

/* A copy behind a loop that draws is a part of drawing; one between two products is a copy. */
TEST(copies_belong_to_what_they_copy)
{
    struct program program;
    uint32_t       loop, element, drawn, dot, plain;

    start(&program);
    add(&program, "add", "u32[64] -> u32[64]", "jit(f)/jit(_normal)/add", 1, NO_ID);
    loop = add(&program, "while", "u32[64] -> u32[64]", "jit(f)/while", NO_ID, NO_ID);
    element = add(&program, "get-tuple-element", "u32[64] -> u32[64]", NULL, NO_ID, loop);
    drawn = add(&program, "copy", "u32[64] -> u32[64]", NULL, NO_ID, element);
    dot = add(&program, "dot", "f32[8,8] -> f32[8,8]", "jit(f)/dot_general", NO_ID, NO_ID);
    plain = add(&program, "copy", "f32[8,8] -> f32[8,8]", NULL, NO_ID, dot);
    finish(&program);
    assert_int_equal(program.compiled.op_class[drawn], OP_RANDOM);
    assert_int_equal(program.compiled.op_class[plain], OP_COPY);
    release(&program);
}

/* Of f(w, x) -> w: what is made of w alone is state, of x alone input, of both both. */
TEST(results_know_what_they_come_from)
{
    struct program program;
    uint32_t       w, x, of_w, of_x, both, root;

    start(&program);
    w = add(&program, "parameter", "-> f32[8,8]", NULL, NO_ID, NO_ID);
    mark(&program, w, "entry");
    x = add(&program, "parameter", "-> f32[4,8]", NULL, NO_ID, NO_ID);
    mark(&program, x, "entry");
    of_w = add(&program, "negate", "f32[8,8] -> f32[8,8]", NULL, NO_ID, w);
    of_x = add(&program, "negate", "f32[4,8] -> f32[4,8]", NULL, NO_ID, x);
    both = add(&program, "dot", "f32[4,8] f32[8,8] -> f32[4,8]", NULL, NO_ID, of_x);
    link(&program, of_w, both);
    root = add(&program, "tuple", "f32[8,8] -> f32[8,8]", NULL, NO_ID, of_w);
    mark(&program, root, "root");
    finish(&program);
    assert_int_equal(program.compiled.from[of_w], FROM_STATE);
    assert_int_equal(program.compiled.from[of_x], FROM_INPUT);
    assert_int_equal(program.compiled.from[both], FROM_STATE | FROM_INPUT);
    release(&program);
}

/* Files without folders: calls begin in train.py, so _linear.py, which it calls, is a library. */
TEST(callers_tell_whose_files_they_are)
{
    struct profile_builder b;
    struct source_line outer = { .line = 3, .caller = NO_ID }, inner = { .line = 9, .caller = 0 };

    builder_start(&b, FORMAT_XSPACE);
    outer.file = builder_name(&b, "train.py");
    inner.file = builder_name(&b, "_linear.py");
    assert_true(vec_push(&b.profile.sources, &b.arena, outer));
    assert_true(vec_push(&b.profile.sources, &b.arena, inner));
    assert_true(profile_mark_packaged(&b.profile, &b.arena));
    assert_int_equal(profile_user_source(&b.profile, 1), 0);
    assert_true(profile_is_user_source(&b.profile, 0));
    builder_free(&b);
}
