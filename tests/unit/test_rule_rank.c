/*
 * Prices, claims and order of findings against a step of 100 ms: 40 input, 30 host, 30 compute. An
 * edit that names a part scales it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "analyze/path/path.h"
#include "no_replay.h"
#include "rules/rank.h"
#include "rules/verdict.h"

static const double MS = 1e6;

static double part_ns(int part)
{
    switch (part) {
    case PART_INPUT:
        return 40 * MS;
    case PART_HOST:
    case PART_COMPUTE:
        return 30 * MS;
    default:
        return 0;
    }
}

static bool replay_parts(void *context, const struct edit *edits, size_t count,
                         struct replay_result *result, struct err *err)
{
    double left[PART_COUNT], steps_ns = 0;

    (void)context;
    (void)err;
    *result = (struct replay_result) { .step_ns = 0 };
    for (int part = 0; part < PART_COUNT; part++)
        left[part] = 1;
    for (size_t i = 0; i < count; i++) {
        result->selected_ns = 0;
        steps_ns += edits[i].kind == EDIT_STEP ? edits[i].ns : 0;
        for (int part = 0; part < PART_COUNT; part++)
            if (edits[i].select.part_mask >> part & 1) {
                result->selected_ns += part_ns(part);
                left[part] *= edits[i].factor;
            }
    }
    for (int part = 0; part < PART_COUNT; part++)
        result->step_ns += left[part] * part_ns(part);
    result->step_ns -= steps_ns;
    return true;
}

struct fixture {
    struct arena      arena;
    struct intern     names;
    struct facts      facts;
    struct rule_view  view;
    struct pricing    pricing;
    struct rule       rules[3];
    struct draft_list list;
};

static void start(struct fixture *f, replay_function *replay)
{
    *f = (struct fixture) { 0 };
    assert_true(intern_init(&f->names, &f->arena));
    facts_init(&f->facts, &f->arena, &f->names);
    assert_true(facts_set(&f->facts, analysis_fact("step.ns"), 100 * MS));
    f->view = (struct rule_view) {
        .facts = &f->facts, .format = "xspace", .framework = "", .replay = replay
    };
    pricing_start(&f->pricing, &f->view);
    for (size_t i = 0; i < ARRAY_COUNT(f->rules); i++)
        f->rules[i].info.id = (const char *[]) { "a", "b", "c" }[i];
}

static struct draft draft_of(struct fixture *f, int rule, struct price_request price, uint32_t mask)
{
    struct draft draft = { .rule = &f->rules[rule], .price = price, .confidence = CONFIDENCE_HIGH };
    struct edit  edit = { .kind = EDIT_SCALE, .select = { .part_mask = mask, .host = NO_ID } };

    draft.finding.rule = f->rules[rule].info.id;
    draft.finding.condition = "fired";
    draft.finding.title = "";
    draft.finding.severity = SEVERITY_WARN;
    if (mask && price.method == METHOD_REPLAY)
        assert_true(vec_push(&draft.edits.edits, &f->arena, edit));
    else if (mask)
        assert_true(vec_push(&draft.claims.edits, &f->arena, edit));
    return draft;
}

static void add(struct fixture *f, int rule, struct price_request price, uint32_t mask)
{
    struct draft draft = draft_of(f, rule, price, mask);
    struct err   err = { 0 };

    assert_true(price_draft(&f->pricing, &draft, &f->arena, &err));
    assert_true(vec_push(&f->list.drafts, &f->arena, draft));
}

static void methods_price_as_documented(void **state)
{
    const struct {
        struct price_request price;
        uint32_t             mask;
        double               low, mid, high; /* ms */
    } rows[] = {
        { { METHOD_REPLAY, NAN, NAN, NAN, NAN, NAN }, 1u << PART_INPUT, 28, 38, 40 },
        { { METHOD_EXPOSED, 20 * MS, NAN, NAN, NAN, NAN }, 0, 10, 15, 20 },
        /* 60 ms of waiting cannot save more than the 40 ms of input on the path. */
        { { METHOD_EXPOSED, 60 * MS, NAN, NAN, NAN, NAN }, 1u << PART_INPUT, 30, 40, 40 },
        { { METHOD_EXPOSED, 20 * MS, 4 * MS, 10 * MS, NAN, NAN }, 0, 4, 7, 10 },
        { { METHOD_ROOFLINE, 20 * MS, NAN, NAN, 4 * MS, NAN }, 0, 12, 14, 16 },
        /* speed-up 3: 20 * (1 - 1/2), 20 * (1 - 1/2.5), 20 * (1 - 1/3) */
        { { METHOD_AMDAHL, 20 * MS, NAN, NAN, NAN, 3 }, 0, 10, 12, 40.0 / 3 },
        { { METHOD_SHARE, 20 * MS, NAN, NAN, NAN, NAN }, 0, 0, 6, 20 },
        /* Summed over threads; the step caps it. */
        { { METHOD_EXPOSED, 900 * MS, NAN, NAN, NAN, NAN }, 0, 100, 100, 100 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        start(&f, replay_parts);
        add(&f, 0, rows[i].price, rows[i].mask);
        const struct impact *impact = &f.list.drafts.items[0].finding.impact;
        if (fabs(impact->low_ns - rows[i].low * MS) > 1 ||
            fabs(impact->mid_ns - rows[i].mid * MS) > 1 ||
            fabs(impact->high_ns - rows[i].high * MS) > 1)
            fail_msg("row %zu: %g %g %g", i, impact->low_ns, impact->mid_ns, impact->high_ns);
        assert_true(fabs(impact->share - rows[i].mid / 100) < 1e-9);
        assert_int_equal(impact->method, rows[i].price.method);
        arena_free(&f.arena);
    }
}

/* What the table adds to log odds multiplies odds by e to that; 40 of 100 ms have odds of 2/3. */
static double expected_ns(double model_ms, double added)
{
    double odds = model_ms / (100 - model_ms) * exp(added);

    return 100 * MS * odds / (1 + odds);
}

static void recorded_pairs_make_the_range(void **state)
{
    static const struct {
        enum method     method;
        enum confidence confidence;
        double          shift, low, high;
    } rows[] = {
#define CALIBRATED(method, confidence, shift, low, high, pairs)                                    \
    { METHOD_##method, CONFIDENCE_##confidence, shift, low, high },
#define BEHIND(kind, worth, pairs)
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct impact  impact = { .has_saving = true,
                                  .low_ns = 28 * MS,
                                  .mid_ns = 38 * MS,
                                  .high_ns = 40 * MS,
                                  .model_ns = 40 * MS,
                                  .most_ns = 45 * MS,
                                  .method = rows[i].method,
                                  .confidence = rows[i].confidence };
        struct impact  whole = impact, start_up = impact;

        start(&f, replay_parts);
        price_calibrate(&f.pricing, &impact);
        if (rows[i].method == METHOD_SHARE) { /* nothing may go of it, or more than it names */
            assert_true(impact.low_ns == 28 * MS);
            assert_true(fabs(impact.high_ns - expected_ns(40, rows[i].high)) < 1);
            assert_true(fabs(impact.mid_ns - fmin(expected_ns(40, rows[i].shift), 45 * MS)) < 1);
            arena_free(&f.arena);
            continue;
        }
        assert_true(fabs(impact.mid_ns - expected_ns(40, rows[i].shift)) < 1);
        assert_true(fabs(impact.low_ns - expected_ns(40, rows[i].low)) < 1);
        assert_true(fabs(impact.high_ns - expected_ns(40, rows[i].high)) < 1);
        assert_true(fabs(impact.share - impact.mid_ns / (100 * MS)) < 1e-9);
        assert_true(impact.model_ns == 40 * MS);
        assert_true(rows[i].low <= rows[i].shift && rows[i].shift <= rows[i].high);
        /* However sure: some of the step stays. */
        whole.model_ns = 100 * MS;
        price_calibrate(&f.pricing, &whole);
        assert_true(whole.mid_ns > 95 * MS && whole.high_ns < 100 * MS);
        /* Other things than step time were not measured. */
        start_up.resource = "start-up";
        price_calibrate(&f.pricing, &start_up);
        assert_true(start_up.high_ns == 40 * MS);
        arena_free(&f.arena);
    }
}

/* 30 ms of computing on an accelerator: what is moved up by calibration ends there. */
static void kernels_save_no_more_than_they_take(void **state)
{
    struct fixture f;
    struct joint   joint = { 0 };

    (void)state;
    start(&f, replay_parts);
    assert_true(facts_set(&f.facts, analysis_fact("coverage.accelerators"), 1));
    pricing_start(&f.pricing, &f.view);
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 30 * MS, 30 * MS, 30 * MS, NAN, NAN },
        1u << PART_COMPUTE);
    struct draft  *draft = &f.list.drafts.items[0];
    struct impact *impact = &draft->finding.impact;
    impact->model_ns = 29.9 * MS;
    price_calibrate(&f.pricing, impact);
    assert_true(impact->high_ns == 30 * MS && impact->mid_ns <= 30 * MS);
    assert_true(impact->low_ns < 29.9 * MS);
    assert_true(price_together(&f.pricing, &joint, draft, &f.arena));
    assert_true(fabs(joint.step_ns - (100 * MS - impact->mid_ns)) < 1);
    arena_free(&f.arena);
}

static void without_replay_the_fallback_prices(void **state)
{
    struct fixture f;
    struct draft   draft;
    struct err     err = { 0 };

    (void)state;
    start(&f, no_replay);
    draft = draft_of(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    draft.fallback = (struct price_request) { METHOD_EXPOSED, 20 * MS, NAN, NAN, NAN, NAN };
    assert_true(price_draft(&f.pricing, &draft, &f.arena, &err));
    assert_int_equal(draft.finding.impact.method, METHOD_EXPOSED);
    assert_int_equal(draft.finding.impact.confidence, CONFIDENCE_MEDIUM);
    assert_string_equal(draft.finding.condition, "fired; priced without replay: no steps");
    arena_free(&f.arena);
}

static void the_more_specific_keeps_the_time(void **state)
{
    struct fixture f;

    (void)state;
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

/* With an accelerator 5 of 100 ms are no reason to be silent about the 60 they are part of; without
 * one the more specific rule knows better. */
static void a_small_part_leaves_the_whole(void **state)
{
    (void)state;
    for (int has_device = 0; has_device < 2; has_device++) {
        struct fixture f;

        start(&f, replay_parts);
        f.pricing.has_device = has_device;
        assert_true(vec_push(&f.rules[1].info.more_specific_than, &f.arena, "a"));
        add(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
        add(&f, 1, (struct price_request) { METHOD_EXPOSED, 5 * MS, NAN, NAN, NAN, NAN },
            1u << PART_INPUT);
        assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
        assert_int_equal(f.list.drafts.items[0].finding.hidden_by != NULL, !has_device);
        assert_int_equal(f.list.drafts.items[1].finding.hidden_by != NULL, has_device);
        arena_free(&f.arena);
    }
}

/* Behind a veto prices are gone and nothing warns but what is about the recording and, without a
 * price, about kernels; memory keeps its price. */
static void a_veto_takes_prices_away(void **state)
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

    (void)state;
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
static void the_limit_is_told_first(void **state)
{
    static const char *const classes[] = { "compute-bound", "host-bound", "mixed" };
    static const char *const first[] = { "kernels", "idle", "idle" };

    (void)state;
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

/* With an accelerator: 30 ms of host are the limit beside 50 ms of computing, not beside 65; and 20
 * where the schedule of several steps has more of it than of computing. */
static void the_schedule_has_a_word_in_the_verdict(void **state)
{
    static const struct {
        double      compute, host, critical_host, critical_compute, steps;
        const char *class_name;
    } rows[] = {
        { 0.50, 0.30, NAN, NAN, 1, "host-bound" },  { 0.65, 0.30, NAN, NAN, 1, "compute-bound" },
        { 0.75, 0.20, 60, 40, 5, "host-bound" },    { 0.75, 0.20, 40, 60, 5, "compute-bound" },
        { 0.75, 0.20, 60, 40, 1, "compute-bound" }, { 0.85, 0.10, 60, 40, 5, "compute-bound" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        assert_true(facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute));
        assert_true(facts_set(&f.facts, analysis_fact("part.host_share"), rows[i].host));
        assert_true(facts_set(&f.facts, analysis_fact("device.idle_share"), rows[i].host));
        assert_true(facts_set(&f.facts, analysis_fact("step.used"), rows[i].steps));
        if (isfinite(rows[i].critical_host)) {
            assert_true(facts_set(&f.facts, analysis_fact("replay.error"), 0.01));
            assert_true(facts_set(&f.facts, analysis_fact("replay.unknown_share"), 0.01));
            assert_true(facts_set(&f.facts, analysis_fact("replay.host_bound_ns"),
                                  rows[i].critical_host * MS));
            assert_true(facts_set(&f.facts, analysis_fact("replay.device_bound_ns"),
                                  rows[i].critical_compute * MS));
        }
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.class_name, rows[i].class_name);
        arena_free(&f.arena);
    }
}

/* Without an accelerator the class with most of the step leads, however much waits beside it; what
 * is less than 15 points behind makes it mixed. */
static void on_a_cpu_most_of_the_step_leads(void **state)
{
    static const struct {
        double      compute, host, input;
        const char *class_name;
    } rows[] = {
        { 0.60, 0.40, 0, "compute-bound" },
        { 0.40, 0.60, 0, "host-bound" },
        { 0.55, 0.41, 0, "mixed" },
        { 0.75, 0, 0.25, "compute-bound" },
        { 0.30, 0.10, 0.60, "input-bound" },
        { 0.45, 0.10, 0.45, "mixed" },
        { 0.28, 0.18, 0.14, "compute-bound" }, /* the second has less than a fifth */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        assert_true(facts_set(&f.facts, analysis_fact("coverage.accelerators"), 0));
        assert_true(facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute));
        assert_true(facts_set(&f.facts, analysis_fact("part.host_share"), rows[i].host));
        assert_true(facts_set(&f.facts, analysis_fact("part.input_share"), rows[i].input));
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.class_name, rows[i].class_name);
        arena_free(&f.arena);
    }
}

/* Formulas that claim no time of the path: where they name the same op it is one loop, else two. */
static void two_loops_are_two_findings(void **state)
{
    static const char *const ops[] = { "select", "select", "slice" };

    (void)state;
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

static void one_cause_but_different_time_is_two_findings(void **state)
{
    struct fixture f;

    (void)state;
    start(&f, replay_parts);
    f.rules[0].info.cause = f.rules[1].info.cause = "host";
    add(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    add(&f, 1, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_HOST);
    assert_true(rank_claims(&f.pricing, &f.list, &f.arena));
    assert_null(f.list.drafts.items[0].finding.hidden_by);
    assert_null(f.list.drafts.items[1].finding.hidden_by);
    arena_free(&f.arena);
}

/* What the table adds to a replay of high confidence, times 1, and to an exposed time. */
static double moved(double share, bool is_replay)
{
    static const double shifts[METHOD_REPLAY + 1][CONFIDENCE_HIGH + 1] = {
#define CALIBRATED(method, confidence, shift, low, high, pairs)                                    \
    [METHOD_##method][CONFIDENCE_##confidence] = shift,
#define BEHIND(kind, worth, pairs)
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
    };

    return expected_ns(100 * share, shifts[is_replay ? METHOD_REPLAY : METHOD_EXPOSED][2]) /
           (100 * MS);
}

/* What warnings behind the first are worth beside it, by the table; and bounds. */
enum behind { WARNING, NOTE, BOUND };
static const double worth[] = {
#define CALIBRATED(method, confidence, shift, low, high, pairs)
#define BEHIND(kind, worth, pairs) [kind] = (worth),
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
};

static void together_is_replayed_not_added(void **state)
{
    struct fixture f;
    struct joint   joint = { 0 };

    (void)state;
    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    add(&f, 1, (struct price_request) { .method = METHOD_REPLAY },
        1u << PART_INPUT | 1u << PART_HOST);
    add(&f, 2, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    /* It begins where the first finding ends: 40 of 100 ms. */
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[0], &f.arena));
    assert_true(fabs(joint.step_ns - 100 * MS * (1 - moved(0.4, true))) < 1);
    price_calibrate(&f.pricing, &f.list.drafts.items[0].finding.impact);
    assert_true(fabs(joint.step_ns - 100 * MS + f.list.drafts.items[0].finding.impact.mid_ns) < 1);
    /* Of the second's 70 ms the first took 40: half of the 60 that are left. */
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[1], &f.arena));
    assert_true(fabs(joint.step_ns - 100 * MS * (1 - moved(0.4, true)) *
                                         (1 - worth[WARNING] * moved(0.5, true))) < 1);
    double before_ns = joint.step_ns;
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[2], &f.arena));
    assert_true(joint.step_ns == before_ns); /* nothing of it is left */
    assert_int_equal(joint.count, 3);
    assert_true(fabs(joint.model_ns - 60 * MS * (1 - worth[WARNING] * 0.5)) < 1);
    arena_free(&f.arena);
}

/* A time that a formula gives is taken where the finding claims it: 20 of the 40 ms of input. */
static void together_knows_claims_of_formulas(void **state)
{
    struct fixture f;
    struct joint   joint = { 0 };

    (void)state;
    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 20 * MS, 20 * MS, 20 * MS, NAN, NAN },
        1u << PART_INPUT);
    add(&f, 1, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[0], &f.arena));
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[1], &f.arena));
    /* Of the second's 40 ms 20 are left, a quarter of 80. */
    assert_true(fabs(joint.step_ns - 100 * MS * (1 - moved(0.2, false)) *
                                         (1 - worth[WARNING] * moved(0.25, true))) < 1);
    arena_free(&f.arena);
}

/* A bound of 20 ms of computing behind a replay of all input: what it says of the 60 ms that are
 * left. */
static void bounds_count_for_what_they_are_worth(void **state)
{
    struct fixture f;
    struct joint   joint = { 0 };

    (void)state;
    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    add(&f, 1, (struct price_request) { METHOD_SHARE, 20 * MS, NAN, NAN, NAN, NAN },
        1u << PART_COMPUTE);
    for (size_t i = 0; i < 2; i++)
        price_calibrate(&f.pricing, &f.list.drafts.items[i].finding.impact);
    const struct impact *bound = &f.list.drafts.items[1].finding.impact;
    assert_true(bound->low_ns == 0 && bound->mid_ns <= 20 * MS && bound->model_ns == 20 * MS);
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[0], &f.arena));
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[1], &f.arena));
    assert_true(fabs(joint.step_ns - 100 * MS * (1 - moved(0.4, true)) *
                                         (1 - worth[BOUND] * bound->mid_ns / (60 * MS))) < 1);
    arena_free(&f.arena);
}

static void small_findings_are_infos(void **state)
{
    struct fixture f;

    (void)state;
    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 0.4 * MS, NAN, NAN, NAN, NAN }, 0);
    rank_findings(&f.list);
    assert_int_equal(f.list.drafts.items[0].finding.severity, SEVERITY_INFO);
    arena_free(&f.arena);
}

static void fingerprints_ignore_numbers(void **state)
{
    struct fixture f;

    (void)state;
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
static void the_low_end_decides_how_loud(void **state)
{
    static const struct {
        double        low_ms, mid_ms;
        enum severity severity, configured;
    } rows[] = {
        { 20.1, 60, SEVERITY_ERROR, SEVERITY_ERROR }, { 19.9, 60, SEVERITY_WARN, SEVERITY_ERROR },
        { 12.6, 20, SEVERITY_WARN, SEVERITY_ERROR },  { 12.4, 40, SEVERITY_INFO, SEVERITY_ERROR },
        { 0.2, 0.6, SEVERITY_INFO, SEVERITY_ERROR },  { 0.2, 0.4, SEVERITY_INFO, SEVERITY_INFO },
    };

    (void)state;
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
static void the_order_is_of_what_is_said(void **state)
{
    struct fixture f;

    (void)state;
    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 1 * MS, NAN, NAN, NAN, NAN }, 0);
    add(&f, 1, (struct price_request) { METHOD_SHARE, 60 * MS, NAN, NAN, NAN, NAN }, 0);
    f.list.drafts.items[1].finding.severity = SEVERITY_INFO;
    rank_findings(&f.list);
    assert_string_equal(f.list.drafts.items[0].finding.rule, "b");
    assert_int_equal(f.list.drafts.items[1].finding.severity, SEVERITY_INFO);
    arena_free(&f.arena);
}

/* Three ways to save 40 of 100 ms: by stages that the step waits 40 or 10 ms for, and by a guess of
 * the rule's. What freed cores are to give is a guess too, and a guess never warns. */
static void guesses_do_not_warn(void **state)
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

    (void)state;
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

static void the_verdict_follows_the_composition(void **state)
{
    static const struct {
        double      input, host, compute;
        const char *class_name;
    } rows[] = {
        { 0.29, 0.10, 0.60, "input-bound" }, { 0.05, 0.10, 0.85, "compute-bound" },
        { 0.05, 0.60, 0.35, "host-bound" },  { 0.40, 0.35, 0.25, "mixed" },
        { 0.48, 0.52, 0.00, "mixed" },       { 0.10, 0.12, 0.78, "compute-bound" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        facts_set(&f.facts, analysis_fact("part.input_share"), rows[i].input);
        facts_set(&f.facts, analysis_fact("part.host_share"), rows[i].host);
        facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute);
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.class_name, rows[i].class_name);
        if (i == 0)
            assert_string_equal(verdict.text,
                                "Input-bound: 29.0 ms (29.0 %) of each 100.0 ms step waits for "
                                "input, which could hide behind the 60.0 ms (60.0 %) that it "
                                "computes.");
        arena_free(&f.arena);
    }
}

/* Of a step of 100 ms: computing that memory holds, collectives that wait for a late rank; without
 * the facts, or with too little in them, what the parts say. */
static void facts_tell_verdicts_apart(void **state)
{
    static const struct {
        double      compute, communication, memory, skew; /* the last two < 0: unknown */
        const char *text;
    } rows[] = {
        { 0.90, 0.05, 0.80, 0.90,
          "Memory-bound: 90.0 ms (90.0 %) of each 100.0 ms step computes, 80.0 % of that in ops "
          "that memory limits." },
        { 0.90, 0.05, 0.40, -1, "Compute-bound: 90.0 ms (90.0 %) of each 100.0 ms step computes." },
        { 0.90, 0.05, -1, -1, "Compute-bound: 90.0 ms (90.0 %) of each 100.0 ms step computes." },
        { 0.60, 0.40, 0.80, 0.70,
          "Imbalanced: 40.0 ms (40.0 %) of each 100.0 ms step waits for collectives, ranks begin "
          "them 70.0 % of their time apart." },
        { 0.40, 0.60, 0.80, 0.20,
          "Communication-bound: 60.0 ms (60.0 %) of each 100.0 ms step waits for collectives." },
        { 0.40, 0.60, -1, -1,
          "Communication-bound: 60.0 ms (60.0 %) of each 100.0 ms step waits for collectives." },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute);
        facts_set(&f.facts, analysis_fact("part.communication_share"), rows[i].communication);
        if (rows[i].memory >= 0)
            facts_set(&f.facts, analysis_fact("flops.memory_bound_share"), rows[i].memory);
        if (rows[i].skew >= 0)
            facts_set(&f.facts, analysis_fact("comm.skew_share"), rows[i].skew);
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.text, rows[i].text);
        assert_int_equal(verdict.class_name[0], rows[i].text[0] - 'A' + 'a');
        arena_free(&f.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_price_as_documented),
        cmocka_unit_test(recorded_pairs_make_the_range),
        cmocka_unit_test(kernels_save_no_more_than_they_take),
        cmocka_unit_test(without_replay_the_fallback_prices),
        cmocka_unit_test(the_more_specific_keeps_the_time),
        cmocka_unit_test(two_loops_are_two_findings),
        cmocka_unit_test(one_cause_but_different_time_is_two_findings),
        cmocka_unit_test(together_is_replayed_not_added),
        cmocka_unit_test(together_knows_claims_of_formulas),
        cmocka_unit_test(bounds_count_for_what_they_are_worth),
        cmocka_unit_test(small_findings_are_infos),
        cmocka_unit_test(fingerprints_ignore_numbers),
        cmocka_unit_test(the_low_end_decides_how_loud),
        cmocka_unit_test(guesses_do_not_warn),
        cmocka_unit_test(the_order_is_of_what_is_said),
        cmocka_unit_test(a_small_part_leaves_the_whole),
        cmocka_unit_test(a_veto_takes_prices_away),
        cmocka_unit_test(the_limit_is_told_first),
        cmocka_unit_test(the_schedule_has_a_word_in_the_verdict),
        cmocka_unit_test(on_a_cpu_most_of_the_step_leads),
        cmocka_unit_test(the_verdict_follows_the_composition),
        cmocka_unit_test(facts_tell_verdicts_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
