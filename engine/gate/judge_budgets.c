/* judge_budgets: limits that hold without a baseline. */
#include "gate/budget.h"
#include "gate/judge.h"

/* One that holds by findings of which some could not be looked for is not known to hold. */
static void judge_value_known(struct judging *judging, const struct budget *budget,
                              struct check *check)
{
    const struct failed_rule *missing = judge_missing_rule(judging, budget->quantity);
    bool                      holds = budget_holds(budget, check->after);

    check->outcome = !holds ? OUTCOME_FAIL : missing ? OUTCOME_INCONCLUSIVE : OUTCOME_PASS;
    check->title =
        arena_text(judging->arena, "%s is %s, budget %s %s%s", budget->quantity,
                   judge_value(judging->arena, check->after, budget->unit),
                   comparison_sign(budget->comparison),
                   judge_value(judging->arena, budget->limit, budget->unit),
                   holds && missing ? ", but not all rules that it counts could run" : "");
    if (holds && missing)
        check->detail =
            arena_text(judging->arena, "rule failed: %s: %s", missing->rule, missing->message);
}

static bool judge_budget(struct judging *judging, const char *text, struct err *err)
{
    struct budget budget;
    double        value = 0;
    struct check  check = { .rule = "budget", .kind = CHECK_BUDGET };

    if (!budget_parse(text, judging->arena, &budget, err))
        return false;
    check.id = arena_text(judging->arena, "budget/%s", budget.quantity);
    check.unit = budget.unit;
    check.has_after = budget_value(&budget, judging->after, judging->scratch, &value);
    check.after = value;
    if (!check.has_after) {
        check.outcome = OUTCOME_INCONCLUSIVE;
        check.title = arena_text(judging->arena, "budget %s: the profile does not show %s",
                                 budget.text, budget.quantity);
        check.detail = arena_text(judging->arena, "tfprof info %s says why", judging->after->name);
    } else {
        judge_value_known(judging, &budget, &check);
    }
    return judge_add(judging, check) || err_set(err, ERR_LIMIT, "no memory left to judge budgets");
}

bool judge_budgets(struct judging *judging, struct err *err)
{
    for (size_t i = 0; i < judging->limits->budgets.values.count; i++)
        if (!judge_budget(judging, judging->limits->budgets.values.items[i], err))
            return false;
    return true;
}
