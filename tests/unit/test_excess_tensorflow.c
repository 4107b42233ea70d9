/* What TensorFlow programs do in each step though it is needed once, and batches that are padded.
 */
#include "excess_program.h"

#include "model/op_graph.h"

static void start_tensorflow(struct program *program)
{
    start(program);
    program->b.profile.format = FORMAT_XSPACE;
    program->b.profile.framework = builder_name(&program->b, "tensorflow");
}

enum { MOST_TABLES = 12 };

/* Ops of one type with a name each. */
static void make_ops(struct program *program, const char *scope, const char *type,
                     uint32_t activities[MOST_TABLES])
{
    for (int i = 0; i < MOST_TABLES; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s_%d", scope, i);
        activities[i] = builder_activity(&program->b, name, ACTIVITY_OP,
                                         builder_op(&program->b, name, type, "f32[8,64]"));
    }
}

static void run_ops(struct program *program, const uint32_t *activities, int count, int64_t ns)
{
    for (int i = 0; i < count; i++, program->now += ns)
        builder_event(&program->b, program->thread, activities[i], program->now, ns);
}

/* Four steps that train: a layer looks texts up, 1 ms, in a scope of its own, and encodes what it
 * found, 2 ms; a product of 4 ms and its gradient of 4 ms stay. All 3 ms of the layer are the
 * pipeline's. Without a gradient: nothing. */
TEST(texts_looked_up_and_encoded)
{
    static const char *const names[] = { "model/string_lookup_1/None_Lookup/LookupTableFindV2",
                                         "model/string_lookup_1/one_hot", "model/dense/MatMul",
                                         "gradient_tape/model/dense/MatMul" };
    static const char *const types[] = { "LookupTableFindV2", "OneHot", "MatMul", "MatMul" };
    static const int64_t     ns[] = { 1000000, 2000000, 4000000, 4000000 };

    for (int trains = 0; trains < 2; trains++) {
        struct program program;
        uint32_t       activities[4];

        start_tensorflow(&program);
        for (int i = 0; i < 3 + trains; i++)
            activities[i] =
                builder_activity(&program.b, names[i], ACTIVITY_OP,
                                 builder_op(&program.b, names[i], types[i], "f32[8,64]"));
        for (int step = 0; step < 4; step++) {
            for (int i = 0; i < 3 + trains; i++, program.now += ns[i - 1])
                builder_event(&program.b, program.thread, activities[i], program.now, ns[i]);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "text-in-step") - (trains ? 3e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Four steps with an op of 4 ms each. In each of them, or in the first alone, Python makes an
 * iterator, 4 ms, and waits 2 ms for its first batch: 95 % of 6 ms a step; by calls, or by runs of
 * a session. */
TEST(iterators_in_each_step)
{
    for (int kind = 0; kind < 4; kind++) {
        bool           is_each = kind & 1, is_session = kind & 2;
        const char    *tensors = is_session ? "f32[8]" : NULL;
        struct program program;

        start_tensorflow(&program);
        for (int step = 0; step < 4; step++) {
            if (is_each || step == 0) {
                slice(&program, is_session ? "MakeIterator" : "EagerLocalExecute: MakeIterator",
                      is_session ? ACTIVITY_OP : ACTIVITY_INPUT_WORK, tensors, 4000000);
                program.now += 4000000;
            }
            slice(&program, is_session ? "IteratorGetNext" : "EagerLocalExecute: IteratorGetNext",
                  ACTIVITY_INPUT_WAIT, tensors, 2000000);
            program.now += 2000000;
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 4000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "iterator-made") - (is_each ? 0.95 * 6e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Four steps of 10 ms in a graph function: 2 ms of a gradient and 8 ms in which the function goes
 * over a data set on another thread. Gradients before it: 98 % of 8 ms; one each 2 ms of it, which
 * is the loop that trains: nothing. */
TEST(data_set_gone_over_in_each_step)
{
    for (int trains = 0; trains < 2; trains++) {
        struct program program;
        uint32_t       pipeline, pass, gradient;

        start_tensorflow(&program);
        pipeline = builder_timeline(&program.b, program.host, NO_ID, "tf_data_reduce_dataset");
        pass = activity_of(&program, "ReduceDatasetOp::DoCompute", ACTIVITY_INPUT_WORK, NULL);
        gradient = activity_of(&program, "gradient_tape/dense/MatMul", ACTIVITY_OP, "f32[64,64]");
        for (int step = 0; step < 4; step++) {
            slice(&program, "KernelAndDeviceFunc::Run", ACTIVITY_EXECUTOR, NULL, 10000000);
            run(&program, "gradient_tape/dense/MatMul", "f32[64,64]", 2000000);
            builder_event(&program.b, pipeline, pass, program.now, 8000000);
            for (int round = 0; round < 4; round++) {
                if (trains)
                    builder_event(&program.b, pipeline, gradient, program.now + 500000, 1000000);
                program.now += 2000000;
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "dataset-pass") - (trains ? 0 : 0.98 * 8e6)) < 1);
        builder_free(&program.b);
    }
}

/* Steps of a session: a convolution of 3 ms, a scope of 2 ms without gradients, and gradients of 4
 * ms, the first of which is made before that scope. Behind the model, 98 % of 2 ms are claimed;
 * where the scope began before the model's convolution, as a teacher does, where the scope has
 * gradients, where it comes behind all gradients, as an optimizer does, or where it updates
 * variables, nothing. */
TEST(results_that_nothing_is_trained_by)
{
    enum { BEHIND, EARLY, TRAINED, LAST, UPDATE, CASES };

    for (int place = 0; place < CASES; place++) {
        const char    *other = place == TRAINED ? "gradients/quality/MatMul_grad/MatMul_1"
                                                : "gradients_1/Abs_grad/Sign";
        struct program program;

        start_tensorflow(&program);
        for (int step = 0; step < 4; step++) {
            if (place == EARLY)
                run(&program, "quality/MatMul", "f32[8,64] f32[64,64]", 2000000);
            run(&program, "Conv2D", "f32[8,64] f32[64,64]", 3000000);
            run(&program, other, "f32[8,64]", 1000000);
            if (place == BEHIND || place == TRAINED || place == UPDATE)
                run(&program, "quality/MatMul", "f32[8,64] f32[64,64]", 2000000);
            run(&program, "gradients/Conv2D_grad/Conv2DBackpropFilter", "f32[8,64]", 3000000);
            if (place == UPDATE)
                run(&program, "quality/ApplyMomentum", "f32[64,64]", 1000000);
            if (place == LAST)
                run(&program, "quality/MatMul", "f32[8,64] f32[64,64]", 2000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(
            fabs(claimed(&program, "untrained-results") - (place == BEHIND ? 0.98 * 2e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* A convolution of 3 ms that is trained, and one of 2 ms in a scope that no gradient is for and
 * that begins with the step: 98 % of it are claimed where its name is a picture metric's. */
TEST(picture_metrics_of_the_target)
{
    for (int is_metric = 0; is_metric < 2; is_metric++) {
        struct program program;

        start_tensorflow(&program);
        for (int step = 0; step < 4; step++) {
            run(&program, is_metric ? "SSIM_1/depthwise" : "teacher/depthwise", "f32[8,64]",
                2000000);
            run(&program, "dense/Conv2D", "f32[8,64] f32[64,64]", 3000000);
            run(&program, "gradient_tape/dense/Conv2D/Conv2DBackpropFilter", "f32[8,64]", 3000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "untrained-results") - (is_metric ? 0.98 * 2e6 : 0)) <
                    1);
        builder_free(&program.b);
    }
}

/* Twelve tables, or four: of each a lookup and an update of 10 us, which is what starting an op
 * takes here, and a product of 1 ms a step. Of twelve, 11/12 of the small ops, of four nothing. */
TEST(tables_looked_up_apart)
{
    for (int tables = 4; tables <= MOST_TABLES; tables += 8) {
        uint32_t       lookups[MOST_TABLES], updates[MOST_TABLES];
        struct program program;

        start_tensorflow(&program);
        make_ops(&program, "GatherV2", "GatherV2", lookups);
        make_ops(&program, "ResourceScatterSub", "ResourceScatterSub", updates);
        for (int step = 0; step < 4; step++) {
            run_ops(&program, lookups, tables, 10000);
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 1000000);
            run_ops(&program, updates, tables, 10000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "separate-tables") -
                         (tables == MOST_TABLES ? 11.0 / 12 * 24 * 10000 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* The same of twelve tables, and products of pairs of their rows: four a table are claimed with
 * them, five are of something else. */
TEST(pairs_of_rows_of_tables)
{
    static const char *const NAMES[] = { "a/mul", "b/mul", "c/mul", "d/mul", "e/mul" };

    for (int pairs = 4; pairs <= 5; pairs++) {
        uint32_t       lookups[MOST_TABLES], updates[MOST_TABLES], products[5][MOST_TABLES];
        struct program program;

        start_tensorflow(&program);
        make_ops(&program, "GatherV2", "GatherV2", lookups);
        make_ops(&program, "ResourceScatterSub", "ResourceScatterSub", updates);
        for (int pair = 0; pair < pairs; pair++)
            make_ops(&program, NAMES[pair], "Mul", products[pair]);
        for (int step = 0; step < 4; step++) {
            run_ops(&program, lookups, MOST_TABLES, 10000);
            for (int pair = 0; pair < pairs; pair++)
                run_ops(&program, products[pair], MOST_TABLES, 10000);
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 1000000);
            run_ops(&program, updates, MOST_TABLES, 10000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "separate-tables") -
                         11.0 / 12 * (pairs == 4 ? 24 + 48 : 24) * 10000) < 1);
        builder_free(&program.b);
    }
}

/* A product of 4 ms, and a thread of the pool that does a part of it, or nothing. */
TEST(threads_of_the_pool)
{
    for (int works = 0; works < 2; works++) {
        struct program program;
        uint32_t       pool, region;

        start_tensorflow(&program);
        pool = builder_timeline(&program.b, program.host, NO_ID, "tf_numa_-1_Eigen");
        region = activity_of(&program, "StartRegion", ACTIVITY_OTHER, NULL);
        for (int step = 0; step < 3; step++) {
            if (works)
                builder_event(&program.b, pool, region, program.now, 2000000);
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 4000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(builder_fact(&program.b, "host.pool_threads") == works);
        builder_free(&program.b);
    }
}

/* Four runs that read a variable for 5 ms each, because it was asked for: 98 % of them, and of the
 * 2 ms behind it, in which it is handed over; or because a product takes it. */
TEST(variables_fetched_in_each_run)
{
    static const char *const names[] = { "MatMul/ReadVariableOp", "items/Read/ReadVariableOp" };

    for (int is_fetched = 0; is_fetched < 2; is_fetched++) {
        struct program program;

        start_tensorflow(&program);
        for (int step = 0; step < 4; step++) {
            run(&program, names[is_fetched], "f32[64,64]", 5000000);
            program.now += 2000000;
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 4000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "fetched-variables") - (is_fetched ? 0.98 * 7e6 : 0)) <
                    1);
        builder_free(&program.b);
    }
}

/* Steps of 2 and 4 ms in turn, or of 3 ms each, whose batches a pipeline pads: half of 3 ms a step.
 * Where it groups by length as well, padding is little. */
TEST(batches_of_mixed_lengths)
{
    static const struct {
        const char *stage;
        int64_t     odd_ns, even_ns;
        double      claimed_ns;
    } rows[] = {
        { "Iterator::Root::Prefetch::PaddedBatchV2", 2000000, 4000000, 1.5e6 },
        { "Iterator::Root::Prefetch::PaddedBatchV2", 3000000, 3000000, 0 },
        { "Iterator::Root::Prefetch::GroupByWindow[8]::PaddedBatchV2", 2000000, 4000000, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct program program;
        uint32_t       thread;

        start_tensorflow(&program);
        thread = builder_timeline(&program.b, program.host, NO_ID, "tf_data_private_threadpool");
        for (int step = 0; step < 4; step++) {
            builder_event(&program.b, thread,
                          activity_of(&program, rows[i].stage, ACTIVITY_INPUT_STAGE, NULL),
                          program.now, 100000);
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]",
                step % 2 ? rows[i].odd_ns : rows[i].even_ns);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "padded-batches") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}

/* A product of 10 us and its gradient by pfor of 2 ms, 200 times as long: that of 100 rows with one
 * output, or of 10 with ten, midway 31.6, of which all but one's is too much. Not so where it is 50
 * times as long, as 50 outputs of each row need it, nor for gradients of weights. */
TEST(jacobians_across_rows)
{
    static const struct {
        const char *name;
        int64_t     ns;
        double      claimed_ns;
    } rows[] = {
        { "gradient_tape/net/dense/MatMul/MatMul/pfor/MatMul", 2000000, 2e6 * (1 - 1 / 31.6228) },
        { "gradient_tape/net/dense/MatMul/MatMul/pfor/MatMul", 500000, 0 },
        { "gradient_tape/net/dense/MatMul/MatMul_1/pfor/MatMul", 2000000, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct program program;

        start_tensorflow(&program);
        run(&program, "net/dense/MatMul", "f32[8,64] f32[64,64]", 10000);
        run(&program, rows[i].name, "f32[64,8,64] f32[64,64]", rows[i].ns);
        finish(&program);
        assert_true(fabs(claimed(&program, "row-jacobian") - rows[i].claimed_ns) < 1);
        assert_sums(&program);
        builder_free(&program.b);
    }
}

/* Three frozen products of 2 ms, an activation of 1 ms between, and a head of 1 ms with its
 * gradient: 7 ms. Not so with gradients through the first layers, with augmentation (but with the
 * rows in another order), for a network that is as large as what is trained, or behind what is
 * trained, as a measure of its result. */
TEST(layers_without_gradients)
{
    static const struct {
        const char *gradient, *random;
        int64_t     head_ns;
        bool        is_behind;
        double      claimed_ns;
    } rows[] = {
        { NULL, NULL, 1000000, false, 7e6 },
        { "gradient_tape/body/conv_1/Conv2DBackpropFilter", NULL, 1000000, false, 0 },
        { NULL, "flip/RandomUniform", 1000000, false, 0 },
        { NULL, "head/dropout/RandomUniform", 1000000, false, 7e6 },
        { NULL, "RandomShuffle", 1000000, false, 7e6 },
        { NULL, NULL, 4000000, false, 0 },
        { NULL, NULL, 1000000, true, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct program program;

        start_tensorflow(&program);
        for (int step = 0; step < 3; step++) {
            if (rows[i].random)
                run(&program, rows[i].random, "f32[8,64]", 1000);
            if (rows[i].is_behind)
                run(&program, "head/dense/MatMul", "f32[8,64]", rows[i].head_ns);
            run(&program, "body/conv_1/Conv2D", "f32[8,64]", 2000000);
            run(&program, "body/act_1/Relu", "f32[8,64]", 1000000);
            run(&program, "body/conv_2/Conv2D", "f32[8,64]", 2000000);
            run(&program, "body/conv_3/Conv2D", "f32[8,64]", 2000000);
            if (!rows[i].is_behind)
                run(&program, "head/dense/MatMul", "f32[8,64]", rows[i].head_ns);
            run(&program, "gradient_tape/head/dense/MatMul/MatMul", "f32[8,64]", 1000000);
            if (rows[i].gradient)
                run(&program, rows[i].gradient, "f32[8,64]", 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "frozen-layers") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}

/* Four steps: a matrix is decomposed, 3 ms, which is scaled in the same scope, 1 ms, before a layer
 * of 4 ms with its gradient: 4 ms of each step. Not so where a product made the matrix, where a
 * gradient is for it, or where it is a loop's. */
TEST(matrices_before_any_layer)
{
    enum { FIRST, MADE, TRAINED, LOOPED, CASES };

    for (int kind = 0; kind < CASES; kind++) {
        struct program program;

        start_tensorflow(&program);
        for (int step = 0; step < 4; step++) {
            if (kind == MADE)
                run(&program, "white/MatMul", "f32[8,64] f32[8,64]", 1000000);
            run(&program, kind == LOOPED ? "while/body/_1/while/white/Svd" : "white/Svd",
                "f32[64,64]", 3000000);
            run(&program, kind == LOOPED ? "while/body/_1/while/white/RealDiv" : "white/RealDiv",
                "f32[64,64]", 1000000);
            run(&program, "dense/MatMul", "f32[8,64] f32[64,64]", 4000000);
            run(&program, "gradient_tape/dense/MatMul", "f32[64,64]", 4000000);
            if (kind == TRAINED)
                run(&program, "gradient_tape/white/Svd/MatMul", "f32[64,64]", 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "fixed-matrix") - (kind == FIRST ? 4e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Gradients of a head, which are updated, and of two convolutions behind it, 2 and 3 ms with an
 * activation of 1 ms between: six gradients of weights for two updates, all of them in a norm. Not
 * so where they are updated as well, or where nothing takes a norm, as of weights that are made
 * anew. */
TEST(gradients_that_are_only_clipped)
{
    static const struct {
        const char *name, *type;
        int64_t     ns;
    } ops[] = {
        { "head/dense/MatMul", "MatMul", 1000000 },
        { "gradient_tape/head/dense/BiasAdd/BiasAddGrad", "BiasAddGrad", 1000 },
        { "gradient_tape/head/dense/MatMul/MatMul", "MatMul", 500000 },
        { "gradient_tape/head/dense/MatMul/MatMul_1", "MatMul", 500000 },
        { "gradient_tape/body/pool/Tile", "Tile", 4000 },
        { "gradient_tape/body/conv_2/BiasAdd/BiasAddGrad", "BiasAddGrad", 1000 },
        { "gradient_tape/body/conv_2/conv/Conv2DBackpropFilter", "Conv2DBackpropFilter", 2000000 },
        { "gradient_tape/body/conv_1/ReluGrad", "ReluGrad", 1000000 },
        { "gradient_tape/body/conv_1/BiasAdd/BiasAddGrad", "BiasAddGrad", 1000 },
        { "gradient_tape/body/conv_1/conv/Conv2DBackpropFilter", "Conv2DBackpropFilter", 3000000 },
        { "sgd/AssignSubVariableOp", "AssignSubVariableOp", 1000 },
        { "sgd/AssignSubVariableOp_1", "AssignSubVariableOp", 1000 },
        { "norm/L2Loss", "L2Loss", 1000 },
        { "norm/L2Loss_1", "L2Loss", 1000 },
        { "norm/L2Loss_2", "L2Loss", 1000 },
    };
    static const struct {
        size_t left_out;       /* of the last ops */
        bool   is_all_updated; /* each conv by two more */
        double claimed_ns;
    } rows[] = { { 0, false, 6.002e6 }, { 1, false, 0 }, { 0, true, 0 } };
    enum { OPS = sizeof ops / sizeof ops[0] };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct program program;
        uint32_t       activities[OPS];

        start_tensorflow(&program);
        for (size_t op = 0; op < OPS - rows[i].left_out; op++)
            activities[op] =
                builder_activity(&program.b, ops[op].name, ACTIVITY_OP,
                                 builder_op(&program.b, ops[op].name, ops[op].type, "f32[8,64]"));
        for (int more = 0; rows[i].is_all_updated && more < 4; more++)
            (void)builder_op(&program.b, "sgd/More", "AssignSubVariableOp", "f32[8,64]");
        for (int step = 0; step < 3; step++) {
            for (size_t op = 0; op < OPS - rows[i].left_out; op++) {
                (void)builder_event(&program.b, program.thread, activities[op], program.now,
                                    ops[op].ns);
                program.now += ops[op].ns;
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "unused-gradients") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}

/* Sixteen calls of a function that looks up, attends and picks, 130 us of ops: 0.6 of them where it
 * keeps nothing. Where it joins keys, two products of 300 us before the attention, 15 times the
 * others, are an encoder's: 0.95 of them, but not behind it, as those of a vocabulary. Without a
 * pick it makes no words. */
TEST(calls_that_make_words)
{
    static const struct {
        const char *name, *type;
    } ops[] = {
        { "embed/Gather", "ResourceGather" },
        { "query/MatMul", "MatMul" },
        { "key/MatMul", "MatMul" },
        { "value/MatMul", "MatMul" },
        { "scores", "BatchMatMulV2" },
        { "mask", "SelectV2" },
        { "Softmax", "Softmax" },
        { "values", "BatchMatMulV2" },
        { "out/MatMul", "MatMul" },
        { "head/MatMul", "MatMul" },
        { "pick", "ArgMax" },
        { "join", "ConcatV2" },
    };
    enum { OPS = sizeof ops / sizeof ops[0], KEY = 2, VALUE, OUT = 8, HEAD, PICK, JOIN };
    static const struct {
        size_t ops, first_heavy; /* two in a row; 0: none */
        bool   picks;
        double uncached_ns, remade_ns;
    } rows[] = {
        { JOIN, 0, true, 0.6 * 130e3, 0 },
        { OPS, 0, true, 0, 0 },
        { OPS, KEY, true, 0, 0.95 * 2 * 300e3 },
        { OPS, OUT, true, 0, 0 },
        { JOIN, 0, false, 0, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct program program;
        uint32_t       activities[OPS];

        start_tensorflow(&program);
        for (size_t op = 0; op < rows[i].ops; op++)
            activities[op] = builder_activity(
                &program.b, ops[op].name, ACTIVITY_OP,
                builder_op(&program.b, ops[op].name,
                           op == PICK && !rows[i].picks ? "Mean" : ops[op].type, "f32[8,64]"));
        for (int call = 0; call < 16; call++) {
            size_t  heavy = rows[i].first_heavy;
            int64_t ns = (int64_t)(rows[i].ops + 2) * 10000 + (heavy ? 580000 : 0);

            (void)slice(&program, "EagerLocalExecute: __inference_next_7", ACTIVITY_DISPATCH, NULL,
                        ns);
            for (size_t op = 0; op < rows[i].ops; op++) {
                int64_t op_ns = op == KEY || op == VALUE ? 20000 : 10000;

                op_ns = heavy && (op == heavy || op == heavy + 1) ? 300000 : op_ns;
                (void)builder_event(&program.b, program.thread, activities[op], program.now, op_ns);
                program.now += op_ns;
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "uncached-call") - rows[i].uncached_ns) < 1);
        assert_true(fabs(claimed(&program, "remade-keys") - rows[i].remade_ns) < 1);
        builder_free(&program.b);
    }
}

/* Four networks of 1 ms, whose gradients take 2 ms, are joined behind a choice of one and its mask:
 * three of four of 12 ms. Not so where nothing joins them, as layers in a row, where the choice
 * comes behind, where one takes most, or where labels are one-hot before a metric takes the
 * largest. */
TEST(networks_that_a_mask_drops)
{
    static const struct {
        const char *join, *early, *mask, *late;
        int64_t     first_ns;
        double      claimed_ns;
    } rows[] = {
        { "stack/Pack", "pick/ArgMax", "mask/OneHot", "more/Mul", 1000000, 9e6 },
        { "act/Relu", "pick/ArgMax", "mask/OneHot", "more/Mul", 1000000, 0 },
        { "stack/Pack", "gate/Mul", "mask/OneHot", "pick/ArgMax", 1000000, 0 },
        { "stack/Pack", "pick/ArgMax", "mask/OneHot", "more/Mul", 9000000, 0 },
        { "stack/Pack", "labels/OneHot", "metric/ArgMax", "more/Mul", 1000000, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct {
            const char *name;
            int64_t     ns;
        } ops[] = {
            { rows[i].early, 10000 },
            { rows[i].mask, 10000 },
            { "moe/net_1/dense/MatMul", rows[i].first_ns },
            { "moe/net_2/dense/MatMul", 1000000 },
            { "moe/net_3/dense/MatMul", 1000000 },
            { "moe/net_4/dense/MatMul", 1000000 },
            { rows[i].join, 200000 },
            { rows[i].late, 10000 },
            { "gradient_tape/moe/net_1/dense/MatMul/MatMul", 2000000 },
            { "gradient_tape/moe/net_2/dense/MatMul/MatMul", 2000000 },
            { "gradient_tape/moe/net_3/dense/MatMul/MatMul", 2000000 },
            { "gradient_tape/moe/net_4/dense/MatMul/MatMul", 2000000 },
        };
        enum { OPS = sizeof ops / sizeof ops[0] };
        struct program program;
        uint32_t       activities[OPS];

        start_tensorflow(&program);
        for (size_t op = 0; op < OPS; op++)
            activities[op] = builder_activity(
                &program.b, ops[op].name, ACTIVITY_OP,
                builder_op(&program.b, ops[op].name, strrchr(ops[op].name, '/') + 1, "f32[8,64]"));
        for (int step = 0; step < 3; step++) {
            for (size_t op = 0; op < OPS; op++) {
                (void)builder_event(&program.b, program.thread, activities[op], program.now,
                                    ops[op].ns);
                program.now += ops[op].ns;
            }
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "idle-experts") - rows[i].claimed_ns) < 1);
        builder_free(&program.b);
    }
}

/* Steps of two runs: one trains, 6 ms; one takes 4 ms, of whose ops the first had three quarters,
 * or has rows of its own to work on, as a tenth of the time tells. */
TEST(runs_that_share_ops)
{
    for (int part = 1; part <= 10; part += 9) {
        struct program program;

        start_tensorflow(&program);
        for (int step = 0; step < 4; step++) {
            slice(&program, "SessionRun", ACTIVITY_RUN, NULL, 6000000);
            run(&program, "hidden/MatMul", "f32[8,64] f32[64,64]", 2000000);
            run(&program, "hidden/Relu", "f32[8,64]", 1000000);
            run(&program, "loss/Sum", "f32[8]", 1000000);
            run(&program, "gradients/hidden/MatMul_grad/MatMul", "f32[64,8] f32[8,64]", 2000000);
            slice(&program, "SessionRun", ACTIVITY_RUN, NULL, 4000000 / part);
            run(&program, "hidden/MatMul", "f32[8,64] f32[64,64]", 2000000 / part);
            run(&program, "hidden/Relu", "f32[8,64]", 1000000 / part);
            run(&program, "accuracy/Mean", "f32[8]", 1000000 / part);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "run-again") - (part == 1 ? 0.75 * 4e6 : 0)) < 1);
        builder_free(&program.b);
    }
}

/* Steps of two runs: one of 0.1 ms sets a rate, behind 3 ms of Python, and one of 4 ms trains,
 * behind 1 ms. Assignments that are made anew in each step have a number that rises: 3 ms less the
 * usual 1 ms go, but before the first run, whose pause is not known. One that stays does not grow
 * the graph, nor do numbers that fall, and no run reads the rate for another one. */
TEST(assignments_made_in_a_loop)
{
    enum { RISES, STAYS, FALLS, CASES };

    for (int row = 0; row < CASES; row++) {
        struct program program;
        char           name[32];

        start_tensorflow(&program);
        for (int step = 0; step < 4; step++) {
            snprintf(name, sizeof name, "Assign_%d",
                     row == RISES   ? 10 + step
                     : row == STAYS ? 10
                                    : 10 - step);
            program.now += 3000000;
            slice(&program, "SessionRun", ACTIVITY_RUN, NULL, 100000);
            run(&program, "rate/VariableV2", "f32[1]", 80000);
            run(&program, name, "f32[1]", 20000);
            program.now += 1000000;
            slice(&program, "SessionRun", ACTIVITY_RUN, NULL, 4000000);
            run(&program, "rate/VariableV2", "f32[1]", 80000);
            run(&program, "hidden/MatMul", "f32[8,64] f32[64,64]", 1920000);
            run(&program, "gradients/hidden/MatMul_grad/MatMul", "f32[64,8] f32[8,64]", 2000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "growing-graph") - (row == RISES ? 3.0 / 4 * 2e6 : 0)) <
                    1);
        assert_true(claimed(&program, "run-again") == 0);
        builder_free(&program.b);
    }
}

/* A model that is called twice, 1 ms each of its two products, and trained by one call. Results
 * that are compared are a metric's, and the other call is not needed: 2 ms. Where only the gradient
 * of a maximum compares, it is a target network's. */
TEST(a_second_call_for_a_metric)
{
    static const char *const names[] = { "net_1/dense/MatMul", "net_1/dense_1/MatMul",
                                         "gradient_tape/net_1/dense/MatMul", "net_2/dense/MatMul",
                                         "net_2/dense_1/MatMul" };

    for (int is_metric = 0; is_metric < 2; is_metric++) {
        const char    *compares = is_metric ? "Equal" : "gradient_tape/Equal";
        struct program program;
        uint32_t       activities[ARRAY_COUNT(names) + 1];

        start_tensorflow(&program);
        for (size_t i = 0; i < ARRAY_COUNT(names); i++)
            activities[i] = builder_activity(&program.b, names[i], ACTIVITY_OP,
                                             builder_op(&program.b, names[i], "MatMul", NULL));
        activities[ARRAY_COUNT(names)] = builder_activity(
            &program.b, compares, ACTIVITY_OP, builder_op(&program.b, compares, "Equal", NULL));
        for (int step = 0; step < 2; step++) {
            run_ops(&program, activities, ARRAY_COUNT(activities), 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "second-pass") - (is_metric ? 2e6 : 0)) < 1);
        builder_free(&program.b);
    }
}
