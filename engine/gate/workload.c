/* workload: may times of the two be compared? Hardware and work must be alike. */
#include "gate/judge.h"

#include <math.h>
#include <string.h>

/* Work is the same when one of the two has nearly all products of the other: what a change adds
 * to it is a regression, not another program. */
static const double SAME_WORK_SHARE = 0.5;
static const double SAME_FLOPS_SHARE = 0.02;

static bool add(struct judging *judging, const char *what, const char *before, const char *after,
                bool is_hardware)
{
    struct difference difference = { what, before, after, is_hardware, true };

    return before && after && vec_push(&judging->result->differences, judging->arena, difference);
}

static bool note(struct judging *judging, const char *what, const char *before, const char *after)
{
    struct difference difference = { what, before, after, false, false };

    return before && after && vec_push(&judging->result->differences, judging->arena, difference);
}

static bool add_number(struct judging *judging, const char *what, double before, double after,
                       bool is_hardware)
{
    return add(judging, what, judge_value(judging->arena, before, UNIT_COUNT),
               judge_value(judging->arena, after, UNIT_COUNT), is_hardware);
}

static const char *join_devices(const struct identity *identity, struct arena *arena)
{
    struct text text = { .arena = arena };

    for (size_t i = 0; i < identity->devices.count; i++)
        text_print(&text, "%s%s", i ? ", " : "", identity->devices.items[i]);
    return text.len ? text.data : "none";
}

static bool compare_hardware(struct judging *judging, const struct identity *before,
                             const struct identity *after)
{
    const char *devices_before = join_devices(before, judging->arena);
    const char *devices_after = join_devices(after, judging->arena);

    if (strcmp(devices_before, devices_after) != 0 &&
        !add(judging, "devices", devices_before, devices_after, true))
        return false;
    if (before->cores > 0 && after->cores > 0 && before->cores != after->cores &&
        !add_number(judging, "cores", before->cores, after->cores, true))
        return false;
    if (before->hosts != after->hosts &&
        !add_number(judging, "hosts", before->hosts, after->hosts, true))
        return false;
    return before->world_size < 0 || after->world_size < 0 ||
           before->world_size == after->world_size ||
           add_number(judging, "ranks", (double)before->world_size, (double)after->world_size,
                      true);
}

/* Share of the FLOPs of `of` whose type and shapes `in` has too. */
static double covered(const struct identity *of, const struct identity *in)
{
    double all = 0, found = 0;

    for (size_t i = 0; i < of->work.count; i++) {
        all += of->work.items[i].flops;
        for (size_t j = 0; j < in->work.count; j++) {
            if (strcmp(of->work.items[i].what, in->work.items[j].what) != 0)
                continue;
            found += of->work.items[i].flops;
            break;
        }
    }
    return all > 0 ? found / all : 1;
}

/* The first op that only one of them has. */
static const char *only_in(const struct identity *of, const struct identity *in)
{
    for (size_t i = 0; i < of->work.count; i++) {
        size_t j = 0;

        while (j < in->work.count && strcmp(of->work.items[i].what, in->work.items[j].what) != 0)
            j++;
        if (j == in->work.count)
            return of->work.items[i].what;
    }
    return "nothing else";
}

static bool compare_shapes(struct judging *judging, const struct identity *before,
                           const struct identity *after)
{
    double flops_before = 0, flops_after = 0;

    if (before->work.count == 0 || after->work.count == 0 ||
        fmax(covered(before, after), covered(after, before)) >= SAME_WORK_SHARE)
        return true;
    for (size_t i = 0; i < before->work.count; i++)
        flops_before += before->work.items[i].flops;
    for (size_t i = 0; i < after->work.count; i++)
        flops_after += after->work.items[i].flops;
    if (fabs(flops_after / flops_before - 1) <= SAME_FLOPS_SHARE)
        return true;
    return add(judging, "shapes", only_in(before, after), only_in(after, before), false);
}

static bool compare_work(struct judging *judging, const struct identity *before,
                         const struct identity *after)
{
    if (strcmp(before->format, after->format) != 0 &&
        !add(judging, "format", before->format, after->format, false))
        return false;
    if (strcmp(before->framework, after->framework) != 0 &&
        !add(judging, "framework", before->framework, after->framework, false))
        return false;
    if (before->parameters > 0 && after->parameters > 0 &&
        before->parameters != after->parameters &&
        !add_number(judging, "parameters", before->parameters, after->parameters, false))
        return false;
    if (strcmp(before->step_source, after->step_source) != 0 &&
        !add(judging, "steps", before->step_source, after->step_source, false))
        return false;
    if (strcmp(before->framework_version, after->framework_version) != 0 &&
        !note(judging, "framework version", before->framework_version, after->framework_version))
        return false;
    return compare_shapes(judging, before, after);
}

static bool report(struct judging *judging)
{
    const struct difference *first = NULL;

    for (size_t i = 0; i < judging->result->differences.count; i++) {
        const struct difference *difference = &judging->result->differences.items[i];

        if (difference->is_fatal && !first)
            first = difference;
    }
    judging->is_comparable = !first;
    if (!first)
        return true;
    return judge_add(judging, (struct check) {
                                  .id = "comparable",
                                  .rule = "workload-changed",
                                  .kind = CHECK_COMPARABLE,
                                  .outcome = OUTCOME_INCONCLUSIVE,
                                  .title = arena_text(judging->arena, "different %s: %s %s, was %s",
                                                      first->is_hardware ? "hardware" : "work",
                                                      first->what, first->after, first->before),
                                  .detail = "times and counts of different things are not compared",
                              });
}

bool judge_workload(struct judging *judging)
{
    return compare_hardware(judging, &judging->before->identity, &judging->after->identity) &&
           compare_work(judging, &judging->before->identity, &judging->after->identity) &&
           report(judging);
}
