/*
 * Prices, claims and order of findings against a step of 100 ms: 40 input, 30 host, 30 compute. An
 * edit that names a part scales it.
 */
#ifndef TFPROF_TESTS_RANK_PROGRAM_H
#define TFPROF_TESTS_RANK_PROGRAM_H

#include <math.h>
#include <string.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/path/path.h"
#include "no_replay.h"
#include "rules/rank.h"
#include "rules/verdict.h"

static const double MS = 1e6;

static inline double part_ns(int part)
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

static inline bool replay_parts(void *context, const struct edit *edits, size_t count,
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

static inline void start(struct fixture *f, replay_function *replay)
{
    *f = (struct fixture) { 0 };
    assert_true(intern_init(&f->names, &f->arena));
    facts_init(&f->facts, &f->arena, &f->names);
    assert_true(facts_set(&f->facts, analysis_fact("step.ns"), 100 * MS));
    f->view = (struct rule_view) {
        .facts = &f->facts, .format = "xspace", .framework = "", .replay = replay
    };
    pricing_start(&f->pricing, &f->view);
    for (size_t i = 0; i < ARRAY_COUNT(f->rules); i++) {
        f->rules[i].info.id = (const char *[]) { "a", "b", "c" }[i];
        f->rules[i].info.category = "kernels";
    }
}

static inline struct draft draft_of(struct fixture *f, int rule, struct price_request price,
                                    uint32_t mask)
{
    struct draft draft = { .rule = &f->rules[rule], .price = price, .confidence = CONFIDENCE_HIGH };
    struct edit  edit = { .kind = EDIT_SCALE, .select = { .part_mask = mask, .host = NO_ID } };

    draft.finding.rule = f->rules[rule].info.id;
    draft.finding.category = f->rules[rule].info.category;
    draft.finding.condition = "fired";
    draft.finding.title = "";
    draft.finding.severity = SEVERITY_WARN;
    if (mask && price.method == METHOD_REPLAY)
        assert_true(vec_push(&draft.edits.edits, &f->arena, edit));
    else if (mask)
        assert_true(vec_push(&draft.claims.edits, &f->arena, edit));
    return draft;
}

static inline void add(struct fixture *f, int rule, struct price_request price, uint32_t mask)
{
    struct draft draft = draft_of(f, rule, price, mask);
    struct err   err = { 0 };

    assert_true(price_draft(&f->pricing, &draft, &f->arena, &err));
    assert_true(vec_push(&f->list.drafts, &f->arena, draft));
}

#endif
