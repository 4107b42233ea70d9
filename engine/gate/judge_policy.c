/* judge_policy: which counts that grew fail by themselves. A count is exact, so any growth shows;
 * what it costs is another question, and the step's time answers it for ops of a host or a graph.
 */
#include "gate/judge.h"

#include <string.h>

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
    if (judging->result->pace == PACE_FASTER)
        return "the step is faster all the same";
    return check->is_free ? "costs no more than the time that the step takes" : NULL;
}

/* Whether so few steps that their times do not tell leave it open that the growth costs something:
 * it may have bought a faster step, or be of these steps alone. NULL: it costs. */
static const char *reason_to_doubt(const struct judging *judging, const struct check *check)
{
    enum { FEWEST_STEPS = 5 };
    const struct gate_result *result = judging->result;
    bool is_few = result->steps_before < FEWEST_STEPS || result->steps_after < FEWEST_STEPS;

    if (judging->seems_faster && judging->limits->counts != COUNTS_STRICT)
        return "the step is faster all the same, as far as recordings tell";
    if (!is_few || result->pace != PACE_UNKNOWN || judging->limits->counts == COUNTS_STRICT)
        return NULL;
    if (result->has_step && result->change <= -judging->limits->max_regression)
        return "the step looks faster, but so few steps do not tell";
    return check->is_varying ? "varies from step to step, and so few do not tell" : NULL;
}

static bool judge_grown(struct judging *judging, struct check *check)
{
    const char *reason = reason_to_pass(judging, check);
    const char *doubt = reason ? NULL : reason_to_doubt(judging, check);

    if (!reason && !doubt)
        return true;
    check->outcome = reason ? OUTCOME_WARN : OUTCOME_INCONCLUSIVE;
    check->detail =
        arena_text(judging->arena, "%s; --counts strict fails it", reason ? reason : doubt);
    return check->detail != NULL;
}

/* A step that may be slower and does more: what it does goes with its time. */
static bool join_evidence(struct judging *judging)
{
    struct check *time = NULL, *grown = NULL;

    for (size_t i = 0; i < judging->result->checks.count; i++) {
        struct check *check = &judging->result->checks.items[i];

        if (check->kind == CHECK_TIME && check->outcome == OUTCOME_INCONCLUSIVE)
            time = check;
        else if (check->kind == CHECK_COUNT && check->outcome == OUTCOME_FAIL && !grown)
            grown = check;
    }
    if (!time || !grown || !(judging->result->change > 0 || judging->result->change_high > 0))
        return true;
    time->detail =
        arena_text(judging->arena, "%s; and it does more: %s", time->detail, grown->title);
    return time->detail != NULL;
}

bool judge_policy(struct judging *judging)
{
    if (!join_evidence(judging))
        return false;
    for (size_t i = 0; i < judging->result->checks.count; i++) {
        struct check *check = &judging->result->checks.items[i];

        if (check->kind == CHECK_COUNT && check->outcome == OUTCOME_FAIL &&
            !judge_grown(judging, check))
            return false;
    }
    return true;
}
