/* judge_policy and what is said of doubtful times, on programs made by hand. */
#include "gate_program.h"

static void set_count(struct summary *summary, enum count_id id, double value)
{
    for (size_t i = 0; i < summary->runs.count; i++)
        summary->runs.items[i].counts[id] = (struct count_value) { value, value, value, true };
}

/* One count more, at this pace; the outcome of its check. */
static enum outcome grown(enum count_id id, double factor, enum count_policy policy)
{
    const struct gate_limits limits = { .max_regression = 0.05, .counts = policy };
    struct program           other = usual;
    struct summary           before, after;
    struct random            random = { .state = 5 };
    struct arena             arena = { 0 };
    struct err               err = { 0 };
    struct gate_result       result;
    enum outcome             outcome = OUTCOME_PASS;

    other.step_ns *= factor;
    make(&before, &usual, 1, &random, &arena);
    make(&after, &other, 1, &random, &arena);
    set_count(&before, id, 10);
    set_count(&after, id, 11);
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    for (size_t i = 0; i < result.checks.count; i++)
        if (result.checks.items[i].kind == CHECK_COUNT && result.checks.items[i].before == 10)
            outcome = result.checks.items[i].outcome;
    arena_free(&arena);
    return outcome;
}

TEST(what_costs_something_fails_by_itself)
{
    assert_int_equal(grown(COUNT_SYNCS, 1, COUNTS_RECOMMENDED), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_COMPILES, 1, COUNTS_RECOMMENDED), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_OPS, 1, COUNTS_RECOMMENDED), OUTCOME_WARN);
    assert_int_equal(grown(COUNT_GRAPH_OPS, 1, COUNTS_RECOMMENDED), OUTCOME_WARN);
    /* A program that became faster by a fifth does not fail for how it did. */
    assert_int_equal(grown(COUNT_SYNCS, 0.8, COUNTS_RECOMMENDED), OUTCOME_WARN);
    assert_int_equal(grown(COUNT_SYNCS, 1.2, COUNTS_RECOMMENDED), OUTCOME_FAIL);
}

TEST(other_policies_are_plain)
{
    assert_int_equal(grown(COUNT_OPS, 1, COUNTS_STRICT), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_OPS, 0.8, COUNTS_STRICT), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_SYNCS, 1, COUNTS_LENIENT), OUTCOME_WARN);
}

/* Steps that vary by a third: nobody can say that 20 % more ops cost less than the limit. */
TEST(more_work_in_steps_that_vary_is_inconclusive)
{
    static const struct {
        double       ops;
        enum outcome outcome;
    } programs[] = { { 10, OUTCOME_PASS }, { 12, OUTCOME_INCONCLUSIVE } };
    static const struct gate_limits limits = { .max_regression = 0.05 };
    static const struct program     wobbly = { 100e6, 0.33, 0, 4000, 1 };

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct random      random = { .state = 5 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct summary     before, after;
        struct gate_result result;

        make(&before, &wobbly, 1, &random, &arena);
        make(&after, &wobbly, 1, &random, &arena);
        set_count(&before, COUNT_OPS, 10);
        set_count(&after, COUNT_OPS, programs[i].ops);
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_true(result.change < 0 && result.change_high > limits.max_regression);
        assert_int_equal(result.outcome, programs[i].outcome);
        arena_free(&arena);
    }
}

/*
 * Medians 105 and 121; deviations from them 25, 5, 15, 15, 45, 5 and 27, 9, 39, 34, 19, 0, whose
 * medians are 15 and 23, so spreads of 1.4826 * 15 = 22.2 and 1.4826 * 23 = 34.1. With z(0.995) +
 * z(0.9) = 3.858 and a difference of 16: 3.858^2 * (22.2^2 + 34.1^2) / 16^2 / 0.955 = 100.8.
 */
TEST(how_many_steps_would_settle_it)
{
    static const double      one[] = { 80, 100, 120, 90, 150, 110 };
    static const double      other[] = { 94, 130, 160, 87, 140, 112 };
    const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary           before, after;
    struct random            random = { .state = 5 };
    struct arena             arena = { 0 };
    struct err               err = { 0 };
    struct gate_result       result;

    make(&before, &usual, 1, &random, &arena);
    make(&after, &usual, 1, &random, &arena);
    set_steps(&before, one, 6);
    set_steps(&after, other, 6);
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    assert_int_equal(gate_status(&result, "fail"), 4);
    assert_non_null(strstr(result.headline, "not surely slower: 121.0 ms, was 105.0 ms"));
    assert_non_null(strstr(result.checks.items[0].detail,
                           "about 101 steps a side would settle it, or 4 runs a side"));
    arena_free(&arena);
}

/*
 * The median falls from 48 to 42 ms, but two of the five steps before took 18 and 21: with one more
 * of these the step was 21 ms, and is twice as slow now. A median that fell by chance is no pass.
 */
TEST(a_median_that_fell_by_chance_is_no_pass)
{
    static const double      wild[] = { 48, 50, 69, 18, 21 }, even[] = { 40, 43, 44, 42, 39 };
    const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary           before, after;
    struct random            random = { .state = 5 };
    struct arena             arena = { 0 };
    struct err               err = { 0 };
    struct gate_result       result;

    make(&before, &usual, 1, &random, &arena);
    make(&after, &usual, 1, &random, &arena);
    set_steps(&before, wild, 5);
    set_steps(&after, even, 5);
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    assert_true(result.change < -0.1);
    assert_int_equal(gate_status(&result, "fail"), 4);
    assert_non_null(strstr(result.headline, "not surely as fast"));
    arena_free(&arena);
}

/*
 * Four runs a side of five equal steps; the medians of runs are 100, 104, 96, 108 and 105, 111,
 * 107, 117. Their medians are 102 and 109, their variances (4 + 4 + 36 + 36) / 3 = 26.7 and (25 + 1
 * + 9 + 49) / 3 = 28. U is 14 of 16: p = 2 * (1 + 1 + 2) / 70 = 0.11. With z(0.985) + z(0.9) =
 * 3.452: 3.452^2 * (26.7 + 28) / 7^2 / 0.955 = 13.9.
 */
TEST(how_many_runs_would_settle_it)
{
    static const double      medians[2][4] = { { 100, 104, 96, 108 }, { 105, 111, 107, 117 } };
    const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary           sides[2];
    struct random            random = { .state = 5 };
    struct arena             arena = { 0 };
    struct err               err = { 0 };
    struct gate_result       result;

    for (int side = 0; side < 2; side++) {
        make(&sides[side], &usual, 4, &random, &arena);
        for (int run = 0; run < 4; run++) {
            sides[side].runs.items[run].step_count = 5;
            for (int step = 0; step < 5; step++)
                sides[side].runs.items[run].step_ns[step] = 1e6 * medians[side][run];
        }
    }
    assert_true(gate_run(&sides[0], &sides[1], &limits, &arena, &result, &err));
    assert_int_equal(gate_status(&result, "fail"), 4);
    assert_non_null(strstr(result.headline, "not surely slower: 109.0 ms, was 102.0 ms"));
    assert_non_null(strstr(result.checks.items[0].detail, "p = 0.114; about 14 runs a side would"));
    arena_free(&arena);
}

/*
 * Three steps a side tell something only with a second witness. 60, 62, 64 against 90, 93, 96: the
 * logarithms are 0.405 apart (93 / 62 = 1.5) and vary less than the 0.1 that is taken for so few:
 * t = 0.405 / (0.1 * sqrt(2 / 3)) = 4.97, with four degrees of freedom p = 0.0077.
 */
TEST(few_steps_need_a_second_witness)
{
    static const double less[] = { 60, 62, 64 }, more[] = { 90, 93, 96 }, some[] = { 60, 62, 95 },
                        most[] = { 360, 372, 384 };
    static const struct {
        const double *before, *after;
        double        ops_before, ops_after;
        enum outcome  outcome;
        const char   *words;
    } rows[] = {
        { less, more, 100, 100, OUTCOME_INCONCLUSIVE, "too few steps" },
        { less, more, 100, 105, OUTCOME_INCONCLUSIVE, "too few steps" },
        { less, more, 100, 120, OUTCOME_FAIL, "step slower: 93.0 ms, was 62.0 ms" },
        { some, more, 100, 120, OUTCOME_INCONCLUSIVE, "too few steps" }, /* 95 is above 90 */
        { more, less, 120, 100, OUTCOME_PASS, "held" },
        { more, less, 100, 120, OUTCOME_INCONCLUSIVE, "too few steps" },
        { less, most, 100, 100, OUTCOME_FAIL, "step slower: 372.0 ms" }, /* 360 is 5.6 times 64 */
        { most, less, 100, 100, OUTCOME_PASS, "held" },
    };
    const struct gate_limits limits = { .max_regression = 0.05 };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct summary     before, after;
        struct random      random = { .state = 5 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        set_steps(&before, rows[i].before, 3);
        set_steps(&after, rows[i].after, 3);
        set_count(&before, COUNT_OPS, rows[i].ops_before);
        set_count(&after, COUNT_OPS, rows[i].ops_after);
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        if (result.outcome != rows[i].outcome || !strstr(result.headline, rows[i].words))
            fail_msg("row %zu: %s", i, result.headline);
        arena_free(&arena);
    }
}

/* Memory that grew in three steps that look faster may be what that costs; in steps that do not, it
 * is growth. */
TEST(few_steps_that_look_faster_do_not_fail_for_counts)
{
    static const double      slow[] = { 62, 90, 75 }, fast[] = { 50, 60, 61 };
    const struct gate_limits limits = { .max_regression = 0.05 };

    for (int is_faster = 0; is_faster < 2; is_faster++) {
        struct summary     before, after;
        struct random      random = { .state = 5 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        set_steps(&before, is_faster ? slow : fast, 3);
        set_steps(&after, is_faster ? fast : slow, 3);
        set_count(&before, COUNT_SYNCS, 10);
        set_count(&after, COUNT_SYNCS, 11);
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, is_faster ? OUTCOME_INCONCLUSIVE : OUTCOME_FAIL);
        arena_free(&arena);
    }
}

/* Ten per cent of a step that waits for input, then twenty, and a step that is as long as before.
 */
TEST(a_wait_for_input_is_not_masked)
{
    static const double      steps[] = { 80, 100, 120, 90, 150, 110 };
    const struct gate_limits limits = { .max_regression = 0.05 };

    for (int wait = 10; wait <= 20; wait += 10) {
        struct summary     before, after;
        struct random      random = { .state = 5 };
        struct arena       arena = { 0 };
        struct err         err = { 0 };
        struct gate_result result;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &usual, 1, &random, &arena);
        set_steps(&before, steps, 6);
        set_steps(&after, steps, 6);
        assert_true(add_fact(&before, "part.input_ns", 10e6, &arena) &&
                    add_fact(&before, "part.compute_ns", 90e6, &arena));
        assert_true(add_fact(&after, "part.input_ns", 1e6 * wait, &arena) &&
                    add_fact(&after, "part.compute_ns", 1e6 * (100 - wait), &arena));
        assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
        assert_int_equal(result.outcome, wait == 10 ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE);
        if (wait == 20)
            assert_non_null(strstr(result.headline, "20 % of it waits for input, was 10 %"));
        arena_free(&arena);
    }
}
