/* workload: may times of the two be compared? Hardware and work must be alike. */
#include "gate/judge.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

/* Where no shapes were recorded: kernels that are called as often, of which more run more threads.
 */
static const double SAME_THREADS_SHARE = 0.02, OTHER_KERNELS_SHARE = 0.5;
enum { FEWEST_KERNELS = 3 };
/* Work is the same when one of the two has nearly all products of the other: what a change adds
 * to it is a regression, not another program. */
static const double SAME_WORK_SHARE = 0.5;
static const double SAME_FLOPS_SHARE = 0.02;
static const double OTHER_FUNCTION = 2; /* times the ops */

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

    if (fmax(covered(before, after), covered(after, before)) >= SAME_WORK_SHARE)
        return true;
    for (size_t i = 0; i < before->work.count; i++)
        flops_before += before->work.items[i].flops;
    for (size_t i = 0; i < after->work.count; i++)
        flops_after += after->work.items[i].flops;
    if (fabs(flops_after / flops_before - 1) <= SAME_FLOPS_SHARE)
        return true;
    return add(judging, "shapes", only_in(before, after), only_in(after, before), false);
}

/* Time of kernels that both have and call as often, in all and by how many threads they run now. */
struct geometry {
    double             matched_ns, more_ns, less_ns;
    size_t             more_count, less_count;
    const struct item *before, *after; /* the dearest that runs others */
};

/* Compilers of kernels choose afresh how much a thread does. */
static bool has_fixed_geometry(const struct item *item)
{
    return item->threads > 0 && item->count > 0 && item->ns > 0 &&
           !str_contains(str_from(item->name), STR("triton"));
}

static struct geometry compare_geometry(const struct item_list *before,
                                        const struct item_list *after)
{
    struct geometry geometry = { 0 };

    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i], *was = item_find(before, item);
        double             ratio;

        if (!was || !has_fixed_geometry(item) || !has_fixed_geometry(was) ||
            fabs(was->count - item->count) > 0.01 * was->count)
            continue;
        geometry.matched_ns += item->ns;
        ratio = (item->threads / item->count) / (was->threads / was->count);
        if (fabs(ratio - 1) <= SAME_THREADS_SHARE)
            continue;
        *(ratio > 1 ? &geometry.more_ns : &geometry.less_ns) += item->ns;
        ++*(ratio > 1 ? &geometry.more_count : &geometry.less_count);
        if (!geometry.after) {
            geometry.before = was;
            geometry.after = item;
        }
    }
    return geometry;
}

/* Types stand in the names of kernels, so that what differs is how many elements there are. */
static bool compare_kernels(struct judging *judging)
{
    struct geometry geometry =
        compare_geometry(&judging->before->items[ITEM_KERNEL], &judging->after->items[ITEM_KERNEL]);
    bool        is_more = geometry.more_ns > geometry.less_ns;
    double      other_ns = is_more ? geometry.more_ns : geometry.less_ns;
    const char *before, *after;

    if ((is_more ? geometry.more_count : geometry.less_count) < FEWEST_KERNELS ||
        other_ns < OTHER_KERNELS_SHARE * geometry.matched_ns ||
        (is_more ? geometry.less_ns : geometry.more_ns) > 0.1 * other_ns)
        return true;
    before =
        judge_value(judging->arena, geometry.before->threads / geometry.before->count, UNIT_COUNT);
    after = arena_text(
        judging->arena, "%s threads a call of %s",
        judge_value(judging->arena, geometry.after->threads / geometry.after->count, UNIT_COUNT),
        geometry.after->name);
    return add(judging, "sizes", before, after, false);
}

/* Functions of TensorFlow are numbered as they are traced. */
static bool is_same_function(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static double ops_of(const struct summary *summary)
{
    double count = 0;

    for (size_t i = 0; i < summary->items[ITEM_OP].rows.count; i++)
        count += summary->items[ITEM_OP].rows.items[i].count;
    return count;
}

/* Where each call of a program's function is a step, another function is another step. One without
 * a name is known by how much it does. */
static bool is_other_function(const struct summary *before, const struct summary *after)
{
    const char *was = before->identity.step_marker, *is = after->identity.step_marker;
    double      least, most;

    if (strcmp(after->identity.step_source, "session") != 0 || !was[0] || !is[0])
        return false;
    if (!is_same_function(was, is))
        return true;
    least = fmin(ops_of(before), ops_of(after));
    most = fmax(ops_of(before), ops_of(after));
    return str_contains(str_from(is), STR("<lambda>")) && most > OTHER_FUNCTION * least;
}

static const char *calls_of(const struct summary *summary, struct arena *arena)
{
    return arena_text(arena, "calls of %s with %.0f ops", summary->identity.step_marker,
                      ops_of(summary));
}

static bool compare_work(struct judging *judging)
{
    const struct identity *before = &judging->before->identity;
    const struct identity *after = &judging->after->identity;

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
    if (strcmp(before->step_source, after->step_source) == 0 &&
        is_other_function(judging->before, judging->after) &&
        !add(judging, "steps", calls_of(judging->before, judging->arena),
             calls_of(judging->after, judging->arena), false))
        return false;
    if (strcmp(before->framework_version, after->framework_version) != 0 &&
        !note(judging, "framework version", before->framework_version, after->framework_version))
        return false;
    return before->work.count > 0 && after->work.count > 0 ? compare_shapes(judging, before, after)
                                                           : compare_kernels(judging);
}

/* "1.20 ms", of a step for each GFLOP; NULL: not known. */
static const char *time_of_work(struct judging *judging, const struct summary *summary)
{
    double flops, step_ns;

    if (!summary_fact(summary, "flops.per_step", judging->scratch, &flops) || flops <= 0 ||
        (!summary_fact(summary, "step.ns", judging->scratch, &step_ns) &&
         !summary_fact(summary, "step.median_ns", judging->scratch, &step_ns)) ||
        step_ns <= 0)
        return NULL;
    return judge_value(judging->arena, step_ns / (flops / 1e9), UNIT_NS);
}

/* Of other work the time for as much of it can still be said. */
static const char *explain_difference(struct judging *judging, const struct difference *difference)
{
    static const char plain[] = "times and counts of different things are not compared";
    const char       *before = time_of_work(judging, judging->before);
    const char       *after = time_of_work(judging, judging->after);

    if (difference->is_hardware || !before || !after)
        return plain;
    return arena_text(judging->arena, "%s; a GFLOP takes %s of a step, was %s", plain, after,
                      before);
}

/* Nothing else differs than shapes of products. */
static bool is_all_shapes(const struct gate_result *result)
{
    bool is_shapes = false;

    for (size_t i = 0; i < result->differences.count; i++) {
        const struct difference *difference = &result->differences.items[i];

        if (difference->is_fatal && strcmp(difference->what, "shapes") != 0)
            return false;
        is_shapes |= difference->is_fatal;
    }
    return is_shapes;
}

/* How many times the arithmetic of a step it is now; 0: not known. */
static double work_ratio(struct judging *judging)
{
    double before, after;

    return summary_fact(judging->before, "flops.per_step", judging->scratch, &before) &&
                   summary_fact(judging->after, "flops.per_step", judging->scratch, &after) &&
                   before > 0
               ? after / before
               : 0;
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
    if (is_all_shapes(judging->result))
        judging->work_ratio = work_ratio(judging);
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
                                  .detail = explain_difference(judging, first),
                              });
}

bool judge_workload(struct judging *judging)
{
    return compare_hardware(judging, &judging->before->identity, &judging->after->identity) &&
           compare_work(judging) && report(judging);
}
