/* rules_bench: what each rule costs on one profile. */
#include "rules/catalogue.h"

#include "base/sort.h"
#include "base/trace.h"
#include "rules/guest_batch.h"
#include "rules/rule.h"
#include "rules/script_line.h"
#include "rules/view.h"

#include <stdlib.h>

enum { RUNS = 5 };

static int compare_costs(const void *left, const void *right)
{
    const struct rule_cost *a = left, *b = right;

    return IN_ORDER(COMPARE(b->best_ns, a->best_ns), COMPARE(a->rule, b->rule));
}

/* With the line of its script, where it says one. */
static const char *fault_of(const struct rule *rule, const char *message, struct arena *arena)
{
    struct text text = { .arena = arena };

    script_error_print(&text, rule->info.file, rule->script, message);
    return text.len ? text.data : message;
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
        if (run.outcome == RULE_FAILED && !cost->fault)
            cost->fault = fault_of(rule, run.reason, arena);
        if (i == 0 || spent_ns < cost->best_ns)
            cost->best_ns = spent_ns;
        cost->outcome = run.outcome;
    }
    return true;
}

/* The rules of others, timed in another process. */
struct benching {
    const struct rule_set  *set;
    const struct rule_view *view;
    struct rule_costs      *costs; /* one a rule of the set */
    size_t                 *items; /* which of the rules */
};

static struct rule_cost *cost_of(const struct guest_batch *batch, size_t item)
{
    const struct benching *benching = batch->context;

    return &benching->costs->list.items[benching->items[item]];
}

static void code_cost(struct coder *coder, struct rule_cost *cost)
{
    code_int64(coder, &cost->best_ns, 0, INT64_MAX);
    cost->outcome = (enum rule_outcome)code_choice(coder, cost->outcome, RULE_FAILED);
    code_text(coder, &cost->fault, false);
}

static void time_apart(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    const struct benching *benching = batch->context;
    const struct rule     *wanted = &benching->set->rules.items[benching->items[item]];
    struct arena          *arena = coder->out.arena;
    struct rule_cost       cost = { .outcome = RULE_FAILED };
    struct rule            rule;
    struct err             err = { 0 };

    if (rule_load(&rule, wanted->info.file, wanted->script, batch->limits, arena, &err) &&
        !rule.error) {
        rule.script = wanted->script;
        if (!time_rule(&rule, benching->view, arena, &cost, &err))
            cost.outcome = RULE_FAILED;
    }
    code_cost(coder, &cost);
    rule_free(&rule);
}

static bool take_cost(const struct guest_batch *batch, size_t item, struct coder *coder)
{
    code_cost(coder, cost_of(batch, item));
    return coder_is_done(coder);
}

static void take_failure(const struct guest_batch *batch, size_t item, const char *message)
{
    const struct benching *benching = batch->context;
    const struct rule     *rule = &benching->set->rules.items[benching->items[item]];
    struct rule_cost      *cost = cost_of(batch, item);

    cost->outcome = RULE_FAILED;
    cost->fault = fault_of(rule, rule_message(rule, message, batch->arena), batch->arena);
}

static const char *file_timed(const struct guest_batch *batch, size_t item)
{
    const struct benching *benching = batch->context;

    return benching->set->rules.items[benching->items[item]].info.file;
}

/* Ours run here, and the others are put down for later. */
static bool time_ours(struct benching *benching, struct guest_batch *batch, struct arena *arena,
                      struct err *err)
{
    for (size_t i = 0; i < benching->set->rules.count; i++) {
        const struct rule *rule = &benching->set->rules.items[i];
        struct rule_cost   cost = { .rule = rule->info.id, .outcome = RULE_FAILED };

        if (rule->error)
            cost.fault = fault_of(rule, rule->error, arena);
        if (rule->is_apart && !rule->error)
            benching->items[batch->count++] = i;
        else if (!rule->error && !time_rule(rule, benching->view, arena, &cost, err))
            return false;
        if (!vec_push(&benching->costs->list, arena, cost))
            return err_memory(err, "the rules");
    }
    return true;
}

static bool time_all(struct benching *benching, struct arena *arena, struct err *err)
{
    struct guest_batch batch = { .limits = &rule_default_limits,
                                 .arena = arena,
                                 .context = benching,
                                 .work = time_apart,
                                 .take = take_cost,
                                 .fail = take_failure,
                                 .file = file_timed,
                                 .item_ns = (RUNS + 1) * rule_default_limits.cpu_ns };

    benching->items = arena_new_array(arena, size_t, benching->set->rules.count + 1);
    if (!benching->items)
        return err_memory(err, "the rules");
    if (!time_ours(benching, &batch, arena, err))
        return false;
    guest_batch_run(&batch);
    benching->costs->is_unfiltered = benching->set->is_unfiltered || !batch.is_filtered;
    return true;
}

bool rules_bench(const struct option_list *directories, struct study *study, struct arena *arena,
                 struct rule_costs *costs, struct err *err)
{
    struct rule_view view = view_of_study(study);
    struct rule_set  set = { 0 };
    struct benching  benching = { .set = &set, .view = &view, .costs = costs };
    bool             is_done;

    *costs = (struct rule_costs) { 0 };
    is_done = rule_set_load(&set, directories, &rule_default_limits, arena, err) &&
              time_all(&benching, arena, err);
    if (costs->list.count)
        qsort(costs->list.items, costs->list.count, sizeof *costs->list.items, compare_costs);
    rule_set_free(&set);
    return is_done;
}
