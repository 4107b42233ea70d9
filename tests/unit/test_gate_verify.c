/* Whether a promised saving was achieved, on programs made by hand: a step of 100 ms, of which a
 * finding promises 30 to 50. */
#include "gate/verify.h"
#include "gate_program.h"

static struct finding priced(const char *rule)
{
    return (struct finding) {
        .rank = 1,
        .rule = rule,
        .title = "40 ms are wasted",
        .impact = { .has_saving = true, .low_ns = 30e6, .mid_ns = 40e6, .high_ns = 50e6 },
    };
}

TEST(the_interval_decides)
{
    static const struct {
        double      step_ns, noise;
        const char *device;
        enum kept   kept;
        int         status;
        const char *words;
    } rows[] = {
        { 60e6, 0.02, NULL, KEPT, 0, "Achieved: " },
        { 40e6, 0.02, NULL, KEPT, 0, "Achieved: " },
        { 80e6, 0.02, NULL, KEPT_LESS, 1, "Missed: " },
        { 100e6, 0.02, NULL, KEPT_LESS, 1, "Missed: " },
        { 120e6, 0.02, NULL, KEPT_LESS, 1, "Missed: the step became " },
        { 90e6, 0.8, NULL, KEPT_UNTOLD, 4, "Cannot tell whether slow-thing saved 30.0 ms to" },
        { 60e6, 0.02, "1 x H100", KEPT_UNTOLD, 4, "Cannot tell whether slow-thing saved" },
    };
    struct finding finding = priced("slow-thing");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct program      fixed = { rows[i].step_ns, rows[i].noise, 0, 4000, 1 };
        struct summary      before, after;
        struct random       random = { .state = 5 };
        struct arena        arena = { 0 };
        struct err          err = { 0 };
        struct verification verification;

        make(&before, &usual, 1, &random, &arena);
        make(&after, &fixed, 1, &random, &arena);
        if (rows[i].device)
            assert_true(vec_push(&after.identity.devices, &arena, rows[i].device));
        assert_true(verify_make(&verification, &before, &after, &finding, &arena, &err));
        if (verification.kept != rows[i].kept || !strstr(verification.headline, rows[i].words))
            fail_msg("row %zu: %s", i, verification.headline);
        assert_int_equal(verify_status(&verification), rows[i].status);
        arena_free(&arena);
    }
}

/* Four batches in 240 ms after the fix: 60 ms each, and the finding after it promises 8 of the 240.
 */
TEST(savings_are_of_a_batch_where_steps_have_more)
{
    const struct program longer = { 240e6, 0.02, 0, 16000, 1 };
    struct finding       finding = priced("slow-thing"), left = priced("slow-thing");
    struct summary       before, after;
    struct random        random = { .state = 5 };
    struct arena         arena = { 0 };
    struct err           err = { 0 };
    struct verification  verification;

    make(&before, &usual, 1, &random, &arena);
    make(&after, &longer, 1, &random, &arena);
    assert_true(add_fact(&before, "work.per_step", 1, &arena));
    assert_true(add_fact(&after, "work.per_step", 4, &arena));
    left.impact.mid_ns = 8e6;
    assert_true(vec_push(&after.advice.findings, &arena, left));
    assert_true(verify_make(&verification, &before, &after, &finding, &arena, &err));
    assert_int_equal(verification.kept, KEPT);
    assert_true(fabs(verification.achieved_ns - 40e6) < 2e6);
    assert_true(verification.left_ns == 2e6);
    arena_free(&arena);
}

TEST(findings_are_named_by_rule_or_number)
{
    static const struct {
        const char *claimed, *rule; /* NULL: refused */
    } rows[] = { { "1", "slow-thing" }, { "slow-thing", "slow-thing" },
                 { "2", NULL },         { "unpriced", NULL },
                 { "3", NULL },         { "slow", NULL },
                 { "", NULL } };
    struct finding unpriced = { .rank = 2, .rule = "unpriced" };
    struct advice  advice = { 0 };
    struct arena   arena = { 0 };

    assert_true(vec_push(&advice.findings, &arena, priced("slow-thing")));
    assert_true(vec_push(&advice.findings, &arena, unpriced));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err            err = { 0 };
        const struct finding *found = verify_find(&advice, rows[i].claimed, &arena, &err);

        assert_int_equal(found != NULL, rows[i].rule != NULL);
        assert_int_equal(err.code, rows[i].rule ? ERR_NONE : ERR_USAGE);
        if (!found)
            assert_non_null(strstr(err.advice, "these promise time: slow-thing"));
        else
            assert_string_equal(found->rule, rows[i].rule);
    }
    arena_free(&arena);
}
