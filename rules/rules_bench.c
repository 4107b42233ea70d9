/* rules_bench: what each rule costs on one profile. */
#include "rules/catalogue.h"

#include "base/trace.h"
#include "rules/rule.h"
#include "rules/view.h"

#include <stdlib.h>

enum { RUNS = 5 };

static int compare_costs(const void *left, const void *right)
{
    const struct rule_cost *a = left, *b = right;

    if (a->best_ns != b->best_ns)
        return a->best_ns > b->best_ns ? -1 : 1;
    return (a->rule > b->rule) - (a->rule < b->rule);
}

static bool time_rule(const struct rule *rule, const struct rule_view *view, struct arena *arena,
                      struct rule_cost *cost, struct err *err)
{
    for (int i = 0; i < RUNS; i++) {
        struct rule_run run;
        int64_t         start_ns = trace_now_ns(), spent_ns;

        if (!rule_run(rule, view, arena, &run, err))
            return false;
        spent_ns = trace_now_ns() - start_ns;
        if (i == 0 || spent_ns < cost->best_ns)
            cost->best_ns = spent_ns;
        cost->outcome = run.outcome;
    }
    return true;
}

bool rules_bench(const struct option_list *directories, struct study *study, struct arena *arena,
                 struct rule_costs *costs, struct err *err)
{
    struct rule_view view = view_of_study(study);
    struct rule_set  set = { 0 };
    bool is_done = rule_set_load(&set, directories, RULES_HERE, &rule_default_limits, arena, err);

    *costs = (struct rule_costs) { 0 };
    for (size_t i = 0; i < set.rules.count && is_done; i++) {
        const struct rule *rule = &set.rules.items[i];
        struct rule_cost   cost = { .rule = rule->info.id, .outcome = RULE_FAILED };

        is_done = (rule->error || time_rule(rule, &view, arena, &cost, err)) &&
                  (vec_push(&costs->list, arena, cost) ||
                   err_set(err, ERR_LIMIT, "no memory left for the rules"));
    }
    if (costs->list.count)
        qsort(costs->list.items, costs->list.count, sizeof *costs->list.items, compare_costs);
    rule_set_free(&set);
    return is_done;
}
