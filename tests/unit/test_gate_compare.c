/* Summaries made by hand: what a gate must see and what it must not. */
#include "gate/counts.h"
#include "gate/gate.h"
#include "gate/statistics.h"
#include "recorded_steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 32 };

/* About normal: the sum of twelve uniform numbers. */
static double noise(struct random *random)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)(random_next(random) >> 11) / 9007199254740992.0;
    return sum;
}

struct program {
    double step_ns, noise; /* of a step, relative */
    double run_noise;      /* of a run, relative */
    double launches;
    double factor; /* of every kernel */
};

static bool add_kernel(struct summary *summary, const char *name, double ns, struct arena *arena)
{
    struct item item = {
        .name = name, .group = "", .file = "", .dtype = "", .trait = "", .ns = ns, .count = 10
    };

    return vec_push(&summary->items[ITEM_KERNEL].rows, arena, item);
}

static void make(struct summary *summary, const struct program *program, size_t runs,
                 struct random *random, struct arena *arena)
{
    static const char *const names[] = { "gemm", "conv", "softmax", "norm", "relu", "adam" };

    *summary = (struct summary) { .name = "made", .version = "", .comment = "" };
    summary->identity = (struct identity) { .format = "xspace",
                                            .framework = "jax",
                                            .framework_version = "",
                                            .hosts = 1,
                                            .world_size = -1,
                                            .step_source = "marker",
                                            .step_marker = "train",
                                            .work_hash = "" };
    for (size_t i = 0; i < runs; i++) {
        struct run run = { .name = "run", .step_count = STEPS };
        double     level = program->step_ns * (1 + program->run_noise * noise(random));

        run.step_ns = arena_new_array(arena, double, STEPS);
        run.counts = arena_new_array(arena, struct count_value, count_spec_count);
        for (size_t at = 0; at < count_spec_count; at++)
            run.counts[at] = (struct count_value) { .value = NAN, .low = NAN, .high = NAN };
        run.counts[COUNT_LAUNCHES] =
            (struct count_value) { program->launches, program->launches, program->launches, true };
        for (size_t step = 0; step < STEPS; step++)
            run.step_ns[step] = level * (1 + program->noise * noise(random));
        assert_true(vec_push(&summary->runs, arena, run));
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(add_kernel(summary, names[i], 1e6 * (double)(i + 1) * program->factor, arena));
    summary->items[ITEM_KERNEL].is_complete = true;
}

static enum outcome compare(const struct program *before, const struct program *after, size_t runs,
                            struct random *random, struct gate_result *result, struct arena *arena)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary                 *sides = arena_new_array(arena, struct summary, 2);
    struct err                      err = { 0 };

    make(&sides[0], before, runs, random, arena);
    make(&sides[1], after, runs, random, arena);
    assert_true(gate_run(&sides[0], &sides[1], &limits, arena, result, &err));
    return result->outcome;
}

static size_t count_outcomes(const struct program *before, const struct program *after, size_t runs,
                             size_t trials, enum outcome outcome)
{
    struct random random = { .state = 11 };
    size_t        count = 0;

    for (size_t i = 0; i < trials; i++) {
        struct arena       arena = { 0 };
        struct gate_result result;

        count += compare(before, after, runs, &random, &result, &arena) == outcome;
        arena_free(&arena);
    }
    return count;
}

static const struct program usual = { 100e6, 0.02, 0, 4000, 1 };

/* 5 % slower with 2 % noise, five runs a side: caught in 95 of 100, as promised. One kernel is
 * slower rather than all, as a change of the code would have it. */
static void a_planted_slow_down_is_caught(void **state)
{
    struct program slower = usual, wobbly = usual, wobbly_slower;

    (void)state;
    slower.step_ns *= 1.05;
    assert_true(count_outcomes(&usual, &slower, 5, 100, OUTCOME_FAIL) >= 95);
    /* The same with runs that differ by half a percent. */
    wobbly.run_noise = 0.005;
    wobbly_slower = wobbly;
    wobbly_slower.step_ns *= 1.05;
    assert_true(count_outcomes(&wobbly, &wobbly_slower, 5, 100, OUTCOME_FAIL) >= 95);
}

static void one_launch_more_is_always_caught(void **state)
{
    struct program more = usual;

    (void)state;
    more.launches += 1;
    assert_int_equal(count_outcomes(&usual, &more, 1, 50, OUTCOME_FAIL), 50);
    assert_int_equal(count_outcomes(&usual, &more, 5, 50, OUTCOME_FAIL), 50);
    assert_int_equal(count_outcomes(&more, &usual, 1, 50, OUTCOME_PASS), 50);
}

/* At most one in a hundred, with one run a side, with five, and where runs differ by a percent. */
static void the_same_program_passes(void **state)
{
    struct program wobbly = usual;

    (void)state;
    wobbly.run_noise = 0.01;
    assert_true(count_outcomes(&usual, &usual, 1, 200, OUTCOME_PASS) >= 198);
    assert_true(count_outcomes(&usual, &usual, 5, 100, OUTCOME_PASS) >= 99);
    assert_true(count_outcomes(&wobbly, &wobbly, 5, 100, OUTCOME_FAIL) <= 1);
}

/* Two runs of a program whose steps are drawn from a recording of it, a thousand times over all
 * recordings: at most ten may fail. */
static void recorded_programs_pass(void **state)
{
    enum { TRIALS = 1000 };
    const size_t  series = sizeof recorded_steps / sizeof *recorded_steps;
    struct random random = { .state = 17 };
    size_t        failed = 0;

    (void)state;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        static const struct gate_limits limits = { .max_regression = 0.05 };
        struct arena                    arena = { 0 };
        struct err                      err = { 0 };
        struct summary                  sides[2];
        struct gate_result              result;

        for (int side = 0; side < 2; side++) {
            size_t row = trial % series;

            make(&sides[side], &usual, 1, &random, &arena);
            sides[side].runs.items[0].step_count = recorded_steps[row].count;
            for (size_t i = 0; i < recorded_steps[row].count; i++)
                sides[side].runs.items[0].step_ns[i] =
                    1e6 * recorded_steps[row]
                              .ms[random_below(&random, (uint32_t)recorded_steps[row].count)];
        }
        assert_true(gate_run(&sides[0], &sides[1], &limits, &arena, &result, &err));
        failed += result.outcome == OUTCOME_FAIL;
        arena_free(&arena);
    }
    print_message("%zu of %d false alarms\n", failed, TRIALS);
    assert_true(failed <= TRIALS / 100);
}

/* With one run a side a change of a percent is within what machines do by themselves. */
static void small_changes_of_one_run_do_not_count(void **state)
{
    struct program slower = { 101e6, 0.001, 0, 4000, 1 }, quiet = { 100e6, 0.001, 0, 4000, 1 };

    (void)state;
    assert_int_equal(count_outcomes(&quiet, &slower, 1, 50, OUTCOME_PASS), 50);
}

static void a_uniform_slow_down_is_inconclusive(void **state)
{
    struct program      throttled = usual;
    struct random       random = { .state = 3 };
    struct arena        arena = { 0 };
    struct gate_result  result;
    const struct check *check;

    (void)state;
    throttled.step_ns *= 1.2;
    throttled.factor = 1.2;
    assert_int_equal(compare(&usual, &throttled, 5, &random, &result, &arena),
                     OUTCOME_INCONCLUSIVE);
    check = &result.checks.items[0];
    assert_string_equal(check->rule, "uniform-slowdown");
    assert_non_null(strstr(result.likely_cause, "1.2 times as slow"));
    assert_int_equal(gate_status(&result, "fail"), 4);
    assert_int_equal(gate_status(&result, "pass"), 0);
    arena_free(&arena);
}

static void other_hardware_is_not_compared(void **state)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary                  before, after;
    struct random                   random = { .state = 3 };
    struct arena                    arena = { 0 };
    struct err                      err = { 0 };
    struct gate_result              result;

    (void)state;
    make(&before, &usual, 1, &random, &arena);
    make(&after, &usual, 1, &random, &arena);
    assert_true(vec_push(&before.identity.devices, &arena, "1 x A100"));
    assert_true(vec_push(&after.identity.devices, &arena, "1 x H100"));
    after.runs.items[0].counts[COUNT_LAUNCHES].value = 1e6;
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    assert_int_equal(result.outcome, OUTCOME_INCONCLUSIVE);
    assert_int_equal(result.checks.count, 1);
    assert_string_equal(result.headline,
                        "Inconclusive: different hardware: devices 1 x H100, was 1 x A100");
    arena_free(&arena);
}

/* Products of half of the baseline's work with other shapes and twice the FLOPs are other work;
 * added products are not: those are what a gate is for. */
static void other_shapes_are_not_compared(void **state)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    static const struct {
        const char  *before, *after;
        double       flops;
        enum outcome outcome;
    } rows[] = {
        { "dot [8,8]x[8,8]", "dot [16,8]x[8,8]", 2e9, OUTCOME_INCONCLUSIVE },
        { "dot [8,8]x[8,8]", "dot [16,8]x[8,8]", 1e9, OUTCOME_PASS },
        { "dot [8,8]x[8,8]", "dot [8,8]x[8,8]", 1e9, OUTCOME_PASS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;
        struct work_item   was = { rows[i].before, 1e9, 1 };
        struct work_item   is = { rows[i].after, rows[i].flops, 1 };

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        assert_true(vec_push(&before.identity.work, &arena, was));
        assert_true(vec_push(&after.identity.work, &arena, is));
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].outcome);
        arena_free(&arena);
    }
}

static bool has_change(const struct gate_result *result, const char *rule)
{
    for (size_t i = 0; i < result->changes.count; i++)
        if (result->changes.items[i].rule && strcmp(result->changes.items[i].rule, rule) == 0)
            return true;
    return false;
}

static struct item row(const char *name, const char *group, const char *dtype, const char *trait,
                       double ns)
{
    return (struct item) { .name = name,
                           .group = group,
                           .file = "",
                           .dtype = dtype,
                           .trait = trait,
                           .ns = ns,
                           .count = 4 };
}

/* Each row: what one side has in a list and the other has not, and the rule that says so. */
static void changes_have_names(void **state)
{
    const struct {
        enum item_kind kind;
        struct item    before[3], after[3];
        size_t         before_count, after_count;
        const char    *rule;
    } rows[] = {
        { ITEM_SYNC,
          { { 0 } },
          { row("cudaStreamSynchronize", "item", "", "", 1e3) },
          0,
          1,
          "new-sync" },
        { ITEM_COPY, { { 0 } }, { row("MemcpyD2H", "d2h", "", "", 1e3) }, 0, 1, "new-copy" },
        { ITEM_KERNEL,
          { row("sgemm_128", "mm", "", "unknown", 4e6) },
          { row("sgemm_64", "mm", "", "unknown", 6e6) },
          1,
          1,
          "kernel-substituted" },
        { ITEM_KERNEL,
          { row("hmma_gemm", "mm", "", "yes", 4e6) },
          { row("simt_gemm", "mm", "", "no", 4.1e6) },
          1,
          1,
          "tensor-core-lost" },
        { ITEM_OP,
          { row("layer/dot", "dot", "float16", "", 4e6) },
          { row("layer/dot", "dot", "float32", "", 8e6) },
          1,
          1,
          "dtype-widened" },
        { ITEM_OP,
          { row("flash_attention", "attn", "", "", 4e6) },
          { row("bmm", "bmm", "", "", 3e6), row("softmax", "softmax", "", "", 3e6),
            row("mul", "mul", "", "", 3e6) },
          1,
          3,
          "fusion-lost" },
        { ITEM_OP,
          { row("bmm", "bmm", "", "", 3e6), row("softmax", "softmax", "", "", 3e6) },
          { row("flash_attention", "attn", "", "", 4e6) },
          2,
          1,
          "fusion-gained" },
    };
    static const struct gate_limits limits = { .max_regression = 0.05 };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        for (int kind = 0; kind < ITEM_KIND_COUNT; kind++)
            before.items[kind].is_complete = after.items[kind].is_complete = true;
        for (size_t at = 0; at < rows[i].before_count; at++)
            assert_true(vec_push(&before.items[rows[i].kind].rows, &arena, rows[i].before[at]));
        for (size_t at = 0; at < rows[i].after_count; at++)
            assert_true(vec_push(&after.items[rows[i].kind].rows, &arena, rows[i].after[at]));
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        if (!has_change(&result, rows[i].rule))
            fail_msg("no %s", rows[i].rule);
        assert_true(gate_run(&before, &before, &limits, &arena, &result, &err));
        assert_int_equal(result.changes.count, 0);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_slow_down_is_caught),
        cmocka_unit_test(one_launch_more_is_always_caught),
        cmocka_unit_test(the_same_program_passes),
        cmocka_unit_test(recorded_programs_pass),
        cmocka_unit_test(small_changes_of_one_run_do_not_count),
        cmocka_unit_test(a_uniform_slow_down_is_inconclusive),
        cmocka_unit_test(other_hardware_is_not_compared),
        cmocka_unit_test(other_shapes_are_not_compared),
        cmocka_unit_test(changes_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
