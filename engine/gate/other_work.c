/*
 * other_work: products of other shapes. A larger batch takes longer, and no recording says how many
 * examples a step has. But it takes at most as much longer as it has more arithmetic, and a smaller
 * one at least as long for each operation. So a step that is longer by far more than its arithmetic
 * grew is slower whatever the batch is, and one that is shorter by far more than it shrank is
 * faster.
 */
#include "gate/sides.h"

#include <math.h>
#include <string.h>

/* Beyond the arithmetic: smaller products run at less of a device's speed. */
static const double LEAST_FACTOR = 2;

static struct check *comparable_check(struct gate_result *result)
{
    for (size_t i = 0; i < result->checks.count; i++)
        if (result->checks.items[i].kind == CHECK_COMPARABLE)
            return &result->checks.items[i];
    return NULL;
}

static bool say(struct judging *judging, struct check *check, const char *verb,
                enum outcome outcome)
{
    const struct gate_result *result = judging->result;
    const char               *before = judge_value(judging->arena, result->before_ns, UNIT_NS);
    const char               *after = judge_value(judging->arena, result->after_ns, UNIT_NS);

    check->outcome = outcome;
    check->rule = "step-regressed";
    check->detail =
        arena_text(judging->arena,
                   "%s; a step does %.3g times the arithmetic and takes %.3g times as "
                   "long",
                   check->title, judging->work_ratio, result->after_ns / result->before_ns);
    check->title = arena_text(judging->arena, "step %s than its other shapes explain: %s, was %s",
                              verb, after, before);
    return check->detail && check->title;
}

bool judge_other_work(struct judging *judging, const struct side *before, const struct side *after)
{
    struct gate_result *result = judging->result;
    struct check       *check = comparable_check(result);
    double              ratio = judging->work_ratio;

    if (!check || ratio <= 0 || before->step_ns <= 0 || after->step_ns <= 0)
        return true;
    result->before_ns = before->step_ns;
    result->after_ns = after->step_ns;
    if (side_distance(before, after, LEAST_FACTOR * fmax(ratio, 1), judging->scratch).is_slower)
        return say(judging, check, "slower", OUTCOME_FAIL);
    if (side_distance(before, after, LEAST_FACTOR * fmax(1 / ratio, 1), judging->scratch).is_faster)
        return say(judging, check, "faster", OUTCOME_PASS);
    return true;
}
