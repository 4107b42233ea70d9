/* Compiling in steps that are looked at. */
#include "excess_program.h"

/* A call that compiles for all but 0.1 ms of it before and behind. */
static void call(struct program *program, const char *name, int64_t compiling_ns)
{
    slice(program, name, ACTIVITY_DISPATCH, NULL, compiling_ns + 200000);
    program->now += 100000;
    slice(program, "backend_compile", ACTIVITY_COMPILE, NULL, compiling_ns);
    program->now += compiling_ns + 100000;
}

/* Two functions are compiled, for 4 and 1 ms: a cell each, named by their calls. */
TEST(functions_that_are_compiled_again)
{
    static const char *const functions[] = { "PjitFunction(update)", "PjitFunction(score)" };
    static const double      expected[] = { 4e6, 1e6 };
    struct program           program;
    const struct table      *table;

    start(&program);
    program.b.profile.framework = builder_name(&program.b, "jax");
    program.b.profile.format = FORMAT_XSPACE;
    for (size_t i = 0; i < 2; i++) {
        call(&program, functions[i], (int64_t)expected[i]);
        run(&program, "dot", "f32[8,64] f32[64,64] -> f32[8,64]", 100000);
    }
    finish(&program);
    assert_true(fabs(claimed(&program, "compiled-again") - 5e6) < 1);
    table = facts_find_table(&program.b.study.facts, "excess");
    for (size_t i = 0; i < 2; i++) {
        double ns = 0;

        for (size_t row = 0; row < table->row_count; row++) {
            uint32_t region = (uint32_t)table->columns[table_column(table, "region")][row];

            if (str_equal(intern_str(program.b.study.facts.names, region), str_from(functions[i])))
                ns += table->columns[table_column(table, "ns")][row];
        }
        assert_true(fabs(ns - expected[i]) < 1);
    }
    builder_free(&program.b);
}
