/* advise: all rules over one study: load, select, run, price, settle claims, rank, sum up. */
#include "rules/advise.h"

#include "analyze/study.h"
#include "rules/guest.h"
#include "rules/preset.h"
#include "rules/rank.h"
#include "rules/select.h"
#include "rules/verdict.h"
#include "rules/view.h"

#include <string.h>

enum { MAX_TOGETHER = 5 };

struct advising {
    struct rule_view     view;
    struct pricing       pricing;
    struct draft_list    list;
    struct arena        *arena;
    struct advice       *advice;
    struct suppressions *suppressions;
    bool                 raises_infos; /* the preset makes warnings of infos that have a price */
};

static bool add_failed(struct advising *advising, const char *rule, const char *message,
                       struct err *err)
{
    struct failed_rule failed = { .rule = rule, .message = message };

    return vec_push(&advising->advice->failed, advising->arena, failed) ||
           err_memory(err, "the advice");
}

/* The project's word is before the preset's, and that before the rule's. */
static void settle_severity(const struct advising *advising, const struct rule *rule,
                            struct draft *draft)
{
    struct finding *finding = &draft->finding;

    draft->keeps_severity = rule->has_severity || advising->raises_infos;
    if (rule->has_severity)
        finding->severity = rule->info.severity;
    else if (advising->raises_infos && finding->impact.has_saving &&
             finding->severity == SEVERITY_INFO)
        finding->severity = SEVERITY_WARN;
}

/* What saves nothing, as a replay has it, is a fact. */
static void drop_empty_price(struct finding *finding)
{
    if (!finding->impact.has_saving || finding->impact.resource || finding->impact.mid_ns > 0)
        return;
    finding->impact.has_saving = false;
    finding->impact.method = METHOD_NONE;
    finding->severity = SEVERITY_INFO;
}

/* Prices what a rule found; a finding that cannot be priced is the rule's failure. */
static bool add_found(struct advising *advising, const struct rule *rule, struct rule_run *run,
                      struct err *err)
{
    size_t had = advising->list.drafts.count;

    for (size_t i = 0; i < run->drafts.count; i++) {
        struct err fault = { 0 };
        if (!price_draft(&advising->pricing, &run->drafts.items[i], advising->arena, &fault)) {
            const char *message =
                arena_text(advising->arena, "%s: %s", rule->info.file, fault.text);
            advising->list.drafts.count = had;
            if (fault.code == ERR_LIMIT || !message)
                return err_memory(err, "the advice");
            return add_failed(advising, rule->info.id, message, err);
        }
        price_calibrate(&advising->pricing, &run->drafts.items[i].finding.impact);
        drop_empty_price(&run->drafts.items[i].finding);
        settle_severity(advising, rule, &run->drafts.items[i]);
        if (!vec_push(&advising->list.drafts, advising->arena, run->drafts.items[i]))
            return err_memory(err, "the advice");
    }
    suppress_looked(advising->suppressions, rule->info.id);
    advising->advice->looked_count++;
    advising->advice->found_count += run->drafts.count > 0;
    advising->advice->quiet_count += run->drafts.count == 0;
    return true;
}

/* `guest`: what the rule said in another process; NULL: it runs here. */
static bool run_rule(struct advising *advising, const struct rule *rule,
                     const struct rule_run *guest, struct err *err)
{
    struct advice      *advice = advising->advice;
    struct skipped_rule skipped = { .rule = rule->info.id };
    struct rule_run     run;

    if (rule->error)
        return add_failed(advising, rule->info.id, rule->error, err);
    if (guest)
        run = *guest;
    else if (!rule_run(rule, &advising->view, advising->arena, &run, err))
        return false;
    switch (run.outcome) {
    case RULE_QUIET:
    case RULE_FOUND:
        return add_found(advising, rule, &run, err);
    case RULE_SKIPPED:
        skipped.reason = run.reason;
        skipped.capture = run.capture;
        skipped.is_other_format = run.is_other_format;
        advice->other_format_count += run.is_other_format;
        return vec_push(&advice->skipped, advising->arena, skipped) ||
               err_memory(err, "the advice");
    case RULE_FAILED:
        break;
    }
    return add_failed(advising, rule->info.id, run.reason, err);
}

/* What fixing the first 1, 2, … priced findings leaves of the step. */
static bool add_together(struct advising *advising, struct err *err)
{
    struct joint joint = { 0 };

    for (size_t i = 0; i < advising->list.drafts.count && joint.count < MAX_TOGETHER; i++) {
        const struct draft  *draft = &advising->list.drafts.items[i];
        const struct impact *impact = &draft->finding.impact;

        if (!impact->has_saving || impact->resource)
            continue;
        if (joint.count == 0 && rank_is_vague(&draft->finding))
            break; /* nothing is built on what may save nothing */
        if (!price_together(&advising->pricing, &joint, draft, advising->arena))
            return true;
        struct together together = { .count = (uint32_t)joint.count,
                                     .step_ns = joint.step_ns,
                                     .speedup = advising->pricing.step_ns / joint.step_ns,
                                     .then_class = verdict_of_part(joint.bound) };
        if (!vec_push(&advising->advice->together, advising->arena, together))
            return err_memory(err, "the advice");
    }
    return true;
}

/* The capture option that most skipped rules ask for; the first of equals. */
static void choose_capture_hint(struct advice *advice)
{
    for (size_t i = 0; i < advice->skipped.count; i++) {
        const char *capture = advice->skipped.items[i].capture;
        uint32_t    count = 0;

        for (size_t j = 0; capture && j < advice->skipped.count; j++) {
            const char *other = advice->skipped.items[j].capture;
            count += other && strcmp(other, capture) == 0;
        }
        if (count > advice->capture_hint_rules) {
            advice->capture_hint = capture;
            advice->capture_hint_rules = count;
        }
    }
}

/* One entry a suppression, and how many findings it took away. */
static bool count_suppressed(struct advising *advising, struct suppression *suppression,
                             const char *rule, struct err *err)
{
    struct suppressed_rule suppressed = { rule, suppression->reason, 1 };
    struct advice         *advice = advising->advice;

    suppression->used_count++;
    for (size_t i = 0; i < advice->suppressed.count; i++) {
        if (advice->suppressed.items[i].reason != suppression->reason ||
            strcmp(advice->suppressed.items[i].rule, rule) != 0)
            continue;
        advice->suppressed.items[i].count++;
        return true;
    }
    return vec_push(&advice->suppressed, advising->arena, suppressed) ||
           err_memory(err, "the advice");
}

static bool is_hidden_below(const struct draft_list *list, const struct finding *finding,
                            const bool *is_gone)
{
    for (size_t i = 0; finding->hidden_by && i < list->drafts.count; i++)
        if (is_gone[i] && strcmp(list->drafts.items[i].finding.rule, finding->hidden_by) == 0)
            return true;
    return false;
}

/* Takes away what the project lives with, and what claimed the same time less specifically. */
static bool drop_suppressed(struct advising *advising, struct err *err)
{
    struct draft_list *list = &advising->list;
    bool              *is_gone = arena_new_array(advising->arena, bool, list->drafts.count + 1);
    size_t             kept = 0;

    if (!is_gone)
        return err_memory(err, "the advice");
    for (size_t i = 0; i < list->drafts.count; i++) {
        const struct finding *finding = &list->drafts.items[i].finding;
        bool                  is_bad = false;
        struct suppression   *suppression =
            suppress_find(advising->suppressions, finding, &is_bad, err);

        is_gone[i] = suppression != NULL;
        if (is_bad || (suppression && !count_suppressed(advising, suppression, finding->rule, err)))
            return false;
    }
    for (size_t i = 0; i < list->drafts.count; i++)
        is_gone[i] |= is_hidden_below(list, &list->drafts.items[i].finding, is_gone);
    for (size_t i = 0; i < list->drafts.count; i++)
        if (!is_gone[i])
            list->drafts.items[kept++] = list->drafts.items[i];
    list->drafts.count = kept;
    return true;
}

/* Findings whose rules name no line: where the time lies that they are about. What cannot be
 * selected was said when it was priced. */
static bool place_findings(struct advising *advising, struct err *err)
{
    const struct rule_view *view = &advising->view;

    for (size_t i = 0; view->place && i < advising->list.drafts.count; i++) {
        struct draft           *draft = &advising->list.drafts.items[i];
        const struct edit_list *about =
            draft->claims.edits.count > 0 ? &draft->claims : &draft->edits;
        struct err fault = { 0 };

        if (draft->finding.locations.count > 0 || about->edits.count == 0 ||
            view->place(view->replay_context, about->edits.items, about->edits.count,
                        advising->arena, &draft->finding, &fault))
            continue;
        if (fault.code == ERR_LIMIT)
            return err_memory(err, "the advice");
    }
    return true;
}

static bool finish(struct advising *advising, struct err *err)
{
    struct draft_list *list = &advising->list;

    if (!place_findings(advising, err))
        return false;
    if (!rank_claims(&advising->pricing, list, advising->arena))
        return err_memory(err, "the advice");
    rank_fingerprints(list);
    if (advising->suppressions && !drop_suppressed(advising, err))
        return false;
    if (!rank_veto(list, advising->arena))
        return err_memory(err, "the advice");
    if (!verdict_make(&advising->advice->verdict, advising->view.facts, advising->arena, err))
        return false;
    rank_verdict(list, advising->advice->verdict.class_name);
    rank_findings(list);
    for (size_t i = 0; i < list->drafts.count; i++)
        if (!vec_push(&advising->advice->findings, advising->arena, list->drafts.items[i].finding))
            return err_memory(err, "the advice");
    choose_capture_hint(advising->advice);
    return add_together(advising, err);
}

static struct rule_limits limits_of(const struct advise_options *options)
{
    struct rule_limits limits = rule_default_limits;

    if (options->memory_bytes > 0)
        limits.memory_bytes = options->memory_bytes;
    if (options->instructions > 0)
        limits.instructions = options->instructions;
    return limits;
}

static bool select_set(struct rule_set *set, const struct advise_options *options,
                       struct arena *arena, struct err *err)
{
    return select_settings(set, options, arena, err) &&
           select_rules(set, &options->only, &options->skip, arena, err);
}

bool advise_check(const struct advise_options *options, struct err *err)
{
    struct arena    arena = { 0 };
    struct rule_set set = { 0 };
    bool            is_good;

    if (options->only.values.count + options->skip.values.count + options->set.values.count +
            options->rule_directories.values.count + options->settings.count ==
        0)
        return true;
    is_good = rule_set_load(&set, &options->rule_directories, &rule_default_limits, &arena, err) &&
              select_set(&set, options, &arena, err);
    rule_set_free(&set);
    arena_free(&arena);
    return is_good;
}

/* Those of the set that run in another process, in its order. */
static bool run_guests(struct advising *advising, const struct rule_set *set,
                       const struct advise_options *options, struct guest_runs *guests,
                       struct err *err)
{
    struct rule_limits  limits = limits_of(options);
    struct arena       *arena = advising->arena;
    const struct rule **rules =
        arena_alloc_array(arena, set->rules.count + 1, sizeof(const struct rule *));

    guests->rules = rules;
    guests->runs = arena_new_array(arena, struct rule_run, set->rules.count + 1);
    if (!rules || !guests->runs)
        return err_memory(err, "the advice");
    for (size_t i = 0; i < set->rules.count; i++)
        if (set->rules.items[i].is_apart && !set->rules.items[i].error)
            rules[guests->count++] = &set->rules.items[i];
    if (guests->count == 0)
        return true;
    if (!guest_run(guests, &advising->view, &limits, arena, err))
        return false;
    advising->advice->has_guests = true;
    advising->advice->is_filtered = guests->is_filtered;
    return true;
}

/* Before rules are selected: one that is left out is a rule all the same. */
static bool know_suppressions(struct advising *advising, const struct rule_set *set,
                              struct err *err)
{
    const char **ids;

    if (!advising->suppressions)
        return true;
    ids = arena_alloc_array(advising->arena, set->rules.count + 1, sizeof(const char *));
    if (!ids)
        return err_memory(err, "the advice");
    for (size_t i = 0; i < set->rules.count; i++)
        ids[i] = set->rules.items[i].info.id;
    suppress_know(advising->suppressions, ids, set->rules.count);
    return true;
}

static bool advise_with(struct advising *advising, struct rule_set *set,
                        const struct advise_options *options, struct err *err)
{
    struct guest_runs guests = { 0 };
    size_t            next_guest = 0;

    if (!know_suppressions(advising, set, err) || !select_set(set, options, advising->arena, err))
        return false;
    advising->advice->rule_count = (uint32_t)set->rules.count;
    memcpy(&advising->advice->packs, &set->packs, sizeof advising->advice->packs);
    pricing_start(&advising->pricing, &advising->view);
    if (!run_guests(advising, set, options, &guests, err))
        return false;
    for (size_t i = 0; i < set->rules.count; i++) {
        const struct rule     *rule = &set->rules.items[i];
        const struct rule_run *run =
            rule->is_apart && !rule->error ? &guests.runs[next_guest++] : NULL;

        if (!run_rule(advising, rule, run, err))
            return false;
    }
    return finish(advising, err);
}

bool advise_run(struct study *study, const struct advise_options *options, struct arena *arena,
                struct advice *advice, struct err *err)
{
    struct rule_limits limits = limits_of(options);
    struct advising    advising = { view_of_study(study), .arena = arena, .advice = advice,
                                    .suppressions = options->suppressions,
                                    .raises_infos = preset_raises(options->preset) };
    struct rule_set    set = { 0 };

    *advice = (struct advice) { 0 };
    bool is_done = rule_set_load(&set, &options->rule_directories, &limits, arena, err) &&
                   advise_with(&advising, &set, options, err);
    rule_set_free(&set);
    return is_done;
}
