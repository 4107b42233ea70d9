#include "gate/gate.h"

#include "base/macros.h"
#include "base/sort.h"
#include "gate/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *outcome_name(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_PASS:
        return "pass";
    case OUTCOME_WARN:
        return "warn";
    case OUTCOME_INCONCLUSIVE:
        return "inconclusive";
    case OUTCOME_FAIL:
        break;
    }
    return "fail";
}

const char *check_kind_name(enum check_kind kind)
{
    switch (kind) {
    case CHECK_RECORDING:
        return "recording";
    case CHECK_RULES:
        return "rules";
    case CHECK_COMPARABLE:
        return "comparable";
    case CHECK_COUNT:
        return "count";
    case CHECK_TIME:
        return "time";
    case CHECK_FINDING:
        return "finding";
    case CHECK_BUDGET:
        break;
    }
    return "budget";
}

/* FNV-1a over texts without their digits, which name instances, not programs. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        if (*text < '0' || *text > '9')
            hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return (hash ^ 0xff) * 1099511628211u;
}

void judge_fingerprint(char fingerprint[17], const char *rule, const char *name, const char *more)
{
    uint64_t hash = hash_text(14695981039346656037u, rule);

    hash = hash_text(hash_text(hash, name), more);
    snprintf(fingerprint, 17, "%016llx", (unsigned long long)hash);
}

const char *judge_value(struct arena *arena, double value, enum unit unit)
{
    struct text text = { .arena = arena };

    /* Exact counts are shown exactly. */
    if ((unit == UNIT_COUNT || unit == UNIT_BYTES || unit == UNIT_FLOPS) && value == floor(value) &&
        fabs(value) < 1e7)
        text_print(&text, "%.0f%s", value, unit == UNIT_BYTES ? " B" : "");
    else if ((unit == UNIT_COUNT || unit == UNIT_BYTES) && value == floor(value) &&
             fabs(value) < 1e15)
        text_print(&text, "%.0f%s", value, unit == UNIT_BYTES ? " B" : "");
    else
        unit_print(&text, value, unit);
    return text.data ? text.data : "";
}

const char *judge_percent(struct arena *arena, double share)
{
    double      percent = share * 100;
    const char *text = arena_text(arena,
                                  fabs(percent) < 0.1 && percent != 0 ? "%+.2g %%"
                                  : fabs(percent) < 100               ? "%+.1f %%"
                                                                      : "%+.0f %%",
                                  percent);

    return text ? text : "";
}

struct check *judge_time_check(struct gate_result *result)
{
    for (size_t i = 0; i < result->checks.count; i++)
        if (result->checks.items[i].kind == CHECK_TIME)
            return &result->checks.items[i];
    return NULL;
}

bool judge_add(struct judging *judging, struct check check)
{
    check.detail = check.detail ? check.detail : "";
    check.file = check.file ? check.file : "";
    if (check.title && check.kind != CHECK_BUDGET)
        check.title = judge_in_unit(judging, check.title);
    judge_fingerprint(check.fingerprint, check.rule, check.id, check.file);
    return check.title && check.id && vec_push(&judging->result->checks, judging->arena, check);
}

/* Failed first, then what is not known, then warnings. */
static int by_weight(const void *left, const void *right)
{
    const struct check *a = left, *b = right;

    return IN_ORDER(COMPARE(b->outcome, a->outcome), COMPARE(a->kind, b->kind),
                    strcmp(a->id, b->id));
}

size_t gate_count(const struct gate_result *result, enum outcome outcome)
{
    size_t count = 0;

    for (size_t i = 0; i < result->checks.count; i++)
        count += result->checks.items[i].outcome == outcome;
    return count;
}

static enum outcome worst(const struct gate_result *result)
{
    enum outcome outcome = OUTCOME_PASS;

    for (size_t i = 0; i < result->checks.count; i++)
        if (result->checks.items[i].outcome > outcome)
            outcome = result->checks.items[i].outcome;
    return outcome;
}

static const char *make_headline(const struct gate_result *result, struct arena *arena)
{
    size_t      count = gate_count(result, result->outcome);
    const char *first = result->checks.count > 0 ? result->checks.items[0].title : "no check";

    switch (result->outcome) {
    case OUTCOME_PASS:
        return arena_text(arena, "Passed: %zu check%s held", count, count == 1 ? "" : "s");
    case OUTCOME_WARN:
        return arena_text(arena, "Passed with a warning: %s", first);
    case OUTCOME_INCONCLUSIVE:
        return arena_text(arena, "Inconclusive: %s", first);
    case OUTCOME_FAIL:
        break;
    }
    if (count == 1)
        return arena_text(arena, "Failed: %s", first);
    return arena_text(arena, "Failed: %s, and %zu more", first, count - 1);
}

static bool explain(struct judging *judging)
{
    return !judging->is_comparable || (judge_parts(judging) && judge_masked(judging) &&
                                       judge_pieces(judging) && judge_changes(judging));
}

static bool compare(struct judging *judging)
{
    return judge_unit(judging) && judge_workload(judging) && judge_counts(judging) &&
           judge_memory(judging) && judge_time(judging) && judge_recorder(judging) &&
           judge_policy(judging) && judge_findings(judging) && explain(judging);
}

static bool judge(struct judging *judging, struct err *err)
{
    const struct summary *recorded = judging->after;

    if (!judge_recordings(judging) || !judge_failed(judging) ||
        (judging->before && !compare(judging)))
        return err_memory(err, "the comparison");
    judging->after = recorded; /* budgets are of a step, whatever was compared */
    return judge_budgets(judging, err);
}

bool gate_run(const struct summary *baseline, const struct summary *after,
              const struct gate_limits *limits, struct arena *arena, struct gate_result *result,
              struct err *err)
{
    struct arena   scratch = { .budget_bytes = arena->budget_bytes };
    struct judging judging = { .before = baseline,
                               .after = after,
                               .limits = limits,
                               .arena = arena,
                               .scratch = &scratch,
                               .result = result,
                               .is_comparable = true };
    bool           is_done;

    *result = (struct gate_result) {
        .profile = after->name,
        .baseline = baseline ? baseline->name : NULL,
        .p_value = NAN,
        .change_low = NAN,
        .change_high = NAN,
        .before_summary = baseline,
        .after_summary = after,
    };
    is_done = judge(&judging, err);
    arena_free(&scratch);
    if (!is_done)
        return false;
    if (result->checks.count > 0)
        qsort(result->checks.items, result->checks.count, sizeof *result->checks.items, by_weight);
    result->outcome = worst(result);
    result->headline = make_headline(result, arena);
    result->command = arena_text(arena, "tfprof report %s", after->name);
    return (result->headline && result->command) || err_memory(err, "the comparison");
}

int gate_status(const struct gate_result *result, const char *inconclusive)
{
    if (result->outcome == OUTCOME_FAIL)
        return 1;
    return result->outcome == OUTCOME_INCONCLUSIVE && strcmp(inconclusive, "fail") == 0 ? 4 : 0;
}

const struct diff_rule diff_rules[] = {
#define DIFF_RULE(id, severity, title, remedy) { id, title, remedy, SEVERITY_##severity },
#include "gate/diff_rules.def"
#undef DIFF_RULE
};
const size_t diff_rule_count = ARRAY_COUNT(diff_rules);

const struct diff_rule *diff_rule_find(const char *id)
{
    for (size_t i = 0; i < diff_rule_count; i++)
        if (strcmp(diff_rules[i].id, id) == 0)
            return &diff_rules[i];
    return NULL;
}
