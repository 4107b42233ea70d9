/* judge_masked: a step that is not slower, though more of it waits for input. Load on the machine
 * makes steps of a few longer or shorter as a whole, so where nobody can say that the step became
 * faster, a wait that took a larger share is a slow-down that the rest of the step may hide. */
#include "gate/judge.h"

#include <math.h>

static double share_of(const struct gate_result *result, enum part part, bool is_after)
{
    double step_ns = is_after ? result->after_ns : result->before_ns;

    for (size_t i = 0; i < result->parts.count; i++)
        if (result->parts.items[i].part == part)
            return (is_after ? result->parts.items[i].after_ns : result->parts.items[i].before_ns) /
                   step_ns;
    return 0;
}

bool judge_masked(struct judging *judging)
{
    struct gate_result *result = judging->result;
    struct check       *time = judge_time_check(result);
    double              before = share_of(result, PART_INPUT, false);
    double              after = share_of(result, PART_INPUT, true);

    if (!time || time->outcome != OUTCOME_PASS || result->pace != PACE_UNKNOWN ||
        result->change_high < 0 || after - before < judging->limits->max_regression)
        return true;
    time->outcome = OUTCOME_INCONCLUSIVE;
    time->title = arena_text(judging->arena, "%s, but %.0f %% of it waits for input, was %.0f %%",
                             time->title, 100 * after, 100 * before);
    time->detail = arena_text(judging->arena,
                              "%s; the rest of the step may be shorter by chance: more steps, or "
                              "four runs a side, would settle it",
                              time->detail);
    return time->title && time->detail;
}
