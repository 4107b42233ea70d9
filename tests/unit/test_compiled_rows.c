/* Rows that compiled programs work on in vain: copies, rows that are cut off or masked, and rounds
 * of loops. */
#include <stdio.h>

#include "base/macros.h"
#include "compiled_program.h"

/* Of 100 rows of a product, 8 ms, and of their exponentials, 2 ms, one is cut out: 99 of 100 parts
 * are too much. Where something else takes the product all of it is needed. What
 * is cut out of the exponentials times the product is the same part of both. */
TEST(rows_that_are_cut_off)
{
    for (int kind = 0; kind < 3; kind++) {
        enum { ALONE, NEEDED, TWICE };
        struct program program;
        uint32_t       x, product, made, last, cut;

        start(&program);
        x = add(&program, "parameter", "-> f32[100,8]", NULL, NO_ID, NO_ID);
        product = add_flops(&program, "dot", "f32[100,8] f32[8,50] -> f32[100,50]", "jit(f)/dot", x,
                            NO_ID, 2 * 100 * 8 * 50);
        made = add(&program, "exponential", "f32[100,50] -> f32[100,50]", "jit(f)/exp", NO_ID,
                   product);
        last = made;
        if (kind == TWICE) {
            uint32_t both = add(&program, "multiply", "f32[100,50] f32[100,50] -> f32[100,50]",
                                "jit(f)/mul", NO_ID, made);

            link_second(&program, product, both);
            last = both;
        }
        cut = add(&program, "slice", "f32[100,50] -> f32[1,50]", "jit(f)/slice", NO_ID, last);
        add(&program, "sort", "f32[1,50] -> f32[1,50]", "jit(f)/sort", NO_ID, cut);
        if (kind == NEEDED)
            add(&program, "sort", "f32[100,50] -> f32[100,50]", "jit(f)/sort", NO_ID, product);
        run_step(&program, (uint32_t[]) { product, made }, (int64_t[]) { 8000000, 2000000 }, 2);
        assert_true(fabs(claimed(&program, "cut-results") - 0.99 * (kind == NEEDED ? 2e6 : 10e6)) <
                    1);
        release(&program);
    }
}

/* Of 100 rows a fusion of 10 ms takes exponentials, and one row is cut out. Behind the fusion 99 of
 * 100 parts are too much; inside of it the others are never computed. */
TEST(rows_that_are_cut_off_in_a_fusion)
{
    for (int is_inside = 0; is_inside < 2; is_inside++) {
        struct program program;
        uint32_t       x, fusion, inside, last, cut;

        start(&program);
        x = add(&program, "parameter", "-> f32[100,50]", NULL, NO_ID, NO_ID);
        fusion = x + (is_inside ? 4 : 3);
        inside = add(&program, "parameter", "-> f32[100,50]", NULL, fusion, x);
        last = add(&program, "exponential", "f32[100,50] -> f32[100,50]", "jit(f)/exp", fusion,
                   inside);
        if (is_inside)
            last = add(&program, "slice", "f32[100,50] -> f32[1,50]", "jit(f)/slice", fusion, last);
        assert_int_equal(add(&program, "fusion",
                             is_inside ? "f32[100,50] -> f32[1,50]" : "f32[100,50] -> f32[100,50]",
                             "jit(f)/exp", NO_ID, x),
                         fusion);
        link(&program, last, fusion);
        cut = is_inside ? fusion
                        : add(&program, "slice", "f32[100,50] -> f32[1,50]", "jit(f)/slice", NO_ID,
                              fusion);
        add(&program, "sort", "f32[1,50] -> f32[1,50]", "jit(f)/sort", NO_ID, cut);
        run_step(&program, (uint32_t[]) { fusion }, (int64_t[]) { 10000000 }, 1);
        assert_true(fabs(claimed(&program, "cut-results") - (is_inside ? 0 : 9.9e6)) < 1);
        release(&program);
    }
}

/* Of all products of 100 rows with each other, 8 ms, and their exponentials, 2 ms, a gather takes
 * those of each row with itself: 99 of 100 parts are too much. Where something else takes the
 * products all of them are needed; which elements other numbers take nobody knows. */
TEST(pairs_of_which_the_diagonal_is_taken)
{
    for (int kind = 0; kind < 3; kind++) {
        enum { ALONE, NEEDED, GIVEN };
        struct program program;
        uint32_t       x, products, made, numbers, indices, taken;
        double         expected = kind == GIVEN ? 0 : kind == NEEDED ? 2e6 : 10e6;

        start(&program);
        x = add(&program, "parameter", "-> f32[100,8]", NULL, NO_ID, NO_ID);
        products = add_flops(&program, "dot", "f32[100,8] f32[8,100] -> f32[100,100]", "jit(f)/dot",
                             x, NO_ID, 2 * 100 * 8 * 100);
        made = add(&program, "exponential", "f32[100,100] -> f32[100,100]", "jit(f)/exp", NO_ID,
                   products);
        numbers = add(&program, kind == GIVEN ? "parameter" : "iota", "-> s32[100,1]", NULL, NO_ID,
                      NO_ID);
        indices = add(&program, "concatenate", "s32[100,1] s32[100,1] -> s32[100,2]", NULL, NO_ID,
                      numbers);
        taken = add(&program, "gather", "f32[100,100] s32[100,2] -> f32[100]", "jit(f)/gather",
                    NO_ID, made);
        link_second(&program, indices, taken);
        add(&program, "sort", "f32[100] -> f32[100]", "jit(f)/sort", NO_ID, taken);
        if (kind == NEEDED)
            add(&program, "sort", "f32[100,100] -> f32[100,100]", "jit(f)/sort", NO_ID, products);
        run_step(&program, (uint32_t[]) { products, made }, (int64_t[]) { 8000000, 2000000 }, 2);
        assert_true(fabs(claimed(&program, "square-diagonal") - 0.99 * expected) < 1);
        release(&program);
    }
}

/* Four experts work on 100 rows, 8 ms, and a product with a one-hot mask, 2 ms, keeps one of them
 * for each row: three of four parts are too much. Where all are needed only those of the product
 * with the mask are. Making the mask, 1 ms, goes with the products, unless something else takes it.
 */
TEST(experts_that_a_mask_drops)
{
    for (int needed = 0; needed < 3; needed++) {
        enum { NOTHING, EXPERTS, MASK };
        struct program program;
        uint32_t       x, weights, chosen, numbers, spread, mask, floats, all, kept;

        start(&program);
        x = add(&program, "parameter", "-> f32[100,16]", NULL, NO_ID, NO_ID);
        weights = add(&program, "parameter", "-> f32[4,16,8]", NULL, NO_ID, NO_ID);
        chosen = add(&program, "parameter", "-> s32[100]", NULL, NO_ID, NO_ID);
        describe(&program, chosen, (const char *const[]) { "entry", "true", NULL });
        numbers = add(&program, "iota", "-> s32[100,4]", NULL, NO_ID, NO_ID);
        describe(&program, numbers, (const char *const[]) { "axes", "1", NULL });
        spread = add(&program, "broadcast", "s32[100] -> s32[100,4]", NULL, NO_ID, chosen);
        describe(&program, spread, (const char *const[]) { "axes", "0", NULL });
        mask = add(&program, "compare", "s32[100,4] s32[100,4] -> pred[100,4]", "jit(f)/eq", NO_ID,
                   spread);
        link_second(&program, numbers, mask);
        describe(&program, mask, (const char *const[]) { "compares", "EQ", NULL });
        floats = add(&program, "convert", "pred[100,4] -> f32[100,4]", NULL, NO_ID, mask);
        all = add_flops(&program, "dot", "f32[100,16] f32[4,16,8] -> f32[100,4,8]", "jit(f)/dot", x,
                        NO_ID, 2 * 100 * 16 * 4 * 8);
        link_second(&program, weights, all);
        describe(&program, all,
                 (const char *const[]) { "left_inner", "1", "right_inner", "1", NULL });
        kept = add_flops(&program, "dot", "f32[100,4,8] f32[100,4] -> f32[100,8]", "jit(f)/dot",
                         all, NO_ID, 2 * 100 * 4 * 8);
        link_second(&program, floats, kept);
        describe(&program, kept,
                 (const char *const[]) { "left_batch", "0", "left_inner", "1", "right_batch", "0",
                                         "right_inner", "1", NULL });
        if (needed == MASK)
            add(&program, "sort", "f32[100,4] -> f32[100,4]", "jit(f)/sort", NO_ID, floats);
        if (needed == EXPERTS)
            add(&program, "sort", "f32[100,4,8] -> f32[100,4,8]", "jit(f)/sort", NO_ID, all);
        run_step(&program, (uint32_t[]) { floats, all, kept },
                 (int64_t[]) { 1000000, 8000000, 2000000 }, 3);
        assert_true(fabs(claimed(&program, "masked-work") -
                         0.75 * ((needed == EXPERTS ? 2e6 : 10e6) + (needed == MASK ? 0 : 1e6))) <
                    1);
        release(&program);
    }
}

/* Ten rounds of a product of 10 us, each written to a row of its own: four fifths of them go when
 * all rows are one product, and so they do of what an inner loop of each round takes, 2 us three
 * times. Where the product takes the rows that were written before, nothing does. */
TEST(rounds_that_need_nothing_of_others)
{
    enum { ROUNDS = 10, LOOP = 9 };
    for (int is_read = 0; is_read < 2; is_read++) {
        struct program program;
        uint32_t       tuple, count, rows, weights, one, more, made, written, root, inner, drawn;
        uint32_t       at[4 * ROUNDS];
        int64_t        ns[4 * ROUNDS];

        start(&program);
        tuple = add(&program, "parameter", "-> s32[] f32[10] f32[8]", NULL, LOOP, NO_ID);
        count = add(&program, "get-tuple-element", "-> s32[]", NULL, LOOP, tuple);
        rows = add(&program, "get-tuple-element", "-> f32[10]", NULL, LOOP, tuple);
        describe(&program, rows, (const char *const[]) { "element", "1", NULL });
        weights = add(&program, "get-tuple-element", "-> f32[8]", NULL, LOOP, tuple);
        describe(&program, weights, (const char *const[]) { "element", "2", NULL });
        one = add(&program, "constant", "-> s32[]", NULL, LOOP, NO_ID);
        more = add(&program, "add", "s32[] s32[] -> s32[]", NULL, LOOP, count);
        link_second(&program, one, more);
        made = add(&program, "dot", "f32[8] f32[8] -> f32[1]", "jit(f)/dot", LOOP, weights);
        if (is_read)
            link_second(&program, rows, made);
        written =
            add(&program, "dynamic-update-slice", "f32[10] f32[1] -> f32[10]", NULL, LOOP, rows);
        link_second(&program, made, written);
        root = add(&program, "tuple", "-> s32[] f32[10] f32[8]", NULL, LOOP, more);
        link_second(&program, written, root);
        assert_true(vec_push(&program.edges, &program.b.arena,
                             (struct op_edge) { .from = weights, .to = root, .place = 2 }));
        assert_int_equal(add(&program, "while", "-> s32[] f32[10] f32[8]", NULL, NO_ID, NO_ID),
                         LOOP);
        inner = add(&program, "while", "-> s32[] u32[8]", NULL, LOOP, NO_ID);
        drawn = add(&program, "xor", "u32[8] u32[8] -> u32[8]", NULL, inner, NO_ID);
        for (size_t i = 0; i < 4 * ROUNDS; i++)
            at[i] = i % 4 ? drawn : made, ns[i] = i % 4 ? 2000 : 10000;
        run_step(&program, at, ns, 4 * ROUNDS);
        assert_true(fabs(claimed(&program, "separate-rounds") - (is_read ? 0 : 0.8 * 1.6e5)) < 1);
        release(&program);
    }
}

/* Windows of 20 rows of a series of 100 are gathered by numbers that count, 6 ms, squared and added
 * up in a fusion of 4 ms: 2000 rows where three passes over 100 do, so that 17 of 20 parts are too
 * much, also of doubling the numbers, 1 ms. Where a product takes the windows, or the numbers are
 * given, they are needed. */
TEST(windows_that_overlap)
{
    enum { COUNTED, GIVEN, MULTIPLIED, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       series, given, count, numbers, gather, fusion, inside, square, sum;

        start(&program);
        series = add(&program, "parameter", "-> f32[100,2]", NULL, NO_ID, NO_ID);
        mark(&program, series, "entry");
        given = add(&program, "parameter", "-> s32[2000,1]", NULL, NO_ID, NO_ID);
        mark(&program, given, "entry");
        count = add(&program, "iota", "-> s32[2000,1]", NULL, NO_ID, NO_ID);
        numbers = add(&program, "add", "s32[2000,1] s32[2000,1] -> s32[2000,1]", "jit(f)/add",
                      NO_ID, count);
        gather = add(&program, "gather", "f32[100,2] s32[2000,1] -> f32[100,20,2]", "jit(f)/gather",
                     NO_ID, series);
        link_second(&program, kind == GIVEN ? given : numbers, gather);
        fusion = gather + 4;
        inside = add(&program, "parameter", "-> f32[100,20,2]", NULL, fusion, gather);
        square = add(&program, "multiply", "f32[100,20,2] f32[100,20,2] -> f32[100,20,2]",
                     "jit(f)/mul", fusion, inside);
        link_second(&program, inside, square);
        sum = add(&program, "reduce", "f32[100,20,2] f32[] -> f32[100,2]", "jit(f)/reduce_sum",
                  fusion, square);
        assert_int_equal(add(&program, "fusion", "f32[100,20,2] -> f32[100,2]", "jit(f)/reduce_sum",
                             NO_ID, gather),
                         fusion);
        link(&program, sum, fusion);
        add(&program, "dot", "f32[100,20,2] f32[20,2,8] -> f32[100,8]", "jit(f)/dot", NO_ID,
            kind == MULTIPLIED ? gather : NO_ID);
        run_step(&program, (uint32_t[]) { numbers, gather, fusion },
                 (int64_t[]) { 1000000, 6000000, 4000000 }, 3);
        assert_true(
            fabs(claimed(&program, "gathered-windows") - (kind == COUNTED ? 0.85 * 11e6 : 0)) < 1);
        release(&program);
    }
}

/* Four stages hand rows on to each other in five rounds, which is what two parts of a batch take: a
 * product of 1 ms a round. With 16 parts they would take 19 rounds, 19 / 16 a part where it is 5 /
 * 2 now: of the products 1 - 0.475 is too much. In as many rounds as there are devices each
 * device's rows go around once, and no array of parts says otherwise. */
TEST(stages_without_work)
{
    enum { LOOP = 5 };
    static const struct {
        const char *carried, *ring;
        double      share;
    } cases[] = { { "-> f32[8,4] f32[2,8,4]", "4", 0.525 },
                  { "-> f32[8,4] f32[2,8,4]", "5", 0 },
                  { "-> f32[8,4] f32[3,8,4]", "4", 0 } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct program program;
        uint32_t       tuple, rows, made, handed, at[11];
        int64_t        ns[11] = { 1000 };

        start(&program);
        tuple = add(&program, "parameter", cases[i].carried, NULL, LOOP, NO_ID);
        rows = add(&program, "get-tuple-element", "-> f32[8,4]", NULL, LOOP, tuple);
        made = add(&program, "dot", "f32[8,4] f32[4,4] -> f32[8,4]", "jit(f)/dot", LOOP, rows);
        handed = add(&program, "collective-permute", "f32[8,4] -> f32[8,4]", NULL, LOOP, made);
        describe(&program, handed, (const char *const[]) { "ring_size", cases[i].ring, NULL });
        add(&program, "tuple", cases[i].carried, NULL, LOOP, handed);
        assert_int_equal(add(&program, "while", cases[i].carried, NULL, NO_ID, NO_ID), LOOP);
        at[0] = LOOP;
        for (size_t r = 0; r < 5; r++) {
            at[1 + 2 * r] = made, ns[1 + 2 * r] = 1000000;
            at[2 + 2 * r] = handed, ns[2 + 2 * r] = 1000;
        }
        run_step(&program, at, ns, 11);
        assert_true(fabs(claimed(&program, "pipeline-bubble") - cases[i].share * 5e6) < 1);
        release(&program);
    }
}

/* Ten micro-batches of two rows: each reads all weights, 1 ms, and its gradient, 0.5 ms, is added
 * to what is carried, 0.5 ms: at most 0.8 of that is too much. Products of 32 rows have enough to
 * do: what starting ops takes is below 3 % of the step then. */
TEST(rounds_of_few_rows)
{
    enum { ROUNDS = 10, LOOP = 10 };

    for (int is_large = 0; is_large < 2; is_large++) {
        const char *carried = "-> s32[] f32[64,64] f32[64,64]";
        const char *batch = is_large ? "-> f32[32,64]" : "-> f32[2,64]";
        const char *forward =
            is_large ? "f32[32,64] f32[64,64] -> f32[32,64]" : "f32[2,64] f32[64,64] -> f32[2,64]";
        struct program program;
        uint32_t       tuple, count, sum, weights, one, more, rows, made, gradient, added, root;
        uint32_t       at[3 * ROUNDS];
        int64_t        ns[3 * ROUNDS];

        start(&program);
        tuple = add(&program, "parameter", carried, NULL, LOOP, NO_ID);
        count = add(&program, "get-tuple-element", "-> s32[]", NULL, LOOP, tuple);
        sum = add(&program, "get-tuple-element", "-> f32[64,64]", NULL, LOOP, tuple);
        describe(&program, sum, (const char *const[]) { "element", "1", NULL });
        weights = add(&program, "get-tuple-element", "-> f32[64,64]", NULL, LOOP, tuple);
        describe(&program, weights, (const char *const[]) { "element", "2", NULL });
        one = add(&program, "constant", "-> s32[]", NULL, LOOP, NO_ID);
        more = add(&program, "add", "s32[] s32[] -> s32[]", NULL, LOOP, count);
        link_second(&program, one, more);
        rows = add(&program, "iota", batch, NULL, LOOP, NO_ID);
        made = add(&program, "dot", forward, "jit(f)/dot", LOOP, rows);
        link_second(&program, weights, made);
        program.b.profile.ops.items[made].flops = (is_large ? 32 : 2) * 2 * 64 * 64;
        gradient = add(&program, "dot", "f32[64,2] f32[2,64] -> f32[64,64]",
                       "jit(f)/transpose(jvp())/dot", LOOP, made);
        added =
            add(&program, "add", "f32[64,64] f32[64,64] -> f32[64,64]", "jit(f)/add", LOOP, sum);
        assert_int_equal(added, LOOP - 1);
        link_second(&program, gradient, added);
        assert_int_equal(add(&program, "while", carried, NULL, NO_ID, NO_ID), LOOP);
        root = add(&program, "tuple", carried, NULL, LOOP, more);
        link_second(&program, added, root);
        assert_true(vec_push(&program.edges, &program.b.arena,
                             (struct op_edge) { .from = weights, .to = root, .place = 2 }));
        for (size_t i = 0; i < ROUNDS; i++) {
            at[3 * i] = made, ns[3 * i] = 1000000;
            at[3 * i + 1] = gradient, ns[3 * i + 1] = 500000;
            at[3 * i + 2] = added, ns[3 * i + 2] = 500000;
        }
        run_step(&program, at, ns, 3 * ROUNDS);
        assert_true(fabs(claimed(&program, "separate-rounds") - (is_large ? 0 : 0.8 * 20e6)) < 1);
        release(&program);
    }
}

/* Each round changes one of 16 rows, and a product with weights, 1.6 ms, takes all: 15 of 16 parts
 * are too much. Where rounds change the weights, too, they are needed. */
TEST(rows_that_each_round_makes_again)
{
    enum { LOOP = 8 };
    for (int is_trained = 0; is_trained < 2; is_trained++) {
        struct program program;
        uint32_t       tuple, rows, weights, made, cut, written, next, root;

        start(&program);
        tuple = add(&program, "parameter", "-> f32[16,8] f32[8,8]", NULL, LOOP, NO_ID);
        rows = add(&program, "get-tuple-element", "-> f32[16,8]", NULL, LOOP, tuple);
        weights = add(&program, "get-tuple-element", "-> f32[8,8]", NULL, LOOP, tuple);
        describe(&program, weights, (const char *const[]) { "element", "1", NULL });
        made = add(&program, "dot", "f32[16,8] f32[8,8] -> f32[16,8]", "jit(f)/dot", LOOP, rows);
        link_second(&program, weights, made);
        describe(&program, made,
                 (const char *const[]) { "left_inner", "1", "right_inner", "0", NULL });
        cut = add(&program, "dynamic-slice", "f32[16,8] -> f32[1,8]", NULL, LOOP, made);
        written = add(&program, "dynamic-update-slice", "f32[16,8] f32[1,8] -> f32[16,8]", NULL,
                      LOOP, rows);
        link_second(&program, cut, written);
        next = add(&program, "negate", "f32[8,8] -> f32[8,8]", NULL, LOOP, weights);
        root = add(&program, "tuple", "-> f32[16,8] f32[8,8]", NULL, LOOP, written);
        link_second(&program, is_trained ? next : weights, root);
        assert_int_equal(add(&program, "while", "-> f32[16,8] f32[8,8]", NULL, NO_ID, NO_ID), LOOP);
        run_step(&program, (uint32_t[]) { made }, (int64_t[]) { 1600000 }, 1);
        assert_true(fabs(claimed(&program, "remade-rows") - (is_trained ? 0 : 1.5e6)) < 1);
        release(&program);
    }
}

/* Ten rounds of 100 us choose by a mask over 16 rows between a new row and what was there: 15 of 16
 * parts only copy. Where the rows that are not chosen change as well, all are needed. */
TEST(rows_that_a_mask_writes)
{
    enum { ROUNDS = 10, LOOP = 12 };
    for (int is_changed = 0; is_changed < 2; is_changed++) {
        struct program program;
        uint32_t tuple, count, rows, one, more, numbers, spread, mask, fresh, other, written, root,
            at[ROUNDS];
        int64_t ns[ROUNDS];

        start(&program);
        tuple = add(&program, "parameter", "-> s32[] f32[16,8]", NULL, LOOP, NO_ID);
        count = add(&program, "get-tuple-element", "-> s32[]", NULL, LOOP, tuple);
        rows = add(&program, "get-tuple-element", "-> f32[16,8]", NULL, LOOP, tuple);
        describe(&program, rows, (const char *const[]) { "element", "1", NULL });
        one = add(&program, "constant", "-> s32[]", NULL, LOOP, NO_ID);
        more = add(&program, "add", "s32[] s32[] -> s32[]", NULL, LOOP, count);
        link_second(&program, one, more);
        numbers = add(&program, "iota", "-> s32[16,8]", NULL, LOOP, NO_ID);
        describe(&program, numbers, (const char *const[]) { "axes", "0", NULL });
        spread = add(&program, "broadcast", "s32[] -> s32[16,8]", NULL, LOOP, count);
        mask = add(&program, "compare", "s32[16,8] s32[16,8] -> pred[16,8]", "jit(f)/eq", LOOP,
                   numbers);
        link_second(&program, spread, mask);
        describe(&program, mask, (const char *const[]) { "compares", "EQ", NULL });
        fresh = add(&program, "broadcast", "f32[] -> f32[16,8]", NULL, LOOP, NO_ID);
        other = add(&program, "negate", "f32[16,8] -> f32[16,8]", NULL, LOOP, rows);
        written = add(&program, "select", "pred[16,8] f32[16,8] f32[16,8] -> f32[16,8]", NULL, LOOP,
                      mask);
        link_second(&program, fresh, written);
        assert_true(vec_push(
            &program.edges, &program.b.arena,
            (struct op_edge) { .from = is_changed ? other : rows, .to = written, .place = 2 }));
        root = add(&program, "tuple", "-> s32[] f32[16,8]", NULL, LOOP, more);
        link_second(&program, written, root);
        assert_int_equal(add(&program, "while", "-> s32[] f32[16,8]", NULL, NO_ID, NO_ID), LOOP);
        for (size_t i = 0; i < ROUNDS; i++)
            at[i] = written, ns[i] = 100000;
        run_step(&program, at, ns, ROUNDS);
        assert_true(fabs(claimed(&program, "masked-write") - (is_changed ? 0 : 15.0 / 16 * 1e6)) <
                    1);
        release(&program);
    }
}

/* A gradient's product of 5 ms is added up over 100 rows of each of 4, from which these were
 * spread: the sums would do before it, 99 of 100 parts. Sums over what is in a row leave all rows.
 */
TEST(gradients_of_rows_that_were_spread)
{
    for (int is_within = 0; is_within < 2; is_within++) {
        struct program program;
        uint32_t       results, w, gradient;

        start(&program);
        results = add(&program, "parameter", "-> f32[4,100,30]", NULL, NO_ID, NO_ID);
        w = add(&program, "parameter", "-> f32[40,30]", NULL, NO_ID, NO_ID);
        gradient = add_flops(&program, "dot", "f32[4,100,30] f32[40,30] -> f32[4,100,40]",
                             "jit(f)/transpose(jvp())/dot", results, w, 2 * 400 * 40 * 30);
        add(&program, "reduce",
            is_within ? "f32[4,100,40] -> f32[4,100]" : "f32[4,100,40] -> f32[4,40]",
            "jit(f)/transpose(jvp())/reduce_sum", NO_ID, gradient);
        run_step(&program, (uint32_t[]) { gradient }, (int64_t[]) { 5000000 }, 1);
        assert_true(fabs(claimed(&program, "repeated-rows") - (is_within ? 0 : 0.99 * 5e6)) < 1);
        release(&program);
    }
}

/* Ten rounds of 100 us each write their row of 16, of which the last one is taken: 15 of 16 parts
 * are kept for nothing. Where all are taken they are not. */
TEST(rows_of_all_rounds)
{
    enum { ROUNDS = 10, LOOP = 8 };
    for (int takes_all = 0; takes_all < 2; takes_all++) {
        struct program program;
        uint32_t       tuple, count, rows, one, more, row, written, root, given, at[ROUNDS];
        int64_t        ns[ROUNDS];

        start(&program);
        tuple = add(&program, "parameter", "-> s32[] f32[16,8]", NULL, LOOP, NO_ID);
        count = add(&program, "get-tuple-element", "-> s32[]", NULL, LOOP, tuple);
        rows = add(&program, "get-tuple-element", "-> f32[16,8]", NULL, LOOP, tuple);
        describe(&program, rows, (const char *const[]) { "element", "1", NULL });
        one = add(&program, "constant", "-> s32[]", NULL, LOOP, NO_ID);
        more = add(&program, "add", "s32[] s32[] -> s32[]", NULL, LOOP, count);
        link_second(&program, one, more);
        row = add(&program, "broadcast", "s32[] -> f32[1,8]", NULL, LOOP, count);
        written = add(&program, "dynamic-update-slice", "f32[16,8] f32[1,8] s32[] -> f32[16,8]",
                      NULL, LOOP, rows);
        link_second(&program, row, written);
        root = add(&program, "tuple", "-> s32[] f32[16,8]", NULL, LOOP, more);
        link_second(&program, written, root);
        assert_int_equal(add(&program, "while", "-> s32[] f32[16,8]", NULL, NO_ID, NO_ID), LOOP);
        given = add(&program, "get-tuple-element", "-> f32[16,8]", NULL, NO_ID, LOOP);
        describe(&program, given, (const char *const[]) { "element", "1", NULL });
        if (takes_all)
            add(&program, "negate", "f32[16,8] -> f32[16,8]", NULL, NO_ID, given);
        else
            add(&program, "slice", "f32[16,8] -> f32[1,8]", NULL, NO_ID, given);
        for (size_t i = 0; i < ROUNDS; i++)
            at[i] = written, ns[i] = 100000;
        run_step(&program, at, ns, ROUNDS);
        assert_true(fabs(claimed(&program, "unread-rounds") - (takes_all ? 0 : 15.0 / 16 * 1e6)) <
                    1);
        release(&program);
    }
}

/* 200 rows of 16 numbers are gathered from a table, 4 ms, and added to its gradient, 6 ms. Along
 * the last axis their numbers lie apart: six tenths of both are spared. Along the first they do
 * not, nor is it known of a table that the program makes. */
TEST(rows_along_the_last_axis)
{
    enum { LAST, LEFT_OUT, FIRST, MADE, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        bool           is_first = kind == FIRST;
        struct program program;
        uint32_t       table, numbers, rows, zero, filled, added;

        start(&program);
        table = add(&program, kind == MADE ? "sort" : "parameter",
                    is_first ? "-> f32[50000,16]" : "-> f32[16,50000]", NULL, NO_ID, NO_ID);
        numbers = add(&program, "parameter", "-> s32[200,1]", NULL, NO_ID, NO_ID);
        rows = add(&program, "gather",
                   is_first           ? "f32[50000,16] s32[200,1] -> f32[200,1,16]"
                   : kind == LEFT_OUT ? "f32[16,50000] s32[200,1] -> f32[200,16]"
                                      : "f32[16,50000] s32[200,1] -> f32[200,16,1]",
                   NULL, NO_ID, table);
        link_second(&program, numbers, rows);
        zero = add(&program, "constant", "-> f32[]", NULL, NO_ID, NO_ID);
        filled =
            add(&program, "broadcast",
                is_first ? "f32[] -> f32[50000,16]" : "f32[] -> f32[16,50000]", NULL, NO_ID, zero);
        added = add(&program, "scatter",
                    is_first ? "f32[50000,16] s32[200,1] f32[200,1,16] -> f32[50000,16]"
                             : "f32[16,50000] s32[200,1] f32[200,16,1] -> f32[16,50000]",
                    NULL, NO_ID, filled);
        link_second(&program, numbers, added);
        run_step(&program, (uint32_t[]) { rows, added }, (int64_t[]) { 4000000, 6000000 }, 2);
        assert_true(fabs(claimed(&program, "rows-apart") -
                         (kind == LAST || kind == LEFT_OUT ? 6e6 : 0)) < 1);
        release(&program);
    }
}

/* A loop of four rounds writes a row of 8 each into an array of 64 that was filled in 10 ms, and
 * the array of its gradient in another 5 ms: 60 of 64 parts are filled for nothing. Room for four
 * rounds alone is not, nor is an array that was not filled. */
TEST(room_for_rounds_that_do_not_run)
{
    enum { ROUNDS = 4, LOOP = 10 };
    enum { ROOM, FULL, GIVEN, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        const char    *shape = kind == FULL ? "-> f32[4,8]" : "-> f32[64,8]";
        const char    *carried = kind == FULL ? "-> s32[] f32[4,8]" : "-> s32[] f32[64,8]";
        struct program program;
        uint32_t       zero, first, fill, tuple, count, rows, row, written, root;
        uint32_t       gradient, at[ROUNDS + 2];
        int64_t        ns[ROUNDS + 2];

        start(&program);
        zero = add(&program, "constant", "-> f32[]", NULL, NO_ID, NO_ID);
        fill = kind == GIVEN ? add(&program, "parameter", shape, NULL, NO_ID, NO_ID)
                             : add(&program, "broadcast", shape, NULL, NO_ID, zero);
        first = add(&program, "constant", "-> s32[]", NULL, NO_ID, NO_ID);
        tuple = add(&program, "tuple", carried, NULL, NO_ID, first);
        link_second(&program, fill, tuple);
        tuple = add(&program, "parameter", carried, NULL, LOOP, NO_ID);
        count = add(&program, "get-tuple-element", "-> s32[]", NULL, LOOP, tuple);
        rows = add(&program, "get-tuple-element", shape, NULL, LOOP, tuple);
        describe(&program, rows, (const char *const[]) { "element", "1", NULL });
        row = add(&program, "broadcast", "s32[] -> f32[1,8]", NULL, LOOP, count);
        written = add(&program, "dynamic-update-slice",
                      kind == FULL ? "f32[4,8] f32[1,8] s32[] -> f32[4,8]"
                                   : "f32[64,8] f32[1,8] s32[] -> f32[64,8]",
                      NULL, LOOP, rows);
        link_second(&program, row, written);
        root = add(&program, "tuple", carried, NULL, LOOP, count);
        link_second(&program, written, root);
        assert_int_equal(add(&program, "while", carried, NULL, NO_ID, 3), LOOP);
        gradient = add(&program, "broadcast", shape, NULL, NO_ID, zero);
        at[0] = fill, ns[0] = 10000000;
        for (size_t i = 1; i <= ROUNDS; i++)
            at[i] = written, ns[i] = 1000;
        at[ROUNDS + 1] = gradient, ns[ROUNDS + 1] = 5000000;
        run_step(&program, at, ns, ROUNDS + 2);
        assert_true(
            fabs(claimed(&program, "unfilled-rounds") - (kind == ROOM ? 60.0 / 64 * 15e6 : 0)) < 1);
        release(&program);
    }
}

/* Four rows are looked up 400 times and multiplied, 10 ms: 99 of 100 parts are done again. Rows of
 * their own are not, nor are four that make a longer row together. */
TEST(rows_that_are_copies)
{
    enum { COPIES, OWN, TOGETHER, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       table, numbers, w, rows, product;

        start(&program);
        table = add(&program, "parameter", "-> f32[4,20]", NULL, NO_ID, NO_ID);
        numbers = add(&program, "parameter", "-> s32[400]", NULL, NO_ID, NO_ID);
        w = add(&program, "parameter", "-> f32[20,30]", NULL, NO_ID, NO_ID);
        rows = kind == OWN ? add(&program, "tanh", "f32[400,20] -> f32[400,20]", "jit(f)/tanh",
                                 NO_ID, NO_ID)
                           : add(&program, "gather", "f32[4,20] s32[400] -> f32[400,20]",
                                 "jit(f)/gather", NO_ID, table);
        link(&program, numbers, rows);
        if (kind == TOGETHER)
            rows = add(&program, "reshape", "f32[400,20] -> f32[100,80]", "jit(f)/reshape", NO_ID,
                       rows);
        product = add_flops(&program, "dot",
                            kind == TOGETHER ? "f32[100,80] f32[80,30] -> f32[100,30]"
                                             : "f32[400,20] f32[20,30] -> f32[400,30]",
                            "jit(f)/dot", rows, w, 2 * 400 * 20 * 30);
        run_step(&program, (uint32_t[]) { product }, (int64_t[]) { 10000000 }, 1);
        assert_true(fabs(claimed(&program, "repeated-rows") - (kind == COPIES ? 0.99 * 10e6 : 0)) <
                    1);
        release(&program);
    }
}

/* Four rows are looked up 400 times, each is taken times a number of its own, and multiplied, 10
 * ms: that may be done to the four, and the numbers come behind. Exponentials of such rows all
 * differ. */
TEST(copies_times_numbers_of_their_own)
{
    for (int is_bent = 0; is_bent < 2; is_bent++) {
        struct program program;
        uint32_t       table, numbers, times, w, spread, rows, product;

        start(&program);
        table = add(&program, "parameter", "-> f32[4,20]", NULL, NO_ID, NO_ID);
        numbers = add(&program, "parameter", "-> s32[400]", NULL, NO_ID, NO_ID);
        times = add(&program, "parameter", "-> f32[400]", NULL, NO_ID, NO_ID);
        w = add(&program, "parameter", "-> f32[20,30]", NULL, NO_ID, NO_ID);
        rows = add(&program, "gather", "f32[4,20] s32[400] -> f32[400,20]", "jit(f)/gather", NO_ID,
                   table);
        link(&program, numbers, rows);
        spread = add(&program, "broadcast", "f32[400] -> f32[400,20]", NULL, NO_ID, times);
        rows = add(&program, "multiply", "f32[400,20] f32[400,20] -> f32[400,20]", "jit(f)/mul",
                   NO_ID, rows);
        link_second(&program, spread, rows);
        if (is_bent)
            rows = add(&program, "exponential", "f32[400,20] -> f32[400,20]", "jit(f)/exp", NO_ID,
                       rows);
        product = add_flops(&program, "dot", "f32[400,20] f32[20,30] -> f32[400,30]", "jit(f)/dot",
                            rows, w, 2 * 400 * 20 * 30);
        run_step(&program, (uint32_t[]) { product }, (int64_t[]) { 10000000 }, 1);
        assert_true(fabs(claimed(&program, "repeated-rows") - (is_bent ? 0 : 0.99 * 10e6)) < 1);
        release(&program);
    }
}

/* Rows of both ends of 400 edges, of 4 nodes each, are put beside each other, 1 ms, and multiplied,
 * 4 ms: 99 of 100 parts of the product are done again, and nothing is put beside anything when each
 * end is multiplied by itself. The gradient's product, 5 ms, is cut and added up into the 4 nodes
 * again: sums of edges would do before it. Where all edges are sorted by it, it is needed. */
TEST(rows_of_both_ends_of_edges)
{
    for (int is_needed = 0; is_needed < 2; is_needed++) {
        struct program program;
        uint32_t       nodes, numbers, ends[2], joined, w, product, gradient, cut, sums;

        start(&program);
        nodes = add(&program, "parameter", "-> f32[4,20]", NULL, NO_ID, NO_ID);
        w = add(&program, "parameter", "-> f32[40,30]", NULL, NO_ID, NO_ID);
        for (int i = 0; i < 2; i++) {
            numbers = add(&program, "parameter", "-> s32[400]", NULL, NO_ID, NO_ID);
            ends[i] = add(&program, "gather", "f32[4,20] s32[400] -> f32[400,20]", "jit(f)/gather",
                          NO_ID, nodes);
            link_second(&program, numbers, ends[i]);
        }
        joined = add(&program, "concatenate", "f32[400,20] f32[400,20] -> f32[400,40]",
                     "jit(f)/concatenate", NO_ID, ends[0]);
        link_second(&program, ends[1], joined);
        product = add_flops(&program, "dot", "f32[400,40] f32[40,30] -> f32[400,30]", "jit(f)/dot",
                            joined, w, 2 * 400 * 40 * 30);
        product =
            add(&program, "tanh", "f32[400,30] -> f32[400,30]", "jit(f)/tanh", NO_ID, product);
        gradient = add_flops(&program, "dot", "f32[400,30] f32[40,30] -> f32[400,40]",
                             "jit(f)/transpose(jvp())/dot", product, w, 2 * 400 * 40 * 30);
        for (int i = 0; i < 2; i++) {
            cut = add(&program, "slice", "f32[400,40] -> f32[400,20]", "jit(f)/slice", NO_ID,
                      gradient);
            sums = add(&program, "scatter", "f32[4,20] s32[400] f32[400,20] -> f32[4,20]",
                       "jit(f)/scatter-add", NO_ID, nodes);
            link_second(&program, numbers, sums);
            link_at(&program, cut, sums, 2);
        }
        if (is_needed)
            add(&program, "sort", "f32[400,40] -> f32[400,40]", "jit(f)/sort", NO_ID, gradient);
        run_step(&program, (uint32_t[]) { joined, product - 1, gradient },
                 (int64_t[]) { 1000000, 4000000, 5000000 }, 3);
        assert_true(
            fabs(claimed(&program, "repeated-rows") - (1e6 + 0.99 * (is_needed ? 4e6 : 9e6))) < 1);
        release(&program);
    }
}

/* 100 copies of 4 rows go through a product, and the gradient of its weights, 2 ms, sums over them
 * with what comes back, times copies, 3 ms: that can be added up over the copies before. Where the
 * cosine of what comes back is taken, it cannot. */
TEST(gradients_summed_over_copies)
{
    for (int is_curved = 0; is_curved < 2; is_curved++) {
        struct program program;
        uint32_t       few, rows, w, product, back, scaled, gradient;

        start(&program);
        few = add(&program, "parameter", "-> f32[4,20]", NULL, NO_ID, NO_ID);
        rows = add(&program, "broadcast", "f32[4,20] -> f32[100,4,20]", NULL, NO_ID, few);
        rows = add(&program, "bitcast", "f32[100,4,20] -> f32[400,20]", NULL, NO_ID, rows);
        w = add(&program, "parameter", "-> f32[20,30]", NULL, NO_ID, NO_ID);
        product = add_flops(&program, "dot", "f32[400,20] f32[20,30] -> f32[400,30]", "jit(f)/dot",
                            rows, w, 2 * 400 * 20 * 30);
        back = add(&program, "parameter", "-> f32[400,30]", NULL, NO_ID, NO_ID);
        scaled = add(&program, "multiply", "f32[400,30] f32[400,30] -> f32[400,30]",
                     "jit(f)/transpose(jvp())/mul", NO_ID, back);
        link_second(&program, product, scaled);
        if (is_curved)
            scaled =
                add(&program, "cosine", "f32[400,30] -> f32[400,30]", "jit(f)/cos", NO_ID, scaled);
        gradient = add_flops(&program, "dot", "f32[400,20] f32[400,30] -> f32[20,30]",
                             "jit(f)/transpose(jvp())/dot", rows, NO_ID, 2 * 400 * 20 * 30);
        link_second(&program, scaled, gradient);
        run_step(&program, (uint32_t[]) { product, is_curved ? scaled - 1 : scaled, gradient },
                 (int64_t[]) { 5000000, 3000000, 2000000 }, 3);
        assert_true(fabs(claimed(&program, "repeated-rows") - 0.99 * (is_curved ? 7e6 : 10e6)) < 1);
        release(&program);
    }
}

/* For each of 40 rows of 8 numbers one of 4 matrices is copied, 6 ms, and multiplied with it, 2 ms:
 * all of the copying, and of the products but a tenth, goes where rows are put together by matrix.
 * With 100 rows to each copy, or as many matrices as copies, nothing does. */
TEST(matrices_copied_for_each_row)
{
    static const struct {
        const char *table, *left, *made;
        int64_t     flops;
        double      claimed_ns;
    } cases[] = {
        { "-> f32[4,8,16]", "f32[40,1,8]", "f32[40,1,16]", 2 * 40 * 8 * 16, 6e6 + 0.9 * 2e6 },
        { "-> f32[4,8,16]", "f32[40,100,8]", "f32[40,100,16]", 2 * 4000 * 8 * 16, 0 },
        { "-> f32[40,8,16]", "f32[40,1,8]", "f32[40,1,16]", 2 * 40 * 8 * 16, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct program program;
        uint32_t       x, table, ids, copied, product;
        char           copy[80], multiply[120];

        (void)snprintf(copy, sizeof copy, "%s s32[40,1] -> f32[40,8,16]", cases[i].table + 3);
        (void)snprintf(multiply, sizeof multiply, "%s f32[40,8,16] -> %s", cases[i].left,
                       cases[i].made);
        start(&program);
        x = add(&program, "parameter", "-> f32[40,1,8]", NULL, NO_ID, NO_ID);
        table = add(&program, "parameter", cases[i].table, NULL, NO_ID, NO_ID);
        ids = add(&program, "parameter", "-> s32[40,1]", NULL, NO_ID, NO_ID);
        copied = add(&program, "gather", copy, "jit(f)/gather", NO_ID, table);
        link_second(&program, ids, copied);
        product = add_flops(&program, "dot", multiply, "jit(f)/dot", x, NO_ID, cases[i].flops);
        link_second(&program, copied, product);
        run_step(&program, (uint32_t[]) { copied, product }, (int64_t[]) { 6000000, 2000000 }, 2);
        assert_true(fabs(claimed(&program, "gathered-weights") - cases[i].claimed_ns) < 1);
        release(&program);
    }
}
