/* What the host does instead of ops, or op by op: pauses, items of lists, copies and files. */
#include "excess_program.h"

/* A pause of 2 ms between ops, and short ones that belong to starting them. Where the backward pass
 * starts, no Python runs. */
TEST(long_pauses)
{
    struct program program;

    start(&program);
    for (int i = 0; i < 20; i++) {
        run(&program, "aten::add", "f32[8,64]", 20000);
        program.now += i == 10 ? 2000000 : 5000;
    }
    run(&program, "aten::ones_like", "f32[]", 20000);
    program.now += 3000000;
    node(&program, "aten::mul", "f32[8,64]", 20000);
    finish(&program);
    assert_true(fabs(claimed(&program, "long-pause") - 2e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* A pause of 2 ms within an optimizer's step, before the backward pass: it is the closure's that
 * the optimizer was given. Any other range is where the pause is. */
TEST(a_pause_of_a_closure)
{
    for (int is_closure = 0; is_closure < 2; is_closure++) {
        struct program program;
        struct str     region;

        (void)state;
        start(&program);
        slice(&program, is_closure ? "Optimizer.step#SGD.step" : "losses", ACTIVITY_ANNOTATION,
              NULL, 3000000);
        for (int i = 0; i < 20; i++) {
            run(&program, "aten::add", "f32[8,64]", 20000);
            program.now += i == 10 ? 2000000 : 5000;
        }
        node(&program, "aten::mul", "f32[8,64]", 20000);
        finish(&program);
        assert_true(fabs(claimed(&program, "long-pause") - 2e6) < 1);
        region = intern_str(
            program.b.study.facts.names,
            (uint32_t)builder_cell(&program.b, "excess", "flaw", "long-pause", "region"));
        assert_string_equal(region.data,
                            is_closure ? "the closure of Optimizer.step#SGD.step" : "losses");
        builder_free(&program.b);
    }
}

/* A program of JAX pauses for 1 ms, copies four arrays to the host and pauses for 4 ms: they are
 * saved, and the first pause is for that too. Where it pauses for 2 ms between the first two and
 * the others, they are looked at: the same time by another word. */
TEST(arrays_that_are_copied_out)
{
    for (int is_looked_at = 0; is_looked_at < 2; is_looked_at++) {
        struct program program;
        struct str     detail;

        (void)state;
        start(&program);
        program.b.profile.framework = builder_name(&program.b, "jax");
        program.b.profile.format = FORMAT_XSPACE;
        slice(&program, "PjitFunction(update)", ACTIVITY_DISPATCH, NULL, 100000);
        run(&program, "dot", "f32[8,64] f32[64,64] -> f32[8,64]", 100000);
        program.now += 1000000;
        for (int i = 0; i < 4; i++) {
            slice(&program, "ArrayImpl.copy_to_host_async", ACTIVITY_TRANSFER, NULL, 5000);
            program.now += is_looked_at && i == 1 ? 2000000 : 10000;
        }
        program.now += is_looked_at ? 2000000 : 3990000;
        finish(&program);
        assert_true(claimed(&program, "state-copied") > 4.9e6);
        detail = intern_str(
            program.b.study.facts.names,
            (uint32_t)builder_cell(&program.b, "excess", "flaw", "state-copied", "detail"));
        assert_int_equal(str_starts(detail, STR("looking")), is_looked_at);
        builder_free(&program.b);
    }
}

/* Between two calls of a function ten variables are read for 0.1 ms each, large ones. Where each is
 * written to a file for 0.2 ms, and 1 ms is for closing it, 1.2 of 4 ms lie behind the last one
 * read: they are saved. Where none is and Python passes over them for 1.5 ms, that is 0.6 of 2.5
 * ms: they are worked with. */
TEST(variables_that_are_read_out)
{
    for (int is_looked_at = 0; is_looked_at < 2; is_looked_at++) {
        struct program program;
        struct str     detail;

        (void)state;
        start(&program);
        program.b.profile.framework = builder_name(&program.b, "tensorflow");
        program.b.profile.format = FORMAT_XSPACE;
        for (int step = 0; step < 2; step++) {
            slice(&program, "EagerLocalExecute: __inference_train_7", ACTIVITY_DISPATCH, NULL,
                  100000);
            run(&program, "MatMul", "f32[8,64] f32[64,64] -> f32[8,64]", 100000);
            for (int i = 0; i < 10 && step == 0; i++) {
                slice(&program, "EagerLocalExecute: ReadVariableOp", ACTIVITY_DISPATCH, NULL,
                      100000);
                program.now += is_looked_at ? 0 : 200000;
            }
            program.now += step > 0 ? 0 : is_looked_at ? 1500000 : 1000000;
        }
        finish(&program);
        assert_true(claimed(&program, "read-back") > 0);
        detail =
            intern_str(program.b.study.facts.names,
                       (uint32_t)builder_cell(&program.b, "excess", "flaw", "read-back", "detail"));
        assert_int_equal(str_starts(detail, STR("looking")), is_looked_at);
        builder_free(&program.b);
    }
}

/* Between two pauses of 2 ms lie two ops of 5 us, as small as ops are here, and 10 us: 4.02 ms. One
 * of 1 ms is work. */
TEST(small_ops_between_pauses)
{
    for (int is_work = 0; is_work < 2; is_work++) {
        struct program program;

        (void)state;
        start(&program);
        program.b.profile.has_python_frames = true;
        for (int i = 0; i < 20; i++) {
            run(&program, "aten::add", "f32[8,64]", 5000);
            program.now += 5000;
        }
        run(&program, "aten::item", NULL, 5000);
        program.now += 2000000;
        run(&program, "aten::empty", NULL, 5000);
        program.now += 10000;
        run(&program, is_work ? "aten::sort" : "aten::to", NULL, is_work ? 1000000 : 5000);
        program.now += 2000000;
        run(&program, "aten::add", "f32[8,64]", 5000);
        finish(&program);
        assert_true(fabs(claimed(&program, "long-pause") - (is_work ? 4e6 : 4.02e6)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Of three steps each pauses for 2 ms between two ops, and one of them for 4 ms between others that
 * usually follow each other at once: the machine did something else. */
TEST(pauses_by_chance)
{
    struct program program;

    start(&program);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 20; i++) {
            run(&program, "aten::add", "f32[8,64]", 20000);
            program.now += step == 1 && i == 10 ? 4000000 : 5000;
        }
        run(&program, "aten::item", NULL, 20000);
        program.now += 2000000;
        run(&program, "aten::mul", "f32[8,64]", 20000);
        end_step(&program);
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "long-pause") - 2e6) < 1);
    builder_free(&program.b);
}

/* Twenty items of 50 us of Python each, handed over by two ops of 1 us with 10 us between them,
 * where other ops follow each other by 10 us: shorter than 80 us, eight times the usual pause, but
 * most of their kind are alike. Of 19 pauses all go, and the 12 us between each two of them. */
TEST(items_of_a_list)
{
    struct program program;

    start(&program);
    for (int i = 0; i < 20; i++) {
        program.now += i ? 50000 : 10000;
        run(&program, "aten::empty", NULL, 1000);
        program.now += 10000;
        run(&program, "aten::lift_fresh", "i64[9]", 1000);
    }
    for (int i = 0; i < 40; i++) {
        program.now += 10000;
        run(&program, "aten::add", "f32[8,64]", 20000);
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "long-pause") - (19 * 50e3 + 18 * 12e3)) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* Twenty rows are read as lists, by two ops of 1 us, and written as text, 50 us each: the usual
 * pause here, but Python's. Of the 19 behind one and before the next all go, and of the 2 us
 * between each two of them. */
TEST(rows_read_as_lists)
{
    struct program program;

    start(&program);
    run(&program, "aten::add", "f32[8,64]", 20000);
    program.now += 10000;
    for (int i = 0; i < 20; i++) {
        run(&program, "aten::resolve_conj", "f32[8]", 1000);
        run(&program, "aten::resolve_neg", "f32[8]", 1000);
        program.now += i < 19 ? 50000 : 10000;
    }
    run(&program, "aten::add", "f32[8,64]", 20000);
    finish(&program);
    assert_true(fabs(claimed(&program, "long-pause") - (19 * 50e3 + 18 * 2e3)) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* An array is compared for 5 us, the answers are summed up for 10 us and read for 5 us, with 4 us
 * between; 20 us of Python lead to a check and from it, half of which are the check's: 48 us. What
 * lies between two checks in a row is theirs as a whole, so that eight take as much. Seven are few,
 * and a loop that asks about one array, or about two, looks for its end. */
TEST(values_that_are_checked)
{
    enum { BESIDE_WORK, IN_A_ROW, FEW, TWO_SHAPES, WAYS };

    for (int way = BESIDE_WORK; way < WAYS; way++) {
        int            checks = way == FEW ? 7 : 8;
        struct program program;

        (void)state;
        start(&program);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
        for (int i = 0; i < checks; i++) {
            char shape[16];

            snprintf(shape, sizeof shape, "f32[%d]", i % (way == TWO_SHAPES ? 2 : 4) + 2);
            program.now += 20000;
            run(&program, "aten::eq", shape, 5000);
            program.now += 4000;
            run(&program, "aten::_is_all_true", "pred[2]", 10000);
            program.now += 4000;
            run(&program, "aten::is_nonzero", "pred[]", 5000);
            if (way == IN_A_ROW && i + 1 < checks)
                continue;
            program.now += 20000;
            run(&program, "aten::add", "f32[8,64]", 100000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "checked-values") -
                         (way == BESIDE_WORK || way == IN_A_ROW ? 8 * 48e3 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Tensors copied by copy.deepcopy: storages made, filled and set, 5 us a tensor and 20 us of Python
 * between them. Of six 6 * 5 + 5 * 20 us, less a fiftieth; three are no state. */
TEST(tensors_copied_deeply)
{
    for (int tensors = 3; tensors <= 6; tensors += 3) {
        double         ns = tensors * 5e3 + (tensors - 1) * 20e3;
        struct program program;

        start(&program);
        run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
        for (int i = 0; i < tensors; i++) {
            run(&program, "aten::set_", "u8[0]", 1000);
            run(&program, "aten::copy_", "u8[16384] u8[16384]", 3000);
            run(&program, "aten::set_", "f32[64,64]", 1000);
            program.now += i + 1 < tensors ? 20000 : 0;
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "deep-copies") - (tensors == 6 ? 0.98 * ns : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* In each step six tensors are handed out before 4 ms in which nothing runs. Fewer are no model,
 * and inside of a transformation of functions the pause is its Python. */
TEST(a_state_that_is_saved)
{
    enum { SAVED, FEW, TRANSFORMED };

    for (int way = SAVED; way <= TRANSFORMED; way++) {
        struct program program;

        (void)state;
        start(&program);
        for (int step = 0; step < 3; step++) {
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
            if (way == TRANSFORMED)
                slice(&program, "torch/_functorch/apis.py(9): wrapped", ACTIVITY_PYTHON, NULL,
                      6 * 5000 + 4000000 + 3000000);
            for (int i = 0; i < (way == FEW ? 2 : 6); i++)
                run(&program, "aten::detach", "f32[64,64]", 5000);
            program.now += 4000000;
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "state-copied") - (way == SAVED ? 4e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Behind the update nothing runs for 60 ms: Python, less the 0.15 ms that the profiler takes
 * between steps. 40 ms may be the profiler's. */
TEST(a_pause_behind_the_update)
{
    for (int is_long = 0; is_long < 2; is_long++) {
        struct program program;

        (void)state;
        start(&program);
        for (int step = 0; step < 2; step++) {
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
            slice(&program, "Optimizer.step#SGD.step", ACTIVITY_ANNOTATION, NULL, 400000);
            run(&program, "aten::_fused_sgd_", "f32[64,64]", 300000);
            program.now += is_long ? 60000000 : 40000000;
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "long-pause") - (is_long ? 59.85e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Four matrices are drawn, 1 ms each, 2 ms pass over a file, four are copied in, 0.5 ms each: 8 ms
 * before the first product takes one. A product that takes another matrix shows no model. */
TEST(a_model_in_the_step)
{
    for (int is_used = 0; is_used < 2; is_used++) {
        struct program program;

        (void)state;
        start(&program);
        run(&program, "aten::add", "f32[8,64]", 1000000);
        for (int i = 0; i < 4; i++)
            run(&program, "aten::normal_", "f32[64,64]", 1000000);
        program.now += 2000000;
        for (int i = 0; i < 4; i++)
            run(&program, "aten::copy_", "f32[64,64] f32[64,64]", 500000);
        run(&program, "aten::linear", is_used ? "f32[8,64] f32[64,64]" : "f32[8,64] f32[96,64]",
            5000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "model-built") - (is_used ? 8e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Two layers are copied, quantised and packed, 1 + 1 + 2 ms each, before the first product: 8 ms. A
 * model that takes quantised inputs packs nothing. */
TEST(a_model_that_is_quantised)
{
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        struct program program;

        (void)state;
        start(&program);
        for (int layer = 0; layer < 2; layer++)
            run(&program, "aten::clone", "f32[64,64]", 1000000);
        for (int layer = 0; layer < 2; layer++) {
            run(&program, "aten::quantize_per_tensor", "f32[64,64]", 1000000);
            run(&program, is_packed ? "quantized::linear_prepack" : "aten::add", "f32[64,64]",
                2000000);
        }
        run(&program, "quantized::linear_dynamic", "f32[8,64]", 500000);
        run(&program, "aten::argmax", "f32[8,64]", 500000);
        finish(&program);
        assert_true(fabs(claimed(&program, "model-built") - (is_packed ? 8e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Without shapes: eight tensors are drawn, 1 ms each, and a product follows. Eight single numbers
 * are no model, nor are four tensors of noise. */
TEST(a_model_without_shapes)
{
    static const struct {
        int     draws;
        int64_t ns;
        double  claimed_ns;
    } ways[] = { { 8, 1000000, 8e6 }, { 8, 5000, 0 }, { 4, 1000000, 0 } };

    for (size_t way = 0; way < ARRAY_COUNT(ways); way++) {
        struct program program;

        start(&program);
        program.b.profile.has_shapes = false;
        run(&program, "aten::add", "", 1000000);
        for (int i = 0; i < ways[way].draws; i++)
            run(&program, "aten::uniform_", "", ways[way].ns);
        run(&program, "aten::linear", "", 5000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "model-built") - ways[way].claimed_ns) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* In two steps of three nothing runs for 60 ms before 20 ms of waiting for worker processes: 160 ms
 * in three steps. A pause of 30 ms does not start any. A sampler may draw an order between the two;
 * behind a product the wait is for something else. */
TEST(workers_that_are_started_again)
{
    static const struct {
        const char *between;
        bool        is_start;
    } ways[] = {
        { NULL, false }, { NULL, true }, { "aten::randperm", true }, { "aten::mm", false }
    };

    for (size_t way = 0; way < ARRAY_COUNT(ways); way++) {
        struct program program;
        bool           is_start = ways[way].is_start;

        (void)state;
        start(&program);
        for (int step = 0; step < 3; step++) {
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
            if (step != 1) {
                program.now += is_start || ways[way].between ? 60000000 : 30000000;
                if (ways[way].between)
                    run(&program, ways[way].between, "i64[384]", 100000);
                slice(&program, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                      ACTIVITY_INPUT_WAIT, NULL, 20000000);
                program.now += 20000000;
            }
            run(&program, "aten::linear", "f32[8,64] f32[64,64]", 3000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "worker-start") - (is_start ? 160e6 / 3 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Eight tensors are made with four ops of 10 us and pauses of 5 us each, and stacked: of 8 * 60 us,
 * 7/8, with shapes or without. Where each is multiplied too, they are a network's layers, or its
 * rounds; but not in a step that trains others alone, where they are 8 * 70 us: unless a dense
 * layer multiplies them, as that of a policy which is asked before it is trained. */
TEST(tensors_that_are_made_one_by_one)
{
    enum { PLAIN, NETWORK, PREPARED, ASKED, WAYS };
    static const double expected[WAYS] = { 420e3, 0, 490e3, 0 };

    for (int run_of = 0; run_of < 2 * WAYS; run_of++) {
        int            way = run_of % WAYS;
        bool           has_shapes = run_of < WAYS;
        struct program program;

        start(&program);
        program.b.profile.has_shapes = has_shapes;
        for (int i = 0; i < 8; i++) {
            static const char *const types[] = { "aten::select", "aten::mul", "aten::add",
                                                 "aten::flip" };

            for (int op = 0; op < 4; op++) {
                run(&program, types[op], !has_shapes ? "" : op ? "f32[9]" : "f32[64,9]", 10000);
                program.now += 5000;
            }
            if (way != PLAIN)
                run(&program, way == PREPARED ? "aten::matmul" : "aten::linear",
                    has_shapes ? "f32[9] f32[9,9]" : "", 10000);
        }
        run(&program, "aten::stack",
            has_shapes ? "f32[9] f32[9] f32[9] f32[9] f32[9] f32[9] f32[9] f32[9]" : "", 10000);
        if (way == PREPARED || way == ASKED)
            trained(&program, has_shapes ? "f32[8,9] f32[64,9]" : "", 3000000);
        else
            run(&program, "aten::linear", has_shapes ? "f32[8,9] f32[64,9]" : "", 3000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "gathered-items") - expected[way]) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* The same with three ops of 10 us each, two of which have a node of 10 us in the backward pass: of
 * 8 * 30 us and 8 * 20 us, 7/8. The 3 ms of the layer's node behind the stack are none of theirs.
 */
TEST(tensors_made_one_by_one_are_trained)
{
    enum { ITEMS = 8, NODES = 2 * ITEMS };
    uint32_t       forward[NODES];
    struct program program;

    start(&program);
    for (int i = 0; i < ITEMS; i++) {
        run(&program, "aten::select", "f32[64,9]", 10000);
        forward[2 * i] = run(&program, "aten::mul", "f32[9]", 10000);
        forward[2 * i + 1] = run(&program, "aten::add", "f32[9]", 10000);
    }
    run(&program, "aten::stack", "f32[9] f32[9] f32[9] f32[9] f32[9] f32[9] f32[9] f32[9]", 10000);
    run(&program, "aten::linear", "f32[8,9] f32[64,9]", 1000000);
    node(&program, "aten::mm", "f32[8,64] f32[64,9]", 3000000);
    for (int i = NODES; i-- > 0;) {
        builder_flow(&program.b, forward[i],
                     slice(&program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR,
                           NULL, 10000),
                     FLOW_FORWARD_BACKWARD);
        run(&program, "aten::mul", "f32[9]", 10000);
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "gathered-items") - 350e3) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* Eight clips, each padded and multiplied in 10 us a piece, and for each a filter is made of two
 * counts, in ops of 1 ms: once is enough for those however large, 7/8 * 8 * (4 + 0.02) ms. */
TEST(filters_made_for_each_item)
{
    struct program program;

    start(&program);
    for (int i = 0; i < 8; i++) {
        run(&program, "aten::arange", "", 1000000);
        run(&program, "aten::div", "f32[40]", 1000000);
        run(&program, "aten::mul", "f32[40]", 1000000);
        run(&program, "aten::cos", "f32[40]", 1000000);
        run(&program, "aten::pad", "f32[900]", 10000);
        run(&program, "aten::mul", "f32[910]", 10000);
    }
    run(&program, "aten::stack", "f32[9] f32[9] f32[9] f32[9] f32[9] f32[9] f32[9] f32[9]", 10000);
    finish(&program);
    assert_true(fabs(claimed(&program, "gathered-items") - 28.14e6) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* Eight rows through two products of 20 us and two small ops of 2 us, 31 pauses of 10 us between
 * them. Of a product 2 * 64 * 64 operations are needed, 819.2 ns at 10 a ns: 19.1808 us each are
 * too much, and the rest is all but an eighth: 7/8 * (16 * 19.1808 + 16 * 2 + 31 * 10) = 567.781
 * us. Not where the next row can be made of the last one's result, nor where a row is a batch. */
TEST(rows_one_by_one)
{
    enum { APART, FED_BACK, BATCHED, CASES };

    for (int way = APART; way < CASES; way++) {
        const char    *rows = way == BATCHED ? "f32[32,64] f32[64,64]" : "f32[1,64] f32[64,64]";
        struct program program;

        start(&program);
        for (int row = 0; row < 8; row++) {
            if (row)
                program.now += 10000;
            run(&program, "aten::sub", "f32[1,9]", 2000);
            program.now += 10000;
            run(&program, "aten::linear", rows, 20000);
            program.now += 10000;
            run(&program, "aten::linear", rows, 20000);
            program.now += 10000;
            run(&program, "aten::add", way == FED_BACK ? "f32[1,64]" : "f32[1,9]", 2000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "single-items") - (way == APART ? 567781 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Without shapes: eight texts, each looked up, and through three layers of two products and a
 * normalisation, ten ops of 10 us with pauses of 10 us between all: 7/8 * (80 + 79) * 10 us. Not
 * where each makes the next word. */
TEST(texts_one_by_one_without_shapes)
{
    static const char *const types[] = { "aten::linear", "aten::linear", "aten::layer_norm" };

    for (int is_generation = 0; is_generation < 2; is_generation++) {
        struct program program;

        start(&program);
        program.b.profile.has_shapes = false;
        for (int text = 0; text < 8; text++) {
            program.now += text ? 10000 : 0;
            run(&program, "aten::embedding", "", 10000);
            for (int op = 0; op < 9; op++) {
                program.now += 10000;
                run(&program, types[op % 3], "", 10000);
            }
            if (is_generation)
                run(&program, "aten::argmax", "", 10000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "single-items") - (is_generation ? 0 : 1590e3 * 7 / 8)) <
                    1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Eight pictures one by one through two convolutions of 40 and 70 us. At ten operations a
 * nanosecond 2 x 144 x 1152 take 33177.6 ns, and 2 x 144 x 2304 twice that: the rest is no
 * computing. Of it, and of two activations of 5 us, one in eight is needed. Where an op of 2 us
 * behind every other picture can make the next one, two at a time could be one, and half of it all
 * is needed, of the op between them, too. */
TEST(pictures_one_by_one)
{
    for (int are_pairs = 0; are_pairs < 2; are_pairs++) {
        double         rest = 40000 - 33177.6 + 70000 - 66355.2 + 10000;
        struct program program;

        start(&program);
        for (int picture = 0; picture < 8; picture++) {
            run(&program, "aten::conv2d", "f32[1,8,12,12] f32[16,8,3,3]", 40000);
            run(&program, "aten::relu", "f32[1,16,12,12]", 5000);
            run(&program, "aten::conv2d", "f32[1,16,12,12] f32[16,16,3,3]", 70000);
            run(&program, "aten::relu", "f32[1,16,12,12]", 5000);
            if (are_pairs && picture % 2)
                run(&program, "aten::add", "f32[1,8,12,12] f32[1,8,12,12]", 2000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "single-items") -
                         (are_pairs ? 8 * rest / 2 + 3 * 2000 / 2 : 7 * rest)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Fifteen ops of three kinds, 10 us each, with pauses of 5.2 ms between: 14 waits for the lock of
 * Python's interpreter, 72.8 ms. Not where pauses are of all lengths from 3 to 6.9 ms, nor where
 * all are behind one kind of op, as where that sleeps. */
TEST(waits_for_the_interpreter)
{
    static const char *const types[] = { "aten::mul", "aten::add", "aten::cat" };
    enum { LOCK, LENGTHS, SLEEP, WAYS };

    for (int way = LOCK; way < WAYS; way++) {
        struct program program;

        start(&program);
        for (int op = 0; op < 15; op++) {
            if (op)
                program.now += way == LENGTHS ? 3000000 + 300000 * (op - 1) : 5200000;
            run(&program, types[way == SLEEP ? 0 : op % 3], "f32[9]", 10000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "lock-waits") - (way == LOCK ? 14 * 5.2e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Four parts of one update, each forward and back: of small ones what they start is too much, of
 * large ones nearly nothing. Where a part changes the input that the next one begins with, they are
 * no parts; nor where none hands a gradient to a weight, as the steps of a flow do not, where each
 * goes back through those before it, too, where an optimizer asks its closure again with weights
 * that it has changed, or where, as far as is seen without shapes, a pass has a gradient for one
 * tensor alone. */
TEST(small_parts_of_an_update)
{
    enum { SMALL, LARGE, IN_TURN, FLOW, CHAINED, CLOSURE, ATTACK, WEIGHTS, CASES };

    for (int way = SMALL; way < CASES; way++) {
        int64_t        ns = way == LARGE ? 1000000 : 10000;
        struct program program;

        start(&program);
        program.b.profile.has_shapes = way < ATTACK;
        if (way == CLOSURE)
            slice(&program, "Optimizer.step#LBFGS.step", ACTIVITY_ANNOTATION, NULL, 160000);
        for (int part = 0; part < 4; part++) {
            run(&program, "aten::linear", "f32[4,64] f32[64,64]", ns);
            run(&program, "aten::linear", "f32[4,64] f32[9,64]", ns);
            for (int back = 0; back < (way == CHAINED ? part + 1 : 1); back++)
                node(&program, "aten::mm", "f32[9,4] f32[4,64]", ns);
            if (way == IN_TURN)
                run(&program, "aten::add_", "f32[4,64]", 2000);
            for (int i = 0; i < (way == FLOW ? 0 : way == WEIGHTS ? 2 : 1); i++)
                node(&program, "torch::autograd::AccumulateGrad", "f32[9,64]", 10000);
        }
        run(&program, "aten::_fused_adamw_", "f32[64,64] f32[9,64]", 30000);
        finish(&program);
        /* 16 ops of 10 us in all but one of four parts; with gradients for two weights 20, seen as
         * two rounds of two parts. */
        assert_true(fabs(claimed(&program, "single-items") - (way == SMALL     ? 120e3
                                                              : way == WEIGHTS ? 100e3
                                                                               : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Five heads of two linear layers and a softmax, and five gradients: of 20 us each they start 5 x 4
 * times, 4/5 of which is too much where starting costs 2 us: 6 x 2 us of each. A state that the
 * next round multiplies is no part, nor is one that it takes before that, with an axis more; where
 * there are fewer gradients of a weight than parts, they share it, and are of one batch; not where
 * a recurrent layer takes one step in each, as a decoder that asks attention. */
TEST(parts_side_by_side)
{
    enum { HEADS, RECURRENT, SIMULATION, FRAMES, DECODER, CASES };

    for (int way = HEADS; way < CASES; way++) {
        const char    *rows = way == RECURRENT ? "f32[32,16] f32[16,16]" : "f32[32,64] f32[16,64]";
        uint32_t       tag = 0;
        struct program program;

        start(&program);
        for (int i = 0; i < 5; i++)
            run(&program, "aten::relu", "f32[9,9]", 2000);
        for (int part = 0; part < 5; part++) {
            uint32_t first;

            if (way == SIMULATION)
                run(&program, "aten::mul", "f32[32,1,16] f32[64]", 20000);
            first = run(&program, "aten::linear", rows, 20000);
            tag = part ? tag : first;
            if (way == DECODER)
                run(&program, "aten::gru", "f32[32,1,16] f32[1,32,64] f32[192,16]", 20000);
            run(&program, "aten::linear", "f32[32,64] f32[8,64]", 20000);
            run(&program, "aten::softmax", "f32[32,16]", 20000);
        }
        run(&program, "aten::cat", "f32[32,16] f32[32,16] f32[32,16] f32[32,16] f32[32,16]", 2000);
        for (int part = 0; part < 5; part++)
            node(&program, "aten::mm", "f32[16,32] f32[32,64]", 20000);
        if (way == FRAMES || way == DECODER)
            builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
        finish(&program);
        assert_true(fabs(claimed(&program, "side-by-side") -
                         (way == HEADS ? 4.0 / 5 * 20 * 12000 : 0)) < 1);
        assert_true(fabs(claimed(&program, "single-items") -
                         (way == FRAMES ? 4.0 / 5 * 20 * 12000 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Three steps of six layers with pauses of 10 us. One pause of each step takes 5 ms: behind the
 * same layer it is the program's, behind another one each time it is chance. */
TEST(pauses_at_places)
{
    for (int is_chance = 0; is_chance < 2; is_chance++) {
        struct program program;

        (void)state;
        start(&program);
        for (int step = 0; step < 3; step++) {
            for (int layer = 0; layer < 6; layer++) {
                run(&program, "aten::linear", "f32[8,64] f32[64,64]", 1000000);
                program.now += layer == 2 + step * is_chance ? 5000000 : 10000;
                run(&program, "aten::relu", "f32[8,64]", 1000000);
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "long-pause") - (is_chance ? 0 : 5e6)) < 1);
        builder_free(&program.b);
    }
}

/* A pause of 4 ms in the only step may be chance; frames of Python tell that it is the program's.
 */
TEST(a_pause_in_the_only_step)
{
    for (int has_frames = 0; has_frames < 2; has_frames++) {
        struct program      program;
        const struct table *table;

        start(&program);
        program.b.profile.has_python_frames = has_frames;
        for (int i = 0; i < 20; i++) {
            run(&program, i == 10 ? "aten::mul" : "aten::add", "f32[8,64]", 20000);
            program.now += i == 10 ? 4000000 : 5000;
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "long-pause") - 4e6) < 1);
        table = facts_find_table(&program.b.study.facts, "excess");
        assert_string_equal(intern_str(program.b.study.facts.names,
                                       (uint32_t)table->columns[table_column(table, "grade")][0])
                                .data,
                            has_frames ? "B" : "C");
        builder_free(&program.b);
    }
}

/* An array is rolled (100 us), multiplied with another (100 us) and summed (50 us) sixteen times:
 * 4 ms, of which transforms take 3 log2(16) of 4 x 16 passes, so that 13 of 16 parts go. Not of
 * fewer shifts, and not where products are of other arrays. */
TEST(a_correlation_shift_by_shift)
{
    enum { ALL, FEWER, OTHER };

    for (int way = ALL; way <= OTHER; way++) {
        struct program program;

        (void)state;
        start(&program);
        for (int i = 0; i < (way == FEWER ? 15 : 16); i++) {
            run(&program, "aten::roll", "f32[8,64,32]", 100000);
            run(&program, "aten::mul",
                way == OTHER ? "f32[8,64,32] f32[32]" : "f32[8,64,32] f32[8,64,32]", 100000);
            run(&program, "aten::mean", "f32[8,64,32]", 50000);
        }
        run(&program, "aten::stack", "f32[8,64] f32[8,64]", 10000);
        finish(&program);
        assert_true(fabs(claimed(&program, "shifted-rounds") - (way == ALL ? 3.25e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* A function of the program's own makes a batch before the computation: a call of 1 ms beside a
 * hundred of 50 us, which are what it is for; and beside ten, which are less. */
TEST(many_short_calls_beside_a_long_one)
{
    for (int few = 0; few < 2; few++) {
        struct program      program;
        struct source_line  line = { .line = 9, .caller = NO_ID };
        const struct table *cells;
        uint32_t            own;
        int                 calls = few ? 10 : 100;

        start(&program);
        program.b.profile.framework = builder_name(&program.b, "jax");
        program.b.profile.has_python_frames = true;
        line.file = builder_name(&program.b, "/home/u/train.py");
        assert_true(vec_push(&program.b.profile.sources, &program.b.arena, line));
        own = activity_of(&program, "$train.py:9 made", ACTIVITY_PYTHON, NULL);
        program.b.profile.activities.items[own].source = 0;
        slice(&program, "$train.py:9 made", ACTIVITY_PYTHON, NULL, 1000000 + calls * 50000);
        for (int i = 0; i < calls; i++) {
            slice(&program, "$_lil.py:2 __setitem__", ACTIVITY_PYTHON, NULL, 50000);
            program.now += 50000;
        }
        slice(&program, "$_coo.py:8 toarray", ACTIVITY_PYTHON, NULL, 1000000);
        program.now += 1000000;
        run(&program, "dot", "f32[64,64] f32[64,64]", 2000000);
        finish(&program);
        cells = facts_find_table(&program.b.study.facts, "excess");
        assert_true(fabs(claimed(&program, "own-python") - (1e6 + calls * 5e4)) < 1);
        assert_true(
            str_contains(intern_str(program.b.study.facts.names,
                                    (uint32_t)cells->columns[table_column(cells, "region")][0]),
                         few ? STR("_coo.py:8 toarray") : STR("_lil.py:2 __setitem__")));
        builder_free(&program.b);
    }
}
