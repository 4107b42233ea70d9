/* diff_totals: rules about totals of a step. Their times are those of the step's parts, so that
 * nothing is claimed twice. */
#include "gate/judge.h"

#include "analyze/path/path.h"

#include <math.h>
#include <string.h>

static const double POINTS = 0.02; /* of the step, that a part must have grown by */
static const double MEMORY_SHARE = 0.03, MEMORY_BYTES = 256.0 * (1 << 20);

static bool both(const struct judging *judging, const char *fact, double *before, double *after)
{
    return summary_fact(judging->before, fact, judging->scratch, before) &&
           summary_fact(judging->after, fact, judging->scratch, after);
}

static struct change total(const char *rule, const char *name)
{
    return (struct change) {
        .rule = rule, .noun = "total", .name = name, .group = "", .file = "", .how = CHANGE_MORE
    };
}

static bool find_more_calls(struct judging *judging)
{
    static const char *const facts[] = { "launch.count_per_step", "kernels.count_per_step",
                                         "ops.count_per_step" };
    static const char *const nouns[] = { "launches", "kernels", "ops" };
    struct change            change = total("op-count-grew", "calls a step");
    double                   before, after;

    for (size_t i = 0; i < ARRAY_COUNT(facts); i++) {
        if (!both(judging, facts[i], &before, &after) || before < 1)
            continue;
        if (after < 1.1 * before)
            return true;
        change.before_count = before;
        change.after_count = after;
        change.title =
            arena_text(judging->arena, "%.0f %s a step, was %.0f", after, nouns[i], before);
        return judge_change(judging, change);
    }
    return true;
}

static bool find_communication(struct judging *judging)
{
    double bytes_before, bytes_after, before, after;
    bool   has_bytes = both(judging, "comm.bytes_per_step", &bytes_before, &bytes_after);

    if (has_bytes && bytes_before > 0 && bytes_after > 1.05 * bytes_before) {
        struct change change = total("comm-volume-grew", "bytes in collectives");

        change.title = arena_text(judging->arena, "collectives move %s a step, was %s",
                                  judge_value(judging->arena, bytes_after, UNIT_BYTES),
                                  judge_value(judging->arena, bytes_before, UNIT_BYTES));
        return judge_change(judging, change);
    }
    if (both(judging, "comm.exposed_share", &before, &after) && after >= before + POINTS &&
        (!has_bytes || bytes_after <= 1.01 * bytes_before)) {
        struct change change = total("overlap-lost", "exposed communication");

        if (both(judging, "comm.exposed_ns", &change.before_ns, &change.after_ns)) {
            change.title =
                arena_text(judging->arena, "%s of communication a step is exposed, was %s",
                           judge_value(judging->arena, change.after_ns, UNIT_NS),
                           judge_value(judging->arena, change.before_ns, UNIT_NS));
            return judge_change(judging, change);
        }
    }
    return true;
}

static bool find_memory(struct judging *judging)
{
    struct change change = total("peak-memory-grew", "memory peak");
    double        before, after;

    if (!both(judging, "memory.peak_bytes", &before, &after) || before <= 0 ||
        (after < before * (1 + MEMORY_SHARE) && after < before + MEMORY_BYTES))
        return true;
    change.title = arena_text(judging->arena, "memory peak %s, was %s",
                              judge_value(judging->arena, after, UNIT_BYTES),
                              judge_value(judging->arena, before, UNIT_BYTES));
    return judge_change(judging, change);
}

static const struct {
    const char *rule, *what;
    unsigned    parts; /* 1 << enum part */
} part_rules[] = {
    { "input-wait-grew", "waiting for input", 1u << PART_INPUT },
    { "host-time-grew", "in host code", 1u << PART_HOST },
    { "idle-grew", "with nothing running",
      1u << PART_IDLE_LAUNCH | 1u << PART_IDLE_SYNC | 1u << PART_IDLE_DEPENDENCY |
          1u << PART_IDLE_OTHER },
};

static bool find_parts(struct judging *judging)
{
    const struct gate_result *result = judging->result;

    for (size_t i = 0; i < ARRAY_COUNT(part_rules); i++) {
        struct change change = total(part_rules[i].rule, part_rules[i].what);

        for (size_t at = 0; at < result->parts.count; at++) {
            if (!(part_rules[i].parts >> result->parts.items[at].part & 1))
                continue;
            change.before_ns += result->parts.items[at].before_ns;
            change.after_ns += result->parts.items[at].after_ns;
        }
        if (change.after_ns <= change.before_ns ||
            change.after_ns / result->after_ns < change.before_ns / result->before_ns + POINTS)
            continue;
        change.title =
            arena_text(judging->arena, "%s a step %s, was %s",
                       judge_value(judging->arena, change.after_ns, UNIT_NS), part_rules[i].what,
                       judge_value(judging->arena, change.before_ns, UNIT_NS));
        if (!judge_change(judging, change))
            return false;
    }
    return true;
}

bool judge_rules(struct judging *judging)
{
    return find_more_calls(judging) && find_communication(judging) && find_memory(judging) &&
           (!judging->result->has_step || find_parts(judging));
}
