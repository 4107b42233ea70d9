#include "analyze/path/eager_rows.h"

#include "base/macros.h"

struct row {
    int64_t start_ns, end_ns;
    double  ops;
};

/* The longest row of each looked-at step. */
static void find_longest(const struct study *study, struct row *longest)
{
    const struct profile *profile = study->profile;
    const struct path    *path = &study->path;
    struct row            now = { 0 };
    size_t                in_step = path->step_rows.count;

    for (size_t f = 0; f < path->frames.count; f++) {
        const struct frame *frame = &path->frames.items[f];
        int64_t             start_ns = event_start_ns(profile, frame->event), is_function;
        size_t              step;

        if (frame->timeline != path->leader ||
            !profile_stat(profile, STAT_IS_FUNCTION, frame->event, &is_function))
            continue;
        step = path_step_at(study, start_ns);
        if (is_function || step != in_step)
            now = (struct row) { 0 };
        in_step = step;
        if (is_function || step == path->step_rows.count || (now.ops > 0 && start_ns < now.end_ns))
            continue; /* an op inside of another counts with it */
        now = (struct row) { .start_ns = now.ops > 0 ? now.start_ns : start_ns,
                             .end_ns = event_end_ns(profile, frame->event),
                             .ops = now.ops + 1 };
        if (now.ops > longest[step].ops)
            longest[step] = now;
    }
}

static double host_ns_within(const struct study *study, const struct row *longest)
{
    double sum_ns = 0;

    for (size_t i = 0; i < study->path.segments.count; i++) {
        const struct segment *segment = &study->path.segments.items[i];
        size_t                step = path_step_at(study, segment->start_ns);
        int64_t               start_ns, end_ns;

        if (segment->part != PART_HOST || step == study->path.step_rows.count)
            continue;
        start_ns =
            segment->start_ns > longest[step].start_ns ? segment->start_ns : longest[step].start_ns;
        end_ns = segment->end_ns < longest[step].end_ns ? segment->end_ns : longest[step].end_ns;
        if (end_ns > start_ns)
            sum_ns += (double)(end_ns - start_ns);
    }
    return sum_ns;
}

bool eager_rows_find(const struct study *study, struct arena *scratch, struct eager_row *row)
{
    size_t      steps = study->path.step_rows.count;
    struct row *longest = arena_new_array(scratch, struct row, steps + 1);
    double      mean_ns = study->steps.mean_ns;
    double      scale = mean_ns > 0 ? steps_ns(&study->steps) / mean_ns : 1;

    *row = (struct eager_row) { 0 };
    if (!longest)
        return false;
    find_longest(study, longest);
    for (size_t s = 0; s < steps; s++)
        row->ops += longest[s].ops / (double)steps;
    row->host_ns = steps ? host_ns_within(study, longest) / (double)steps * scale : 0;
    return true;
}
