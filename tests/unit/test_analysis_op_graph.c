/* op_graph and parameters: a graph with a while loop, drawn and timed by hand. */
#include "analyze/analysis.h"
#include "model/op_graph.h"
#include "profile_builder.h"
#include "testing.h"

enum { READ, MERGE, BODY, NEXT, SIDE, LOSS, OPS };

static void time_op(struct profile_builder *builder, uint32_t op, uint32_t step, int64_t ns,
                    bool is_accelerator)
{
    struct op_run run = { .op = op,
                          .step = step,
                          .device = 0,
                          .duration_ns = ns,
                          .scheduled_ns = -1,
                          .is_accelerator = is_accelerator };

    assert_true(vec_push(&builder->profile.op_runs, &builder->arena, run));
}

/*
 * READ -> MERGE -> BODY -> NEXT -> MERGE (loop);  BODY -> LOSS;  READ -> SIDE -> LOSS
 * medians over 3 steps: READ 10, MERGE 2, BODY 299 (2 iterations on the device, its launches do not
 * count), NEXT 1, SIDE 100, LOSS 5
 * heaviest chain: READ MERGE BODY LOSS = 316
 */
static void start(struct profile_builder *builder)
{
    static const struct op_edge edges[] = { { READ, MERGE, false, 0 }, { MERGE, BODY, false, 0 },
                                            { BODY, NEXT, false, 0 },  { NEXT, MERGE, false, 0 },
                                            { BODY, LOSS, false, 0 },  { READ, SIDE, false, 0 },
                                            { SIDE, LOSS, true, 0 } };
    static const char *const    types[OPS] = { "VariableV2",    "Merge", "MatMul",
                                               "NextIteration", "Sum",   "Add" };
    struct err                  err = { 0 };

    builder_start(builder, FORMAT_GRAPH);
    builder_device(builder, builder_host(builder, "h"), "/device:CPU:0", "", DEVICE_CPU);
    for (int i = 0; i < OPS; i++)
        builder_op(builder, types[i], types[i], i == READ ? "-> f32[30,2]" : NULL);
    builder->profile.ops.items[READ].parameters = 60;
    for (uint32_t step = 0; step < 3; step++) {
        assert_true(vec_push(&builder->profile.recorded_steps, &builder->arena,
                             (struct recorded_step) { .number = step }));
        time_op(builder, READ, step, 10 + step * 90 * (step == 2), false); /* 10 10 190 */
        time_op(builder, MERGE, step, 2, false);
        time_op(builder, BODY, step, 1000, false);
        time_op(builder, BODY, step, 100 + step, true);     /* 100 101 102 */
        time_op(builder, BODY, step, 200 - step * 2, true); /* 200 198 196 */
        time_op(builder, NEXT, step, 1, false);
        time_op(builder, SIDE, step, 100, false);
        time_op(builder, LOSS, step, 5, false);
    }
    builder->profile.graph =
        op_graph_new(&builder->arena, OPS, edges, sizeof edges / sizeof *edges, &err);
    assert_non_null(builder->profile.graph);
    builder_finish(builder);
}

TEST(heaviest_chain)
{
    struct profile_builder builder;
    struct err             err = { 0 };

    start(&builder);
    assert_true(analysis_op_graph.run(&builder.study, &err));
    assert_true(builder_fact(&builder, "graph.ops") == 6);
    assert_true(builder_fact(&builder, "graph.edges") == 7);
    assert_true(builder_fact(&builder, "graph.is_acyclic") == 1);
    assert_true(builder_fact(&builder, "graph.depth") == 4); /* READ MERGE BODY NEXT or LOSS */
    /* BODY: 300, 299, 298: median 299 */
    assert_true(builder_fact(&builder, "critical_path.length_ns") == 10 + 2 + 299 + 5);
    assert_true(builder_fact(&builder, "critical_path.ops") == 4);
    assert_true(builder_cell(&builder, "critical_ops", "op", "MatMul", "ns") == 299);
    assert_true(builder_cell(&builder, "critical_ops", "op", "VariableV2", "share") == 10.0 / 316);
    builder_free(&builder);
}

TEST(variables)
{
    struct profile_builder builder;
    struct err             err = { 0 };

    start(&builder);
    assert_true(analysis_parameters.run(&builder.study, &err));
    assert_true(builder_fact(&builder, "parameters.total") == 60);
    assert_true(builder_fact(&builder, "parameters.bytes") == 240); /* 4 bytes each */
    assert_true(builder_cell(&builder, "parameters", "variable", "VariableV2", "share") == 1);
    builder_free(&builder);
}
