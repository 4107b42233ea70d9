/* Rounds of loops of compiled programs that do what their sum needs once. */
#include "compiled_program.h"

/* Ten rounds solve, 1 ms, for what each makes, and add the result, 0.5 ms, to what they carry: nine
 * of ten solves are too much. Where a round reads the sum, gives the solution on beside it, or
 * changes the matrix, they are needed; orders of axes alone are how it is laid out. */
TEST(rounds_that_solve_for_a_sum)
{
    enum { ROUNDS = 10, LOOP = 11 };
    enum { ALONE, READ, GIVEN, CHANGED, LAID_OUT, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        const char    *carried = "-> f32[8,8] f32[8,8] f32[8,8] f32[8,8]";
        const char    *one = "f32[8,8] -> f32[8,8]", *two = "f32[8,8] f32[8,8] -> f32[8,8]";
        struct program program;
        uint32_t tuple, hidden, sum, matrix, given, made, turned, solved, ordered, added, next,
            other, root, at[2 * ROUNDS];
        int64_t ns[2 * ROUNDS];

        start(&program);
        tuple = add(&program, "parameter", carried, NULL, LOOP, NO_ID);
        hidden = add(&program, "get-tuple-element", "-> f32[8,8]", NULL, LOOP, tuple);
        sum = add(&program, "get-tuple-element", "-> f32[8,8]", NULL, LOOP, tuple);
        describe(&program, sum, (const char *const[]) { "element", "1", NULL });
        matrix = add(&program, "get-tuple-element", "-> f32[8,8]", NULL, LOOP, tuple);
        describe(&program, matrix, (const char *const[]) { "element", "2", NULL });
        given = add(&program, "get-tuple-element", "-> f32[8,8]", NULL, LOOP, tuple);
        describe(&program, given, (const char *const[]) { "element", "3", NULL });
        made = add(&program, "tanh", one, "jit(f)/tanh", LOOP, kind == READ ? sum : hidden);
        turned = add(&program, "transpose", one, "jit(f)/transpose", LOOP, made);
        solved = add(&program, "custom-call", two, "jit(f)/triangular_solve", LOOP, matrix);
        link_second(&program, turned, solved);
        ordered = kind == LAID_OUT ? turned : solved;
        added = add(&program, "add", two, "jit(f)/add", LOOP, sum);
        link_second(&program, ordered, added);
        next = add(&program, "negate", one, NULL, LOOP, matrix);
        other = add(&program, "negate", one, NULL, LOOP, kind == GIVEN ? solved : given);
        assert_int_equal(add(&program, "while", carried, NULL, NO_ID, NO_ID), LOOP);
        root = add(&program, "tuple", carried, NULL, LOOP, made);
        link_second(&program, added, root);
        link_at(&program, kind == CHANGED ? next : matrix, root, 2);
        link_at(&program, other, root, 3);
        for (size_t i = 0; i < ROUNDS; i++) {
            at[2 * i] = ordered, ns[2 * i] = 1000000;
            at[2 * i + 1] = added, ns[2 * i + 1] = 500000;
        }
        run_step(&program, at, ns, 2 * ROUNDS);
        assert_true(fabs(claimed(&program, "summed-rounds") - (kind == ALONE ? 0.9 * 10e6 : 0)) <
                    1);
        release(&program);
    }
}
