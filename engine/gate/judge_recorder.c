/* judge_recorder: is it the recorder that made the difference? A host whose every call is recorded
 * takes longer, and so does the step of an accelerator that waits for it. Where the steps without
 * that changed the other way, recordings do not tell. */
#include "gate/judge.h"

/* The recorded step less what recording took of it, as the schedule of the recording says; 0: not
 * known. */
static double bare_ns(const struct judging *judging, const struct summary *summary, double step_ns)
{
    double recorded_ns, without_ns;

    if (!summary_fact(summary, "step.ns", judging->scratch, &recorded_ns) || recorded_ns <= 0 ||
        !summary_fact(summary, "replay.without_recorder_ns", judging->scratch, &without_ns))
        return 0;
    return step_ns * without_ns / recorded_ns;
}

bool judge_recorder(struct judging *judging)
{
    struct gate_result *result = judging->result;
    double              before_ns = bare_ns(judging, judging->before, result->before_ns);
    double              after_ns = bare_ns(judging, judging->after, result->after_ns);
    struct check       *time = judge_time_check(result);
    double              limit = judging->limits->max_regression;
    double              change;
    bool                is_slower;

    if (!time || before_ns <= 0 || after_ns <= 0)
        return true;
    change = after_ns / before_ns - 1;
    is_slower = result->change > 0;
    if (is_slower ? change > -limit : change < limit)
        return true;
    result->pace = PACE_UNKNOWN;
    judging->seems_faster = is_slower;
    if (time->outcome == OUTCOME_INCONCLUSIVE)
        return true;
    time->outcome = OUTCOME_INCONCLUSIVE;
    time->title = arena_text(judging->arena, "%s, but %s without what recording takes", time->title,
                             is_slower ? "faster" : "slower");
    time->detail = arena_text(
        judging->arena,
        "calls of the host take longer while they are recorded, and the device waits for them: "
        "without that about %s, was %s (%s); record fewer events (no shapes, no stacks), or time "
        "the program itself",
        judge_value(judging->arena, after_ns, UNIT_NS),
        judge_value(judging->arena, before_ns, UNIT_NS), judge_percent(judging->arena, change));
    return time->title && time->detail;
}
