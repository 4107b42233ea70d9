/* device_gaps: why a device was idle, from what the thread did that launched the next kernel. */
#include "analyze/device/device_activity.h"
#include "analyze/step/start_up.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

enum {
    LAUNCH_OVERHEAD_NS = 10000,
    IN_GRAPH_NS = 1000000, /* a replayed graph has no longer pause of its own */
};

struct first_event {
    uint32_t event, timeline;
};

static int compare_first_events(const void *a, const void *b)
{
    const struct first_event *left = a, *right = b;

    return COMPARE(left->event, right->event);
}

bool timeline_index_make(const struct profile *profile, struct arena *arena,
                         struct timeline_index *index)
{
    struct first_event *order =
        arena_new_array(arena, struct first_event, profile->timelines.count + 1);

    *index = (struct timeline_index) { 0 };
    index->timelines = arena_new_array(arena, uint32_t, profile->timelines.count + 1);
    if (!order || !index->timelines)
        return false;
    for (uint32_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].event_count > 0)
            order[index->count++] =
                (struct first_event) { profile->timelines.items[i].first_event, i };
    if (index->count > 1)
        qsort(order, index->count, sizeof *order, compare_first_events);
    for (size_t i = 0; i < index->count; i++)
        index->timelines[i] = order[i].timeline;
    return true;
}

uint32_t timeline_index_find(const struct profile *profile, const struct timeline_index *index,
                             uint32_t event)
{
    const struct timeline *timelines = profile->timelines.items, *timeline;
    size_t low = LOWER_BOUND(index->count, i, timelines[index->timelines[i]].first_event <= event);

    if (low == 0)
        return NO_ID;
    timeline = &timelines[index->timelines[low - 1]];
    return event - timeline->first_event < timeline->event_count ? index->timelines[low - 1]
                                                                 : NO_ID;
}

/* What a thread was held up by. */
struct thread_waits {
    struct intervals input, sync, compile;
    bool             is_made;
};
struct explainer {
    const struct profile  *profile;
    const struct start_up *start_up; /* or NULL */
    struct arena          *scratch;
    struct timeline_index  index;
    struct thread_waits   *threads;    /* by timeline, made when first asked for */
    struct intervals       overhead;   /* of the profiler, all hosts */
    bool                  *is_awaited; /* by event: it waited for another stream */
};

static bool add_waits(const struct explainer *explainer, const struct timeline *timeline,
                      struct thread_waits *waits)
{
    const struct profile *profile = explainer->profile;

    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t          event = timeline->first_event + j;
        uint8_t           kind = event_activity(profile, event)->kind;
        struct intervals *set = kind == ACTIVITY_INPUT_WAIT                  ? &waits->input
                                : kind == ACTIVITY_SYNC                      ? &waits->sync
                                : activity_kind_class(kind) == CLASS_COMPILE ? &waits->compile
                                                                             : NULL;

        if (set && !intervals_add(set, explainer->scratch, event_start_ns(profile, event),
                                  event_end_ns(profile, event)))
            return false;
    }
    return true;
}

/* Whichever thread of a session's pool is free runs an op: what holds up one of them holds up all.
 */
static bool make_thread_waits(struct explainer *explainer, uint32_t id)
{
    const struct profile *profile = explainer->profile;
    struct thread_waits  *waits = &explainer->threads[id];
    bool                  is_pool = profile->format == FORMAT_GRAPH;

    waits->is_made = true;
    for (size_t t = 0; t < profile->timelines.count; t++)
        if ((t == id || (is_pool && profile->timelines.items[t].kind == TIMELINE_THREAD)) &&
            !add_waits(explainer, &profile->timelines.items[t], waits))
            return false;
    for (size_t i = 0; explainer->start_up && i < explainer->start_up->calls.count; i++) {
        const struct start_up_call *call = &explainer->start_up->calls.items[i];

        if ((call->timeline == id || is_pool) && !call->is_blocking &&
            !intervals_add(&waits->compile, explainer->scratch, call->start_ns, call->end_ns))
            return false;
    }
    intervals_settle(&waits->input);
    intervals_settle(&waits->sync);
    intervals_settle(&waits->compile);
    return true;
}

/* Why a kernel whose launch began after the gap did started late, from what its thread did in the
 * gap. */
static enum gap_cause late_cause(const struct thread_waits *waits, const struct device_gap *gap)
{
    int64_t length_ns = gap->end_ns - gap->start_ns;

    if (intervals_overlap_ns(&waits->input, gap->start_ns, gap->end_ns) * 2 > length_ns)
        return GAP_INPUT;
    if (intervals_overlap_ns(&waits->compile, gap->start_ns, gap->end_ns) * 2 > length_ns)
        return GAP_COMPILE;
    if (intervals_overlap_ns(&waits->sync, gap->start_ns, gap->end_ns) >= length_ns / 5 * 4)
        return GAP_SYNC;
    return GAP_HOST_LATE;
}

/* Whether the work behind the gap is of a replayed graph that follows on its own stream: what the
 * device did before in that graph has no events. */
static bool is_of_graph(const struct explainer *explainer, const struct device_gap *gap)
{
    const struct profile *profile = explainer->profile;

    return gap->launch != NO_ID && gap->before != NO_ID &&
           str_contains(profile_str(profile, event_activity(profile, gap->launch)->name),
                        STR("GraphLaunch")) &&
           timeline_index_find(profile, &explainer->index, gap->before) ==
               timeline_index_find(profile, &explainer->index, gap->after);
}

/* The kernel stood in its queue when the gap began, or its launch was not recorded: whatever a
 * thread did in the gap held nothing up. */
static enum gap_cause queued_cause(const struct explainer *explainer, const struct device_gap *gap)
{
    bool is_awaited = gap->after != NO_ID && explainer->is_awaited[gap->after];
    bool is_short = gap->end_ns - gap->start_ns < LAUNCH_OVERHEAD_NS;

    if (is_awaited && (gap->launch == NO_ID || !is_short))
        return GAP_DEPENDENCY;
    if (gap->end_ns - gap->start_ns >= IN_GRAPH_NS && is_of_graph(explainer, gap))
        return GAP_UNRECORDED;
    return is_short ? GAP_LAUNCH : GAP_OTHER;
}

/* Whether the launch of what came next was not there when the gap began: it began later, or was
 * still under way for most of a long gap. */
static bool is_launched_late(const struct profile *profile, const struct device_gap *gap)
{
    int64_t start_ns, end_ns, length_ns = gap->end_ns - gap->start_ns;

    if (gap->launch == NO_ID)
        return false;
    start_ns = event_start_ns(profile, gap->launch);
    end_ns = event_end_ns(profile, gap->launch);
    return start_ns > gap->start_ns ||
           (length_ns >= LAUNCH_OVERHEAD_NS && (end_ns - gap->start_ns) * 2 > length_ns);
}

static bool explain_gap(struct explainer *explainer, struct device_gap *gap)
{
    int64_t  length_ns = gap->end_ns - gap->start_ns;
    uint32_t thread = NO_ID;

    if (intervals_overlap_ns(&explainer->overhead, gap->start_ns, gap->end_ns) * 2 > length_ns) {
        gap->cause = GAP_PROFILER;
        return true;
    }
    if (is_launched_late(explainer->profile, gap))
        thread = timeline_index_find(explainer->profile, &explainer->index, gap->launch);
    if (thread == NO_ID) {
        gap->cause = (uint8_t)queued_cause(explainer, gap);
        return true;
    }
    if (!explainer->threads[thread].is_made && !make_thread_waits(explainer, thread))
        return false;
    gap->cause = (uint8_t)late_cause(&explainer->threads[thread], gap);
    return true;
}

static bool explainer_make(struct explainer *explainer, const struct study *study,
                           struct arena *scratch)
{
    const struct profile *profile = study->profile;

    *explainer =
        (struct explainer) { .profile = profile, .start_up = study->start_up, .scratch = scratch };
    explainer->threads =
        arena_new_array(scratch, struct thread_waits, profile->timelines.count + 1);
    explainer->is_awaited = arena_new_array(scratch, bool, (size_t)profile->event_count + 1);
    if (!explainer->threads || !explainer->is_awaited ||
        !timeline_index_make(profile, scratch, &explainer->index))
        return false;
    for (size_t i = 0; i < profile->flows.count; i++)
        if (profile->flows.items[i].kind == FLOW_SYNC &&
            profile->flows.items[i].to < profile->event_count)
            explainer->is_awaited[profile->flows.items[i].to] = true;
    for (uint32_t event = 0; event < profile->event_count; event++)
        if (event_activity(profile, event)->kind == ACTIVITY_OVERHEAD &&
            !intervals_add(&explainer->overhead, scratch, event_start_ns(profile, event),
                           event_end_ns(profile, event)))
            return false;
    intervals_settle(&explainer->overhead);
    return true;
}

bool device_gaps_explain(const struct study *study, struct arena *scratch,
                         struct device_activity *activity)
{
    struct explainer explainer;

    if (!explainer_make(&explainer, study, scratch))
        return false;
    for (size_t i = 0; i < activity->rows.count; i++) {
        struct device_row *row = &activity->rows.items[i];

        for (size_t j = 0; j < row->gaps.count; j++) {
            struct device_gap *gap = &row->gaps.items[j];

            if (gap->after != NO_ID)
                gap->launch = activity->launch_of[gap->after];
            if (!explain_gap(&explainer, gap))
                return false;
            row->cause_ns[gap->cause] += (double)(gap->end_ns - gap->start_ns);
        }
    }
    return true;
}
