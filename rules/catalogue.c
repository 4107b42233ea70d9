/* catalogue: lists rules and explains one. */
#include "rules/catalogue.h"

#include "analyze/study.h"
#include "rules/guest.h"
#include "rules/rank.h"
#include "rules/script_line.h"
#include "rules/select.h"
#include "rules/view.h"

#include <math.h>
#include <string.h>

/* Why a rule does not load, where its script says so. */
static const char *place_of(const struct rule *rule, struct arena *arena)
{
    struct text text = { .arena = arena };

    if (rule->error && rule->info.file)
        script_error_print(&text, rule->info.file, rule->script, rule->error);
    return text.len ? text.data : NULL;
}

/* Hands out what the set knows and frees it. */
static bool list_rules(struct rule_set *set, struct arena *arena, struct rule_list *list,
                       struct err *err)
{
    bool is_done = true;

    for (size_t i = 0; i < set->rules.count && is_done; i++) {
        struct rule       *rule = &set->rules.items[i];
        struct failed_rule failed = { rule->info.id, rule->error, place_of(rule, arena) };

        if (rule->error)
            is_done = vec_push(&list->failed, arena, failed) || err_memory(err, "the rules");
        else
            is_done = vec_push(&list->rules, arena, rule->info) || err_memory(err, "the rules");
    }
    memcpy(&list->packs, &set->packs, sizeof list->packs);
    list->is_unfiltered = set->is_unfiltered;
    return is_done;
}

/* With what the project says of them. */
static bool load_rules(struct rule_set *set, const struct advise_options *options,
                       struct arena *arena, struct err *err)
{
    return rule_set_load(set, options ? &options->rule_directories : NULL, &rule_default_limits,
                         arena, err) &&
           (!options || select_settings(set, options, arena, err));
}

bool rules_list(const struct advise_options *options, struct arena *arena, struct rule_list *list,
                struct err *err)
{
    struct rule_set set = { 0 };
    bool            is_done = load_rules(&set, options, arena, err);

    *list = (struct rule_list) { 0 };
    is_done = is_done && list_rules(&set, arena, list, err);
    rule_set_free(&set);
    return is_done;
}

bool rules_of_directories(const struct option_list *directories, struct arena *arena,
                          struct rule_list *list, struct err *err)
{
    struct rule_set set = { 0 };
    bool is_done = rule_set_add_directories(&set, directories, &rule_default_limits, arena, err);

    *list = (struct rule_list) { 0 };
    is_done = is_done && list_rules(&set, arena, list, err);
    rule_set_free(&set);
    return is_done;
}

/* What this profile says about the facts the rule needs. */
static bool list_needs(const struct rule_info *info, const struct facts *facts, struct arena *arena,
                       struct rule_explanation *explanation)
{
    for (size_t i = 0; i < info->needs.count; i++) {
        const struct fact  *fact = facts_find(facts, info->needs.items[i]);
        const struct table *table = facts_find_table(facts, info->needs.items[i]);
        struct evidence     row = { .what = info->needs.items[i], .share = NAN };

        if (fact) {
            row.unit = fact->spec->unit;
            row.value = fact->value;
            if (row.unit == UNIT_NAME)
                row.text = intern_str(facts->names, (uint32_t)fact->value).data;
        } else if (table) {
            row.unit = UNIT_COUNT;
            row.value = (double)table->row_count;
        } else {
            continue;
        }
        if (!vec_push(&explanation->needs, arena, row))
            return false;
    }
    return true;
}

static bool run_anywhere(const struct rule *rule, const struct rule_view *view, struct arena *arena,
                         struct rule_run *run, struct err *err)
{
    struct guest_runs guests = { .rules = &rule, .runs = run, .count = 1 };

    return rule->is_apart ? guest_run(&guests, view, &rule_default_limits, arena, err)
                          : rule_run(rule, view, arena, run, err);
}

static bool explain_run(const struct rule *rule, struct study *study, struct arena *arena,
                        struct rule_explanation *explanation, struct err *err)
{
    struct rule_view  view = view_of_study(study);
    struct rule_run   run;
    struct pricing    pricing;
    struct draft_list list = { 0 };

    if (!list_needs(&rule->info, view.facts, arena, explanation))
        return err_memory(err, "the rules");
    if (!run_anywhere(rule, &view, arena, &run, err))
        return false;
    explanation->outcome = run.outcome;
    explanation->reason = run.reason;
    explanation->capture = run.capture;
    pricing_start(&pricing, &view);
    for (size_t i = 0; i < run.drafts.count; i++) {
        if (!price_draft(&pricing, &run.drafts.items[i], arena, err))
            return false;
        price_calibrate(&pricing, &run.drafts.items[i].finding.impact);
        if (!vec_push(&list.drafts, arena, run.drafts.items[i]))
            return err_memory(err, "the rules");
    }
    rank_findings(&list);
    for (size_t i = 0; i < list.drafts.count; i++)
        if (!vec_push(&explanation->findings, arena, list.drafts.items[i].finding))
            return err_memory(err, "the rules");
    return true;
}

bool rule_explain(const char *id, const struct advise_options *options, struct study *study,
                  struct arena *arena, struct rule_explanation *explanation, struct err *err)
{
    struct rule_set set = { 0 };
    struct rule    *rule = NULL;
    bool            is_done;

    *explanation = (struct rule_explanation) { .outcome = RULE_QUIET };
    is_done =
        load_rules(&set, options, arena, err) && (rule = select_find(&set, id, arena, err)) != NULL;
    if (is_done && rule) {
        explanation->info = rule->info;
        explanation->is_unfiltered = set.is_unfiltered;
        if (rule->error) {
            explanation->outcome = RULE_FAILED;
            explanation->reason = rule->error;
            explanation->place = place_of(rule, arena);
        } else if (study) {
            is_done = explain_run(rule, study, arena, explanation, err);
        }
    }
    rule_set_free(&set);
    return is_done;
}
