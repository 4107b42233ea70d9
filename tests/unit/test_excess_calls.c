/* Networks that are called again and again, told by the names of ops. */
#include "excess_program.h"

/* Ops of 5 us start in that time; of one of 100 us the rest above six starts is work. */
static void ops(struct program *program, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        run(program, names[i], "f32[8,8]",
            strstr(names[i], "linear") || strstr(names[i], "attention") ? 100000 : 5000);
}

static void begin(struct program *program)
{
    start(program);
    program->b.profile.has_shapes = false;
}

/* Of each of two requests: five calls, four of which a batch would spare: of 4 small ops of 5 us
 * four fifths, of 3 products of 100 us four fifths of (1 + 30 / 100) / 2. */
TEST(a_network_for_each_item)
{
    static const char *const call[] = { "aten::linear", "aten::relu",
                                        "aten::linear", "aten::relu",
                                        "aten::linear", "aten::argmax",
                                        "aten::item",   NULL };
    struct program           program;

    begin(&program);
    for (int request = 0; request < 2; request++) {
        for (int i = 0; i < 5; i++)
            ops(&program, call);
        run(&program, "aten::sum", "f32[8,8]", 5000);
        run(&program, "aten::exp", "f32[8,8]", 5000);
    }
    finish(&program);
    assert_true(
        fabs(claimed(&program, "called-again") - 2 * 5 * 0.8 * (4 * 5000 + 3 * 100000 * 0.65)) < 1);
    assert_sums(&program);
    builder_free(&program.b);
}

/* What comes out is added to what the next call takes; or the rounds are the layers of a network;
 * or what is drawn may decide what comes; or they are all that a recording without steps holds. */
TEST(calls_that_stay)
{
    static const char *const solver[] = {
        "aten::lift_fresh", "aten::linear", "aten::tanh", "aten::linear",
        "aten::mul",        "aten::add",    NULL
    };
    static const char *const layer[] = {
        "aten::layer_norm", "aten::linear",  "aten::gelu", "aten::linear",
        "aten::add",        "aten::dropout", NULL
    };
    static const char *const drawn[] = {
        "aten::linear", "aten::tanh", "aten::linear", "aten::softmax", "aten::multinomial",
        "aten::item",   NULL
    };
    static const char *const item[] = {
        "aten::linear", "aten::relu", "aten::linear", "aten::relu", "aten::argmax",
        "aten::item",   NULL
    };
    const char *const *const rounds[] = { solver, layer, drawn, item };

    for (size_t kind = 0; kind < 4; kind++) {
        struct program program;

        begin(&program);
        for (int i = 0; i < 8; i++)
            ops(&program, rounds[kind]);
        if (kind == 3)
            program.b.study.steps.source = STEPS_WHOLE_TRACE;
        finish(&program);
        assert_true(claimed(&program, "called-again") == 0);
        builder_free(&program.b);
    }
}

/* Sums of classes are no state that a call hands to the next. */
TEST(views_of_a_picture)
{
    static const char *const view[] = { "aten::linear",  "aten::relu", "aten::linear", "aten::relu",
                                        "aten::softmax", "aten::add",  "aten::item",   NULL };
    struct program           program;

    begin(&program);
    for (int i = 0; i < 4; i++)
        ops(&program, view);
    run(&program, "aten::sum", "f32[8,8]", 5000);
    finish(&program);
    assert_true(
        fabs(claimed(&program, "called-again") - 4 * 0.75 * (5 * 5000 + 2 * 100000 * 0.65)) < 1);
    builder_free(&program.b);
}

/* Sixteen calls for the parts of an array, whose results are joined: of seven ops each, and of the
 * slice where each cuts its part, a start of 5 us, once for all. Layers of a network are not split
 * and joined, nor is each part of one. */
TEST(parts_of_an_array)
{
    static const char *const call[] = { "aten::linear", "aten::relu", "aten::linear", "aten::relu",
                                        "aten::linear", "aten::relu", "aten::linear", NULL };
    enum { PARTS, SLICES, LAYERS, OWN_PARTS, WAYS };

    for (int way = PARTS; way < WAYS; way++) {
        int            claimed_ops = way == PARTS ? 7 : way == SLICES ? 8 : 0;
        struct program program;

        begin(&program);
        if (way == PARTS)
            run(&program, "aten::split", NULL, 5000);
        for (int i = 0; i < 16; i++) {
            if (way == SLICES || way == OWN_PARTS)
                run(&program, way == SLICES ? "aten::slice" : "aten::split", "f32[128,8]", 5000);
            for (size_t op = 0; call[op]; op++)
                run(&program, call[op], "f32[8,8]", op % 2 ? 5000 : 20000);
        }
        if (way != LAYERS)
            run(&program, "aten::cat", NULL, 5000);
        finish(&program);
        assert_true(fabs(claimed(&program, "called-again") - 16 * claimed_ops * 5000 * 15.0 / 16) <
                    1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Eight windows of a picture go through four convolutions and are added to their places: seven
 * eighths of ten small ops each. Layers that keep what they computed in a place multiply next. */
TEST(windows_of_a_picture)
{
    static const char *const window[] = {
        "aten::slice", "aten::conv2d", "aten::relu",  "aten::conv2d", "aten::relu", "aten::conv2d",
        "aten::relu",  "aten::conv2d", "aten::slice", "aten::add_",   NULL
    };
    static const char *const layer[] = {
        "aten::slice", "aten::linear", "aten::relu",  "aten::linear", "aten::relu", "aten::linear",
        "aten::relu",  "aten::linear", "aten::slice", "aten::add_",   NULL
    };

    for (int is_layer = 0; is_layer < 2; is_layer++) {
        struct program program;

        begin(&program);
        for (int i = 0; i < 8; i++)
            ops(&program, is_layer ? layer : window);
        run(&program, "aten::sum", "f32[8,8]", 5000);
        finish(&program);
        assert_true(
            fabs(claimed(&program, "called-again") - (is_layer ? 0 : 8 * 10 * 5000 * 7.0 / 8)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Four rounds behind the first, each with 3 products and 2 attentions of 100 us, of which a start
 * of 30 us stays. Where keys and values are joined to those before, nothing runs again. A row that
 * is picked of what an encoder gives, for other layers, is no word. */
TEST(words_without_a_cache)
{
    static const char *const word[] = { "aten::embedding",
                                        "aten::linear",
                                        "aten::scaled_dot_product_attention",
                                        "aten::linear",
                                        "aten::scaled_dot_product_attention",
                                        "aten::linear",
                                        "aten::argmax",
                                        "aten::cat",
                                        NULL };
    static const char *const cached[] = { "aten::embedding",
                                          "aten::linear",
                                          "aten::cat",
                                          "aten::cat",
                                          "aten::scaled_dot_product_attention",
                                          "aten::linear",
                                          "aten::cat",
                                          "aten::cat",
                                          "aten::scaled_dot_product_attention",
                                          "aten::linear",
                                          "aten::argmax",
                                          "aten::cat",
                                          NULL };

    static const char *const pooled[] = { "aten::embedding",
                                          "aten::linear",
                                          "aten::scaled_dot_product_attention",
                                          "aten::linear",
                                          "aten::scaled_dot_product_attention",
                                          "aten::argmax",
                                          "aten::cat",
                                          "aten::linear",
                                          NULL };
    const char *const *const rounds[] = { word, cached, pooled };

    for (size_t way = 0; way < ARRAY_COUNT(rounds); way++) {
        struct program program;

        begin(&program);
        for (int i = 0; i < 5; i++)
            ops(&program, rounds[way]);
        finish(&program);
        assert_true(fabs(claimed(&program, "growing-prefix") -
                         (way == 0 ? 4 * 5 * (100000 - 30000) : 0)) < 1);
        assert_true(way == 2 || claimed(&program, "called-again") == 0);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* The same rounds without a cache, each of a request of its own: numbers are drawn, or texts of
 * other lengths put together, before the next lookup. */
TEST(words_of_other_texts)
{
    static const char *const brought[] = { "aten::pad_sequence", "aten::randint" };

    for (size_t way = 0; way < ARRAY_COUNT(brought); way++) {
        const char *const round[] = { brought[way],   "aten::embedding",
                                      "aten::linear", "aten::scaled_dot_product_attention",
                                      "aten::linear", "aten::scaled_dot_product_attention",
                                      "aten::linear", "aten::argmax",
                                      "aten::cat",    NULL };
        struct program    program;

        begin(&program);
        for (int i = 0; i < 5; i++)
            ops(&program, round);
        finish(&program);
        assert_true(claimed(&program, "growing-prefix") == 0);
        builder_free(&program.b);
    }
}

/* A sampler of five rounds: a convolution of 1 ms and an activation of 0.5 ms on a hint that no
 * round makes, then layers on the state, which sums at the end of the round make. Four times 1.5 ms
 * are again. Not where a round makes a tensor as large as the hint, and not where nothing makes the
 * state: each round may have its own batch. */
TEST(a_hint_in_each_round)
{
    enum { AGAIN, MADE, BATCHES };

    for (int way = AGAIN; way <= BATCHES; way++) {
        const char    *sums = way == BATCHES ? "f32[2,4]" : "f32[2,4,8,8]";
        struct program program;

        start(&program);
        for (int round = 0; round < 5; round++) {
            run(&program, "aten::conv2d", "f32[2,3,32,32] f32[8,3,3,3]", 1000000);
            run(&program, "aten::silu", "f32[2,8,32,32]", 500000);
            run(&program, "aten::conv2d", "f32[2,4,8,8] f32[4,4,3,3]", 1000000);
            run(&program, "aten::silu", "f32[2,4,8,8]", 500000);
            run(&program, "aten::mul", sums, 100000);
            run(&program, "aten::add", way == MADE ? "f32[2,3,32,32]" : sums, 100000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "same-input") - (way == AGAIN ? 4 * 1.5e6 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Five samples of dropout over one input: four times three products of 100 us and two ops of 5 us,
 * 310 us in front of the draw. Nothing is said where the dropout is off, or rows are cut out. */
TEST(samples_of_one_input)
{
    static const char *const body[] = { "aten::linear", "aten::relu",   "aten::linear",
                                        "aten::relu",   "aten::linear", NULL };
    static const char *const head[] = { "aten::linear", "aten::softmax", NULL };

    for (int way = 0; way < 3; way++) {
        struct program program;

        begin(&program);
        for (int i = 0; i < 5; i++) {
            if (way == 2)
                run(&program, "aten::select", "f32[8,8]", 5000);
            ops(&program, body);
            slice(&program, "aten::dropout", ACTIVITY_OP, "f32[8,8]", 5000);
            if (way != 1)
                slice(&program, "aten::bernoulli_", ACTIVITY_OP, "f32[8,8]", 3000);
            program.now += 5000;
            ops(&program, head);
        }
        run(&program, "aten::sum", "f32[8,8]", 5000);
        finish(&program);
        assert_true(fabs(claimed(&program, "same-input") - (way ? 0 : 4 * 310000)) < 1);
        builder_free(&program.b);
    }
}

/* Five words: four times two convolutions of 100 us and an activation of 5 us between a pick and
 * the look-up of it. A product there may be of the state that the words before left. */
TEST(a_picture_for_each_word)
{
    static const char *const words[] = { "aten::embedding", "aten::cat",    "aten::gru_cell",
                                         "aten::linear",    "aten::argmax", NULL };

    for (int is_state = 0; is_state < 2; is_state++) {
        const char    *tower = is_state ? "aten::matmul" : "aten::conv2d";
        struct program program;

        begin(&program);
        for (int i = 0; i < 5; i++) {
            run(&program, tower, "f32[8,8]", 100000);
            run(&program, "aten::relu", "f32[8,8]", 5000);
            run(&program, tower, "f32[8,8]", 100000);
            ops(&program, words);
        }
        run(&program, "aten::stack", "f32[8,8]", 5000);
        finish(&program);
        assert_true(fabs(claimed(&program, "same-input") - (is_state ? 0 : 4 * 205000)) < 1);
        builder_free(&program.b);
    }
}

/* Keys and values, made of 10 us of zeros each, get 16 rows and then three times one: 19 of 256. Of
 * making them and of three times 20 us of attention over all of them, 237 of 256 parts are too
 * much; not where nothing tells that the cache was empty, or with room for 64. */
TEST(a_cache_with_too_much_room)
{
    enum { LARGE, KEPT, SMALL, CASES };

    for (int way = LARGE; way < CASES; way++) {
        const char    *prompt = way == SMALL ? "f32[1,2,64,8] i64[16] f32[1,2,16,8]"
                                             : "f32[1,2,256,8] i64[16] f32[1,2,16,8]";
        const char    *word = way == SMALL ? "f32[1,2,64,8] i64[1] f32[1,2,1,8]"
                                           : "f32[1,2,256,8] i64[1] f32[1,2,1,8]";
        const char    *over = way == SMALL ? "f32[1,2,1,8] f32[1,2,64,8] f32[1,2,64,8]"
                                           : "f32[1,2,1,8] f32[1,2,256,8] f32[1,2,256,8]";
        struct program program;

        start(&program);
        for (int i = 0; i < 2 && way != KEPT; i++)
            run(&program, "aten::zeros", "", 10000);
        for (int i = 0; i < 2; i++)
            run(&program, "aten::index_copy_", prompt, 2000);
        run(&program, "aten::scaled_dot_product_attention",
            "f32[1,2,16,8] f32[1,2,16,8] f32[1,2,16,8]", 30000);
        for (int token = 0; token < 3; token++) {
            for (int i = 0; i < 2; i++)
                run(&program, "aten::index_copy_", word, 2000);
            run(&program, "aten::scaled_dot_product_attention", over, 20000);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "unfilled-cache") -
                         (way == LARGE ? 80000 * 237.0 / 256 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Eight rows go through two products of 10 us each, with pauses of 10 us: of 8 * 40 - 10 us, 7/8.
 * An accelerator that works for 4 us of each round is held up by the host. */
TEST(rows_that_an_accelerator_waits_for)
{
    struct program program;
    uint32_t       stream;

    (void)state;
    start(&program);
    stream = builder_timeline(
        &program.b, program.host,
        builder_device(&program.b, program.host, "GPU 0", "NVIDIA A100", DEVICE_GPU), "stream 7");
    run(&program, "aten::zeros", "f32[8]", 10000);
    for (int row = 0; row < 8; row++) {
        uint32_t launch = slice(&program, "cudaLaunchKernel", ACTIVITY_LAUNCH, NULL, 2000);

        builder_flow(
            &program.b, launch,
            builder_slice(&program.b, stream, "gemm", ACTIVITY_KERNEL, program.now + 4000, 4000),
            FLOW_LAUNCH);
        run(&program, "aten::linear", "f32[1,64] f32[64,64]", 10000);
        program.now += 10000;
        run(&program, "aten::linear", "f32[1,64] f32[8,64]", 10000);
        program.now += row < 7 ? 10000 : 0;
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "single-items") - 310e3 * 7 / 8) < 1);
    builder_free(&program.b);
}

/* The same products, launched ahead: an accelerator works 15 us for each, one behind the other. Ops
 * stand for that time: of 8 * 2 * 15 us, 7/8. What the host does meanwhile is hidden. */
TEST(rows_that_an_accelerator_computes)
{
    struct program program;
    uint32_t       stream;
    int64_t        busy_ns = 4000;

    (void)state;
    start(&program);
    stream = builder_timeline(
        &program.b, program.host,
        builder_device(&program.b, program.host, "GPU 0", "NVIDIA A100", DEVICE_GPU), "stream 7");
    for (int row = 0; row < 16; row++) {
        uint32_t launch = slice(&program, "cudaLaunchKernel", ACTIVITY_LAUNCH, NULL, 2000);

        builder_flow(&program.b, launch,
                     builder_slice(&program.b, stream, "gemm", ACTIVITY_KERNEL, busy_ns, 15000),
                     FLOW_LAUNCH);
        busy_ns += 15000;
        run(&program, "aten::linear", row % 2 ? "f32[1,64] f32[8,64]" : "f32[1,64] f32[64,64]",
            3000);
    }
    program.now = busy_ns;
    finish(&program);
    assert_true(fabs(claimed(&program, "single-items") - 240e3 * 7 / 8) < 1);
    builder_free(&program.b);
}

/* Eight rows one by one, with 2 ms of Python behind each: what one call for all would spare of the
 * pauses, 7/8 of 0.3 ms, leaves most of them to Python, which they are then edited with. */
TEST(rows_with_much_python_between)
{
    struct program program;
    double         kept = 7.0 / 8 * 0.15; /* share of a pause that one call spares */

    (void)state;
    start(&program);
    for (int row = 0; row < 8; row++) {
        run(&program, "aten::linear", "f32[1,64] f32[64,64]", 10000);
        program.now += 10000;
        run(&program, "aten::linear", "f32[1,64] f32[8,64]", 10000);
        program.now += row < 7 ? 2000000 : 0;
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "long-pause") - 7 * 2e6 * (1 - kept)) < 1);
    assert_true(claimed(&program, "single-items") > 7 * 2e6 * kept);
    assert_true(fabs(builder_cell(&program.b, "excess", "flaw", "long-pause", "factor") - kept) <
                1e-6);
    /* Ops and short pauses alone: nothing of them is work. */
    assert_true(fabs(builder_cell(&program.b, "excess", "flaw", "single-items", "factor") -
                     1.0 / 8) < 1e-6);
    assert_sums(&program);
    builder_free(&program.b);
}

enum { MOVES = 10 };
enum played { WITH, WITHOUT, CHOSEN, PLAYED };

/* A step of an episode: its moves, and what is derived from them. */
static void play(struct program *program, enum played way)
{
    uint32_t forward[3 * MOVES], count = 0;

    for (int move = 0; move < MOVES; move++) {
        run(program, "aten::lift_fresh", "f32[24]", 1000);
        forward[count++] = run(program, "aten::linear", "f32[1,24] f32[64,24]", 10000);
        forward[count++] = run(program, "aten::linear", "f32[1,64] f32[5,64]", 10000);
        run(program, way == CHOSEN ? "aten::abs" : "aten::multinomial", "f32[1,5]", 10000);
        forward[count++] = run(program, "aten::log", "f32[1]", 10000);
        run(program, "aten::item", "f32[1]", 1000);
    }
    if (way == WITHOUT) {
        count = 0;
        forward[count++] = run(program, "aten::linear", "f32[10,24] f32[64,24]", 10000);
        forward[count++] = run(program, "aten::linear", "f32[10,64] f32[5,64]", 10000);
    }
    run(program, "aten::ones_like", "f32[]", 1000);
    while (count-- > 0) {
        uint32_t tag = slice(program, "autograd::engine::evaluate_function: X", ACTIVITY_EXECUTOR,
                             NULL, 10000);

        builder_flow(&program->b, forward[count], tag, FLOW_FORWARD_BACKWARD);
        run(program, "aten::mm", "f32[1,64] f32[64,64]", 10000);
    }
    end_step(program);
}

/* Ten moves, each of two layers that a way back leads through, a draw and the logarithm of what was
 * drawn, and then a backward pass of a node for each of them: nine tenths of the nodes and of the
 * logarithms would go if one pass over all states were derived. Not where it is played without
 * gradients and the pass over all states is derived, nor where nothing is drawn. Steps are told
 * together, in one row. */
TEST(moves_played_with_gradients)
{
    for (int way = WITH; way < PLAYED; way++)
        for (int steps = 1; steps <= 2; steps++) {
            struct program      program;
            const struct table *cells;
            size_t              found = 0;

            start(&program);
            for (int step = 0; step < steps; step++)
                play(&program, (enum played)way);
            finish(&program);
            assert_true(fabs(claimed(&program, "moves-with-gradients") -
                             (way == WITH ? 0.9 * (30 + 10) * 10000 : 0)) < 1);
            cells = facts_find_table(&program.b.study.facts, "excess");
            for (size_t i = 0; i < cells->row_count; i++)
                found +=
                    str_equal(intern_str(program.b.study.facts.names,
                                         (uint32_t)cells->columns[table_column(cells, "flaw")][i]),
                              STR("moves-with-gradients"));
            assert_int_equal(found, way == WITH);
            if (steps == 1)
                assert_sums(&program);
            builder_free(&program.b);
        }
}

/* A question of twelve words, then five words one by one, each picked from what the last call gave:
 * no call could be made for all of them. Of five questions of twelve words each one is. */
TEST(words_behind_a_question)
{
    for (int asks = 0; asks < 2; asks++) {
        struct program program;

        start(&program);
        for (int call = 0; call < 6; call++) {
            bool        is_word = call > 0 && !asks;
            const char *rows = is_word ? "f32[1,1,64] f32[64,64]" : "f32[1,12,64] f32[64,64]";

            program.now += call ? 10000 : 0;
            run(&program, "aten::embedding",
                is_word ? "f32[900,64] i64[1,1]" : "f32[900,64] i64[1,12]", 10000);
            run(&program, "aten::linear", rows, 10000);
            run(&program, "aten::linear", rows, 10000);
            run(&program, "aten::argmax", "f32[1,900]", 10000);
        }
        finish(&program);
        assert_true((claimed(&program, "single-items") > 0) == asks);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* A library's function runs six layers of 2 ms in each of three steps, with pauses of 10 us, and
 * one of 5 ms behind the third: what the function does there can be done elsewhere, what a layer of
 * the library's does around its ops cannot. */
TEST(pauses_of_a_library)
{
    for (int is_layer = 0; is_layer < 2; is_layer++) {
        struct program program;

        start(&program);
        program.b.profile.has_python_frames = true;
        for (int step = 0; step < 3; step++) {
            slice(&program, "transformers/generation/utils.py(9): generate", ACTIVITY_PYTHON, NULL,
                  17050000);
            if (is_layer)
                slice(&program, "nn.Module: GPT2Model_0", ACTIVITY_PYTHON, NULL, 17050000);
            slice(&program, "transformers/utils/generic.py(9): wrapper", ACTIVITY_PYTHON, NULL,
                  17050000);
            for (int layer = 0; layer < 6; layer++) {
                run(&program, "aten::linear", "f32[8,64] f32[64,64]", 1000000);
                program.now += layer == 2 ? 5000000 : 10000;
                run(&program, "aten::relu", "f32[8,64]", 1000000);
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "long-pause") - (is_layer ? 0 : 5e6)) < 1);
        builder_free(&program.b);
    }
}

/* Eight heads of a product, an activation and a product, 210 us, of which autograd goes back
 * through one: seven times that. Not where it goes back through four of them, nor where none is
 * recorded: somebody reads what those give. */
TEST(heads_beside_the_one_that_is_trained)
{
    enum { ONE, FOUR, UNRECORDED, WAYS };
    static const char *const head[] = { "aten::linear", "aten::gelu", "aten::linear" };

    for (int way = ONE; way < WAYS; way++) {
        struct program program;

        begin(&program);
        for (int i = 0; i < 8; i++)
            for (int op = 0; op < 3; op++) {
                uint32_t tag = run(&program, head[op], NULL, op == 1 ? 10000 : 100000);
                bool     is_trained = i == 3 || (way == FOUR && i < 4);

                if (is_trained)
                    builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
                if (is_trained || way != UNRECORDED)
                    builder_stat(&program.b, tag, STAT_SEQUENCE, 3 * i + op);
            }
        node(&program, "aten::mm", NULL, 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "idle-branches") - (way == ONE ? 7 * 210e3 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Three steps of four rounds of 210 us, of which the last one is trained: recording the three
 * before takes 0.3 of them. Where it is another one in each step they are heads, and three are not
 * needed. */
TEST(rounds_before_the_one_that_is_trained)
{
    static const char *const round[] = { "aten::linear", "aten::gelu", "aten::linear" };

    for (int are_heads = 0; are_heads < 2; are_heads++) {
        struct program program;

        begin(&program);
        for (int step = 0; step < 3; step++) {
            for (int i = 0; i < 4; i++)
                for (int op = 0; op < 3; op++) {
                    uint32_t tag = run(&program, round[op], NULL, op == 1 ? 10000 : 100000);

                    if (i == (are_heads ? step : 3))
                        builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
                    builder_stat(&program.b, tag, STAT_SEQUENCE, 12 * step + 3 * i + op);
                }
            node(&program, "aten::mm", NULL, 1000000);
            if (step < 2)
                end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "detached-rounds") - (are_heads ? 0 : 3 * 210e3 * 0.3)) <
                    1);
        assert_true(fabs(claimed(&program, "idle-branches") - (are_heads ? 3 * 210e3 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Eight words, each looked up, through a recurrent layer and a head, three ops of 10 us: 7/8 of 240
 * us. Not where what is picked behind the head is looked up next, nor where the layer's input is
 * made by a product, as attention makes it of the last state. */
TEST(words_given_one_by_one)
{
    enum { KNOWN, PICKED, ATTENDED, WAYS };

    for (int way = KNOWN; way < WAYS; way++) {
        struct program program;

        start(&program);
        for (int word = 0; word < 8; word++) {
            uint32_t tag;

            run(&program, "aten::embedding", "f32[100,16] i64[4,1]", 10000);
            if (way == ATTENDED)
                run(&program, "aten::bmm", "f32[4,1,9] f32[4,9,16]", 10000);
            tag = run(&program, "aten::gru", "f32[4,1,16] f32[1,4,16]", 10000);
            builder_flow(&program.b, tag, tag, FLOW_FORWARD_BACKWARD);
            run(&program, "aten::linear", "f32[4,1,16] f32[100,16]", 10000);
            if (way == PICKED)
                run(&program, "aten::topk", "f32[4,1,100]", 10000);
        }
        node(&program, "aten::mm", "f32[16,32] f32[32,100]", 1000000);
        finish(&program);
        assert_true(fabs(claimed(&program, "stepped-cells") - (way == KNOWN ? 210e3 : 0)) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Half of a signal goes through two convolutions, a third mixes both: what that makes is cut for
 * the next layer of the flow. Where it mixes to other sizes, these are signals one by one. */
TEST(layers_of_a_flow_are_no_items)
{
    for (int is_flow = 0; is_flow < 2; is_flow++) {
        struct program program;

        start(&program);
        for (int layer = 0; layer < 8; layer++) {
            run(&program, "aten::chunk", "f32[1,16,24]", 2000);
            run(&program, "aten::conv1d", "f32[1,8,24] f32[8,8,3]", 20000);
            run(&program, "aten::relu", "f32[1,8,24]", 5000);
            run(&program, "aten::cat", "f32[1,8,24] f32[1,8,24]", 5000);
            run(&program, "aten::conv1d",
                is_flow ? "f32[1,16,24] f32[16,16,1]" : "f32[1,16,24] f32[4,16,1]", 20000);
        }
        finish(&program);
        assert_true((claimed(&program, "single-items") > 0) == !is_flow);
        builder_free(&program.b);
    }
}

/* Rounds that begin behind a product of two stacks, with what it makes: layers of attention over
 * the one text of a request. Where the next round begins with other sizes, these are items. */
TEST(layers_of_attention_are_no_items)
{
    for (int is_fed = 0; is_fed < 2; is_fed++) {
        struct program program;

        start(&program);
        for (int layer = 0; layer < 8; layer++) {
            run(&program, "aten::div", is_fed ? "f32[1,4,9,9]" : "f32[1,4,9,7]", 5000);
            run(&program, "aten::bmm", "f32[1,4,9,9] f32[1,4,9,16]", 20000);
            run(&program, "aten::linear", "f32[1,9,64] f32[64,64]", 20000);
            run(&program, "aten::bmm", "f32[1,4,9,16] f32[1,4,16,9]", 20000);
        }
        finish(&program);
        assert_true((claimed(&program, "single-items") > 0) == !is_fed);
        builder_free(&program.b);
    }
}

/* Layers that look at the one word of a round as a row of a matrix and back: what the last product
 * of a layer makes is added to what it began with. Where another size is added, these are items. */
TEST(layers_that_view_rows_are_no_items)
{
    for (int is_fed = 0; is_fed < 2; is_fed++) {
        struct program program;

        start(&program);
        for (int layer = 0; layer < 8; layer++) {
            run(&program, "aten::addmm", "f32[64] f32[1,16] f32[16,64]", 20000);
            run(&program, "aten::tanh", "f32[1,1,64]", 5000);
            run(&program, "aten::addmm", "f32[16] f32[1,64] f32[64,16]", 20000);
            run(&program, "aten::add", is_fed ? "f32[1,1,16] f32[1,1,16]" : "f32[1,1,20]", 5000);
        }
        finish(&program);
        assert_true((claimed(&program, "single-items") > 0) == !is_fed);
        builder_free(&program.b);
    }
}

/* A table of sines is written into zeros: four ops of 0.1 ms in each of two steps. A column is no
 * such table, but data that is written there: three. */
TEST(tables_that_are_filled)
{
    for (int is_data = 0; is_data < 2; is_data++) {
        struct program program;

        start(&program);
        for (int step = 0; step < 2; step++) {
            run(&program, "aten::zeros", "", 100000);
            run(&program, "aten::arange", "", 100000);
            run(&program, "aten::sin", "f32[40]", 100000);
            run(&program, "aten::copy_", is_data ? "f32[40,1] f32[7,1]" : "f32[40,9] f32[40,9]",
                100000);
            trained(&program, "f32[8,64] f32[64,64]", 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "made-constants") - (is_data ? 300e3 : 400e3)) < 1);
        builder_free(&program.b);
    }
}
