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

/* A matrix is spread over 64 series, and ten rounds of 10 us multiply all of them by the same
 * weight: one of 64 would do. Where rounds take what each series has of its own, all are needed. */
TEST(rounds_that_are_equal_for_all)
{
    enum { ROUNDS = 10, LOOP = 12 };
    static const char carried[] = "-> f32[64,20,20] f32[20,20] f32[64,20,20]";

    for (int is_own = 0; is_own < 2; is_own++) {
        struct program program;
        uint32_t matrix, series, spread, given, tuple, carry, weight, own, flat, made, next, root,
            at[ROUNDS];
        int64_t ns[ROUNDS];

        start(&program);
        matrix = add(&program, "parameter", "-> f32[20,20]", NULL, NO_ID, NO_ID);
        series = add(&program, "parameter", "-> f32[64,20,20]", NULL, NO_ID, NO_ID);
        describe(&program, series, (const char *const[]) { "entry", "true", NULL });
        spread = add(&program, "broadcast", "f32[20,20] -> f32[64,20,20]", NULL, NO_ID, matrix);
        describe(&program, spread, (const char *const[]) { "axes", "1,2", NULL });
        given = add(&program, "tuple", carried, NULL, NO_ID, spread);
        link_at(&program, matrix, given, 1);
        link_at(&program, series, given, 2);
        tuple = add(&program, "parameter", carried, NULL, LOOP, NO_ID);
        carry = add(&program, "get-tuple-element", "-> f32[64,20,20]", NULL, LOOP, tuple);
        weight = add(&program, "get-tuple-element", "-> f32[20,20]", NULL, LOOP, tuple);
        describe(&program, weight, (const char *const[]) { "element", "1", NULL });
        own = add(&program, "get-tuple-element", "-> f32[64,20,20]", NULL, LOOP, tuple);
        describe(&program, own, (const char *const[]) { "element", "2", NULL });
        flat = add(&program, "bitcast", "f32[64,20,20] -> f32[1280,20]", NULL, LOOP,
                   is_own ? own : carry);
        made = add(&program, "dot", "f32[1280,20] f32[20,20] -> f32[1280,20]", "jit(f)/dot", LOOP,
                   flat);
        link_second(&program, weight, made);
        next = add(&program, "bitcast", "f32[1280,20] -> f32[64,20,20]", NULL, LOOP, made);
        root = add(&program, "tuple", carried, NULL, LOOP, next);
        link_at(&program, weight, root, 1);
        link_at(&program, own, root, 2);
        assert_int_equal(add(&program, "while", carried, NULL, NO_ID, given), LOOP);
        root = add(&program, "get-tuple-element", "-> f32[20,20]", NULL, NO_ID, LOOP);
        describe(&program, root, (const char *const[]) { "element", "1", "root", "true", NULL });
        for (size_t i = 0; i < ROUNDS; i++)
            at[i] = made, ns[i] = 10000;
        run_step(&program, at, ns, ROUNDS);
        assert_true(fabs(claimed(&program, "same-for-all") - (is_own ? 0 : 63.0 / 64 * 1e5)) < 1);
        release(&program);
    }
}

/* Twenty rounds take the hyperbolic tangent of what they carry, 2 us, which is what starting an op
 * costs, and multiply that with three weights, 8 us each. Of these one start would do: 2 us less in
 * two of three. Products that take each other's results wait for them, and two are few. */
TEST(rounds_with_products_of_one_array)
{
    enum { ROUNDS = 20, EACH = 4, LOOP = 10 };
    enum { APART, CHAINED, FEW, KINDS };
    static const char carried[] = "-> f32[16,16] f32[16,16] f32[16,16] f32[16,16]";
    static const char two[] = "f32[16,16] f32[16,16] -> f32[16,16]";

    for (int kind = 0; kind < KINDS; kind++) {
        static const char *const elements[] = { "0", "1", "2", "3" };
        struct program           program;
        uint32_t                 tuple, taken[4], made, dots[3], root, at[ROUNDS * EACH];
        int64_t                  ns[ROUNDS * EACH];

        start(&program);
        tuple = add(&program, "parameter", carried, NULL, LOOP, NO_ID);
        for (size_t i = 0; i < 4; i++) {
            taken[i] = add(&program, "get-tuple-element", "-> f32[16,16]", NULL, LOOP, tuple);
            describe(&program, taken[i], (const char *const[]) { "element", elements[i], NULL });
        }
        made = add(&program, "tanh", "f32[16,16] -> f32[16,16]", "jit(f)/tanh", LOOP, taken[0]);
        for (size_t i = 0; i < 3; i++) {
            dots[i] =
                add(&program, kind == FEW && i == 2 ? "add" : "dot", two, "jit(f)/dot", LOOP, made);
            link_second(&program, kind == CHAINED && i > 0 ? dots[i - 1] : taken[1 + i], dots[i]);
        }
        root = add(&program, "tuple", carried, NULL, LOOP, dots[2]);
        for (uint16_t i = 1; i < 4; i++)
            link_at(&program, taken[i], root, i);
        assert_int_equal(add(&program, "while", carried, NULL, NO_ID, NO_ID), LOOP);
        for (size_t i = 0; i < ROUNDS; i++) {
            at[EACH * i] = made, ns[EACH * i] = 2000;
            for (size_t k = 0; k < 3; k++)
                at[EACH * i + 1 + k] = dots[k], ns[EACH * i + 1 + k] = 8000;
        }
        run_step(&program, at, ns, ROUNDS * EACH);
        assert_true(fabs(claimed(&program, "shared-factor") -
                         (kind == APART ? ROUNDS * 3 * 2000 * 2.0 / 3 : 0)) < 1);
        release(&program);
    }
}

/* Each of four rounds runs another loop of five, which splits a key and draws from it, 1 ms, and
 * begins with the key that all four are given: four of five draws were made before. Where each of
 * the four has a key of its own, where two rounds are few, and where nothing is drawn, none is too
 * much. */
TEST(rounds_that_draw_from_the_same_key)
{
    enum { OUTER = 4, INNER_LOOP = 11, OUTER_LOOP = 15 };
    enum { SAME_KEY, OWN_KEY, FEW, NOT_DRAWN, KINDS };
    static const char carried[] = "-> u32[2] f32[8]";

    for (int kind = 0; kind < KINDS; kind++) {
        const size_t   inner = kind == FEW ? 2 : 5;
        const char    *origin = kind == NOT_DRAWN ? "jit(f)/mul" : "jit(f)/threefry2x32";
        struct program program;
        uint32_t       tuple, key, carry, own, given, split, made, root, next, at[OUTER * 6];
        int64_t        ns[OUTER * 6];
        size_t         count = 0;

        start(&program);
        tuple = add(&program, "parameter", carried, NULL, OUTER_LOOP, NO_ID);
        key = add(&program, "get-tuple-element", "-> u32[2]", NULL, OUTER_LOOP, tuple);
        carry = add(&program, "get-tuple-element", "-> f32[8]", NULL, OUTER_LOOP, tuple);
        describe(&program, carry, (const char *const[]) { "element", "1", NULL });
        own = add(&program, "add", "u32[2] f32[8] -> u32[2]", NULL, OUTER_LOOP, key);
        link_second(&program, carry, own);
        given = add(&program, "tuple", carried, NULL, OUTER_LOOP, kind == OWN_KEY ? own : key);
        link_second(&program, carry, given);
        tuple = add(&program, "parameter", carried, NULL, INNER_LOOP, NO_ID);
        split = add(&program, "get-tuple-element", "-> u32[2]", NULL, INNER_LOOP, tuple);
        made = add(&program, "get-tuple-element", "-> f32[8]", NULL, INNER_LOOP, tuple);
        describe(&program, made, (const char *const[]) { "element", "1", NULL });
        split = add(&program, "xor", "u32[2] -> u32[2]", origin, INNER_LOOP, split);
        made = add(&program, "multiply", "f32[8] u32[2] -> f32[8]", origin, INNER_LOOP, made);
        link_second(&program, split, made);
        root = add(&program, "tuple", carried, NULL, INNER_LOOP, split);
        link_second(&program, made, root);
        assert_int_equal(add(&program, "while", carried, NULL, OUTER_LOOP, given), INNER_LOOP);
        next = add(&program, "get-tuple-element", "-> f32[8]", NULL, OUTER_LOOP, INNER_LOOP);
        describe(&program, next, (const char *const[]) { "element", "1", NULL });
        next = add(&program, "negate", "f32[8] -> f32[8]", "jit(f)/neg", OUTER_LOOP, next);
        root = add(&program, "tuple", carried, NULL, OUTER_LOOP, key);
        link_second(&program, next, root);
        assert_int_equal(add(&program, "while", carried, NULL, NO_ID, NO_ID), OUTER_LOOP);
        for (int round = 0; round < OUTER; round++) {
            for (size_t i = 0; i < inner; i++)
                at[count] = made, ns[count++] = 1000000;
            at[count] = next, ns[count++] = 500000;
        }
        run_step(&program, at, ns, count);
        assert_true(
            fabs(claimed(&program, "redrawn-rounds") - (kind == SAME_KEY ? 0.8 * 20e6 : 0)) < 1);
        release(&program);
    }
}
