/* Summaries made by hand: what a gate must see and what it must not. */
#include "gate_program.h"
#include "recorded_steps.h"

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

/* 5 % slower with 2 % noise, five runs a side: caught in 95 of 100, as promised. One kernel is
 * slower rather than all, as a change of the code would have it. */
TEST(a_planted_slow_down_is_caught)
{
    struct program slower = usual, wobbly = usual, wobbly_slower;

    slower.step_ns *= 1.05;
    assert_true(count_outcomes(&usual, &slower, 5, 100, OUTCOME_FAIL) >= 95);
    /* The same with runs that differ by half a percent. */
    wobbly.run_noise = 0.005;
    wobbly_slower = wobbly;
    wobbly_slower.step_ns *= 1.05;
    assert_true(count_outcomes(&wobbly, &wobbly_slower, 5, 100, OUTCOME_FAIL) >= 95);
}

TEST(one_launch_more_is_always_caught)
{
    struct program more = usual;

    more.launches += 1;
    assert_int_equal(count_outcomes(&usual, &more, 1, 50, OUTCOME_FAIL), 50);
    assert_int_equal(count_outcomes(&usual, &more, 5, 50, OUTCOME_FAIL), 50);
    assert_int_equal(count_outcomes(&more, &usual, 1, 50, OUTCOME_PASS), 50);
}

/* At most one in a hundred, with one run a side, with five, and where runs differ by a percent. */
TEST(the_same_program_passes)
{
    struct program wobbly = usual;

    wobbly.run_noise = 0.01;
    assert_true(count_outcomes(&usual, &usual, 1, 200, OUTCOME_PASS) >= 198);
    assert_true(count_outcomes(&usual, &usual, 5, 100, OUTCOME_PASS) >= 99);
    assert_true(count_outcomes(&wobbly, &wobbly, 5, 100, OUTCOME_FAIL) <= 1);
}

/* Two runs of a program whose steps are drawn from a recording of it, a thousand times over all
 * recordings: at most five may fail. Where the draw looks slower by the limit or more, no gate can
 * know that it is one program, and says what would settle it. */
TEST(recorded_programs_pass)
{
    enum { TRIALS = 1000 };
    const size_t  series = sizeof recorded_steps / sizeof *recorded_steps;
    struct random random = { .state = 17 };
    size_t        failed = 0;

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
        if (result.outcome == OUTCOME_INCONCLUSIVE &&
            !strstr(result.checks.items[0].detail, "drift") &&
            !strstr(result.checks.items[0].detail, "record longer"))
            assert_non_null(strstr(result.checks.items[0].detail, "would settle it"));
        arena_free(&arena);
    }
    print_message("%zu of %d false alarms\n", failed, TRIALS);
    assert_true(failed <= TRIALS / 200);
}

/* With one run a side a change of a percent is within what machines do by themselves. */
TEST(small_changes_of_one_run_do_not_count)
{
    struct program slower = { 101e6, 0.001, 0, 4000, 1 }, quiet = { 100e6, 0.001, 0, 4000, 1 };

    assert_int_equal(count_outcomes(&quiet, &slower, 1, 50, OUTCOME_PASS), 50);
}

TEST(a_uniform_slow_down_is_inconclusive)
{
    struct program      throttled = usual;
    struct random       random = { .state = 3 };
    struct arena        arena = { 0 };
    struct gate_result  result;
    const struct check *check;

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

/* A program on processors: ops of these milliseconds, four calls each, which make a step, and in
 * the step in which they take least; NULL: unknown. */
enum { PARTS = 8 };
static void set_parts(struct summary *summary, const double ms[PARTS],
                      const double fastest_ms[PARTS], struct arena *arena)
{
    static const char *const names[PARTS] = { "mm",  "addmm", "relu",    "add",
                                              "sum", "copy",  "softmax", "view" };

    summary->items[ITEM_KERNEL].rows.count = 0;
    for (size_t i = 0; i < PARTS; i++) {
        struct item op = row(names[i], "", "", "", 1e6 * ms[i]);

        op.fastest_ns = fastest_ms ? 1e6 * fastest_ms[i] : 0;
        assert_true(vec_push(&summary->items[ITEM_OP].rows, arena, op));
        assert_true(vec_push(&summary->items[ITEM_PATH].rows, arena,
                             row(names[i], "compute", "", "op", 1e6 * ms[i])));
    }
}

/* The step is a third longer in each. Another load holds up some executions and leaves others
 * alone, so that each op takes what it took in the step in which it takes least; a change of code
 * makes one or two things slower there, too, or calls something more often. */
TEST(a_load_beside_is_inconclusive)
{
    static const double before[PARTS] = { 30, 20, 15, 12, 10, 8, 4, 1 };
    static const double alone[PARTS] = { 28, 19, 14, 11, 9, 7, 3, 1 };
    static const double all[PARTS] = { 36, 28, 21, 14, 14, 8, 3, 1 };
    static const double both[PARTS] = { 45, 36, 14, 11, 9, 7, 3, 1 };
    /* Of 33 ms more, 17 at their fastest, which is half and more, and 16. */
    static const double more[PARTS] = { 45, 19, 14, 11, 9, 7, 3, 1 };
    static const double less[PARTS] = { 44, 19, 14, 11, 9, 7, 3, 1 };
    static const struct {
        double        after[PARTS];
        const double *fastest;
        double        calls_of_relu;
        const char   *dtype_of_relu, *shapes_of_relu;
        enum outcome  outcome;
    } programs[] = {
        { { 38, 29, 22, 15, 15, 9, 4, 1 }, alone, 4, "", "", OUTCOME_INCONCLUSIVE },
        { { 46, 37, 15, 12, 10, 8, 4, 1 }, alone, 4, "", "", OUTCOME_INCONCLUSIVE },
        { { 46, 37, 15, 12, 10, 8, 4, 1 }, both, 4, "", "", OUTCOME_FAIL },
        { { 63, 20, 15, 12, 10, 8, 4, 1 }, more, 4, "", "", OUTCOME_FAIL },
        { { 63, 20, 15, 12, 10, 8, 4, 1 }, less, 4, "", "", OUTCOME_INCONCLUSIVE },
        { { 63, 20, 15, 12, 10, 8, 4, 1 }, NULL, 4, "", "", OUTCOME_FAIL },
        /* Most of it slower in each step, as cores that others use all the time make it. */
        { { 38, 29, 22, 15, 15, 9, 4, 1 }, all, 4, "", "", OUTCOME_INCONCLUSIVE },
        { { 38, 29, 22, 15, 15, 9, 4, 1 }, alone, 8, "", "", OUTCOME_FAIL }, /* other work */
        { { 38, 29, 22, 15, 15, 9, 4, 1 }, alone, 4, "f64", "", OUTCOME_FAIL },
        { { 38, 29, 22, 15, 15, 9, 4, 1 }, alone, 4, "", "[64,512]", OUTCOME_FAIL },
    };
    static const struct gate_limits limits = { .max_regression = 0.05 };
    struct program                  slower = usual;

    slower.step_ns *= 1.33;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct random      random = { .state = 7 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct summary     sides[2];
        struct gate_result result;

        make(&sides[0], &usual, 1, &random, &arena);
        make(&sides[1], &slower, 1, &random, &arena);
        set_parts(&sides[0], before, alone, &arena);
        set_parts(&sides[1], programs[i].after, programs[i].fastest, &arena);
        sides[1].items[ITEM_OP].rows.items[2].count = programs[i].calls_of_relu;
        sides[1].items[ITEM_OP].rows.items[2].dtype = programs[i].dtype_of_relu;
        sides[1].items[ITEM_OP].rows.items[2].trait = programs[i].shapes_of_relu;
        assert_true(gate_run(&sides[0], &sides[1], &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, programs[i].outcome);
        if (i == 0) /* 133 of 100 ms */
            assert_non_null(strstr(result.likely_cause, "1.33 times as long"));
        arena_free(&arena);
    }
}

/* Calls of a function without a name are steps: one that does far more is another. */
TEST(a_nameless_function_is_known_by_its_ops)
{
    static const double             few[PARTS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    static const struct gate_limits limits = { .max_regression = 0.05 };
    static const struct {
        const char  *marker;
        size_t       times; /* the ops */
        enum outcome outcome;
    } programs[] = {
        { "<lambda>_7", 1, OUTCOME_PASS },
        { "<lambda>_7", 3, OUTCOME_INCONCLUSIVE },
        { "train_step_7", 3, OUTCOME_PASS },
    };

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct random      random = { .state = 7 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct summary     sides[2];
        struct gate_result result;

        for (size_t side = 0; side < 2; side++) {
            make(&sides[side], &usual, 1, &random, &arena);
            set_parts(&sides[side], few, NULL, &arena);
            sides[side].identity.step_source = "session";
            sides[side].identity.step_marker = programs[i].marker;
        }
        for (size_t op = 0; op < PARTS; op++)
            sides[1].items[ITEM_OP].rows.items[op].count *= (double)programs[i].times;
        assert_true(gate_run(&sides[0], &sides[1], &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, programs[i].outcome);
        arena_free(&arena);
    }
}

/* One run a side. Recorded steps of a program that becomes 10 % slower as it runs: the first half
 * rises by itself, so the second half says nothing. Its slow twin does not rise. */
TEST(a_drift_is_inconclusive)
{
    static const double first[] = { 80.86, 81.92, 78.31, 84.0, 89.2, 87.58 };
    static const double second[] = { 92.75, 91.25, 92.78, 91.05, 91.55, 92.09 };
    static const double level[] = { 81.92, 80.86, 84.0, 78.31, 82.2, 81.58 };
    static const struct {
        const double *before, *after;
        enum outcome  outcome;
        const char   *words;
    } rows[] = {
        { first, second, OUTCOME_INCONCLUSIVE, "drifts within a recording" },
        { level, second, OUTCOME_FAIL, "step slower" },
        { second, first, OUTCOME_PASS, "held" },
    };
    static const struct gate_limits limits = { .max_regression = 0.05 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        set_steps(&before, rows[i].before, 6);
        set_steps(&after, rows[i].after, 6);
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].outcome);
        assert_non_null(strstr(result.headline, rows[i].words));
        arena_free(&arena);
    }
}

/* One run a side of a program whose steps vary by half; medians 105 and 135, 29 % slower. With a U
 * of 32 of 36, and so p = 2 * (1 + 1 + 2 + 3 + 5) / 924 = 0.026, that is probable; with 25 it is
 * far from sure. Neither passes. */
TEST(a_large_change_of_a_noisy_run_is_not_passed_over)
{
    static const double noisy[] = { 80, 100, 120, 90, 150, 110 };
    static const double above[] = { 125, 130, 160, 155, 140, 121 };
    static const double mixed[] = { 85, 160, 140, 95, 130, 155 };
    static const struct {
        const double *after;
        enum outcome  outcome;
        const char   *words;
    } rows[] = {
        { above, OUTCOME_INCONCLUSIVE, "step probably slower" },
        { mixed, OUTCOME_INCONCLUSIVE, "step not surely slower" },
        { noisy, OUTCOME_PASS, "held" },
    };
    static const struct gate_limits limits = { .max_regression = 0.05 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        set_steps(&before, noisy, 6);
        set_steps(&after, rows[i].after, 6);
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].outcome);
        assert_non_null(strstr(result.headline, rows[i].words));
        arena_free(&arena);
    }
}

/* Peak, growth a step and whether it always grows, before and after, in a format that records each
 * allocation and in one that does not. */
TEST(memory_that_grows_fails)
{
    static const struct {
        const char *format;
        double      before[3], after[3];
        const char *failed; /* check, or NULL */
    } rows[] = {
        { "kineto", { 16e6, 0, 0 }, { 113e6, 8.4e6, 1 }, "count/memory_growth" },
        { "kineto", { 16e6, 4, 1 }, { 113e6, 8.4e6, 1 }, "count/memory_growth" },
        { "kineto", { 16e6, 0, 0 }, { 16e6, 8.4e6, 0 }, NULL },       /* given back in between */
        { "kineto", { 113e6, 8.4e6, 1 }, { 113e6, 8.4e6, 1 }, NULL }, /* as before */
        { "kineto", { 1e9, 0, 0 }, { 1e9, 2e6, 1 }, NULL },           /* 0.2 % of the peak */
        { "kineto", { 100e6, 0, 0 }, { 104e6, 0, 0 }, "count/memory_peak" },
        { "kineto", { 100e6, 0, 0 }, { 102e6, 0, 0 }, NULL },
        { "kineto", { 104e6, 0, 0 }, { 100e6, 0, 0 }, NULL },
        { "xspace", { 100e6, 0, 0 }, { 104e6, 8e6, 1 }, NULL },
    };
    static const struct gate_limits limits = { .max_regression = 0.05 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const char *const names[] = { "memory.peak_bytes", "memory.growth_bytes_per_step",
                                             "memory.is_growing" };
        struct summary           before, after;
        struct random            random = { .state = 3 };
        struct arena             arena = { 0 };
        struct err               err = { 0 };
        struct gate_result       result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        before.identity.format = after.identity.format = rows[i].format;
        for (int fact = 0; fact < 3; fact++) {
            assert_true(add_fact(&before, names[fact], rows[i].before[fact], &arena));
            assert_true(add_fact(&after, names[fact], rows[i].after[fact], &arena));
        }
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].failed ? OUTCOME_FAIL : OUTCOME_PASS);
        if (rows[i].failed)
            assert_string_equal(result.checks.items[0].id, rows[i].failed);
        arena_free(&arena);
    }
}

/* 4000 launches before; the new recording has them, has fewer or does not say. */
TEST(a_count_that_is_no_longer_recorded_is_told)
{
    static const struct {
        double       after;
        enum outcome outcome;
    } rows[] = { { 4000, OUTCOME_PASS }, { 3000, OUTCOME_PASS }, { NAN, OUTCOME_WARN } };
    static const struct gate_limits limits = { .max_regression = 0.05 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct program     other = usual;
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        other.launches = rows[i].after;
        make(&before, &usual, 1, &random, &arena);
        make(&after, &other, 1, &random, &arena);
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].outcome);
        if (isnan(rows[i].after))
            assert_string_equal(result.headline, "Passed with a warning: launches a step: not in "
                                                 "this recording, 4000 before");
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

/* Each row: what one side has in a list and the other has not, and the rule that says so. */
TEST(changes_have_names)
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
