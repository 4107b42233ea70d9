/* What compiled programs do in vain, which a few instructions show. */
#include <stdio.h>

#include "base/macros.h"
#include "compiled_program.h"

/* f(w, a) -> w decomposes a, 6 ms of 10: that could be done once. Of w it could not. On a GPU,
 * whose kernels are the instructions, as on a host. */
TEST(decompositions_of_arguments)
{
    for (int kind = 0; kind < 4; kind++) {
        bool           is_state = kind & 1, on_device = kind & 2;
        struct program program;
        uint32_t       w, a, eigh, dot, root;

        start(&program);
        w = add(&program, "parameter", "-> f32[8,8]", NULL, NO_ID, NO_ID);
        mark(&program, w, "entry");
        a = add(&program, "parameter", "-> f32[16,16]", NULL, NO_ID, NO_ID);
        mark(&program, a, "entry");
        eigh = add(&program, "custom-call", "f32[16,16] -> f32[16,16]", "jit(f)/eigh", NO_ID,
                   is_state ? w : a);
        dot = add(&program, "dot", "f32[16,16] f32[8,8] -> f32[8,8]", "jit(f)/dot_general", NO_ID,
                  eigh);
        link(&program, w, dot);
        root = add(&program, "tuple", "f32[8,8] -> f32[8,8]", NULL, NO_ID, dot);
        mark(&program, root, "root");
        (on_device ? run_step_on_device : run_step)(&program, (uint32_t[]) { eigh, dot },
                                                    (int64_t[]) { 6000000, 4000000 }, 2);
        assert_true(fabs(claimed(&program, "fixed-work") - (is_state ? 0 : 6e6)) < 1);
        release(&program);
    }
}

/* Numbers are drawn, 6 ms of 10. Half may go where they are as many as the product computes with,
 * 4096; nine tenths of twice as many. */
TEST(draws_beside_products)
{
    for (int is_more = 0; is_more < 2; is_more++) {
        struct program program;
        uint32_t       draw, dot, root;

        start(&program);
        draw = add(&program, "rng-bit-generator", is_more ? "-> f32[64,128]" : "-> f32[64,64]",
                   "jit(f)/random_bits", NO_ID, NO_ID);
        dot = add(&program, "dot", "f32[64,64] f32[64,8] -> f32[64,8]", "jit(f)/dot_general", NO_ID,
                  draw);
        root = add(&program, "tuple", "f32[64,8] -> f32[64,8]", NULL, NO_ID, dot);
        mark(&program, root, "root");
        run_step(&program, (uint32_t[]) { draw, dot }, (int64_t[]) { 6000000, 4000000 }, 2);
        assert_true(fabs(claimed(&program, "costly-class") - (is_more ? 0.9 : 0.5) * 6e6) < 1);
        release(&program);
    }
}

/* Passes over memory of one line: one of 2 ms, and four of another op that take 1 ms each, or 0.4.
 * What the line is for is the op that takes most in all its calls. */
TEST(a_pass_that_comes_often)
{
    for (int is_short = 0; is_short < 2; is_short++) {
        struct program      program;
        uint32_t            sum, power;
        int64_t             ns = is_short ? 400000 : 1000000;
        const struct table *cells;

        start(&program);
        sum =
            add(&program, "add", "f32[64,64] f32[64,64] -> f32[64,64]", "jit(f)/add", NO_ID, NO_ID);
        power =
            add(&program, "power", "f32[64,64] f32[64,64] -> f32[64,64]", "jit(f)/pow", NO_ID, sum);
        run_step(&program, (uint32_t[]) { sum, power, power, power, power },
                 (int64_t[]) { 2000000, ns, ns, ns, ns }, 5);
        cells = facts_find_table(&program.b.study.facts, "excess");
        assert_true(claimed(&program, "costly-class") > 0);
        assert_true(
            str_equal(intern_str(program.b.study.facts.names,
                                 (uint32_t)cells->columns[table_column(cells, "region")][0]),
                      is_short ? STR("jit(f)/add") : STR("jit(f)/pow")));
        release(&program);
    }
}

/* A step that trains sorts its batch, 6 ms of 10: that could be done once. Not where it sorts a
 * weight, numbers that are drawn, or what a product gave, nor where nothing is trained. */
TEST(work_on_the_batch_alone)
{
    enum { BATCH, WEIGHT, DRAWN, PRODUCT, SERVING, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        const char    *one = "f32[8,8] -> f32[8,8]";
        struct program program;
        uint32_t       w, x, drawn, made, sorted, dot, root;

        start(&program);
        w = add(&program, "parameter", "-> f32[8,8]", NULL, NO_ID, NO_ID);
        mark(&program, w, "entry");
        x = add(&program, "parameter", "-> f32[16,8]", NULL, NO_ID, NO_ID);
        mark(&program, x, "entry");
        drawn = add(&program, "rng-bit-generator", "f32[16,8] -> f32[16,8]", NULL, NO_ID, x);
        made = add(&program, "dot", "f32[16,8] f32[16,8] -> f32[16,16]", NULL, NO_ID, x);
        sorted = add(&program, "sort", one, "jit(f)/sort", NO_ID,
                     kind == WEIGHT    ? w
                     : kind == DRAWN   ? drawn
                     : kind == PRODUCT ? made
                                       : x);
        dot = add(&program, "dot", "f32[8,8] f32[8,8] -> f32[8,8]",
                  kind == SERVING ? "jit(f)/dot_general" : "jit(f)/transpose(jvp(f))/dot_general",
                  NO_ID, sorted);
        link(&program, w, dot);
        root = add(&program, "tuple", "f32[8,8] -> f32[8,8]", NULL, NO_ID, dot);
        mark(&program, root, "root");
        run_step(&program, (uint32_t[]) { sorted, dot }, (int64_t[]) { 6000000, 4000000 }, 2);
        assert_true(fabs(claimed(&program, "batch-work") - (kind == BATCH ? 6e6 : 0)) < 1);
        release(&program);
    }
}

/* A loop carries x; a mapped condition takes the sine of a product, 6 ms, or x as it was: 95 % of
 * the product and, in the fusion of 2 ms that chooses, half of its two instructions of equal
 * weight. Where something else takes the product too, only the sine is left; a gradient's choice is
 * none, nor is one that a draw of random numbers makes. */
TEST(rare_sides_of_mapped_conditions)
{
    enum { ALONE, SHARED, GRADIENT, DRAW, KINDS };
    static const char *const origins[KINDS] = { [GRADIENT] =
                                                    "jit(f)/transpose(jvp(g))/vmap()/select_n",
                                                [DRAW] = "jit(f)/vmap(jit(_poisson))/select_n" };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       x, flag, product, fusion, old, made, sine, choice, other, flag_inside;

        start(&program);
        x = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        flag = add(&program, "compare", "f32[64] -> pred[64]", "jit(f)/lt", NO_ID, x);
        product = add(&program, "dot", "f32[64] -> f32[64]", "jit(f)/vmap()/dot_general", NO_ID, x);
        fusion = product + 6;
        flag_inside = add(&program, "parameter", "-> pred[64]", NULL, fusion, flag);
        old = add(&program, "parameter", "-> f32[64]", NULL, fusion, x);
        made = add(&program, "parameter", "-> f32[64]", NULL, fusion, product);
        sine = add(&program, "sine", "f32[64] -> f32[64]", "jit(f)/vmap()/sin", fusion, made);
        choice = add(&program, "select", "pred[64] f32[64] f32[64] -> f32[64]",
                     origins[kind] ? origins[kind] : "jit(f)/vmap()/select_n", fusion, flag_inside);
        link_at(&program, sine, choice, 1);
        link_at(&program, old, choice, 2);
        assert_int_equal(add(&program, "fusion", "f32[64] f32[64] -> f32[64]",
                             "jit(f)/vmap()/select_n", NO_ID, product),
                         fusion);
        link(&program, x, fusion);
        link(&program, flag, fusion);
        link(&program, choice, fusion);
        other = add(&program, "dot", "f32[64] -> f32[64]", "jit(f)/dot_general", NO_ID,
                    kind == SHARED ? product : x);
        run_step(&program, (uint32_t[]) { product, fusion, other },
                 (int64_t[]) { 6000000, 2000000, 2000000 }, 3);
        double rare_ns = kind >= GRADIENT ? 0 : (kind == SHARED ? 0 : 6e6) + 0.5 * 2e6;

        assert_true(fabs(claimed(&program, "both-branches") - 0.95 * rare_ns) < 1);
        release(&program);
    }
}

/* A round makes an array, 3 ms; a mapped condition decomposes it, 4 ms, or takes it as it is: few
 * need the decomposition, nor the array where the fusion which chooses makes that again. Of one of
 * another array half is needed, and half of what the other side makes. */
TEST(sides_of_mapped_conditions_made_of_the_other)
{
    enum { MADE_OF, MADE_AGAIN, APART, KINDS };
    static const char one[] = "f32[64] -> f32[64]";

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       x, y, flag, given, rare, fusion, flag_inside, old, made, choice;

        start(&program);
        x = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        y = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        flag = add(&program, "compare", "f32[64] -> pred[64]", "jit(f)/lt", NO_ID, y);
        given = add(&program, "tanh", one, "jit(f)/vmap()/tanh", NO_ID, x);
        rare = add(&program, "custom-call", one, "jit(f)/vmap(jit(qr))/geqrf", NO_ID,
                   kind == APART ? y : given);
        fusion = rare + 6;
        flag_inside = add(&program, "parameter", "-> pred[64]", NULL, fusion, flag);
        old =
            add(&program, "parameter", "-> f32[64]", NULL, fusion, kind == MADE_AGAIN ? x : given);
        old = kind == MADE_AGAIN ? add(&program, "tanh", one, "jit(f)/vmap()/tanh", fusion, old)
                                 : add(&program, "copy", one, NULL, fusion, old);
        made = add(&program, "parameter", "-> f32[64]", NULL, fusion, rare);
        choice = add(&program, "select", "pred[64] f32[64] f32[64] -> f32[64]",
                     "jit(f)/vmap()/select_n", fusion, flag_inside);
        link_at(&program, old, choice, 1);
        link_at(&program, made, choice, 2);
        assert_int_equal(add(&program, "fusion", "f32[64] f32[64] -> f32[64]",
                             "jit(f)/vmap()/select_n", NO_ID, rare),
                         fusion);
        link(&program, kind == MADE_AGAIN ? x : given, fusion);
        link(&program, flag, fusion);
        link(&program, choice, fusion);
        run_step(&program, (uint32_t[]) { given, rare }, (int64_t[]) { 3000000, 4000000 }, 2);
        double rare_ns = kind == APART ? 0.5 * 7e6 : 0.95 * (kind == MADE_AGAIN ? 7e6 : 4e6);

        assert_true(fabs(claimed(&program, "both-branches") - rare_ns) < 1);
        release(&program);
    }
}

/* A choice of three functions becomes two choices of two: of three products, 9 ms, two thirds are
 * not taken; one that two of the functions need is missed by the third alone, 1 ms of 3. The
 * product that decides is needed. */
TEST(functions_that_a_mapped_choice_takes)
{
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        struct program program;
        uint32_t       x, decides, flag, made[3], inner, outer, ends[3];

        start(&program);
        x = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        decides = add(&program, "dot", "f32[64] -> f32[64]", "jit(f)/dot_general", NO_ID, x);
        flag = add(&program, "compare", "f32[64] -> pred[64]", "jit(f)/lt", NO_ID, decides);
        for (int i = 0; i < 3; i++)
            made[i] =
                add(&program, "dot", "f32[64] -> f32[64]", "jit(f)/vmap()/dot_general", NO_ID, x);
        for (int i = 0; i < 3; i++)
            ends[i] = add(&program, "sine", "f32[64] -> f32[64]", "jit(f)/vmap()/sin", NO_ID,
                          made[is_shared && i == 2 ? 1 : i]);
        inner = add(&program, "select", "pred[64] f32[64] f32[64] -> f32[64]",
                    "jit(f)/vmap()/select_n", NO_ID, flag);
        link_at(&program, ends[1], inner, 1);
        link_at(&program, ends[2], inner, 2);
        outer = add(&program, "select", "pred[64] f32[64] f32[64] -> f32[64]",
                    "jit(f)/vmap()/select_n", NO_ID, flag);
        link_at(&program, ends[0], outer, 1);
        link_at(&program, inner, outer, 2);
        add(&program, "sort", "f32[64] -> f32[64]", "jit(f)/sort", NO_ID, outer);
        run_step(&program,
                 (uint32_t[]) { decides, made[0], made[1], is_shared ? decides : made[2] },
                 (int64_t[]) { 1000000, 3000000, 3000000, 3000000 }, 4);
        assert_true(fabs(claimed(&program, "both-branches") - (is_shared ? 2e6 + 1e6 : 6e6)) < 1);
        release(&program);
    }
}

/* Four devices gather 64 rows of logits each, 3 ms, and spend 2 ms on a loss over all 256 and 1 ms
 * on a product of them: three quarters of that others do as well. Gathered weights, and rows that
 * are gathered for a product, are needed. A copy of the own rows that puts them in order for the
 * exchange, 1 ms, goes with it. */
TEST(results_that_all_devices_gather)
{
    enum { LOGITS, COPIED, WEIGHTS, FOR_PRODUCT, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       part, rows, copy, gather, use, product;

        start(&program);
        part = add(&program, "parameter", "-> f32[64,8]", NULL, NO_ID, NO_ID);
        rows = add(&program, "dot", "f32[64,8] f32[8,8] -> f32[64,8]", "jit(f)/dot_general", NO_ID,
                   part);
        copy = add(&program, "copy", "f32[64,8] -> f32[64,8]", "jit(f)/copy", NO_ID, rows);
        gather = add(&program, "all-gather", "f32[64,8] -> f32[256,8]", "jit(f)/gather", NO_ID,
                     kind == WEIGHTS  ? part
                     : kind == COPIED ? copy
                                      : rows);
        use = add(&program, "exponential", "f32[256,8] -> f32[256,8]", "jit(f)/exp", NO_ID, gather);
        product = add(&program, "dot", "f32[256,8] f32[8,8] -> f32[8,8]", "jit(f)/dot_general",
                      NO_ID, kind == FOR_PRODUCT ? gather : NO_ID);
        run_step(&program, (uint32_t[]) { rows, copy, gather, use, product },
                 (int64_t[]) { 3000000, 1000000, 3000000, 2000000, 1000000 }, 5);
        assert_true(fabs(claimed(&program, "gathered-rows") -
                         (kind <= COPIED ? 0.75 * (3e6 + 2e6 + 1e6) : 0) -
                         (kind == COPIED ? 1e6 : 0)) < 1);
        release(&program);
    }
}

/* (A B) x of 256 x 4, 4 x 256 and 256 x 2: 2 * 256 * 4 * 256 operations and 2 * 256 * 256 * 2,
 * where A (B x) takes 2 * 4 * 2 * (256 + 256): 8192 of 786432, so that 95 of 96 parts of 10 ms are
 * too much. With tanh between the two nothing is. With W added to A B the second product is needed,
 * and of the first, 6 ms, all but 8192 of 524288 operations is too much, and so is the sum, 1 ms.
 */
TEST(products_in_the_other_order)
{
    enum { PLAIN, CURVED, SUM, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       a, b, x, w, first, between, second;
        double         too_much = kind == PLAIN ? (1 - 8192.0 / 786432) * 10e6
                                  : kind == SUM ? (1 - 8192.0 / 524288) * 7e6
                                                : 0;

        start(&program);
        a = add(&program, "parameter", "-> f32[256,4]", NULL, NO_ID, NO_ID);
        b = add(&program, "parameter", "-> f32[4,256]", NULL, NO_ID, NO_ID);
        x = add(&program, "parameter", "-> f32[256,2]", NULL, NO_ID, NO_ID);
        w = add(&program, "parameter", "-> f32[256,256]", NULL, NO_ID, NO_ID);
        first = add_flops(&program, "dot", "f32[256,4] f32[4,256] -> f32[256,256]", "jit(f)/dot", a,
                          b, 2 * 256 * 4 * 256);
        between = add(&program,
                      kind == CURVED ? "tanh"
                      : kind == SUM  ? "add"
                                     : "negate",
                      "f32[256,256] -> f32[256,256]", "jit(f)/between", NO_ID, first);
        if (kind == SUM)
            link(&program, w, between);
        second = add_flops(&program, "dot", "f32[256,256] f32[256,2] -> f32[256,2]", "jit(f)/dot",
                           between, x, 2 * 256 * 256 * 2);
        run_step(&program, (uint32_t[]) { first, between, second },
                 (int64_t[]) { 6000000, 1000000, 3000000 }, 3);
        assert_true(fabs(claimed(&program, "product-order") - too_much) < 1);
        release(&program);
    }
}

/* 64 unit vectors through a matrix of 64 x 200, 8 ms, and what comes of it times one vector: of 64
 * products two are needed, one there and one back. Where sines of the matrix are taken it is
 * needed. */
TEST(derivatives_for_each_unit_vector)
{
    for (int is_needed = 0; is_needed < 2; is_needed++) {
        struct program program;
        uint32_t       rows, columns, one, matrix, made, vector, end;

        start(&program);
        rows = add(&program, "iota", "-> s32[64,64]", NULL, NO_ID, NO_ID);
        columns = add(&program, "iota", "-> s32[64,64]", NULL, NO_ID, NO_ID);
        one = add(&program, "compare", "s32[64,64] s32[64,64] -> pred[64,64]", "jit(f)/eq", NO_ID,
                  rows);
        link(&program, columns, one);
        matrix = add(&program, "parameter", "-> f32[64,200]", NULL, NO_ID, NO_ID);
        made = add_flops(&program, "dot", "f32[64,64] f32[64,200] -> f32[64,200]", "jit(f)/dot",
                         one, matrix, 2 * 64 * 64 * 200);
        vector = add(&program, "parameter", "-> f32[200]", NULL, NO_ID, NO_ID);
        end = add_flops(&program, "dot", "f32[64,200] f32[200] -> f32[64]", "jit(f)/dot", made,
                        vector, 2 * 64 * 200);
        if (is_needed)
            add(&program, "sine", "f32[64,200] -> f32[64,200]", "jit(f)/sin", NO_ID, made);
        run_step(&program, (uint32_t[]) { one, made, end },
                 (int64_t[]) { 1000000, 8000000, 1000000 }, 3);
        assert_true(
            fabs(claimed(&program, "dense-jacobian") - (is_needed ? 0 : (1 - 2.0 / 64) * 9e6)) < 1);
        release(&program);
    }
}

/* 64 unit vectors, 1 ms, through a matrix of 64 x 64, 8 ms, and a mask that leaves the diagonal,
 * made and applied in 1 ms each: of 64 products two are needed. Where sines of the matrix are taken
 * all are. */
TEST(derivatives_for_a_diagonal)
{
    for (int is_needed = 0; is_needed < 2; is_needed++) {
        struct program program;
        uint32_t       rows, columns, one, mask, matrix, made, zeros, diagonal;

        start(&program);
        rows = add(&program, "iota", "-> s32[64,64]", NULL, NO_ID, NO_ID);
        columns = add(&program, "iota", "-> s32[64,64]", NULL, NO_ID, NO_ID);
        one = add(&program, "compare", "s32[64,64] s32[64,64] -> pred[64,64]", "jit(f)/eq", NO_ID,
                  rows);
        link(&program, columns, one);
        mask = add(&program, "compare", "s32[64,64] s32[64,64] -> pred[64,64]", "jit(f)/eq", NO_ID,
                   rows);
        link(&program, columns, mask);
        matrix = add(&program, "parameter", "-> f32[64,64]", NULL, NO_ID, NO_ID);
        made = add_flops(&program, "dot", "f32[64,64] f32[64,64] -> f32[64,64]", "jit(f)/dot", one,
                         matrix, 2 * 64 * 64 * 64);
        zeros = add(&program, "broadcast", "-> f32[64,64]", NULL, NO_ID, NO_ID);
        diagonal = add(&program, "select", "pred[64,64] f32[64,64] f32[64,64] -> f32[64,64]",
                       "jit(f)/select_n", NO_ID, mask);
        link(&program, made, diagonal);
        link(&program, zeros, diagonal);
        add(&program, "reduce", "f32[64,64] -> f32[]", "jit(f)/reduce_sum", NO_ID, diagonal);
        if (is_needed)
            add(&program, "sine", "f32[64,64] -> f32[64,64]", "jit(f)/sin", NO_ID, made);
        run_step(&program, (uint32_t[]) { one, mask, made, diagonal },
                 (int64_t[]) { 1000000, 1000000, 8000000, 1000000 }, 4);
        assert_true(fabs(claimed(&program, "traced-jacobian") -
                         (is_needed ? 0 : (1 - 2.0 / 64) * 11e6)) < 1);
        release(&program);
    }
}

/* A function of a thousand numbers, 1 ms, and its derivatives for 16 vectors, 6 ms, which are
 * summed in 2 ms to one for each: a reverse pass takes as long as three of them. Rows of a batch
 * have the function's own results for each; and derivatives of a gradient are a matrix. */
TEST(a_gradient_made_forwards)
{
    enum { FORWARDS, ROWS, OF_GRADIENT, KINDS };
    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       made, vectors, product, sum;

        start(&program);
        made = add(&program, "parameter", "-> f32[1000]", NULL, NO_ID, NO_ID);
        made = add(&program, "tanh", "f32[1000] -> f32[1000]", "jit(f)/vmap(jvp(loss))/tanh", NO_ID,
                   made);
        vectors = add(&program, "parameter", "-> f32[16,1000]", NULL, NO_ID, NO_ID);
        if (kind == ROWS)
            vectors = add(&program, "exponential", "f32[16,1000] -> f32[16,1000]",
                          "jit(f)/vmap(jvp(loss))/exp", NO_ID, vectors);
        product = add(&program, "multiply", "f32[16,1000] f32[16,1000] -> f32[16,1000]",
                      kind == OF_GRADIENT ? "jit(f)/vmap(jvp(transpose(jvp(loss))))/mul"
                                          : "jit(f)/vmap(jvp(loss))/mul",
                      made, vectors);
        sum = add(&program, "reduce", "f32[16,1000] -> f32[16]",
                  "jit(f)/vmap(jvp(loss))/reduce_sum", NO_ID, product);
        run_step(&program, (uint32_t[]) { made, product, sum },
                 (int64_t[]) { 1000000, 6000000, 2000000 }, 3);
        assert_true(fabs(claimed(&program, "forward-gradient") -
                         (kind == FORWARDS ? (1 - 3.0 / 16) * 8e6 : 0)) < 1);
        release(&program);
    }
}

/* Three unit vectors, 1 ms, through a network, 2 ms, and derivatives of its way back, 8 ms, of
 * which a mask of 1 ms leaves the diagonal; the way back itself takes 3 ms. Both are not needed, 11
 * ms. All are where sines of the matrix are taken, and where the derivatives are not of a gradient.
 */
TEST(second_derivatives_for_a_diagonal)
{
    enum { DIAGONAL, MATRIX, NO_GRADIENT, KINDS };
    for (int kind = 0; kind < KINDS; kind++) {
        const char    *back = kind == NO_GRADIENT ? "jit(f)/jvp(vmap(net))/dot"
                                                  : "jit(f)/vmap(jvp(vmap(transpose(jvp(net)))))/dot";
        struct program program;
        uint32_t       rows, columns, one, mask, weight, ahead, made, alone, zeros, diagonal;

        start(&program);
        rows = add(&program, "iota", "-> s32[3,3]", NULL, NO_ID, NO_ID);
        columns = add(&program, "iota", "-> s32[3,3]", NULL, NO_ID, NO_ID);
        one = add(&program, "compare", "s32[3,3] s32[3,3] -> pred[3,3]", "jit(f)/eq", NO_ID, rows);
        link(&program, columns, one);
        mask = add(&program, "compare", "s32[3,3] s32[3,3] -> pred[3,3]", "jit(f)/eq", NO_ID, rows);
        link(&program, columns, mask);
        weight = add(&program, "parameter", "-> f32[3,3]", NULL, NO_ID, NO_ID);
        ahead = add_flops(&program, "dot", "f32[3,3] f32[3,3] -> f32[3,3]",
                          "jit(f)/vmap(jvp(jvp(net)))/dot", one, weight, 2 * 3 * 3 * 3);
        made = add_flops(&program, "dot", "f32[3,3] f32[3,3] -> f32[3,3]", back, ahead, weight,
                         2 * 3 * 3 * 3);
        alone = add(&program, "tanh", "f32[3,3] -> f32[3,3]", back, NO_ID, weight);
        zeros = add(&program, "broadcast", "-> f32[3,3]", NULL, NO_ID, NO_ID);
        diagonal = add(&program, "select", "pred[3,3] f32[3,3] f32[3,3] -> f32[3,3]",
                       "jit(f)/select_n", NO_ID, mask);
        link(&program, made, diagonal);
        link(&program, zeros, diagonal);
        add(&program, "reduce", "f32[3,3] -> f32[]", "jit(f)/reduce_sum", NO_ID, diagonal);
        if (kind == MATRIX)
            add(&program, "sine", "f32[3,3] -> f32[3,3]", "jit(f)/sin", NO_ID, made);
        run_step(&program, (uint32_t[]) { one, mask, ahead, made, alone, diagonal },
                 (int64_t[]) { 1000000, 1000000, 2000000, 8000000, 3000000, 1000000 }, 6);
        assert_true(fabs(claimed(&program, "traced-hessian") - (kind == DIAGONAL ? 11e6 : 0)) < 1);
        release(&program);
    }
}

/* Two unit vectors, 1 ms, through a network, 2 ms, and derivatives of its way back, 8 ms, out of
 * which one entry is cut; its gradient, put back among zeros, meets what the vectors made. The way
 * back itself takes 3 ms: 11 ms are not needed, of which the cut alone shows 6. Nothing
 * is said where two of three columns are taken. */
TEST(second_derivatives_for_an_entry)
{
    for (int is_entry = 0; is_entry < 2; is_entry++) {
        const char *back = "jit(f)/vmap(jvp(vmap(transpose(jvp(net)))))/dot";
        const char *square =
            is_entry ? "f32[2,2] f32[2,2] -> f32[2,2]" : "f32[3,3] f32[3,3] -> f32[3,3]";
        const char    *numbers = is_entry ? "-> s32[2,2]" : "-> s32[3,3]";
        struct program program;
        uint32_t       rows, columns, one, weight, ahead, made, alone, part, zero, put;

        start(&program);
        rows = add(&program, "iota", numbers, NULL, NO_ID, NO_ID);
        columns = add(&program, "iota", numbers, NULL, NO_ID, NO_ID);
        one = add(&program, "compare",
                  is_entry ? "s32[2,2] s32[2,2] -> pred[2,2]" : "s32[3,3] s32[3,3] -> pred[3,3]",
                  "jit(f)/eq", NO_ID, rows);
        link(&program, columns, one);
        weight = add(&program, "parameter", is_entry ? "-> f32[2,2]" : "-> f32[3,3]", NULL, NO_ID,
                     NO_ID);
        ahead = add_flops(&program, "dot", square, "jit(f)/vmap(jvp(jvp(net)))/dot", one, weight,
                          2 * 2 * 2 * 2);
        made = add_flops(&program, "dot", square, back, ahead, weight, 2 * 2 * 2 * 2);
        alone = add(&program, "tanh", is_entry ? "f32[2,2] -> f32[2,2]" : "f32[3,3] -> f32[3,3]",
                    back, NO_ID, weight);
        part = add(&program, "slice", is_entry ? "f32[2,2] -> f32[1,1]" : "f32[3,3] -> f32[3,2]",
                   "jit(f)/slice", NO_ID, made);
        part = add(&program, "sine", is_entry ? "f32[1,1] -> f32[1,1]" : "f32[3,2] -> f32[3,2]",
                   "jit(f)/sin", NO_ID, part);
        zero = add(&program, "constant", "-> f32[]", NULL, NO_ID, NO_ID);
        put = add(&program, "pad",
                  is_entry ? "f32[1,1] f32[] -> f32[2,2]" : "f32[3,2] f32[] -> f32[3,3]",
                  "jit(f)/pad", NO_ID, part);
        link(&program, zero, put);
        add_flops(&program, "dot", square, "jit(f)/dot", put, ahead, 2 * 2 * 2 * 2);
        run_step(&program, (uint32_t[]) { one, ahead, made, alone },
                 (int64_t[]) { 1000000, 2000000, 8000000, 3000000 }, 4);
        assert_true(fabs(claimed(&program, "traced-hessian") + claimed(&program, "cut-results") -
                         (is_entry ? 11e6 : 0)) < 1);
        release(&program);
    }
}

/* 512 values padded to 8192 for transforms there and back, 6 and 4 ms, of which 512 are kept, where
 * twice the data is enough: 1024 of 8192. So it is with taking the complex numbers between them
 * apart and putting them together, 1 ms each. A filter that keeps 512 numbers of the transform of
 * 8192 values needs them all. */
TEST(transforms_of_padding)
{
    for (int is_filter = 0; is_filter < 2; is_filter++) {
        struct program program;
        uint32_t       x, first, second, real = NO_ID, whole = NO_ID;

        start(&program);
        x = add(&program, "parameter", is_filter ? "-> f32[8192]" : "-> f32[512]", NULL, NO_ID,
                NO_ID);
        if (!is_filter)
            x = add(&program, "pad", "f32[512] f32[] -> f32[8192]", "jit(f)/pad", NO_ID, x);
        second = first = add(&program, "fft", "f32[8192] -> c64[4097]", "jit(f)/fft", NO_ID, x);
        if (is_filter) {
            second = add(&program, "slice", "c64[4097] -> c64[512]", "jit(f)/slice", NO_ID, first);
            second =
                add(&program, "pad", "c64[512] c64[] -> c64[4097]", "jit(f)/pad", NO_ID, second);
        } else {
            real = add(&program, "real", "c64[4097] -> f32[4097]", "jit(f)/real", NO_ID, first);
            second = whole = add(&program, "complex", "f32[4097] f32[4097] -> c64[4097]",
                                 "jit(f)/complex", NO_ID, real);
        }
        second = add(&program, "fft", "c64[4097] -> f32[8192]", "jit(f)/fft", NO_ID, second);
        if (!is_filter)
            x = add(&program, "slice", "f32[8192] -> f32[512]", "jit(f)/slice", NO_ID, second);
        add(&program, "sort", "f32[512] -> f32[512]", "jit(f)/sort", NO_ID, is_filter ? second : x);
        run_step(&program, (uint32_t[]) { first, second, real, whole },
                 (int64_t[]) { 6000000, 4000000, 1000000, 1000000 }, is_filter ? 2 : 4);
        assert_true(fabs(claimed(&program, "long-transform") - (is_filter ? 0 : 7.0 / 8 * 12e6)) <
                    1);
        release(&program);
    }
}

/* A kernel of 64 values, padded to 1024 in 6 ms, meets the spectrum of a signal of 1000, made in
 * 3 ms; of what comes back, 4 ms, the 1000 are kept. All transforms have the length of the signal.
 * A signal of 64 values, too, needs 128: 7 of 8 parts of all three are too much. */
TEST(transforms_of_a_short_kernel)
{
    for (int is_short = 0; is_short < 2; is_short++) {
        struct program program;
        uint32_t       kernel, signal, both, back;

        start(&program);
        kernel = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        kernel = add(&program, "pad", "f32[64] f32[] -> f32[1024]", "jit(f)/pad", NO_ID, kernel);
        kernel = add(&program, "fft", "f32[1024] -> c64[513]", "jit(f)/fft", NO_ID, kernel);
        signal = add(&program, "parameter", is_short ? "-> f32[64]" : "-> f32[1000]", NULL, NO_ID,
                     NO_ID);
        signal = add(&program, "pad",
                     is_short ? "f32[64] f32[] -> f32[1024]" : "f32[1000] f32[] -> f32[1024]",
                     "jit(f)/pad", NO_ID, signal);
        signal = add(&program, "fft", "f32[1024] -> c64[513]", "jit(f)/fft", NO_ID, signal);
        both =
            add(&program, "multiply", "c64[513] c64[513] -> c64[513]", "jit(f)/mul", NO_ID, kernel);
        link(&program, signal, both);
        back = add(&program, "fft", "c64[513] -> f32[1024]", "jit(f)/fft", NO_ID, both);
        both = add(&program, "slice", is_short ? "f32[1024] -> f32[64]" : "f32[1024] -> f32[1000]",
                   "jit(f)/slice", NO_ID, back);
        add(&program, "sort", is_short ? "f32[64] -> f32[64]" : "f32[1000] -> f32[1000]",
            "jit(f)/sort", NO_ID, both);
        run_step(&program, (uint32_t[]) { kernel, signal, back },
                 (int64_t[]) { 6000000, 3000000, 4000000 }, 3);
        assert_true(fabs(claimed(&program, "long-transform") - (is_short ? 7.0 / 8 * 13e6 : 0)) <
                    1);
        release(&program);
    }
}

/* 1000 values padded to 1031, a prime, transformed in 6 ms, and 1000 of what comes back in 4 ms are
 * kept. 1031 points take two transforms of 2079 = 3 * 3 * 3 * 7 * 11 points and half as much again;
 * the next length without a factor above 11, 1050 = 2 * 3 * 5 * 5 * 7, takes one. Of 1024 points
 * nothing is said, nor of data that has that length itself. */
TEST(transforms_of_prime_length)
{
    static const struct {
        const char *x, *padded, *there, *back, *kept;
        double      share;
    } cases[] = {
        { "-> f32[1000]", "f32[1000] f32[] -> f32[1031]", "f32[1031] -> c64[516]",
          "c64[516] -> f32[1031]", "f32[1031] -> f32[1000]",
          1 - (2 + 3 + 5 + 5 + 1.1 * 7) * 1050 / (3 * (3 * 3 + 1.1 * (7 + 11)) * 2079) },
        { "-> f32[1000]", "f32[1000] f32[] -> f32[1024]", "f32[1024] -> c64[513]",
          "c64[513] -> f32[1024]", "f32[1024] -> f32[1000]", 0 },
        { "-> f32[1031]", NULL, "f32[1031] -> c64[516]", "c64[516] -> f32[1031]", NULL, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct program program;
        uint32_t       x, there, back;

        start(&program);
        x = add(&program, "parameter", cases[i].x, NULL, NO_ID, NO_ID);
        if (cases[i].padded)
            x = add(&program, "pad", cases[i].padded, "jit(f)/pad", NO_ID, x);
        there = add(&program, "fft", cases[i].there, "jit(f)/fft", NO_ID, x);
        x = add(&program, "multiply", "c64[516] c64[516] -> c64[516]", "jit(f)/mul", NO_ID, there);
        back = x = add(&program, "fft", cases[i].back, "jit(f)/fft", NO_ID, x);
        if (cases[i].kept)
            x = add(&program, "slice", cases[i].kept, "jit(f)/slice", NO_ID, x);
        add(&program, "sort", "f32[1000] -> f32[1000]", "jit(f)/sort", NO_ID, x);
        run_step(&program, (uint32_t[]) { there, back }, (int64_t[]) { 6000000, 4000000 }, 2);
        assert_true(fabs(claimed(&program, "slow-transform") - cases[i].share * 10e6) < 1);
        release(&program);
    }
}

/* Real numbers are transformed as complex ones, 6 ms, and of what comes back, 4 ms, the real part
 * is taken: half of both. Where the imaginary part is taken too, the way back is needed. */
TEST(transforms_of_real_numbers)
{
    for (int is_needed = 0; is_needed < 2; is_needed++) {
        struct program program;
        uint32_t       x, first, second;

        start(&program);
        x = add(&program, "parameter", "-> f32[64]", NULL, NO_ID, NO_ID);
        x = add(&program, "convert", "f32[64] -> c64[64]", "jit(f)/convert", NO_ID, x);
        first = add(&program, "fft", "c64[64] -> c64[64]", "jit(f)/fft", NO_ID, x);
        x = add(&program, "multiply", "c64[64] c64[64] -> c64[64]", "jit(f)/mul", NO_ID, first);
        second = add(&program, "fft", "c64[64] -> c64[64]", "jit(f)/fft", NO_ID, x);
        add(&program, "real", "c64[64] -> f32[64]", "jit(f)/real", NO_ID, second);
        if (is_needed)
            add(&program, "imag", "c64[64] -> f32[64]", "jit(f)/imag", NO_ID, second);
        run_step(&program, (uint32_t[]) { first, second }, (int64_t[]) { 6000000, 4000000 }, 2);
        assert_true(fabs(claimed(&program, "complex-of-real") - 0.5 * (is_needed ? 6e6 : 10e6)) <
                    1);
        release(&program);
    }
}

/* 100 rows of 40 numbers less 50 others, squared and summed, 8 ms: of 40 passes over the sums two
 * are needed. What each of 6 rounds keeps of that, 1 ms, and the zeros that it is kept in, 0.5 ms,
 * go with it. Absolute differences do not come apart, and one row less 50 is no pair. */
TEST(sums_over_all_pairs)
{
    enum { SQUARES, KEPT, ABSOLUTE, ONE_ROW, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       rows, others, less, made, one, sum, zeros, kept;

        start(&program);
        rows = add(&program, "parameter", kind == ONE_ROW ? "-> f32[40]" : "-> f32[100,40]", NULL,
                   NO_ID, NO_ID);
        rows = add(&program, "broadcast", "f32[100,40] -> f32[100,50,40]", NULL, NO_ID, rows);
        describe(&program, rows,
                 (const char *const[]) { "axes", kind == ONE_ROW ? "2" : "0,2", NULL });
        others = add(&program, "parameter", "-> f32[50,40]", NULL, NO_ID, NO_ID);
        others = add(&program, "broadcast", "f32[50,40] -> f32[100,50,40]", NULL, NO_ID, others);
        describe(&program, others, (const char *const[]) { "axes", "1,2", NULL });
        less = add(&program, "subtract", "f32[100,50,40] f32[100,50,40] -> f32[100,50,40]",
                   "jit(f)/sub", NO_ID, rows);
        link_second(&program, others, less);
        made = add(&program, kind == ABSOLUTE ? "abs" : "multiply",
                   "f32[100,50,40] -> f32[100,50,40]", "jit(f)/mul", NO_ID, less);
        sum = add(&program, "reduce", "f32[100,50,40] f32[] -> f32[100,50]", "jit(f)/reduce_sum",
                  NO_ID, made);
        one = add(&program, "constant", "-> f32[]", NULL, NO_ID, NO_ID);
        link_second(&program, one, sum);
        describe(&program, sum, (const char *const[]) { "axes", "2", NULL });
        zeros = add(&program, "broadcast", "f32[] -> f32[6,100,50,40]", NULL, NO_ID, one);
        kept = add(&program, "dynamic-update-slice",
                   "f32[6,100,50,40] f32[100,50,40] -> f32[6,100,50,40]", NULL, NO_ID, zeros);
        link_second(&program, made, kept);
        run_step(&program, (uint32_t[]) { less, made, sum, kept, zeros },
                 (int64_t[]) { 3000000, 3000000, 2000000, 1000000, 500000 }, kind == KEPT ? 5 : 3);
        assert_true(fabs(claimed(&program, "outer-sums") - (1 - 2.0 / 40) * (kind == SQUARES ? 8e6
                                                                             : kind == KEPT  ? 9.5e6
                                                                                             : 0)) <
                    1);
        release(&program);
    }
}

/* All products of 20 x 30 and 10 x 10 numbers, as a matrix of 200 x 300, 4 ms, times a matrix of
 * 300 x 5, 5 ms: but for the two, 600 and 100 of 60000 elements, it is not needed. With their sums
 * it is. Of the same size is its gradient, the products of 200 and 300 numbers, 2 ms; what is
 * multiplied with 60000 other numbers is something else. */
TEST(a_matrix_of_all_products)
{
    enum { PRODUCTS, SUMS, GRADIENT, OTHERS, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       a, b, all, matrix, x, product, rows, columns, gradient;

        start(&program);
        a = add(&program, "parameter", "-> f32[20,30]", NULL, NO_ID, NO_ID);
        a = add(&program, "broadcast", "f32[20,30] -> f32[20,10,30,10]", NULL, NO_ID, a);
        describe(&program, a, (const char *const[]) { "axes", "0,2", NULL });
        b = add(&program, "parameter", "-> f32[10,10]", NULL, NO_ID, NO_ID);
        b = add(&program, "broadcast", "f32[10,10] -> f32[20,10,30,10]", NULL, NO_ID, b);
        describe(&program, b, (const char *const[]) { "axes", "1,3", NULL });
        all = add(&program, kind == SUMS ? "add" : "multiply", "-> f32[20,10,30,10]", "jit(f)/mul",
                  NO_ID, a);
        link_second(&program, b, all);
        matrix = add(&program, "bitcast", "f32[20,10,30,10] -> f32[200,300]", NULL, NO_ID, all);
        x = add(&program, "parameter", "-> f32[300,5]", NULL, NO_ID, NO_ID);
        product = add_flops(&program, "dot", "f32[200,300] f32[300,5] -> f32[200,5]", "jit(f)/dot",
                            matrix, NO_ID, 2 * 200 * 300 * 5);
        link_second(&program, x, product);
        rows = add(&program, "parameter", "-> f32[200]", NULL, NO_ID, NO_ID);
        rows = add(&program, "broadcast", "f32[200] -> f32[200,300]", NULL, NO_ID, rows);
        columns = add(&program, "parameter", kind == OTHERS ? "-> f32[200,300]" : "-> f32[300]",
                      NULL, NO_ID, NO_ID);
        if (kind != OTHERS)
            columns = add(&program, "broadcast", "f32[300] -> f32[200,300]", NULL, NO_ID, columns);
        gradient = add(&program, "multiply", "f32[200,300] f32[200,300] -> f32[200,300]",
                       "jit(f)/mul", NO_ID, rows);
        link_second(&program, columns, gradient);
        run_step(&program, (uint32_t[]) { all, product, gradient },
                 (int64_t[]) { 4000000, 5000000, 2000000 }, kind >= GRADIENT ? 3 : 2);
        assert_true(
            fabs(claimed(&program, "outer-matrix") -
                 (kind == SUMS ? 0 : (1 - 700.0 / 60000) * (kind == GRADIENT ? 11e6 : 9e6))) < 1);
        release(&program);
    }
}

/* f(w, v, x) -> (w', v) trains w by a gradient that is scaled with the norm of both: the one of v,
 * 6 ms, goes into the norm alone. Where v changes, or something else takes its gradient, it is
 * needed.
 */
TEST(gradients_for_a_norm)
{
    enum { NORMED, UPDATED, TAKEN, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       w, v, x, of_w, of_v, square, norm, scaled, root;

        start(&program);
        w = add(&program, "parameter", "-> f32[16,4]", NULL, NO_ID, NO_ID);
        mark(&program, w, "entry");
        v = add(&program, "parameter", "-> f32[32,8]", NULL, NO_ID, NO_ID);
        mark(&program, v, "entry");
        x = add(&program, "parameter", "-> f32[9,32]", NULL, NO_ID, NO_ID);
        mark(&program, x, "entry");
        of_w = add(&program, "dot", "f32[9,16] f32[9,4] -> f32[16,4]",
                   "jit(f)/transpose(jvp())/dot", NO_ID, x);
        of_v = add(&program, "dot", "f32[9,32] f32[9,8] -> f32[32,8]",
                   "jit(f)/transpose(jvp())/dot", NO_ID, x);
        square = add(&program, "multiply", "f32[32,8] f32[32,8] -> f32[32,8]", "jit(f)/square",
                     NO_ID, of_v);
        norm = add(&program, "reduce", "f32[32,8] -> f32[]", "jit(f)/reduce_sum", NO_ID, square);
        scaled =
            add(&program, "multiply", "f32[16,4] f32[] -> f32[16,4]", "jit(f)/mul", NO_ID, of_w);
        link_second(&program, norm, scaled);
        root = add(&program, "tuple", "f32[16,4] f32[32,8] -> f32[16,4] f32[32,8]", NULL, NO_ID,
                   scaled);
        link_second(&program, kind == UPDATED ? square : v, root);
        mark(&program, root, "root");
        if (kind == TAKEN)
            link_at(&program, of_v, root, 2);
        run_step(&program, (uint32_t[]) { of_w, of_v }, (int64_t[]) { 4000000, 6000000 }, 2);
        assert_true(fabs(claimed(&program, "unused-gradients") - (kind == NORMED ? 6e6 : 0)) < 1);
        release(&program);
    }
}

/* f(w, v, x) -> w with gradients: x v, 6 ms, is the same for the same x in each step; x w is not.
 * Where the gradient is of another program of that name, nothing is trained. Where no trained
 * weights multiply x v, which x w is compared with, it is a teacher's. Where v has a part for each
 * row of x, or a filter for each channel of the one picture x, it is no weight, but an example. */
TEST(features_of_frozen_weights)
{
    enum { FROZEN, TRAINED, OTHER, TEACHER, ROWS, FILTERS, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       w, v, x, features, student, difference, gradient, root;

        start(&program);
        w = add(&program, "parameter", "-> f32[16,4]", NULL, NO_ID, NO_ID);
        mark(&program, w, "entry");
        v = add(&program, "parameter", kind == FILTERS ? "-> f32[5,1,8]" : "-> f32[32,4]", NULL,
                NO_ID, NO_ID);
        mark(&program, v, "entry");
        x = add(&program, "parameter", kind == FILTERS ? "-> f32[1,32,8]" : "-> f32[8,32]", NULL,
                NO_ID, NO_ID);
        mark(&program, x, "entry");
        features = add(&program, kind == FILTERS ? "convolution" : "dot",
                       "f32[8,32] f32[32,4] -> f32[8,4]", "jit(f)/dot", NO_ID, x);
        link_second(&program, kind == TRAINED ? w : v, features);
        if (kind == ROWS || kind == FILTERS)
            describe(&program, features, (const char *const[]) { "left_batch", "0", NULL });
        student =
            add(&program, "dot", "f32[8,32] f32[16,4] -> f32[8,4]", "jit(f)/jvp()/dot", NO_ID, x);
        link(&program, w, student);
        difference = add(&program, "subtract", "f32[8,4] f32[8,4] -> f32[8,4]", "jit(f)/jvp()/sub",
                         NO_ID, features);
        link(&program, student, difference);
        gradient =
            add(&program, "dot", "f32[8,4] f32[16,4] -> f32[16,4]", "jit(f)/transpose(jvp())/dot",
                NO_ID, kind == TEACHER ? difference : features);
        link(&program, kind == TEACHER ? x : w, gradient);
        if (kind == OTHER)
            program.b.profile.ops.items[gradient].program = builder_name(&program.b, "jit_f(2)");
        root = add(&program, "tuple", "f32[16,4] -> f32[16,4]", NULL, NO_ID, gradient);
        mark(&program, root, "root");
        run_step(&program, (uint32_t[]) { features, kind == OTHER ? features : gradient },
                 (int64_t[]) { 6000000, 4000000 }, 2);
        assert_true(fabs(claimed(&program, "frozen-work") - (kind == FROZEN ? 6e6 : 0)) < 1);
        assert_true(fabs(claimed(&program, "frozen-teacher") - (kind == TEACHER ? 6e6 : 0)) < 1);
        release(&program);
    }
}

/* f(params, x) multiplies two of four weights, 4 ms, and x by the result, 6 ms: the first product
 * is the same in each call, however many instructions, each before what it takes, x comes through.
 * It is not where x is one of its factors, where gradients are made, where the tree is one of
 * gradients, or too small to be told from a batch. */
TEST(products_of_weights_alone)
{
    enum { WEIGHTS, DEEP, INPUT, GRADIENT, GRADIENTS, BATCH, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       leaves[4], x, last, product, layer, root, chain[40];

        start(&program);
        for (int i = 0; i < 4; i++) {
            char name[32];

            snprintf(name, sizeof name, "%s['%c']", kind == GRADIENTS ? "grads" : "params",
                     'a' + i);
            leaves[i] = add(&program, "parameter", i ? "-> f32[32,4]" : "-> f32[16,32]",
                            kind == BATCH && i == 3 ? "mask" : name, NO_ID, NO_ID);
            mark(&program, leaves[i], "entry");
        }
        x = add(&program, "parameter", "-> f32[8,16]", "x", NO_ID, NO_ID);
        mark(&program, x, "entry");
        last = x;
        for (size_t i = 0; kind == DEEP && i < ARRAY_COUNT(chain); i++) {
            chain[i] = add(&program, "negate", "f32[8,16] -> f32[8,16]", NULL, NO_ID, NO_ID);
            if (i)
                link(&program, chain[i], chain[i - 1]);
            last = chain[0];
        }
        if (kind == DEEP)
            link(&program, x, chain[ARRAY_COUNT(chain) - 1]);
        product = add(&program, "dot", "f32[16,32] f32[32,4] -> f32[16,4]", "jit(f)/dot", NO_ID,
                      kind == INPUT ? x : leaves[0]);
        link_second(&program, leaves[1], product);
        layer = add(&program, "dot", "f32[8,16] f32[16,4] -> f32[8,4]",
                    kind == GRADIENT ? "jit(f)/transpose(jvp())/dot" : "jit(f)/dot", NO_ID, last);
        link_second(&program, product, layer);
        root = add(&program, "tuple", "f32[8,4] -> f32[8,4]", NULL, NO_ID, layer);
        mark(&program, root, "root");
        run_step(&program, (uint32_t[]) { product, layer }, (int64_t[]) { 4000000, 6000000 }, 2);
        assert_true(fabs(claimed(&program, "weights-alone") - (kind <= DEEP ? 4e6 : 0)) < 1);
        release(&program);
    }
}

/* f(params, text, x, t) -> x runs three times a step: x is multiplied by a weight, 2 ms a round,
 * and by what another weight makes of the text, 1 ms: of the latter two rounds of three. The text
 * is not held where it is x that is encoded, or where the program gives more than x; without a
 * number of the round, or in two rounds alone, the program need not refine anything; and gradients
 * are another thing. */
TEST(arguments_that_all_rounds_take)
{
    enum { HELD, ENCODED, GIVES_MORE, NUMBERLESS, TWO_ROUNDS, GRADIENT, KINDS };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       leaves[4], x, text, made, layer, root, rounds[6];
        int64_t        ns[6];

        start(&program);
        for (int i = 0; i < 4; i++) {
            char name[32];

            snprintf(name, sizeof name, "params['%c']", 'a' + i);
            leaves[i] = add(&program, "parameter", "-> f32[16,16]", name, NO_ID, NO_ID);
            mark(&program, leaves[i], "entry");
        }
        x = add(&program, "parameter", "-> f32[8,16]", "x", NO_ID, NO_ID);
        mark(&program, x, "entry");
        text = add(&program, "parameter", "-> f32[9,16]", "text", NO_ID, NO_ID);
        mark(&program, text, "entry");
        mark(&program,
             add(&program, "parameter", kind == NUMBERLESS ? "-> f32[9]" : "-> f32[]", "t", NO_ID,
                 NO_ID),
             "entry");
        made = add(&program, "dot", "f32[9,16] f32[16,16] -> f32[9,16]", "jit(f)/dot", NO_ID,
                   kind == ENCODED ? x : text);
        link_second(&program, leaves[0], made);
        layer = add(&program, "dot", "f32[8,16] f32[16,16] -> f32[8,16]",
                    kind == GRADIENT ? "jit(f)/transpose(jvp())/dot" : "jit(f)/dot", NO_ID, x);
        link_second(&program, leaves[1], layer);
        link_at(&program, made, layer, 2);
        root = add(&program, "tuple",
                   kind == GIVES_MORE ? "f32[8,16] f32[7] -> f32[8,16] f32[7]"
                                      : "f32[8,16] -> f32[8,16]",
                   NULL, NO_ID, layer);
        mark(&program, root, "root");
        for (int i = 0; i < 6; i++)
            rounds[i] = i % 2 ? layer : made, ns[i] = i % 2 ? 2000000 : 1000000;
        run_step(&program, rounds, ns, kind == TWO_ROUNDS ? 4 : 6);
        assert_true(fabs(claimed(&program, "held-arguments") - (kind == HELD ? 2e6 : 0)) < 1);
        release(&program);
    }
}

/* One program makes floats of 16 MiB of bytes, 64 MiB; another turns them round. As one program
 * neither the write nor the read is there: 64 of 80 MiB of the first one's 5 ms, and 64 of 128 of
 * the second one's, 4 + 2.5 ms. A product needs its factors in memory, an array of another type is
 * another one, and a host has them in its caches. */
TEST(arrays_between_programs)
{
    enum { FUSED, PRODUCT, OTHER_TYPE, ON_HOST, KINDS };
    static const int64_t mib = 1 << 20;

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        struct op     *ops;
        uint32_t       bytes, floats, taken, turned;
        bool           is_double = kind == OTHER_TYPE;

        start(&program);
        bytes = add(&program, "parameter", "-> u8[4096,4096]", NULL, NO_ID, NO_ID);
        mark(&program, bytes, "entry");
        floats = add(&program, "multiply", "u8[4096,4096] -> f32[4096,4096]", NULL, NO_ID, bytes);
        mark(&program, floats, "root");
        taken = add(&program, "parameter", is_double ? "-> s32[4096,4096]" : "-> f32[4096,4096]",
                    NULL, NO_ID, NO_ID);
        mark(&program, taken, "entry");
        turned = add(&program, kind == PRODUCT ? "dot" : "transpose",
                     "f32[4096,4096] -> f32[4096,4096]", NULL, NO_ID, taken);
        mark(&program, turned, "root");
        ops = program.b.profile.ops.items;
        ops[taken].program = ops[turned].program = builder_name(&program.b, "jit_g");
        ops[floats].bytes = 80 * mib;
        ops[turned].bytes = 128 * mib;
        (kind == ON_HOST ? run_step : run_step_on_device)(&program, (uint32_t[]) { floats, turned },
                                                          (int64_t[]) { 5000000, 5000000 }, 2);
        assert_true(fabs(claimed(&program, "handed-on") - (kind == FUSED ? 6.5e6 : 0)) < 1);
        release(&program);
    }
}

/* Forty arrays are compared with themselves, 50 us each, and whether any of their values differs is
 * summed up, 25 us: all of that looks for NaN. Arrays that are compared with others do not, nor do
 * ten questions of forty results. */
TEST(arrays_compared_with_themselves)
{
    enum { ALL, WITH_OTHERS, FEW, KINDS };
    enum { COUNT = 40 };

    for (int kind = 0; kind < KINDS; kind++) {
        struct program program;
        uint32_t       at[2 * COUNT], x, y;
        int64_t        ns[2 * COUNT];

        start(&program);
        x = add(&program, "parameter", "-> f32[64,64]", NULL, NO_ID, NO_ID);
        y = add(&program, "parameter", "-> f32[64,64]", NULL, NO_ID, NO_ID);
        for (uint32_t i = 0; i < COUNT; i++) {
            bool is_asked = kind != FEW || i < 10;

            x = add(&program, "exponential", "f32[64,64] -> f32[64,64]", "jit(f)/exp", NO_ID, x);
            at[2 * i] = add(&program, is_asked ? "compare" : "multiply",
                            "f32[64,64] f32[64,64] -> pred[64,64]", "jit(f)/ne", NO_ID, x);
            link_second(&program, kind == WITH_OTHERS ? y : x, at[2 * i]);
            at[2 * i + 1] = add(&program, "reduce", "pred[64,64] -> pred[]", "jit(f)/reduce_or",
                                NO_ID, at[2 * i]);
            ns[2 * i] = 50000, ns[2 * i + 1] = 25000;
        }
        run_step(&program, at, ns, 2 * COUNT);
        assert_true(fabs(claimed(&program, "nan-checks") - (kind == ALL ? COUNT * 75e3 : 0)) < 1);
        release(&program);
    }
}
