/*
 * All built-in rules over a hand-made profile: ten steps of 100 us, each of which waits 60 us for
 * input that nothing makes ahead.
 */
#include <math.h>
#include <string.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"
#include "rules/advise.h"
#include "rules/catalogue.h"

static void build(struct profile_builder *b)
{
    struct err   err = { 0 };
    struct study study;

    builder_start(b, FORMAT_XSPACE);
    b->profile.framework = builder_name(b, "tensorflow");
    uint32_t host = builder_host(b, "host");
    uint32_t python = builder_timeline(b, host, NO_ID, "python");
    for (int64_t i = 0; i < 10; i++) {
        int64_t t = i * 100000;
        builder_stat(b, builder_slice(b, python, "train", ACTIVITY_STEP, t, 99000),
                     STAT_STEP_NUMBER, i);
        builder_slice(b, python, "IteratorGetNextOp::DoCompute", ACTIVITY_INPUT_WAIT, t, 60000);
        builder_slice(b, python, "Iterator::Root::Map", ACTIVITY_INPUT_STAGE, t, 60000);
        builder_slice(b, python, "dense/MatMul:MatMul", ACTIVITY_OP, t + 60000, 38000);
    }
    builder_finish(b);
    assert_true(study_run(&study, &b->profile, &b->study.options, &b->arena, &err));
    b->study = study;
}

static void list_of(struct option_list *list, const char *value, struct arena *arena)
{
    assert_true(vec_push(&list->values, arena, value));
}

static const struct finding *find(const struct advice *advice, const char *rule)
{
    for (size_t i = 0; i < advice->findings.count; i++)
        if (strcmp(advice->findings.items[i].rule, rule) == 0)
            return &advice->findings.items[i];
    return NULL;
}

TEST(the_input_is_named)
{
    struct profile_builder b;
    struct advise_options  options = { 0 };
    struct advice          advice;
    struct err             err = { 0 };

    build(&b);
    list_of(&options.only, "input-bound-step", &b.arena);
    if (!advise_run(&b.study, &options, &b.arena, &advice, &err))
        fail_msg("%s", err.text);
    assert_string_equal(advice.verdict.class_name, "input-bound");
    const struct finding *finding = find(&advice, "input-bound-step");
    assert_non_null(finding);
    assert_int_equal(finding->severity, SEVERITY_ERROR); /* 60 % of the step */
    /* made ahead: 60 us of input beside the other 40 us, which are saved */
    assert_true(fabs(finding->impact.model_ns - 40000) < 600);
    assert_true(finding->impact.low_ns < 40000 && finding->impact.high_ns > 40000);
    assert_int_equal(advice.rule_count, 1);
    assert_int_equal(advice.together.count, 1);
    assert_true(advice.together.items[0].speedup > 1);
    builder_free(&b);
}

TEST(every_rule_is_accounted_for)
{
    struct profile_builder b;
    struct advise_options  options = { 0 };
    struct advice          first, second;
    struct err             err = { 0 };

    build(&b);
    assert_true(advise_run(&b.study, &options, &b.arena, &first, &err));
    assert_true(advise_run(&b.study, &options, &b.arena, &second, &err));
    for (size_t i = 0; i < first.failed.count; i++)
        print_error("%s: %s\n", first.failed.items[i].rule, first.failed.items[i].message);
    assert_int_equal(first.failed.count, 0);
    assert_int_equal(first.rule_count, first.looked_count + first.skipped.count);
    assert_int_equal(first.looked_count, first.found_count + first.quiet_count);
    assert_int_equal(first.findings.count, second.findings.count);
    for (size_t i = 0; i < first.findings.count; i++) {
        const struct finding *a = &first.findings.items[i], *c = &second.findings.items[i];
        assert_int_equal(a->rank, i + 1);
        assert_string_equal(a->rule, c->rule);
        assert_string_equal(a->title, c->title);
        assert_string_equal(a->condition, c->condition);
        assert_string_equal(a->fingerprint, c->fingerprint);
        assert_memory_equal(&a->impact.mid_ns, &c->impact.mid_ns, sizeof a->impact.mid_ns);
        /* No saving beyond the step. */
        assert_true(!a->impact.has_saving || a->impact.resource || a->impact.share <= 1);
    }
    builder_free(&b);
}

TEST(wrong_words_name_the_nearest)
{
    static const struct {
        const char *only, *skip, *set, *message;
    } rows[] = {
        { "input-bound-stepp", NULL, NULL, "did you mean 'input-bound-step'" },
        { NULL, "inputt", NULL, "did you mean 'input'" },
        { NULL, NULL, "hot-opp.min_share=1", "did you mean 'hot-op'" },
        { NULL, NULL, "hot-op.min_shard=1", "did you mean 'min_share'" },
        { NULL, NULL, "hot-op.min_share=5", "not between 0 and 1" },
        { NULL, NULL, "hot-op.min_share=x", "no number" },
        { NULL, NULL, "hot-op", "RULE.PARAM=VALUE" },
    };
    struct profile_builder b;

    build(&b);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct advise_options options = { 0 };
        struct advice         advice;
        struct err            err = { 0 };

        if (rows[i].only)
            list_of(&options.only, rows[i].only, &b.arena);
        if (rows[i].skip)
            list_of(&options.skip, rows[i].skip, &b.arena);
        if (rows[i].set)
            list_of(&options.set, rows[i].set, &b.arena);
        assert_false(advise_run(&b.study, &options, &b.arena, &advice, &err));
        assert_int_equal(err.code, ERR_USAGE);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
    builder_free(&b);
}

TEST(a_setting_changes_the_rule)
{
    struct profile_builder b;
    struct advise_options  options = { 0 };
    struct advice          advice;
    struct err             err = { 0 };

    build(&b);
    list_of(&options.only, "input-bound-step", &b.arena);
    list_of(&options.set, "input-bound-step.min_share=90%", &b.arena);
    assert_true(advise_run(&b.study, &options, &b.arena, &advice, &err));
    assert_int_equal(advice.quiet_count, 1);
    assert_int_equal(advice.findings.count, 0);
    builder_free(&b);
}

TEST(a_rule_is_explained_with_numbers)
{
    struct profile_builder  b;
    struct rule_explanation explanation;
    struct err              err = { 0 };

    build(&b);
    assert_true(rule_explain("input-bound-step", NULL, &b.study, &b.arena, &explanation, &err));
    assert_int_equal(explanation.outcome, RULE_FOUND);
    assert_int_equal(explanation.findings.count, 1);
    assert_int_equal(explanation.needs.count, explanation.info.needs.count);
    assert_false(rule_explain("input-bond-step", NULL, NULL, &b.arena, &explanation, &err));
    assert_int_equal(err.code, ERR_USAGE);
    builder_free(&b);
}
