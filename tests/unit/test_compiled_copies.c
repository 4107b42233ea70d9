/* Arrays of compiled programs that are copies of a few numbers. */
#include "compiled_program.h"

/* A filter of 64 numbers becomes a matrix of 64 x 64, one diagonal each: gathered by numbers that
 * count, 4 ms, turned, 2 ms, and multiplied, 1 ms. Its gradient, a product of 1 ms, is turned back,
 * 2 ms, and added up, 1 ms. 64 copies of each number where three passes do: 61 of 64 parts of what
 * is no product are too much. Where the numbers are given, or a maximum of the matrix is taken, the
 * matrix is needed; where they are given its gradient is, too. */
TEST(matrices_of_copies)
{
    enum { COUNTED, GIVEN, TAKEN, KINDS };
    static const double claimed_ns[KINDS] = { 9e6 * 61 / 64, 0, 3e6 * 61 / 64 };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       filter, given, counted, numbers, gather, turned, product, made, back, sum;

        start(&program);
        filter = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        mark(&program, filter, "entry");
        given = add(&program, "parameter", "-> s32[4096,1]", NULL, NO_ID, NO_ID);
        mark(&program, given, "entry");
        counted = add(&program, "iota", "-> s32[4096,1]", NULL, NO_ID, NO_ID);
        numbers = kind == GIVEN ? given : counted;
        gather = add(&program, "gather", "f32[64] s32[4096,1] -> f32[4096]", "jit(f)/gather", NO_ID,
                     filter);
        link_second(&program, numbers, gather);
        turned = add(&program, "transpose", "f32[4096] -> f32[64,64]", "jit(f)/transpose", NO_ID,
                     gather);
        product =
            add(&program, "dot", "f32[64,64] f32[64,8] -> f32[64,8]", "jit(f)/dot", NO_ID, turned);
        if (kind == TAKEN)
            add(&program, "reduce", "f32[64,64] f32[] -> f32[64]", "jit(f)/reduce_max", NO_ID,
                turned);
        made =
            add(&program, "dot", "f32[64,8] f32[8,64] -> f32[64,64]", "jit(f)/dot", NO_ID, product);
        back =
            add(&program, "transpose", "f32[64,64] -> f32[4096]", "jit(f)/transpose", NO_ID, made);
        sum = add(&program, "scatter", "f32[64] s32[4096,1] f32[4096] -> f32[64]",
                  "jit(f)/scatter-add", NO_ID, filter);
        link_second(&program, numbers, sum);
        link_at(&program, back, sum, 2);
        run_step(&program, (uint32_t[]) { gather, turned, product, made, back, sum },
                 (int64_t[]) { 4000000, 2000000, 1000000, 1000000, 2000000, 1000000 }, 6);
        assert_true(fabs(claimed(&program, "gathered-matrix") - claimed_ns[kind]) < 1);
        release(&program);
    }
}
