/* Products of compiled programs with arrays that are mostly zeros. */
#include <stdio.h>

#include "base/macros.h"
#include "compiled_program.h"

enum makes { PADDED, WRITTEN, CHOSEN, FULLER };

/* 10 rows written among zeros, so that `rows` are multiplied. */
static uint32_t add_spread(struct program *program, enum makes makes, uint32_t x)
{
    uint32_t zero = add(program, "constant", "-> f32[]", NULL, NO_ID, NO_ID), zeros, made;
    uint32_t places;

    if (makes == PADDED || makes == FULLER) {
        made =
            add(program, "pad",
                makes == PADDED ? "f32[10,8] f32[] -> f32[100,8]" : "f32[10,8] f32[] -> f32[20,8]",
                NULL, NO_ID, x);
        link_second(program, zero, made);
        return made;
    }
    zeros = add(program, "broadcast", "f32[] -> f32[100,8]", NULL, NO_ID, zero);
    places =
        add(program, makes == WRITTEN ? "iota" : "parameter", "-> s32[10,1]", NULL, NO_ID, NO_ID);
    if (makes == CHOSEN)
        mark(program, places, "entry");
    made =
        add(program, "scatter", "f32[100,8] s32[10,1] f32[10,8] -> f32[100,8]", NULL, NO_ID, zeros);
    link_second(program, places, made);
    link_at(program, x, made, 2);
    return made;
}

/* A product of 8 ms takes 100 rows, of which 90 are zeros. A tenth is needed, which takes twice as
 * long by itself: 6.4 ms are too much, and as much of the gradient of those rows, 8 ms. Not where
 * the data tells the places, nor where half of the rows are written. */
TEST(rows_among_zeros)
{
    for (int makes = PADDED; makes <= FULLER; makes++) {
        struct program program;
        uint32_t       x, spread, product, gradient;
        bool           is_vain = makes == PADDED || makes == WRITTEN;

        start(&program);
        x = add(&program, "parameter", "-> f32[10,8]", NULL, NO_ID, NO_ID);
        spread = add_spread(&program, (enum makes)makes, x);
        product = add_flops(&program, "dot",
                            makes == FULLER ? "f32[20,8] f32[8,50] -> f32[20,50]"
                                            : "f32[100,8] f32[8,50] -> f32[100,50]",
                            "jit(f)/dot", spread, NO_ID, 2 * 100 * 8 * 50);
        gradient = add_flops(&program, "dot", "f32[100,50] f32[50,8] -> f32[100,8]", "jit(f)/dot",
                             product, NO_ID, 2 * 100 * 8 * 50);
        add(&program, "sort", "f32[100,8] -> f32[100,8]", "jit(f)/sort", NO_ID, gradient);
        run_step(&program, (uint32_t[]) { product, gradient }, (int64_t[]) { 8000000, 8000000 }, 2);
        assert_true(fabs(claimed(&program, "zero-filled") - (is_vain ? 12.8e6 : 0)) < 1);
        release(&program);
    }
}

/* Four blocks of a diagonal, each padded to a row of blocks: a quarter is written, half of the time
 * is too much. */
TEST(blocks_on_a_diagonal)
{
    struct program program;
    uint32_t       x, zero, rows[4], made, product;

    start(&program);
    x = add(&program, "parameter", "-> f32[8,8]", NULL, NO_ID, NO_ID);
    zero = add(&program, "constant", "-> f32[]", NULL, NO_ID, NO_ID);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        rows[i] = add(&program, "pad", "f32[8,8] f32[] -> f32[8,32]", NULL, NO_ID, x);
        link_second(&program, zero, rows[i]);
    }
    made = add(&program, "concatenate", "f32[8,32] f32[8,32] f32[8,32] f32[8,32] -> f32[32,32]",
               NULL, NO_ID, rows[0]);
    for (uint32_t i = 1; i < ARRAY_COUNT(rows); i++)
        link_at(&program, rows[i], made, (uint16_t)i);
    product = add_flops(&program, "dot", "f32[32,32] f32[32,64] -> f32[32,64]", "jit(f)/dot", made,
                        NO_ID, 2 * 32 * 32 * 64);
    add(&program, "sort", "f32[32,64] -> f32[32,64]", "jit(f)/sort", NO_ID, product);
    run_step(&program, (uint32_t[]) { product }, (int64_t[]) { 8000000 }, 1);
    assert_true(fabs(claimed(&program, "zero-filled") - 4e6) < 1);
    release(&program);
}

static uint32_t on_line(struct program *program, uint32_t row, const char *places)
{
    describe(program, row, (const char *const[]) { "places", places, NULL });
    program->b.profile.ops.items[row].source = 0;
    return row;
}

/* Of 100 rows of a product, 8 ms, 10 are taken behind a relu. The way back fills 90 with zeros,
 * chooses by all 100, and multiplies them, 6 ms: nine tenths of both are too much. Where what goes
 * back is for other rows than those that were taken, no row of the product is for nothing, and
 * nothing tells that the zeros are. */
TEST(gradients_of_what_was_cut_off)
{
    for (int is_other = 0; is_other < 2; is_other++) {
        struct source_line line = { .line = 3, .caller = NO_ID };
        struct program     program;
        uint32_t           x, zero, zeros, product, positive, kept, back, filled, chosen, gradient;

        start(&program);
        assert_true(vec_push(&program.b.profile.sources, &program.b.arena, line));
        x = add(&program, "parameter", "-> f32[100,8]", NULL, NO_ID, NO_ID);
        mark(&program, x, "entry");
        product = add_flops(&program, "dot", "f32[100,8] f32[8,50] -> f32[100,50]", "jit(f)/dot", x,
                            NO_ID, 2 * 100 * 8 * 50);
        zero = add(&program, "constant", "-> f32[]", NULL, NO_ID, NO_ID);
        zeros = add(&program, "broadcast", "f32[] -> f32[100,50]", NULL, NO_ID, zero);
        positive = add(&program, "compare", "f32[100,50] f32[100,50] -> pred[100,50]", NULL, NO_ID,
                       product);
        link_second(&program, zeros, positive);
        kept = on_line(&program,
                       add(&program, "slice", "f32[100,50] -> f32[10,50]", NULL, NO_ID, product),
                       "0:1,0:1");
        back = add(&program, "sort", "f32[10,50] -> f32[10,50]", "jit(f)/sort", NO_ID, kept);
        filled = on_line(&program,
                         add(&program, "pad", "f32[10,50] f32[] -> f32[100,50]", NULL, NO_ID, back),
                         is_other ? "90:1,0:1" : "0:1,0:1");
        link_second(&program, zero, filled);
        chosen = add(&program, "select", "pred[100,50] f32[100,50] f32[100,50] -> f32[100,50]",
                     NULL, NO_ID, positive);
        link_second(&program, filled, chosen);
        link_at(&program, zeros, chosen, 2);
        gradient = add_flops(&program, "dot", "f32[100,50] f32[50,8] -> f32[100,8]", "jit(f)/dot",
                             chosen, NO_ID, 2 * 100 * 8 * 50);
        add(&program, "sort", "f32[100,8] -> f32[100,8]", "jit(f)/sort", NO_ID, gradient);
        run_step(&program, (uint32_t[]) { product, gradient }, (int64_t[]) { 8000000, 6000000 }, 2);
        assert_true(fabs(claimed(&program, "cut-results") - (is_other ? 0 : 0.9 * 14e6)) < 1);
        release(&program);
    }
}
