/* Recordings of other work, sizes and hardware, which a gate does not compare. */
#include "base/macros.h"
#include "gate_program.h"

TEST(other_hardware_is_not_compared)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary                  before, after;
    struct random                   random = { .state = 3 };
    struct arena                    arena = { 0 };
    struct err                      err = { 0 };
    struct gate_result              result;

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
TEST(other_shapes_are_not_compared)
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

/* Steps of 100 ms before, of other shapes and other lengths now. Twice the arithmetic explains
 * steps of up to twice the time, and products that are less efficient up to twice that. */
TEST(other_shapes_explain_only_so_much)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    static const struct {
        double       step_ns, flops;
        enum outcome outcome;
        const char  *words;
    } rows[] = {
        { 350e6, 2e9, OUTCOME_INCONCLUSIVE, "different work: shapes" },
        { 600e6, 2e9, OUTCOME_FAIL, "step slower than its other shapes explain: " },
        { 600e6, 0.5e9, OUTCOME_FAIL, "step slower than its other shapes explain: " },
        { 60e6, 0.5e9, OUTCOME_INCONCLUSIVE, "different work: shapes" },
        { 30e6, 0.5e9, OUTCOME_INCONCLUSIVE, "different work: shapes" },
        { 10e6, 0.5e9, OUTCOME_PASS, "held" },
        { 30e6, 2e9, OUTCOME_PASS, "held" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct program     other = usual;
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;
        struct work_item   was = { "dot [8,8]x[8,8]", 1e9, 1 };
        struct work_item   is = { "dot [16,8]x[8,8]", rows[i].flops, 1 };

        other.step_ns = rows[i].step_ns;
        make(&before, &usual, 1, &random, &arena);
        make(&after, &other, 1, &random, &arena);
        assert_true(vec_push(&before.identity.work, &arena, was));
        assert_true(vec_push(&after.identity.work, &arena, is));
        assert_true(add_fact(&before, "flops.per_step", was.flops, &arena));
        assert_true(add_fact(&after, "flops.per_step", is.flops, &arena));
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        if (result.outcome != rows[i].outcome || !strstr(result.headline, rows[i].words))
            fail_msg("row %zu: %s", i, result.headline);
        arena_free(&arena);
    }
}

/* Numbers of functions come from tracing; another name is another function. */
TEST(calls_of_other_functions_are_not_compared)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    static const struct {
        const char  *source, *before, *after;
        enum outcome outcome;
    } rows[] = {
        { "session", "train_step_12", "train_step_7", OUTCOME_PASS },
        { "session", "predict_last_753", "predict_next_739", OUTCOME_INCONCLUSIVE },
        { "session", "", "predict_next_739", OUTCOME_PASS },
        { "marker", "train", "Train step", OUTCOME_PASS }, /* what a program calls its steps */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        before.identity.step_source = after.identity.step_source = rows[i].source;
        before.identity.step_marker = rows[i].before;
        after.identity.step_marker = rows[i].after;
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].outcome);
        arena_free(&arena);
    }
}

/* 10 ms for 2 GFLOP before, 18 ms for 3 now: 5 and 6 ms a GFLOP. */
TEST(other_work_is_told_by_its_amount)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary                  before, after;
    struct random                   random = { .state = 3 };
    struct arena                    arena = { 0 };
    struct err                      err = { 0 };
    struct gate_result              result;

    make(&before, &usual, 1, &random, &arena);
    make(&after, &usual, 1, &random, &arena);
    before.identity.parameters = 1000;
    after.identity.parameters = 2000;
    assert_true(add_fact(&before, "flops.per_step", 2e9, &arena));
    assert_true(add_fact(&before, "step.median_ns", 10e6, &arena));
    assert_true(add_fact(&after, "flops.per_step", 3e9, &arena));
    assert_true(add_fact(&after, "step.median_ns", 18e6, &arena));
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    assert_string_equal(result.headline, "Inconclusive: different work: parameters 2000, was 1000");
    assert_non_null(
        strstr(result.checks.items[0].detail, "a GFLOP takes 6.00 ms of a step, was 5.00 ms"));
    arena_free(&arena);
}

/* Without shapes: three kernels that are called as often, with as many threads a call as `scale`
 * says, and one that always runs on all multiprocessors. */
TEST(other_sizes_are_not_compared)
{
    static const struct {
        const char  *prefix;
        double       scale[3];
        enum outcome outcome;
    } rows[] = {
        { "ampere_", { 1, 1, 1 }, OUTCOME_PASS },
        { "ampere_", { 2, 2, 1.9 }, OUTCOME_INCONCLUSIVE },
        { "ampere_", { 0.5, 0.5, 0.5 }, OUTCOME_INCONCLUSIVE },
        { "ampere_", { 2, 0.5, 2 }, OUTCOME_PASS }, /* no batch does that */
        { "ampere_", { 2, 1, 1 }, OUTCOME_PASS },   /* nor this */
        { "triton_", { 2, 2, 2 }, OUTCOME_PASS },   /* tuned anew */
    };
    static const struct gate_limits limits = { .max_regression = 0.05 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     sides[2];
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        for (int side = 0; side < 2; side++) {
            make(&sides[side], &usual, 1, &random, &arena);
            for (int kernel = 0; kernel < 4; kernel++) {
                struct item item = row(arena_text(&arena, "%s%d", rows[i].prefix, kernel), "", "",
                                       "", kernel < 3 ? 1e6 : 2e6);

                item.threads = 4 * 65536 * (side && kernel < 3 ? rows[i].scale[kernel] : 1);
                assert_true(vec_push(&sides[side].items[ITEM_KERNEL].rows, &arena, item));
            }
        }
        assert_true(gate_run(&sides[0], &sides[1], &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].outcome);
        if (rows[i].outcome == OUTCOME_INCONCLUSIVE)
            assert_non_null(strstr(result.headline, "different work: sizes"));
        arena_free(&arena);
    }
}

/* A step that works through four batches in 300 ms where it worked through one in 100 is faster. */
TEST(steps_of_more_batches_are_compared_by_the_batch)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    static const struct program     longer = { 300e6, 0.02, 0, 16001, 1 };
    static const struct {
        double       batches;
        enum outcome outcome;
        double       before_ns, after_ns;
        const char  *title;
    } rows[] = { { 4, OUTCOME_PASS, 100e6, 75e6, "launches a batch: 4000, was 4000 (+0.25)" },
                 { 1, OUTCOME_FAIL, 100e6, 300e6, "launches a step: 16001, was 4000 (+12001)" } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     before, after;
        struct random      random = { .state = 3 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;
        bool               has_title = false;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &longer, 1, &random, &arena);
        assert_true(add_fact(&before, "work.per_step", 1, &arena));
        assert_true(add_fact(&after, "work.per_step", rows[i].batches, &arena));
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, rows[i].outcome);
        assert_int_equal(result.is_per_batch, rows[i].batches > 1);
        assert_true(fabs(result.before_ns / rows[i].before_ns - 1) < 0.02);
        assert_true(fabs(result.after_ns / rows[i].after_ns - 1) < 0.02);
        for (size_t at = 0; at < result.checks.count; at++) {
            print_message("%s\n", result.checks.items[at].title);
            has_title |= strcmp(result.checks.items[at].title, rows[i].title) == 0;
        }
        assert_true(has_title);
        arena_free(&arena);
    }
}

/* Of 100 x 5, 110 x 4 and 300 x 2 ms the advice says 110. Two pauses do not count as its pace, but
 * they are steps. */
TEST(the_step_is_that_of_all_steps)
{
    static const struct gate_limits limits = { .max_regression = 0.05 };
    static const double step_ms[] = { 100, 110, 100, 300, 110, 100, 110, 300, 100, 110, 100 };
    struct summary      before, after;
    struct random       random = { .state = 3 };
    struct arena        arena = { 0 };
    struct err          err = { 0 };
    struct gate_result  result;

    make(&before, &usual, 1, &random, &arena);
    make(&after, &usual, 1, &random, &arena);
    after.runs.items[0].step_count = ARRAY_COUNT(step_ms);
    for (size_t i = 0; i < ARRAY_COUNT(step_ms); i++)
        after.runs.items[0].step_ns[i] = step_ms[i] * 1e6;
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    assert_true(result.after_ns == 110e6);
    assert_int_equal(result.steps_after, 9);
    arena_free(&arena);
}
