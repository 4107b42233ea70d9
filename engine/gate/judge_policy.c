/* judge_policy: which counts that grew fail by themselves. A count is exact, so any growth shows;
 * what it costs is another question, and the step's time answers it for ops of a host or a graph.
 */
#include "gate/judge.h"

#include <string.h>

/* More than chance, and by more than programs differ from themselves. */
static bool is_faster(const struct gate_result *result)
{
    static const double LEAST_CHANGE = 0.02;

    return result->has_step && result->change < -LEAST_CHANGE && result->change_high < 0;
}

static const char *reason_to_pass(const struct judging *judging, const struct check *check)
{
    switch (judging->limits->counts) {
    case COUNTS_STRICT:
        return NULL;
    case COUNTS_LENIENT:
        return "counts are warnings here";
    case COUNTS_RECOMMENDED:
        break;
    }
    if (is_faster(judging->result))
        return "the step is faster all the same";
    return check->is_free ? "costs no more than the time that the step takes" : NULL;
}

/* A step that looks slower while it does more is no chance that can be passed over. */
static bool join_evidence(struct judging *judging, struct check *time, const char *more)
{
    time->outcome = OUTCOME_INCONCLUSIVE;
    time->detail = arena_text(judging->arena, "%s; and it does more: %s", time->detail, more);
    return time->detail != NULL;
}

static bool look_at_both(struct judging *judging)
{
    struct check *time = NULL, *grown = NULL;

    for (size_t i = 0; i < judging->result->checks.count; i++) {
        struct check *check = &judging->result->checks.items[i];

        if (check->kind == CHECK_TIME && check->outcome == OUTCOME_WARN)
            time = check;
        else if (check->kind == CHECK_COUNT && check->outcome == OUTCOME_FAIL && !grown)
            grown = check;
    }
    return !time || !grown || join_evidence(judging, time, grown->title);
}

bool judge_policy(struct judging *judging)
{
    if (!look_at_both(judging))
        return false;
    for (size_t i = 0; i < judging->result->checks.count; i++) {
        struct check *check = &judging->result->checks.items[i];
        const char   *reason;

        if (check->kind != CHECK_COUNT || check->outcome != OUTCOME_FAIL)
            continue;
        reason = reason_to_pass(judging, check);
        if (!reason)
            continue;
        check->outcome = OUTCOME_WARN;
        check->detail = arena_text(judging->arena, "%s; --counts strict fails it", reason);
        if (!check->detail)
            return false;
    }
    return true;
}
