#include "gate/verify.h"

#include "base/option.h"
#include "base/unit.h"
#include "gate/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *kept_name(enum kept kept)
{
    switch (kept) {
    case KEPT:
        return "achieved";
    case KEPT_LESS:
        return "missed";
    case KEPT_UNTOLD:
        break;
    }
    return "untold";
}

int verify_status(const struct verification *verification)
{
    switch (verification->kept) {
    case KEPT:
        return 0;
    case KEPT_LESS:
        return 1;
    case KEPT_UNTOLD:
        break;
    }
    return 4;
}

static bool is_priced(const struct finding *finding)
{
    return finding->impact.has_saving && !finding->impact.resource && !finding->hidden_by;
}

/* What can be claimed, for a message. */
static const char *priced_rules(const struct advice *advice, struct arena *arena)
{
    struct text text = { .arena = arena };

    for (size_t i = 0; i < advice->findings.count; i++)
        if (is_priced(&advice->findings.items[i]))
            text_print(&text, "%s%s", text.len ? ", " : "", advice->findings.items[i].rule);
    return text.len ? text.data : NULL;
}

static const struct finding *find(const struct advice *advice, const char *claimed)
{
    char         *end;
    unsigned long number = strtoul(claimed, &end, 10);

    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (*end ? strcmp(finding->rule, claimed) == 0 : finding->rank == number)
            return finding;
    }
    return NULL;
}

const struct finding *verify_find(const struct advice *advice, const char *claimed,
                                  struct arena *arena, struct err *err)
{
    const struct finding *finding = find(advice, claimed);
    const char           *rules = priced_rules(advice, arena);

    if (finding && is_priced(finding))
        return finding;
    err_set(err, ERR_USAGE,
            finding ? "the finding '%s' promises no time, so that nothing can be verified"
                    : "the recording before has no finding '%s'",
            claimed);
    if (rules)
        err_advise(err, "these promise time: %s", rules);
    return NULL;
}

/* What was promised, achieved and is left, of what is compared. */
static void measure(struct verification *verification, const struct advice *after)
{
    const struct gate_result *compared = &verification->compared;
    const struct impact      *impact = &verification->claimed->impact;
    double                    before = compared->is_per_batch ? compared->batches_before : 1;
    double                    now = compared->is_per_batch ? compared->batches_after : 1;

    verification->low_ns = impact->low_ns / before;
    verification->mid_ns = impact->mid_ns / before;
    verification->high_ns = impact->high_ns / before;
    verification->achieved_ns = compared->before_ns - compared->after_ns;
    verification->achieved_low_ns = -compared->change_high * compared->before_ns;
    verification->achieved_high_ns = -compared->change_low * compared->before_ns;
    for (size_t i = 0; i < after->findings.count && !verification->left; i++)
        if (strcmp(after->findings.items[i].rule, verification->claimed->rule) == 0)
            verification->left = &after->findings.items[i];
    if (verification->left && is_priced(verification->left))
        verification->left_ns = verification->left->impact.mid_ns / now;
}

/* The check that keeps times from being compared. */
static const struct check *obstacle(const struct gate_result *compared)
{
    for (size_t i = 0; i < compared->checks.count; i++) {
        const struct check *check = &compared->checks.items[i];

        if (check->outcome == OUTCOME_INCONCLUSIVE &&
            (check->kind == CHECK_COMPARABLE || check->kind == CHECK_RECORDING ||
             (check->kind == CHECK_TIME && compared->pace == PACE_UNKNOWN)))
            return check;
    }
    return NULL;
}

/* The interval of what was achieved decides where it lies on one side of the least that was
 * promised; else the step has to be surely faster, and by as much. */
static enum kept decide(const struct verification *verification, const struct check *obstacle)
{
    const struct gate_result *compared = &verification->compared;

    if (!compared->has_step)
        return KEPT_UNTOLD;
    if (obstacle && obstacle->kind != CHECK_TIME)
        return KEPT_UNTOLD;
    if (isfinite(verification->achieved_high_ns) &&
        verification->achieved_high_ns < verification->low_ns)
        return KEPT_LESS;
    if (compared->pace == PACE_SLOWER)
        return KEPT_LESS;
    return compared->pace == PACE_FASTER && verification->achieved_ns >= verification->low_ns
               ? KEPT
               : KEPT_UNTOLD;
}

static const char *explain(const struct verification *verification, const struct check *obstacle,
                           struct arena *arena)
{
    if (verification->kept != KEPT_UNTOLD)
        return "";
    if (obstacle)
        return obstacle->detail[0] ? arena_text(arena, "%s: %s", obstacle->title, obstacle->detail)
                                   : obstacle->title;
    return verification->compared.pace == PACE_FASTER
               ? "the step is faster, but these steps do not tell whether by as much: record more"
               : "whether the step is faster is within what chance makes: record more steps, or "
                 "give "
                 "recordings of a quiet machine";
}

static const char *headline(const struct verification *verification, struct arena *arena)
{
    const char *achieved = judge_value(arena, fabs(verification->achieved_ns), UNIT_NS);
    const char *low = judge_value(arena, verification->low_ns, UNIT_NS);
    const char *high = judge_value(arena, verification->high_ns, UNIT_NS);
    const char *unit = verification->compared.is_per_batch ? "batch" : "step";

    if (!verification->compared.has_step || verification->kept == KEPT_UNTOLD)
        return arena_text(arena, "Cannot tell whether %s saved %s to %s a %s",
                          verification->claimed->rule, low, high, unit);
    if (verification->achieved_ns < 0)
        return arena_text(arena, "Missed: the %s became %s longer, %s to %s less were promised",
                          unit, achieved, low, high);
    return arena_text(arena, "%s: %s a %s saved, %s to %s were promised",
                      verification->kept == KEPT ? "Achieved" : "Missed", achieved, unit, low,
                      high);
}

bool verify_make(struct verification *verification, const struct summary *before,
                 const struct summary *after, const struct finding *claimed, struct arena *arena,
                 struct err *err)
{
    static const struct gate_limits limits = { .max_regression = 0.05, .counts = COUNTS_LENIENT };
    const struct check             *why;

    *verification = (struct verification) { .claimed = claimed, .before = before };
    if (!gate_run(before, after, &limits, arena, &verification->compared, err))
        return false;
    why = obstacle(&verification->compared);
    measure(verification, &after->advice);
    verification->kept = decide(verification, why);
    verification->why = explain(verification, why, arena);
    verification->headline = headline(verification, arena);
    return (verification->why && verification->headline) || err_memory(err, "the comparison");
}
