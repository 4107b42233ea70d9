/* Prices of findings, alone and together. */
#include "rank_program.h"

TEST(methods_price_as_documented)
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

enum where { HOST, DEVICE };

TEST(recorded_pairs_make_the_range)
{
    static const struct {
        enum where      where;
        enum method     method;
        enum confidence confidence;
        double          shift, low, high;
    } rows[] = {
#define CALIBRATED(where, method, confidence, shift, low, high, pairs)                             \
    { where, METHOD_##method, CONFIDENCE_##confidence, shift, low, high },
#define BEHIND(where, kind, worth, pairs)
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct impact  impact = { .has_saving = true,
                                  .low_ns = 28 * MS,
                                  .mid_ns = 38 * MS,
                                  .high_ns = 40 * MS,
                                  .model_ns = 40 * MS,
                                  .most_ns = 45 * MS,
                                  .within_ns = 100 * MS,
                                  .method = rows[i].method,
                                  .confidence = rows[i].confidence };
        struct impact  whole = impact, start_up = impact;

        start(&f, replay_parts);
        f.pricing.has_device = rows[i].where == DEVICE;
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

/* 40 ms of the step by the model, of 45 that the step takes of what it is about: with an
 * accelerator the range ends there. */
TEST(no_saving_exceeds_what_it_is_about)
{
    struct fixture f;
    struct impact  impact = { .has_saving = true,
                              .low_ns = 28 * MS,
                              .mid_ns = 38 * MS,
                              .high_ns = 40 * MS,
                              .model_ns = 40 * MS,
                              .most_ns = 40 * MS,
                              .within_ns = 45 * MS,
                              .method = METHOD_EXPOSED,
                              .confidence = CONFIDENCE_MEDIUM };
    struct impact  alone = impact;

    start(&f, replay_parts);
    price_calibrate(&f.pricing, &alone);
    assert_true(alone.high_ns > 45 * MS);
    f.pricing.has_device = true;
    price_calibrate(&f.pricing, &impact);
    assert_true(impact.high_ns == 45 * MS && impact.mid_ns <= 45 * MS);
    arena_free(&f.arena);
}

TEST(without_replay_the_fallback_prices)
{
    struct fixture f;
    struct draft   draft;
    struct err     err = { 0 };

    start(&f, no_replay);
    draft = draft_of(&f, 0, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    draft.fallback = (struct price_request) { METHOD_EXPOSED, 20 * MS, NAN, NAN, NAN, NAN };
    assert_true(price_draft(&f.pricing, &draft, &f.arena, &err));
    assert_int_equal(draft.finding.impact.method, METHOD_EXPOSED);
    assert_int_equal(draft.finding.impact.confidence, CONFIDENCE_MEDIUM);
    assert_string_equal(draft.finding.condition, "fired; priced without replay: no steps");
    arena_free(&f.arena);
}

/* What the table adds to a replay of high confidence, times 1, and to an exposed time. */
static double moved(double share, bool is_replay)
{
    static const double shifts[][METHOD_REPLAY + 1][CONFIDENCE_HIGH + 1] = {
#define CALIBRATED(where, method, confidence, shift, low, high, pairs)                             \
    [where][METHOD_##method][CONFIDENCE_##confidence] = shift,
#define BEHIND(where, kind, worth, pairs)
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
    };

    return expected_ns(100 * share, shifts[HOST][is_replay ? METHOD_REPLAY : METHOD_EXPOSED][2]) /
           (100 * MS);
}

/* What warnings behind the first are worth beside it, by the table; and bounds. */
enum behind { WARNING, NOTE, BOUND };
static const double worth_of[][BOUND + 1] = {
#define CALIBRATED(where, method, confidence, shift, low, high, pairs)
#define BEHIND(where, kind, worth, pairs) [where][kind] = (worth),
#include "rules/calibration.def"
#undef BEHIND
#undef CALIBRATED
};

TEST(together_is_replayed_not_added)
{
    struct fixture f;
    struct joint   joint = { 0 };

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
                                         (1 - worth_of[HOST][WARNING] * moved(0.5, true))) < 1);
    double before_ns = joint.step_ns;
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[2], &f.arena));
    assert_true(joint.step_ns == before_ns); /* nothing of it is left */
    assert_int_equal(joint.count, 3);
    assert_true(fabs(joint.model_ns - 60 * MS * (1 - worth_of[HOST][WARNING] * 0.5)) < 1);
    arena_free(&f.arena);
}

/* A time that a formula gives is taken where the finding claims it: 20 of the 40 ms of input. */
TEST(together_knows_claims_of_formulas)
{
    struct fixture f;
    struct joint   joint = { 0 };

    start(&f, replay_parts);
    add(&f, 0, (struct price_request) { METHOD_EXPOSED, 20 * MS, 20 * MS, 20 * MS, NAN, NAN },
        1u << PART_INPUT);
    add(&f, 1, (struct price_request) { .method = METHOD_REPLAY }, 1u << PART_INPUT);
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[0], &f.arena));
    assert_true(price_together(&f.pricing, &joint, &f.list.drafts.items[1], &f.arena));
    /* Of the second's 40 ms 20 are left, a quarter of 80. */
    assert_true(fabs(joint.step_ns - 100 * MS * (1 - moved(0.2, false)) *
                                         (1 - worth_of[HOST][WARNING] * moved(0.25, true))) < 1);
    arena_free(&f.arena);
}

/* A bound of 20 ms of computing behind a replay of all input: what it says of the 60 ms that are
 * left, and the less, the more the first took. */
TEST(bounds_count_for_what_they_are_worth)
{
    struct fixture f;
    struct joint   joint = { 0 };

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
                                         (1 - worth_of[HOST][BOUND] * pow(1 - moved(0.4, true), 4) *
                                                  bound->mid_ns / (60 * MS))) < 1);
    arena_free(&f.arena);
}
