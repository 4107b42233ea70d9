#include "analyze/step/step_trim.h"

#include "base/macros.h"
#include "base/sample.h"

/* A tail of the last step longer than any of the others by this much of a step is cut. */
static const double TAIL_SHARE = 0.1;

/* What each step of a host, [first, end) of the list, holds. */
struct contents {
    int64_t *last_ns; /* when the last op, call or device work in it ends; its start: it has none */
    bool    *works;   /* an accelerator does something that was launched in it, or in its time */
    bool     has_works;
};
struct trimming {
    struct study   *study;
    struct step    *steps;
    size_t          count;
    struct contents contents;
};

/* The step that is open at a time, or `count`. */
static size_t step_at(const struct trimming *trimming, int64_t time_ns)
{
    size_t low = LOWER_BOUND(trimming->count, i, trimming->steps[i].end_ns <= time_ns);

    return low < trimming->count && trimming->steps[low].start_ns <= time_ns ? low
                                                                             : trimming->count;
}

/* Work of the framework; not frames around it, which may be the profiler's too. */
static bool is_work(enum activity_kind kind)
{
    return kind != ACTIVITY_PYTHON && activity_kind_class(kind) != CLASS_MARK;
}

static void add_line(struct trimming *trimming, const struct timeline *line)
{
    const struct profile *profile = trimming->study->profile;
    bool                  is_device = line->kind != TIMELINE_THREAD;

    for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
         event++) {
        int64_t end_ns = event_end_ns(profile, event);
        size_t  step = step_at(trimming, event_start_ns(profile, event));

        if (step == trimming->count ||
            (!is_device && !is_work(event_activity(profile, event)->kind)))
            continue;
        if (end_ns > trimming->contents.last_ns[step])
            trimming->contents.last_ns[step] = end_ns;
        if (is_device)
            trimming->contents.works[step] = trimming->contents.has_works = true;
    }
}

static void add_launches(struct trimming *trimming)
{
    const struct profile *profile = trimming->study->profile;

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        size_t             step;

        if (flow->kind != FLOW_LAUNCH || flow->from >= profile->event_count ||
            flow->to >= profile->event_count)
            continue;
        step = step_at(trimming, event_start_ns(profile, flow->from));
        if (step < trimming->count)
            trimming->contents.works[step] = trimming->contents.has_works = true;
    }
}

static bool look(struct trimming *trimming, struct arena *scratch)
{
    const struct profile *profile = trimming->study->profile;
    struct contents      *contents = &trimming->contents;

    contents->last_ns = arena_new_array(scratch, int64_t, trimming->count);
    contents->works = arena_new_array(scratch, bool, trimming->count);
    if (!contents->last_ns || !contents->works)
        return false;
    for (size_t i = 0; i < trimming->count; i++) {
        contents->last_ns[i] = trimming->steps[i].start_ns;
        contents->works[i] = false;
    }
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        if (line->host == trimming->steps[0].host &&
            (line->kind == TIMELINE_THREAD || line->kind == TIMELINE_STREAM ||
             line->kind == TIMELINE_OPS))
            add_line(trimming, line);
    }
    add_launches(trimming);
    return true;
}

/* A last step with nothing on the accelerators beside steps with it was cut before it did any. */
static void leave_out_empty(struct trimming *trimming)
{
    size_t last = trimming->count - 1;

    if (last == 0 || !trimming->contents.has_works || trimming->contents.works[last] ||
        !trimming->contents.works[last - 1] || !trimming->steps[last].is_used)
        return;
    trimming->steps[last].is_used = false;
    trimming->steps[last].left_out = "nothing of it ran on the accelerator";
}

/* When the last work that was launched in a step was done. */
static int64_t done_ns(const struct profile *profile, const struct step *step)
{
    int64_t end_ns = step->end_ns;

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        int64_t            launch_ns;

        if (flow->kind != FLOW_LAUNCH || flow->from >= profile->event_count ||
            flow->to >= profile->event_count)
            continue;
        launch_ns = event_start_ns(profile, flow->from);
        if (launch_ns >= step->start_ns && launch_ns < step->marker_end_ns &&
            event_end_ns(profile, flow->to) > end_ns)
            end_ns = event_end_ns(profile, flow->to);
    }
    return end_ns;
}

/* Time behind the last work of a step in which nothing of the program is known to happen. */
static double tail_ns(const struct trimming *trimming, size_t step)
{
    int64_t last_ns = trimming->contents.last_ns[step], end_ns = trimming->steps[step].end_ns;

    return last_ns < end_ns ? (double)(end_ns - last_ns) : 0;
}

/* What leaving the loop and stopping the profiler take may lie inside the last step. */
static bool cut_tail(struct trimming *trimming, struct arena *scratch)
{
    double      *tails = arena_new_array(scratch, double, trimming->count);
    double      *lengths = arena_new_array(scratch, double, trimming->count);
    size_t       last = trimming->count - 1;
    struct step *step = &trimming->steps[last];
    double       usual_ns, longest_ns = 0, own_ns = tail_ns(trimming, last);

    if (!tails || !lengths)
        return false;
    if (trimming->contents.last_ns[last] == step->start_ns)
        return true;
    for (size_t i = 0; i < last; i++) {
        tails[i] = tail_ns(trimming, i);
        lengths[i] = (double)(trimming->steps[i].end_ns - trimming->steps[i].start_ns);
        longest_ns = tails[i] > longest_ns ? tails[i] : longest_ns;
    }
    usual_ns = sample_median(tails, last);
    if (own_ns - longest_ns > TAIL_SHARE * sample_median(lengths, last)) {
        step->end_ns -= (int64_t)(own_ns - usual_ns);
        step->marker_end_ns = step->end_ns;
    }
    return true;
}

bool steps_trim(struct study *study, struct arena *scratch)
{
    struct steps *steps = &study->steps;

    if (steps->source != STEPS_MARKER)
        return true;
    for (size_t first = 0, end; first < steps->list.count; first = end) {
        struct trimming trimming = { .study = study, .steps = &steps->list.items[first] };

        for (end = first + 1; end < steps->list.count; end++)
            if (steps->list.items[end].host != steps->list.items[first].host)
                break;
        trimming.count = end - first;
        if (!look(&trimming, scratch))
            return false;
        leave_out_empty(&trimming);
        if (trimming.count == 1)
            trimming.steps[0].end_ns = done_ns(study->profile, &trimming.steps[0]);
        else if (trimming.steps[trimming.count - 1].is_used && !cut_tail(&trimming, scratch))
            return false;
    }
    return true;
}
