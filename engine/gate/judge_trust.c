/* judge_trust: whether what is compared can be trusted at all: recordings that were damaged, and
 * rules that failed, so that what they would have found is not known. */
#include "gate/judge.h"

#include <string.h>

static size_t count_damage(const struct summary *summary, const struct run_note **first)
{
    size_t count = 0;

    for (size_t i = 0; i < summary->notes.count; i++) {
        if (!summary->notes.items[i].is_damage)
            continue;
        if (count++ == 0)
            *first = &summary->notes.items[i];
    }
    return count;
}

static bool judge_damage(struct judging *judging, const struct summary *side, const char *id,
                         const char *subject)
{
    const struct run_note *first = NULL;
    size_t                 count = side ? count_damage(side, &first) : 0;
    struct check           check = {
                  .id = id,
                  .rule = "recording-damaged",
                  .kind = CHECK_RECORDING,
                  .outcome = judging->limits->accepts_damage ? OUTCOME_WARN : OUTCOME_INCONCLUSIVE,
    };

    if (count == 0)
        return true;
    check.title = arena_text(judging->arena, "%s is damaged: %s: %s", subject,
                             first->where[0] ? first->where : first->run, first->what);
    check.detail = count == 1 ? "its numbers may be wrong"
                              : arena_text(judging->arena,
                                           "its numbers may be wrong; %zu notes in all: "
                                           "--format json",
                                           count);
    return check.detail && judge_add(judging, check);
}

bool judge_recordings(struct judging *judging)
{
    return judge_damage(judging, judging->after, "recording/after", "the recording") &&
           judge_damage(judging, judging->before, "recording/before", "the baseline's recording");
}

/* With fail_on, findings decide: then what a failed rule would have found is missing. */
static bool judge_side(struct judging *judging, const struct summary *side, const char *id,
                       const char *when)
{
    const struct failed_rule *first = side ? summary_failed(side, NULL) : NULL;
    struct check              check = {
                     .id = id,
                     .rule = "rule-failed",
                     .kind = CHECK_RULES,
                     .outcome =
            judging->limits->fail_on && judging->before ? OUTCOME_INCONCLUSIVE : OUTCOME_WARN,
                     .unit = UNIT_COUNT,
    };

    if (!first)
        return true;
    check.title = arena_text(judging->arena, "%zu rule%s failed%s: %s: %s", side->failed.count,
                             side->failed.count == 1 ? "" : "s", when, first->rule, first->message);
    check.detail = "what it would have found is not known";
    return judge_add(judging, check);
}

bool judge_failed(struct judging *judging)
{
    return judge_side(judging, judging->after, "rules/after", "") &&
           judge_side(judging, judging->before, "rules/before", " when the baseline was written");
}

const struct failed_rule *judge_missing_rule(const struct judging *judging, const char *quantity)
{
    static const char prefix[] = "findings.";
    const char       *which = quantity + strlen(prefix);

    if (strncmp(quantity, prefix, strlen(prefix)) != 0)
        return NULL;
    for (int i = SEVERITY_INFO; i <= SEVERITY_VETO; i++)
        if (strcmp(which, severity_name((enum severity)i)) == 0)
            return summary_failed(judging->after, NULL);
    return summary_failed(judging->after, strcmp(which, "total") == 0 ? NULL : which);
}
