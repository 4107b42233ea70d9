/* Loops of TensorFlow's graphs whose rounds make the same again. */
#include "excess_program.h"

#include "model/op_graph.h"

enum loop_op { ENTER, HELD, MERGE, SWITCH, KEYS, STATE, GRADIENT, SUM, TOTAL, NEXT, LOOP_OPS };

/* A loop whose rounds make keys of what enters it, a state of the last state and the keys, and a
 * gradient of what enters and the state, which is added to a total. */
static void make_loop(struct program *program, uint32_t activities[LOOP_OPS])
{
    static const char *const    types[LOOP_OPS] = { "Enter",  "Enter",        "Merge",  "Switch",
                                                    "MatMul", "MatMul",       "MatMul", "AddN",
                                                    "Switch", "NextIteration" };
    static const struct op_edge edges[] = {
        { HELD, KEYS, false, 0 },      { ENTER, MERGE, false, 0 },  { MERGE, SWITCH, false, 0 },
        { SWITCH, STATE, false, 0 },   { KEYS, STATE, false, 1 },   { HELD, GRADIENT, false, 0 },
        { STATE, GRADIENT, false, 1 }, { GRADIENT, SUM, false, 0 }, { TOTAL, SUM, false, 1 },
        { STATE, NEXT, false, 0 },
    };
    struct err err = { 0 };

    start(program);
    program->b.profile.framework = builder_name(&program->b, "tensorflow");
    program->b.profile.format = FORMAT_GRAPH;
    for (int i = 0; i < LOOP_OPS; i++) {
        char name[32];

        snprintf(name, sizeof name, "body/%s_%d", types[i], i);
        activities[i] = builder_activity(&program->b, name, ACTIVITY_OP,
                                         builder_op(&program->b, name, types[i], "f32[8,64]"));
    }
    program->b.profile.graph =
        op_graph_new(&program->b.arena, LOOP_OPS, edges, ARRAY_COUNT(edges), &err);
    assert_non_null(program->b.profile.graph);
}

/* Two steps of five rounds, 1 ms for each product: of keys and of the gradient, four fifths of 5 ms
 * each; of the state, which the last round makes, nothing. Were there one round, nothing either. */
TEST(what_no_round_changes)
{
    for (int rounds = 1; rounds <= 5; rounds += 4) {
        struct program program;
        uint32_t       activities[LOOP_OPS];

        make_loop(&program, activities);
        for (int step = 0; step < 2; step++) {
            for (int round = 0; round < rounds; round++)
                for (int op = KEYS; op <= GRADIENT; op++, program.now += 1000000)
                    builder_event(&program.b, program.thread, activities[op], program.now, 1000000);
            end_step(&program);
        }
        finish(&program);
        assert_true(fabs(claimed(&program, "loop-fixed") - (rounds == 5 ? 8e6 : 0)) < 1);
        builder_free(&program.b);
    }
}
