/* judge_policy and what is said of doubtful times, on programs made by hand. */
#include "gate_program.h"

static void set_count(struct summary *summary, enum count_id id, double value)
{
    for (size_t i = 0; i < summary->runs.count; i++)
        summary->runs.items[i].counts[id] = (struct count_value) { value, value, value, true };
}

static void set_steps(struct summary *summary, const double *ms, size_t count)
{
    summary->runs.items[0].step_count = count;
    for (size_t i = 0; i < count; i++)
        summary->runs.items[0].step_ns[i] = 1e6 * ms[i];
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

static void what_costs_something_fails_by_itself(void **state)
{
    (void)state;
    assert_int_equal(grown(COUNT_SYNCS, 1, COUNTS_RECOMMENDED), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_COMPILES, 1, COUNTS_RECOMMENDED), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_OPS, 1, COUNTS_RECOMMENDED), OUTCOME_WARN);
    assert_int_equal(grown(COUNT_GRAPH_OPS, 1, COUNTS_RECOMMENDED), OUTCOME_WARN);
    /* A program that became faster by a fifth does not fail for how it did. */
    assert_int_equal(grown(COUNT_SYNCS, 0.8, COUNTS_RECOMMENDED), OUTCOME_WARN);
    assert_int_equal(grown(COUNT_SYNCS, 1.2, COUNTS_RECOMMENDED), OUTCOME_FAIL);
}

static void other_policies_are_plain(void **state)
{
    (void)state;
    assert_int_equal(grown(COUNT_OPS, 1, COUNTS_STRICT), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_OPS, 0.8, COUNTS_STRICT), OUTCOME_FAIL);
    assert_int_equal(grown(COUNT_SYNCS, 1, COUNTS_LENIENT), OUTCOME_WARN);
}

/*
 * Medians 105 and 121; deviations from them 25, 5, 15, 15, 45, 5 and 27, 9, 39, 34, 19, 0, whose
 * medians are 15 and 23, so spreads of 1.4826 * 15 = 22.2 and 1.4826 * 23 = 34.1. With z(0.995) +
 * z(0.9) = 3.858 and a difference of 16: 3.858^2 * (22.2^2 + 34.1^2) / 16^2 / 0.955 = 100.8.
 */
static void how_many_steps_would_settle_it(void **state)
{
    static const double      one[] = { 80, 100, 120, 90, 150, 110 };
    static const double      other[] = { 94, 130, 160, 87, 140, 112 };
    const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary           before, after;
    struct random            random = { .state = 5 };
    struct arena             arena = { 0 };
    struct err               err = { 0 };
    struct gate_result       result;

    (void)state;
    make(&before, &usual, 1, &random, &arena);
    make(&after, &usual, 1, &random, &arena);
    set_steps(&before, one, 6);
    set_steps(&after, other, 6);
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    assert_int_equal(result.outcome, OUTCOME_WARN);
    assert_non_null(strstr(result.headline, "not surely slower: 121.0 ms, was 105.0 ms"));
    assert_non_null(strstr(result.checks.items[0].detail,
                           "about 101 steps a side would settle it, or 4 runs a side"));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_costs_something_fails_by_itself),
        cmocka_unit_test(other_policies_are_plain),
        cmocka_unit_test(how_many_steps_would_settle_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
