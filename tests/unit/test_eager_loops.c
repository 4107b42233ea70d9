
#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "base/sample.h"
#include "eager_program.h"

/*
 * Product, scale, softmax, a view that only looks, product: 10 + 4 + 6 + 1 + 10 us forward. The
 * second product has the backward node 7 of 5 us. Of the 36 us, products take 25 and the softmax 6;
 * the first product has 2 x (2 x 256 x 32) x 256 operations.
 */
TEST(attention_is_spelled_out)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    call(&program, "aten::relu", "f32[2,256,32]", 1000);
    call(&program, "aten::matmul", "f32[2,256,32] f32[2,32,256]", 10000);
    call(&program, "aten::div", "f32[2,256,256]", 4000);
    call(&program, "aten::softmax", "f32[2,256,256]", 6000);
    call(&program, "aten::transpose", "f32[2,256,256]", 1000);
    numbered(&program, call(&program, "aten::matmul", "f32[2,256,256] f32[2,256,32]", 10000), 7);
    node(&program, 7, 5000);
    builder_finish(&program.b);
    assert_true(analysis_eager_idioms.run(&program.b.study, &err));
    assert_string_equal(
        intern_str(program.b.study.facts.names, (uint32_t)cell(&program, "eager_idioms", "idiom"))
            .data,
        "attention");
    assert_true(cell(&program, "eager_idioms", "count") == 1);
    assert_true(cell(&program, "eager_idioms", "calls") == 5);
    assert_true(cell(&program, "eager_idioms", "ns") == 36000);
    assert_true(cell(&program, "eager_idioms", "product_ns") == 25000);
    assert_true(cell(&program, "eager_idioms", "pivot_ns") == 6000);
    assert_true(cell(&program, "eager_idioms", "last_dim") == 256);
    assert_true(cell(&program, "eager_idioms", "product_flops") ==
                2.0 * 2 * 256 * 32 * 256 + 2.0 * 2 * 256 * 256 * 32);
    builder_free(&program.b);
}

/* A sigmoid and a product of arrays, 3 + 2 ms. Not a product with a number. */
TEST(a_gate_multiplies_arrays)
{
    for (int by_number = 0; by_number < 2; by_number++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        call(&program, "aten::conv2d", "f32[8,3,64,64] f32[3,3,3,3]", 10000);
        call(&program, "aten::sigmoid", "f32[8,3,64,64]", 3000);
        call(&program, "aten::mul",
             by_number ? "f32[8,3,64,64] f32[]" : "f32[8,3,64,64] f32[8,3,64,64]", 2000);
        call(&program, "aten::conv2d", "f32[8,3,64,64] f32[3,3,3,3]", 10000);
        builder_finish(&program.b);
        assert_true(analysis_eager_idioms.run(&program.b.study, &err));
        assert_true((facts_find_table(&program.b.study.facts, "eager_idioms")->row_count > 0) ==
                    !by_number);
        builder_free(&program.b);
    }
}

/* Smoothed targets, one-hot, converted, scaled and shifted, before the log-softmax that they are
 * multiplied with: eight ops of 2 us, one of them the softmax, are one loss. */
TEST(smoothed_targets_are_a_loss)
{
    static const char *const ops[] = { "aten::mul", "aten::add", "aten::log_softmax",
                                       "aten::mul", "aten::sum", "aten::neg" };
    struct program           program;
    struct err               err = { 0 };

    start(&program);
    call(&program, "aten::one_hot", "i64[64]", 2000);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        call(&program, ops[i], "f32[64,900]", 2000);
    call(&program, "aten::mean", "f32[64]", 2000);
    builder_finish(&program.b);
    assert_true(analysis_eager_idioms.run(&program.b.study, &err));
    assert_true(cell(&program, "eager_idioms", "count") == 1);
    assert_true(cell(&program, "eager_idioms", "ns") == 16000);
    assert_true(cell(&program, "eager_idioms", "pivot_ns") == 2000);
    builder_free(&program.b);
}

/*
 * Ten rounds of select (1 us) and mul (2 us) with 0.1 us behind each: from the first to the last
 * forward call 10 x 3.2 - 0.1 us = 31.9 us, and 10 backward nodes of 3 us without pauses.
 */
TEST(a_loop_takes_slices)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    uint32_t select =
        builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                         builder_op(&program.b, "aten::select", "aten::select", "f32[10,64]"));
    for (int i = 0; i < 10; i++) {
        builder_event(&program.b, program.thread, select, program.now, 1000);
        program.now += 1100;
        numbered(&program, call(&program, "aten::mul", "f32[64]", 2000), i);
    }
    for (int i = 10; i-- > 0;)
        node(&program, i, 3000);
    builder_finish(&program.b);
    assert_true(analysis_eager_loops.run(&program.b.study, &err));
    assert_true(cell(&program, "eager_loops", "repeats") == 10);
    assert_true(cell(&program, "eager_loops", "body") == 2);
    assert_true(cell(&program, "eager_loops", "span_ns") == 31900);
    assert_true(cell(&program, "eager_loops", "backward_ns") == 30000);
    assert_true(cell(&program, "eager_loops", "elements") == 64);
    assert_true(cell(&program, "eager_loops", "call_ns") == 1500);
    assert_true(cell(&program, "eager_loops", "view_ns") == 1000);
    builder_free(&program.b);
}

/* Four batches are picked, a network of 20 calls runs, three of them normalisations, then ten
 * rounds of index (1 us), mean (2 us) and eq (1 us) with 0.1 us behind each. No round is as long as
 * the network: the loop is the ten, 10 x 4.3 - 0.1 us = 42.9 us. */
TEST(a_loop_behind_a_network)
{
    static const char *const network[] = { "aten::conv1d", "aten::batch_norm", "aten::relu",
                                           "aten::max_pool1d", "aten::view" };
    struct program           program;
    struct err               err = { 0 };

    start(&program);
    for (int i = 0; i < 4; i++)
        call(&program, "aten::index", NULL, 1000);
    for (size_t i = 0; i < 20; i++)
        call(&program, i < 15 ? network[i % 5] : "aten::relu", NULL, 5000);
    for (int i = 0; i < 10; i++) {
        call(&program, "aten::index", NULL, 1000);
        call(&program, "aten::mean", NULL, 2000);
        call(&program, "aten::eq", NULL, 1000);
    }
    builder_finish(&program.b);
    assert_true(analysis_eager_loops.run(&program.b.study, &err));
    assert_true(cell(&program, "eager_loops", "repeats") == 10);
    assert_true(cell(&program, "eager_loops", "body") == 3);
    assert_true(cell(&program, "eager_loops", "span_ns") == 42900);
    builder_free(&program.b);
}

/* Ten pictures go to Python, by select, detach and to of 1 us with 0.1 us behind each, and one more
 * select picks a batch in front of a short network or labels behind it: 10 x 3.3 - 0.1 us. Where
 * each round runs the network, all of them are the loop, and so are nine products between them. */
TEST(a_loop_beside_a_short_network)
{
    enum { FRONT, BEHIND, EACH, CASES };
    static const char *const network[] = { "aten::conv2d", "aten::relu", "aten::linear" };

    for (int way = FRONT; way < CASES; way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        if (way == FRONT)
            call(&program, "aten::select", NULL, 1000);
        for (int i = 0; i < 11; i++) {
            bool runs = way == EACH ? i < 10 : i == (way == FRONT ? 0 : 10);

            for (size_t j = 0; runs && j < ARRAY_COUNT(network); j++)
                call(&program, network[j], NULL, 5000);
            if (i == 10 && way != EACH)
                break;
            call(&program, "aten::select", NULL, 1000);
            call(&program, "aten::detach", NULL, 1000);
            call(&program, "aten::to", NULL, 1000);
        }
        if (way == BEHIND)
            call(&program, "aten::select", NULL, 1000);
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "repeats") == (way == EACH ? 11 : 10));
        assert_true(cell(&program, "eager_loops", "products") == (way == EACH ? 9 : 0));
        assert_true(way == EACH || cell(&program, "eager_loops", "span_ns") == 32900);
        builder_free(&program.b);
    }
}

/* Each of ten rounds gathers by what the one before picked and wrote down, or picks for itself; and
 * the products of ten experts have as many rows as tokens chose them. */
TEST(rounds_that_need_each_other)
{
    static const char *const rows[] = { "f32[7,64] f32[64,64]", "f32[9,64] f32[64,64]",
                                        "f32[5,64] f32[64,64]" };
    for (int way = 0; way < 3; way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        uint32_t select =
            builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                             builder_op(&program.b, "aten::select", "aten::select", "f32[10,64]"));
        for (int i = 0; i < 10; i++) {
            builder_event(&program.b, program.thread, select, program.now, 1000);
            program.now += 1100;
            if (way < 2)
                call(&program, way == 0 ? "aten::gather" : "aten::mul", "f32[64]", 1000);
            else
                call(&program, "aten::linear", rows[i % 3], 1000);
            call(&program, "aten::argmax", "f32[64]", 1000);
            call(&program, "aten::copy_", "i64[1]", 1000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "is_fed_back") == (way == 0));
        assert_true(cell(&program, "eager_loops", "is_ragged") == (way == 2));
        builder_free(&program.b);
    }
}

/* Ten rounds of two calls as above, and 0.4 ms of Python in every fifth of them: of each 0.3 ms
 * count, 0.1 us of which is there already. In one round alone it is no Python of the loop's, but
 * the machine's, and all of it counts; but not of 0.9 ms, which are most of all ten rounds. */
TEST(a_loop_that_computes_in_python)
{
    static const struct {
        int     every;
        int64_t pause_ns;
        double  added_ns;
    } cases[] = { { 5, 400000, 2 * (300000 - 100) },
                  { 10, 400000, 400000 },
                  { 10, 900000, 300000 - 100 } };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        uint32_t select =
            builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                             builder_op(&program.b, "aten::select", "aten::select", "f32[10,64]"));
        for (int round = 0; round < 10; round++) {
            builder_event(&program.b, program.thread, select, program.now, 1000);
            program.now += 1100 + (round % cases[i].every == 0 ? cases[i].pause_ns : 0);
            call(&program, "aten::mul", "f32[64]", 2000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "span_ns") == 31900 + cases[i].added_ns);
        builder_free(&program.b);
    }
}

/* Ten rounds of two calls as above, then ten other calls and one more slice: its work is the
 * program's, not the loop's. */
TEST(a_later_slice_is_no_round)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    uint32_t select =
        builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                         builder_op(&program.b, "aten::select", "aten::select", "f32[10,64]"));
    for (int i = 0; i < 11; i++) {
        builder_event(&program.b, program.thread, select, program.now, 1000);
        program.now += 1100;
        call(&program, "aten::mul", "f32[64]", 2000);
        for (int j = 0; i == 9 && j < 12; j++)
            call(&program, "aten::tanh", "f32[64,64]", 5000);
    }
    builder_finish(&program.b);
    assert_true(analysis_eager_loops.run(&program.b.study, &err));
    assert_true(cell(&program, "eager_loops", "repeats") == 10);
    assert_true(cell(&program, "eager_loops", "span_ns") == 31900);
    builder_free(&program.b);
}

/* Ten rounds that each need the one before: a solver with a schedule of ten steps works on 64 x 32
 * elements, far more than ten; a policy is drawn from. The same products of rows are a loop. */
TEST(rounds_that_need_the_last)
{
    static const struct {
        const char *picked, *work, *work_tensors;
        size_t      rows;
    } cases[] = {
        { "f32[10]", "aten::silu", "f32[64,32]", 0 },
        { "f32[10,32]", "aten::multinomial", "f32[64,32]", 0 },
        { "f32[10,32]", "aten::silu", "f32[64,32]", 1 },
        { "f32[10]", "aten::silu", "f32[1,32]", 1 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        uint32_t select = builder_activity(
            &program.b, "aten::select", ACTIVITY_OP,
            builder_op(&program.b, "aten::select", "aten::select", cases[i].picked));
        for (int round = 0; round < 10; round++) {
            builder_event(&program.b, program.thread, select, program.now, 1000);
            program.now += 1100;
            call(&program, "aten::linear", "f32[64,32] f32[32,32]", 2000);
            call(&program, cases[i].work, cases[i].work_tensors, 2000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_int_equal(facts_find_table(&program.b.study.facts, "eager_loops")->row_count,
                         cases[i].rows);
        builder_free(&program.b);
    }
}

/* Four layers that each take three slices of their queries, keys and values are no loop. */
TEST(layers_are_no_loop)
{
    struct program program;
    struct err     err = { 0 };

    start(&program);
    uint32_t select =
        builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                         builder_op(&program.b, "aten::select", "aten::select", "f32[3,8,64]"));
    for (int i = 0; i < 12; i++) {
        builder_event(&program.b, program.thread, select, program.now, 1000);
        program.now += 1100;
        if (i % 3 < 2)
            continue;
        call(&program, "aten::linear", "f32[8,64] f32[64,64]", 2000);
        call(&program, "aten::layer_norm", "f32[8,64]", 2000);
        call(&program, "aten::relu", "f32[8,64]", 1000);
    }
    builder_finish(&program.b);
    assert_true(analysis_eager_loops.run(&program.b.study, &err));
    assert_true(facts_find_table(&program.b.study.facts, "eager_loops")->row_count == 0);
    builder_free(&program.b);
}

/* Ten layers whose attention is an op of a serving engine, which slices what it is given: twice 1
 * us of its 20 us. The same slices as calls of the program are a loop. */
TEST(what_an_op_of_another_library_slices_is_no_loop)
{
    for (int is_inside = 0; is_inside < 2; is_inside++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        for (int i = 0; i < 10; i++) {
            int64_t start_ns = program.now;

            if (is_inside)
                call(&program, "vllm::unified_attention", NULL, 20000);
            program.now = start_ns + 1000;
            call(&program, "aten::slice", NULL, 1000);
            call(&program, "aten::slice", NULL, 1000);
            program.now = start_ns + 25000;
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_int_equal(facts_find_table(&program.b.study.facts, "eager_loops")->row_count,
                         !is_inside);
        builder_free(&program.b);
    }
}

/* Without shapes: sixteen slices of two kinds, each with two ops of its own behind it, are eight
 * rounds of a loop. Where ops of four other kinds stand behind them in turn, and so never four
 * anchors apart at one distance, they are parts of a network. */
TEST(rounds_without_shapes)
{
    static const char *kinds[] = { "aten::relu", "aten::tanh", "aten::exp",  "aten::sin",
                                   "aten::cos",  "aten::abs",  "aten::sqrt", "aten::neg" };

    for (int is_network = 0; is_network < 2; is_network++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        for (int i = 0; i < 16; i++) {
            call(&program, "aten::select", NULL, 1000);
            call(&program, kinds[is_network ? i % 7 : i % 2], NULL, 2000);
            call(&program, kinds[is_network ? i % 5 : 2 + i % 2], NULL, 2000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_int_equal(facts_find_table(&program.b.study.facts, "eager_loops")->row_count,
                         !is_network);
        if (!is_network)
            assert_true(cell(&program, "eager_loops", "repeats") == 16);
        builder_free(&program.b);
    }
}

/* Thirty rounds of a product and a sum, whose results are kept in a list and stacked behind ten
 * other calls: the list is not recorded, but what takes the stack has a row for each. Layers stack
 * nothing, or, for 12 rows, other things. */
TEST(rounds_stacked_behind_other_work)
{
    static const char *const taken[] = { "f32[30,4]", "f32[12,4]" };

    for (int way = 0; way < 2; way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        uint32_t product = builder_activity(
            &program.b, "aten::matmul", ACTIVITY_OP,
            builder_op(&program.b, "aten::matmul", "aten::matmul", "f32[4,4] f32[4]"));
        for (int i = 0; i < 30; i++) {
            builder_event(&program.b, program.thread, product, program.now, 1000);
            program.now += 1100;
            call(&program, "aten::add", "f32[4] f32[4]", 1000);
        }
        for (int i = 0; i < 10; i++)
            call(&program, "aten::relu", "f32[64]", 1000);
        call(&program, "aten::stack", "f32[]", 1000);
        call(&program, "aten::sum", taken[way], 1000);
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(facts_find_table(&program.b.study.facts, "eager_loops")->row_count ==
                    (way == 0));
        builder_free(&program.b);
    }
}

/* Ten rounds of a slice, a sum and an exponential, as of an algorithm over time: each takes what
 * the last one gave. Not where the rounds' results are stacked behind them, where each adds its own
 * to a tensor, or where one is written down. */
TEST(rounds_that_hand_on)
{
    enum { HANDED, STACKED, ADDED, WRITTEN };

    for (int way = HANDED; way <= WRITTEN; way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        uint32_t select =
            builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                             builder_op(&program.b, "aten::select", "aten::select", "f32[8,10,5]"));
        for (int i = 0; i < 10; i++) {
            builder_event(&program.b, program.thread, select, program.now, 1000);
            program.now += 1100;
            call(&program, "aten::add", "f32[8,5] f32[5]", 1000);
            call(&program, "aten::exp", "f32[8,5]", 1000);
            if (way == ADDED)
                call(&program, "aten::mul", "f32[8,5] f32[8,5]", 1000);
            if (way == WRITTEN)
                call(&program, "aten::copy_", "f32[8] f32[8]", 1000);
        }
        call(&program, "aten::sum", "f32[8,5]", 1000);
        if (way == STACKED)
            call(&program, "aten::stack", "f32[8] f32[8] f32[8] f32[8] f32[8] f32[8]", 1000);
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "repeats") == 10);
        assert_true(cell(&program, "eager_loops", "is_handed_on") == (way == HANDED));
        builder_free(&program.b);
    }
}

/* Ten rounds of a cell without gates: what a slice gives is added to a product of the state, and a
 * product of two like arrays is the next state. Not where results are stacked, where a round may
 * add its own to a sum, or where no product takes what has the state's sizes. */
TEST(rounds_that_hand_a_state_on)
{
    enum { STATE, STACKED, SUMMED, APART };

    for (int way = STATE; way <= APART; way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        uint32_t select =
            builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                             builder_op(&program.b, "aten::select", "aten::select", "f32[8,10,5]"));
        for (int i = 0; i < 10; i++) {
            builder_event(&program.b, program.thread, select, program.now, 1000);
            program.now += 1100;
            call(&program, "aten::linear", "f32[8,5] f32[6,5] f32[6]", 1000);
            call(&program, "aten::linear", way == APART ? "f32[8,5] f32[6,5]" : "f32[8,6] f32[6,6]",
                 1000);
            call(&program, "aten::abs", "f32[8,6]", 1000);
            call(&program, way == SUMMED ? "aten::add" : "aten::mul", "f32[8,6] f32[8,6]", 1000);
        }
        call(&program, "aten::sum", "f32[8,6]", 1000);
        if (way == STACKED)
            call(&program, "aten::stack", "f32[8] f32[8] f32[8] f32[8] f32[8] f32[8]", 1000);
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "repeats") == 10);
        assert_true(cell(&program, "eager_loops", "is_handed_on") == (way == STATE));
        builder_free(&program.b);
    }
}

/* Ten rounds of a cell whose states are stacked: what a product makes of a slice is added to what
 * another makes of the state. Not where the second product takes what the first one gave through an
 * activation, as layers do. */
TEST(rounds_of_a_cell_without_gates)
{
    for (int is_cell = 0; is_cell < 2; is_cell++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        uint32_t select =
            builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                             builder_op(&program.b, "aten::select", "aten::select", "f32[8,10,5]"));
        for (int i = 0; i < 10; i++) {
            builder_event(&program.b, program.thread, select, program.now, 1000);
            program.now += 1100;
            call(&program, "aten::linear", "f32[8,5] f32[6,5] f32[6]", 1000);
            if (!is_cell)
                call(&program, "aten::relu", "f32[8,6]", 1000);
            call(&program, "aten::linear", "f32[8,6] f32[6,6]", 1000);
            call(&program, "aten::add", "f32[8,6] f32[8,6]", 1000);
            call(&program, "aten::relu", "f32[8,6]", 1000);
        }
        call(&program, "aten::stack", "f32[8] f32[8] f32[8] f32[8] f32[8] f32[8]", 1000);
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "repeats") == 10);
        assert_true(cell(&program, "eager_loops", "is_handed_on") == is_cell);
        builder_free(&program.b);
    }
}

/* Without shapes time tells what grows: sixteen concatenations of 1 to 16 us, a sum between; their
 * first four take 2.5 us in the middle, the last four 14.5. Not where all take 5 us. */
TEST(concatenations_that_take_longer)
{
    for (int grows = 0; grows < 2; grows++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        for (int i = 0; i < 16; i++) {
            call(&program, "aten::cat", NULL, grows ? (i + 1) * 1000 : 5000);
            call(&program, "aten::add", NULL, 1000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "concats") == 16);
        assert_true(cell(&program, "eager_loops", "is_growing") == grows);
        builder_free(&program.b);
    }
}

/* Without shapes: ten rounds whose only slice is where each writes what it made by a sum. Not where
 * a round also reads a slice. */
TEST(rounds_that_write_without_shapes)
{
    for (int reads = 0; reads < 2; reads++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        for (int i = 0; i < 10; i++) {
            if (reads)
                call(&program, "aten::select", NULL, 1000);
            call(&program, "aten::exp", NULL, 1000);
            call(&program, "aten::mul", NULL, 1000);
            call(&program, "aten::add", NULL, 1000);
            call(&program, "aten::select", NULL, 1000);
            call(&program, "aten::copy_", NULL, 1000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "is_handed_on") == !reads);
        builder_free(&program.b);
    }
}

/* Ten rounds of a simulation: each scales its state and adds to it, and writes it down. Not where a
 * round also reads a slice, or makes what it writes of nothing that was there before. */
TEST(rounds_that_write_their_state_down)
{
    enum { STATE, READ, APART };

    for (int way = STATE; way <= APART; way++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        uint32_t place =
            builder_activity(&program.b, "aten::select", ACTIVITY_OP,
                             builder_op(&program.b, "aten::select", "aten::select", "f32[11,7,3]"));
        for (int i = 0; i < 10; i++) {
            if (way == READ)
                call(&program, "aten::select", "f32[10,7,3]", 1000);
            call(&program, "aten::mul", "f32[7,3]", 1000);
            call(&program, "aten::exp", "f32[7,3]", 1000);
            call(&program, "aten::add", way == APART ? "f32[7,3] f32[3]" : "f32[7,3] f32[7,3]",
                 1000);
            builder_event(&program.b, program.thread, place, program.now, 1000);
            program.now += 1100;
            call(&program, "aten::copy_", "f32[7,3] f32[7,3]", 1000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true(cell(&program, "eager_loops", "repeats") == 10);
        assert_true(cell(&program, "eager_loops", "is_handed_on") == (way == STATE));
        builder_free(&program.b);
    }
}

/* Ten rounds take 7 of 7 rows along the second axis, in another order: no slices. Not where they
 * take 3. */
TEST(rounds_that_take_a_whole_axis)
{
    for (int whole = 0; whole < 2; whole++) {
        struct program program;
        struct err     err = { 0 };

        start(&program);
        program.b.profile.has_shapes = true;
        for (int i = 0; i < 10; i++) {
            uint32_t tag =
                call(&program, "aten::index_select",
                     whole ? "f32[4,7,5] i64[] i64[7]" : "f32[4,7,5] i64[] i64[3]", 1000);

            builder_stat(&program.b, tag, STAT_CONCRETE_INPUTS,
                         (int64_t)builder_name(&program.b, "[\"\", \"1\", \"\"]"));
            call(&program, "aten::mul", "f32[4,3,5]", 1000);
        }
        builder_finish(&program.b);
        assert_true(analysis_eager_loops.run(&program.b.study, &err));
        assert_true((facts_find_table(&program.b.study.facts, "eager_loops")->row_count > 0) ==
                    !whole);
        builder_free(&program.b);
    }
}
