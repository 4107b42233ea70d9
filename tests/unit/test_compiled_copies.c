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

/* A row of 8 is written to a cache of 2 x 16 x 4 x 8, which is turned, 3 ms, copied, 2 ms, and
 * multiplied, 1 ms: turning and copying are too much. What the program makes itself, as heads of
 * this call's rows, has to be turned by somebody. */
TEST(caches_that_are_turned)
{
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        struct program program;
        uint32_t       before, row, written, turned, copied, product;

        (void)state;
        start(&program);
        before = add(&program, "parameter", "-> f32[2,16,4,8]", NULL, NO_ID, NO_ID);
        mark(&program, before, "entry");
        row = add(&program, "parameter", "-> f32[2,1,4,8]", NULL, NO_ID, NO_ID);
        mark(&program, row, "entry");
        if (!is_kept)
            before = add(&program, "negate", "f32[2,16,4,8] -> f32[2,16,4,8]", "jit(f)/neg", NO_ID,
                         before);
        written =
            add(&program, "dynamic-update-slice", "f32[2,16,4,8] f32[2,1,4,8] -> f32[2,16,4,8]",
                "jit(f)/dynamic_update_slice", NO_ID, before);
        link_second(&program, row, written);
        turned = add(&program, "transpose", "f32[2,16,4,8] -> f32[2,4,8,16]", "jit(f)/transpose",
                     NO_ID, written);
        copied = add(&program, "copy", "f32[2,4,8,16] -> f32[2,4,8,16]", "jit(f)/transpose", NO_ID,
                     turned);
        product = add(&program, "dot", "f32[2,4,8,16] f32[2,4,8] -> f32[2,4,16]", "jit(f)/dot",
                      NO_ID, copied);
        run_step(&program, (uint32_t[]) { written, turned, copied, product },
                 (int64_t[]) { 1000000, 3000000, 2000000, 1000000 }, 4);
        assert_true(fabs(claimed(&program, "turned-cache") - (is_kept ? 5e6 : 0)) < 1);
        release(&program);
    }
}
