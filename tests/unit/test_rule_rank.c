/* Claims, order and words of findings. */
#include "rank_program.h"

TEST(the_more_specific_keeps_the_time)
{
    struct fixture f;

    start(&f, replay_parts);
    assert_true(vec_push(&f.rules[1].info.more_specific_than, &f.arena, "a"));
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 40 * MS, NAN, NAN, NAN, NAN },
        1u << PART_INPUT);
    add(&f, 1, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    add(&f, 2, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_HOST);
    assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
    rank_findings(&f.list);
    const struct draft *drafts = f.list.drafts.items;
    assert_string_equal(drafts[0].finding.rule, "b"); /* 36 ms */
    assert_string_equal(drafts[1].finding.rule, "c"); /* 27 ms */
    assert_string_equal(drafts[2].finding.rule, "a");
    assert_string_equal(drafts[2].finding.hidden_by, "b");
    assert_false(drafts[2].finding.impact.has_saving);
    assert_int_equal(drafts[0].finding.children.count, 1);
    assert_string_equal(drafts[0].finding.children.items[0], "a");
    assert_null(drafts[1].finding.hidden_by);
    arena_free(&f.arena);
}

/* 5 of 100 ms are no reason to be silent about the 40 they are part of. Of remedies for one input
 * pipeline the more specific one is said. */
TEST(a_small_part_leaves_the_whole)
{
    for (int is_input = 0; is_input < 2; is_input++) {
        struct fixture f;

        start(&f, replay_parts);
        f.rules[0].info.category = f.rules[1].info.category = is_input ? "input" : "kernels";
        assert_true(vec_push(&f.rules[1].info.more_specific_than, &f.arena, "a"));
        add(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
        add(&f, 1, (struct price_request) { METHOD_EXPOSED, 5 * MS, NAN, NAN, NAN, NAN },
            1u << PART_INPUT);
        assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
        assert_int_equal(f.list.drafts.items[0].finding.hidden_by != NULL, is_input);
        assert_int_equal(f.list.drafts.items[1].finding.hidden_by != NULL, !is_input);
        arena_free(&f.arena);
    }
}

/* Without a device what is vague about 40 of 100 ms stays beside a more specific finding of 1 ms of
 * them, and goes below one of 30. */
TEST(what_is_vague_stays_beside_a_small_part)
{
    for (int is_large = 0; is_large < 2; is_large++) {
        struct fixture f;

        start(&f, replay_parts);
        assert_true(vec_push(&f.rules[1].info.more_specific_than, &f.arena, "a"));
        add(&f, 0, (struct price_request) { METHOD_SHARE, 40 * MS, NAN, NAN, NAN, NAN },
            1u << PART_INPUT);
        f.list.drafts.items[0].finding.severity = SEVERITY_INFO;
        add(&f, 1,
            (struct price_request) { METHOD_EXPOSED, (is_large ? 30 : 1) * MS, NAN, NAN, NAN, NAN },
            1u << PART_INPUT);
        assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
        assert_int_equal(f.list.drafts.items[0].finding.hidden_by != NULL, is_large);
        assert_null(f.list.drafts.items[1].finding.hidden_by);
        arena_free(&f.arena);
    }
}

/* What has no price and is told by a finding that has one goes below it; what warns, or is told by
 * another rule, stays. */
TEST(a_fact_goes_below_what_tells_it)
{
    for (int is_warning = 0; is_warning < 2; is_warning++) {
        struct fixture f;

        start(&f, replay_parts);
        assert_true(vec_push(&f.rules[1].info.more_specific_than, &f.arena, "a"));
        for (int i = 0; i < 3; i++) {
            bool has_price = i == 1;

            add(&f, i, (struct price_request) { METHOD_EXPOSED, 40 * MS, NAN, NAN, NAN, NAN }, 0);
            f.list.drafts.items[i].finding.impact.has_saving = has_price;
            f.list.drafts.items[i].finding.severity = is_warning ? SEVERITY_WARN : SEVERITY_INFO;
        }
        assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
        assert_int_equal(f.list.drafts.items[0].finding.hidden_by != NULL, !is_warning);
        assert_null(f.list.drafts.items[1].finding.hidden_by);
        assert_null(f.list.drafts.items[2].finding.hidden_by);
        arena_free(&f.arena);
    }
}

/* Behind a veto prices are gone and nothing warns but what is about the recording and, without a
 * price, about kernels; memory keeps its price. */
TEST(a_veto_takes_prices_away)
{
    static const struct {
        const char   *category;
        enum severity severity;
        double        ns;
        const char   *resource;
        bool          is_priced;
        enum severity then;
    } rows[] = {
        { "validity", SEVERITY_VETO, 0, NULL, false, SEVERITY_VETO },
        { "host", SEVERITY_ERROR, 30, NULL, false, SEVERITY_INFO },
        { "idle", SEVERITY_ERROR, 0, NULL, false, SEVERITY_INFO },
        { "kernels", SEVERITY_WARN, 30, NULL, false, SEVERITY_INFO },
        { "kernels", SEVERITY_WARN, 0, NULL, false, SEVERITY_WARN },
        { "validity", SEVERITY_WARN, 0, NULL, false, SEVERITY_WARN },
        { "memory", SEVERITY_WARN, 30, "memory", true, SEVERITY_WARN },
    };

    for (size_t veto = 0; veto < 2; veto++) {
        struct fixture f;

        start(&f, replay_parts);
        for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
            add(&f, 0,
                (struct price_request) { METHOD_EXPOSED, rows[i].ns * MS, NAN, NAN, NAN, NAN }, 0);
            struct finding *finding = &f.list.drafts.items[i].finding;
            finding->category = rows[i].category;
            finding->severity = i == 0 && !veto ? SEVERITY_WARN : rows[i].severity;
            finding->impact.resource = rows[i].resource;
            finding->impact.has_saving = rows[i].ns > 0;
        }
        assert_true(rank_veto(&f.list, &f.arena));
        for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
            const struct finding *finding = &f.list.drafts.items[i].finding;
            bool                  had_price = rows[i].ns > 0;

            assert_int_equal(finding->impact.has_saving, veto ? rows[i].is_priced : had_price);
            if (i > 0)
                assert_int_equal(finding->severity, veto ? rows[i].then : rows[i].severity);
        }
        if (veto) /* it says how many lost their price: host, kernels */
            assert_true(f.list.drafts.items[0].finding.evidence.items[0].value == 2);
        arena_free(&f.arena);
    }
}

/* An error of another kind stands behind a warning about the limit that the verdict names. */
TEST(the_limit_is_told_first)
{
    static const char *const classes[] = { "compute-bound", "host-bound", "mixed" };
    static const char *const first[] = { "kernels", "idle", "idle" };

    for (size_t i = 0; i < ARRAY_COUNT(classes); i++) {
        struct fixture f;

        start(&f, replay_parts);
        for (int j = 0; j < 2; j++) {
            add(&f, j, (struct price_request) { METHOD_NONE, NAN, NAN, NAN, NAN, NAN }, 0);
            f.list.drafts.items[j].finding.category = j ? "kernels" : "idle";
            f.list.drafts.items[j].finding.severity = j ? SEVERITY_WARN : SEVERITY_ERROR;
        }
        rank_verdict(&f.list, classes[i]);
        rank_findings(&f.list);
        assert_string_equal(f.list.drafts.items[0].finding.category, first[i]);
        arena_free(&f.arena);
    }
}

/* Formulas that claim no time of the path: where they name the same op it is one loop, else two. */
TEST(two_loops_are_two_findings)
{
    static const char *const ops[] = { "select", "select", "slice" };

    for (int other = 1; other < 3; other++) {
        struct fixture f;

        start(&f, replay_parts);
        f.rules[0].info.cause = f.rules[1].info.cause = "loop";
        assert_true(vec_push(&f.rules[0].info.more_specific_than, &f.arena, "b"));
        for (int i = 0; i < 2; i++) {
            add(&f, i, (struct price_request) { METHOD_EXPOSED, 20 * MS, NAN, NAN, NAN, NAN }, 0);
            f.list.drafts.items[i].finding.subject.op = ops[i * other];
        }
        assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
        assert_null(f.list.drafts.items[0].finding.hidden_by);
        assert_int_equal(f.list.drafts.items[1].finding.hidden_by != NULL, other == 1);
        arena_free(&f.arena);
    }
}

TEST(one_cause_but_different_time_is_two_findings)
{
    struct fixture f;

    start(&f, replay_parts);
    f.rules[0].info.cause = f.rules[1].info.cause = "host";
    add(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    add(&f, 1, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_HOST);
    assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
    assert_null(f.list.drafts.items[0].finding.hidden_by);
    assert_null(f.list.drafts.items[1].finding.hidden_by);
    arena_free(&f.arena);
}

TEST(small_findings_are_infos)
{
    struct fixture f;

    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 0.4 * MS, NAN, NAN, NAN, NAN }, 0);
    rank_findings(&f.list);
    assert_int_equal(f.list.drafts.items[0].finding.severity, SEVERITY_INFO);
    arena_free(&f.arena);
}

TEST(fingerprints_ignore_numbers)
{
    struct fixture f;

    start(&f, replay_parts);
    for (int i = 0; i < 3; i++)
        add(&f, 0, (struct price_request) { .method = METHOD_NONE }, 0);
    f.list.drafts.items[0].finding.subject.op = "dense_1/MatMul";
    f.list.drafts.items[1].finding.subject.op = "dense_27/MatMul";
    f.list.drafts.items[2].finding.subject.op = "dense_1/Relu";
    rank_fingerprints(&f.list);
    rank_findings(&f.list);
    const struct draft *drafts = f.list.drafts.items; /* MatMul, Relu, MatMul by op name */
    assert_string_equal(drafts[0].finding.fingerprint, drafts[2].finding.fingerprint);
    assert_string_not_equal(drafts[0].finding.fingerprint, drafts[1].finding.fingerprint);
    assert_int_equal(strlen(drafts[0].finding.fingerprint), 16);
    arena_free(&f.arena);
}

/* The rule wants an error; the low end of the range decides: a fifth of the step for an error, an
 * eighth for a warning. Who configured it gets it from half a hundredth on. */
TEST(the_low_end_decides_how_loud)
{
    static const struct {
        double        low_ms, mid_ms;
        enum severity severity, configured;
    } rows[] = {
        { 20.1, 60, SEVERITY_ERROR, SEVERITY_ERROR }, { 19.9, 60, SEVERITY_WARN, SEVERITY_ERROR },
        { 12.6, 20, SEVERITY_WARN, SEVERITY_ERROR },  { 12.4, 40, SEVERITY_INFO, SEVERITY_ERROR },
        { 0.2, 0.6, SEVERITY_INFO, SEVERITY_ERROR },  { 0.2, 0.4, SEVERITY_INFO, SEVERITY_INFO },
    };

    for (size_t i = 0; i < 2 * ARRAY_COUNT(rows); i++) {
        bool           is_configured = i % 2;
        struct fixture f;

        start(&f, replay_parts);
        add(&f, 0, (struct price_request) { METHOD_EXPOSED, 20 * MS, NAN, NAN, NAN, NAN }, 0);
        struct draft *draft = &f.list.drafts.items[0];
        draft->keeps_severity = is_configured;
        draft->finding.severity = SEVERITY_ERROR;
        draft->finding.impact.low_ns = rows[i / 2].low_ms * MS;
        draft->finding.impact.mid_ns = rows[i / 2].mid_ms * MS;
        draft->finding.impact.share = rows[i / 2].mid_ms / 100;
        rank_findings(&f.list);
        assert_int_equal(f.list.drafts.items[0].finding.severity,
                         is_configured ? rows[i / 2].configured : rows[i / 2].severity);
        arena_free(&f.arena);
    }
}

/* What is lowered to a small info does not stay ahead of a larger bound: 1 of 100 ms that its rule
 * takes for a warning, and a share of 60 ms. */
TEST(the_order_is_of_what_is_said)
{
    struct fixture f;

    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 1 * MS, NAN, NAN, NAN, NAN }, 0);
    add(&f, 1, (struct price_request) { METHOD_SHARE, 60 * MS, NAN, NAN, NAN, NAN }, 0);
    f.list.drafts.items[1].finding.severity = SEVERITY_INFO;
    rank_findings(&f.list);
    assert_string_equal(f.list.drafts.items[0].finding.rule, "b");
    assert_int_equal(f.list.drafts.items[1].finding.severity, SEVERITY_INFO);
    arena_free(&f.arena);
}

/* Shares of 36 ms of Python and of 50 or 54 ms of computing, of which 0.7 counts: 35 and 37.8 ms.
 */
TEST(computing_counts_for_less_than_what_is_around_it)
{
    for (int is_more = 0; is_more < 2; is_more++) {
        struct fixture f;

        start(&f, replay_parts);
        f.rules[0].info.category = "host";
        add(&f, 0, (struct price_request) { METHOD_SHARE, 36 * MS, NAN, NAN, NAN, NAN }, 0);
        add(&f, 1,
            (struct price_request) { METHOD_SHARE, (is_more ? 54 : 50) * MS, NAN, NAN, NAN, NAN },
            0);
        for (int i = 0; i < 2; i++)
            f.list.drafts.items[i].finding.severity = SEVERITY_INFO;
        rank_findings(&f.list);
        assert_string_equal(f.list.drafts.items[0].finding.rule, is_more ? "b" : "a");
        arena_free(&f.arena);
    }
}

/* Three ways to save 40 of 100 ms: by stages that the step waits 40 or 10 ms for, and by a guess of
 * the rule's. What freed cores are to give is a guess too, and a guess never warns. */
TEST(guesses_do_not_warn)
{
    static const struct {
        double          wait_ms;
        enum confidence given, confidence;
        enum severity   severity;
    } rows[] = {
        { 40, CONFIDENCE_HIGH, CONFIDENCE_HIGH, SEVERITY_WARN },
        { 10, CONFIDENCE_HIGH, CONFIDENCE_LOW, SEVERITY_INFO },
        { 40, CONFIDENCE_LOW, CONFIDENCE_LOW, SEVERITY_INFO },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct err     err = { 0 };

        start(&f, replay_parts);
        assert_true(facts_set(&f.facts, analysis_fact("part.input_ns"), rows[i].wait_ms * MS));
        struct draft draft =
            draft_of(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
        draft.edits.edits.items[0].kind = EDIT_STAGE_SCALE;
        draft.confidence = rows[i].given;
        assert_true(price_draft(&f.pricing, &draft, &f.arena, &err));
        price_calibrate(&f.pricing, &draft.finding.impact);
        assert_int_equal(draft.finding.impact.confidence, rows[i].confidence);
        assert_true(vec_push(&f.list.drafts, &f.arena, draft));
        rank_findings(&f.list);
        assert_int_equal(f.list.drafts.items[0].finding.severity, rows[i].severity);
        arena_free(&f.arena);
    }
}
