#include "report/trace/cutout.h"

#include "analyze/schedule/why.h"
#include "base/sort.h"
#include "rules/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct step *step_numbered(const struct study *study, int64_t number)
{
    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host == study->steps.host && step->number == number)
            return step;
    }
    return NULL;
}

void cutout_steps(const struct study *study, struct trace_options *options)
{
    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host != study->steps.host || !step->is_used)
            continue;
        if (options->start_ns == INT64_MIN)
            options->start_ns = step->start_ns;
        options->end_ns = step->end_ns;
    }
}

bool cutout_why(const struct study *study, const struct why *why, struct trace_options *options,
                struct arena *arena, struct err *err)
{
    const struct step *step = step_numbered(study, why->step);
    int64_t            start;

    if (!step)
        return err_set(err, ERR_INCONCLUSIVE, "%s is in no step of the recording", why->what);
    options->start_ns = step->start_ns;
    options->end_ns = step->end_ns;
    start = step->start_ns + llround(why->start_ns);
    return vec_push(&options->marks, arena,
                    (struct trace_mark) { "asked about", why->subject, start,
                                          start + llround(why->duration_ns) }) ||
           err_memory(err, "the timeline");
}

/* The used step of the reference host that takes nearest to what a step takes; SIZE_MAX: none. */
static size_t usual_step(const struct study *study)
{
    double nearest = INFINITY;
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];
        double away = fabs((double)(step->end_ns - step->start_ns) - steps_ns(&study->steps));

        if (step->host != study->steps.host || !step->is_used || away >= nearest)
            continue;
        nearest = away;
        found = i;
    }
    return found;
}

static void choose_steps(const struct study *study, const struct finding *finding,
                         struct trace_options *options)
{
    const struct step *step =
        finding->subject.step >= 0 ? step_numbered(study, finding->subject.step) : NULL;
    const struct step *steps = study->steps.list.items;
    size_t             at = step ? (size_t)(step - steps) : usual_step(study);
    size_t             first, last;

    if (at == SIZE_MAX)
        return;
    first = at > 0 && steps[at - 1].host == steps[at].host && !step ? at - 1 : at;
    last = at + 1 < study->steps.list.count && steps[at + 1].host == steps[at].host && !step
               ? at + 1
               : at;
    options->start_ns = steps[first].start_ns;
    options->end_ns = steps[last].end_ns;
}

static bool is_text(const struct profile *profile, uint32_t name, const char *text)
{
    return text && str_equal(profile_str(profile, name), str_from(text));
}

static bool is_at_line(const struct profile *profile, const struct finding *finding,
                       uint32_t source)
{
    uint32_t                  row = profile_user_source(profile, source);
    const struct source_line *line = row == NO_ID ? NULL : &profile->sources.items[row];

    for (size_t i = 0; line && i < finding->locations.count; i++) {
        const struct location *location = &finding->locations.items[i];

        if (location->line == line->line && is_text(profile, line->file, location->file))
            return true;
    }
    return false;
}

/* By activity: the finding names it. NULL: no memory. */
static bool *named_activities(const struct profile *profile, const struct finding *finding,
                              struct arena *arena)
{
    bool *is_named = arena_new_array(arena, bool, profile->activities.count);

    for (size_t i = 0; is_named && i < profile->activities.count; i++) {
        const struct activity *activity = &profile->activities.items[i];
        const struct op *op = activity->op == NO_ID ? NULL : &profile->ops.items[activity->op];

        is_named[i] = is_text(profile, activity->name, finding->subject.kernel) ||
                      is_text(profile, activity->name, finding->subject.op) ||
                      (op && is_text(profile, op->name, finding->subject.op)) ||
                      (op && is_text(profile, op->type, finding->subject.op)) ||
                      is_at_line(profile, finding, activity->source);
    }
    return is_named;
}

static int compare_marks(const void *left, const void *right)
{
    const struct trace_mark *a = left, *b = right;

    return IN_ORDER(COMPARE(a->start_ns, b->start_ns), COMPARE(b->end_ns, a->end_ns),
                    strcmp(a->name, b->name));
}

static bool add_marks(const struct profile *profile, const struct finding *finding,
                      const bool *is_named, struct trace_options *options, struct arena *arena)
{
    for (uint32_t event = 0; event < profile->event_count; event++) {
        uint32_t activity = event_activity_id(profile, event);
        int64_t  start = event_start_ns(profile, event), end = event_end_ns(profile, event);

        if (!is_named[activity] || start > options->end_ns || end < options->start_ns)
            continue;
        if (!vec_push(&options->marks, arena,
                      (struct trace_mark) {
                          finding->title,
                          profile_str(profile, profile->activities.items[activity].name).data,
                          start, end }))
            return false;
    }
    if (options->marks.count)
        qsort(options->marks.items, options->marks.count, sizeof *options->marks.items,
              compare_marks);
    return true;
}

bool cutout_finding(const struct study *study, const struct finding *finding,
                    struct trace_options *options, struct arena *arena, struct err *err)
{
    bool *is_named = named_activities(study->recording, finding, arena);

    choose_steps(study, finding, options);
    return (is_named && add_marks(study->recording, finding, is_named, options, arena)) ||
           err_memory(err, "the timeline");
}

static bool add_events(const struct profile *profile, const bool *is_named,
                       struct cutout_events *seen, struct arena *arena)
{
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];
        uint32_t               end = timeline->first_event + timeline->event_count;

        for (uint32_t event = profile_first_event(profile, timeline, seen->start_ns);
             timeline_is_shown(timeline) && event < end; event++) {
            struct cutout_event one = { event_start_ns(profile, event),
                                        event_duration_ns(profile, event) };

            if (one.start_ns >= seen->end_ns)
                break;
            if (is_named[event_activity_id(profile, event)] && !vec_push(&seen->events, arena, one))
                return false;
        }
    }
    return true;
}

static int compare_lengths(const void *left, const void *right)
{
    const struct cutout_event *a = left, *b = right;

    return IN_ORDER(COMPARE(b->duration_ns, a->duration_ns), COMPARE(a->start_ns, b->start_ns));
}

bool cutout_events(const struct study *study, const struct finding *finding,
                   struct cutout_events *seen, struct arena *arena)
{
    struct trace_options options = { .start_ns = INT64_MIN, .end_ns = INT64_MIN };
    bool                *is_named;

    *seen = (struct cutout_events) { 0 };
    choose_steps(study, finding, &options);
    if (options.start_ns == INT64_MIN)
        return true;
    is_named = named_activities(study->recording, finding, arena);
    seen->start_ns = options.start_ns;
    seen->end_ns = options.end_ns;
    if (!is_named || !add_events(study->recording, is_named, seen, arena))
        return false;
    seen->count = seen->events.count;
    if (seen->count)
        qsort(seen->events.items, seen->count, sizeof *seen->events.items, compare_lengths);
    if (seen->count > CUTOUT_LONGEST)
        seen->events.count = CUTOUT_LONGEST;
    return true;
}
