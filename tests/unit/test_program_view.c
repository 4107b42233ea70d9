/* program_view: a program of six instructions, written by hand. */
#include "analyze/program/program_view.h"

#include "model/op_graph.h"
#include "profile_builder.h"
#include "testing.h"

/*
 * In order of the file: product, add (both inside of the fusion), input, fusion, output, and two
 * that call each other, as no compiler writes them.
 * Edges: input -> fusion -> output, input -> product -> add.
 */
enum { PRODUCT, ADD, INPUT, FUSION, OUTPUT, ONE, OTHER, OPS };

struct fixture {
    struct profile_builder b;
    struct program_view    view;
    struct err             err;
};

static bool ask(struct fixture *f, const char *module, const char *op, int64_t depth)
{
    static const char *const    names[OPS] = { "product",  "add", "input", "fusion.1",
                                               "fusion.2", "one", "other" };
    static const struct op_edge edges[] = { { INPUT, FUSION, false, 0 },
                                            { FUSION, OUTPUT, false, 0 },
                                            { INPUT, PRODUCT, false, 0 },
                                            { PRODUCT, ADD, false, 0 } };
    struct program_question     question = { .module = module, .op = op, .depth = depth };
    uint32_t                    host;

    host = builder_start_host(&f->b, FORMAT_XSPACE);
    builder_step(&f->b, host, 0, 1000);
    for (uint32_t i = 0; i < OPS; i++) {
        uint32_t   row = builder_op(&f->b, names[i], "op", "");
        struct op *made = &f->b.profile.ops.items[row];

        made->module = builder_name(&f->b, "jit_step");
        made->graph_node = i;
        made->caller = i <= ADD ? FUSION + 1 : i == ONE ? OTHER + 1 : i == OTHER ? ONE + 1 : 0;
        made->is_fused = i <= ADD;
    }
    f->b.profile.graph = op_graph_new(&f->b.arena, OPS, edges, ARRAY_COUNT(edges), &f->err);
    builder_finish(&f->b);
    return program_view_make(&f->b.study, &question, &f->b.arena, &f->view, &f->err);
}

TEST(what_a_fusion_holds_stands_below_it)
{
    static const struct {
        uint32_t op, level;
    } wanted[] = { { INPUT, 0 },  { FUSION, 0 }, { PRODUCT, 1 }, { ADD, 1 },
                   { OUTPUT, 0 }, { ONE, 0 },    { OTHER, 0 } };
    struct fixture f = { 0 };

    assert_true(ask(&f, "step", NULL, 1));
    assert_int_equal(f.view.module_count, 1);
    assert_int_equal(f.view.modules[0].op_count, OPS);
    assert_int_equal(f.view.modules[0].fused_count, 2);
    assert_int_equal(f.view.op_count, OPS);
    for (size_t i = 0; i < OPS; i++) {
        assert_int_equal(f.view.ops[i].op, wanted[i].op);
        assert_int_equal(f.view.ops[i].level, wanted[i].level);
    }
    builder_free(&f.b);
}

/* One edge around the fusion are input and output; product is two away, back over the input. */
TEST(neighbours_are_reached_one_way)
{
    struct fixture f = { 0 };

    assert_true(ask(&f, NULL, "fusion.1", 3));
    assert_int_equal(f.view.centre, FUSION);
    assert_int_equal(f.view.op_count, 3);
    for (size_t i = 0; i < f.view.op_count; i++)
        assert_int_equal(f.view.ops[i].distance, f.view.ops[i].op == INPUT    ? -1
                                                 : f.view.ops[i].op == FUSION ? 0
                                                                              : 1);
    builder_free(&f.b);
}

TEST(names_that_do_not_tell_are_refused)
{
    static const struct {
        const char *module, *op;
    } cases[] = { { "none", NULL }, { NULL, "fusion" }, { NULL, "none" }, { "step", "fusion." } };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct fixture f = { 0 };

        assert_false(ask(&f, cases[i].module, cases[i].op, 1));
        assert_int_equal(f.err.code, ERR_USAGE);
        builder_free(&f.b);
    }
}
