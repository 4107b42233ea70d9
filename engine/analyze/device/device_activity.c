/* device_activity: merges the streams of each device into busy time and the gaps between. */
#include "analyze/device/device_activity.h"

#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

enum span_class { SPAN_NONE, SPAN_COMPUTE, SPAN_COLLECTIVE, SPAN_COPY };

struct span {
    int64_t  start_ns, end_ns;
    uint32_t event;
    uint8_t class;
};

const char *gap_cause_name(enum gap_cause cause)
{
    static const char *const names[GAP_CAUSE_COUNT] = {
#define GAP(id, name, fact, title, help) name,
#include "analyze/device/gap_causes.def"
    };

    return cause < GAP_CAUSE_COUNT ? names[cause] : "other";
}

const struct device_row *device_activity_row(const struct device_activity *activity,
                                             uint32_t                      device)
{
    size_t low = LOWER_BOUND(activity ? activity->rows.count : 0, i, /* in the order of devices */
                             activity->rows.items[i].device < device);

    return activity && low < activity->rows.count && activity->rows.items[low].device == device
               ? &activity->rows.items[low]
               : NULL;
}

uint32_t device_activity_outer(const struct study *study, uint32_t event)
{
    const struct device_activity *devices = study->devices;
    const struct profile         *profile = study->profile;
    const uint32_t               *around = study->around;
    int64_t  start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);
    uint32_t outer = around[event];

    while (outer != NO_ID &&
           (event_end_ns(profile, outer) < end_ns || event_end_ns(profile, outer) <= start_ns))
        outer = around[outer];
    if (outer != NO_ID)
        return outer;
    return devices && devices->launch_of && devices->launch_of[event] != event
               ? devices->launch_of[event]
               : NO_ID;
}

const struct device_row *device_activity_leading(const struct study *study)
{
    const struct device_row *best = NULL;

    for (size_t i = 0; study->devices && i < study->devices->rows.count; i++) {
        const struct device_row *row = &study->devices->rows.items[i];

        if (study->profile->devices.items[row->device].host == study->steps.host &&
            row->busy_ns > (best ? best->busy_ns : 0))
            best = row;
    }
    return best;
}

double device_activity_count(const struct study *study, const struct windows *windows)
{
    double working = 0, copying = 0;

    for (size_t i = 0; study->devices && i < study->devices->rows.count; i++) {
        const struct device_row *row = &study->devices->rows.items[i];

        if (study->profile->devices.items[row->device].host != windows->host)
            continue;
        working += row->compute_ns + row->collective_ns > 0;
        copying += row->copy_ns > 0;
    }
    return working > 0 ? working : copying > 0 ? copying : 1;
}

static enum span_class span_class_of(uint8_t kind)
{
    if (kind == ACTIVITY_KERNEL || kind == ACTIVITY_OP || kind == ACTIVITY_CALLBACK)
        return SPAN_COMPUTE;
    if (kind == ACTIVITY_COLLECTIVE)
        return SPAN_COLLECTIVE;
    if (kind == ACTIVITY_MEMCPY || kind == ACTIVITY_MEMSET)
        return SPAN_COPY;
    return SPAN_NONE;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a, *right = b;

    return IN_ORDER(COMPARE(left->start_ns, right->start_ns), COMPARE(left->end_ns, right->end_ns),
                    COMPARE(left->event, right->event));
}

struct span_list {
    VEC(struct span) list;
};

/* The timelines of each device, in their order: jobs may have thousands of both. */
struct device_lines {
    uint32_t *first; /* by device; NO_ID: none */
    uint32_t *next;  /* by timeline; NO_ID: the last one */
};

static bool find_lines(const struct profile *profile, struct arena *arena,
                       struct device_lines *lines)
{
    lines->first = arena_new_array(arena, uint32_t, profile->devices.count + 1);
    lines->next = arena_new_array(arena, uint32_t, profile->timelines.count + 1);
    if (!lines->first || !lines->next)
        return false;
    for (size_t i = 0; i < profile->devices.count; i++)
        lines->first[i] = NO_ID;
    for (size_t i = profile->timelines.count; i-- > 0;) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->device >= profile->devices.count ||
            (timeline->kind != TIMELINE_STREAM && timeline->kind != TIMELINE_OPS))
            continue;
        lines->next[i] = lines->first[timeline->device];
        lines->first[timeline->device] = (uint32_t)i;
    }
    return true;
}

static bool collect_events(const struct profile *profile, const struct device_lines *lines,
                           uint32_t device, struct arena *scratch, struct span_list *spans)
{
    for (uint32_t i = lines->first[device]; i != NO_ID; i = lines->next[i]) {
        const struct timeline *timeline = &profile->timelines.items[i];

        for (uint32_t j = 0; j < timeline->event_count; j++) {
            uint32_t event = timeline->first_event + j;
            enum span_class class = span_class_of(event_activity(profile, event)->kind);
            struct span span = { event_start_ns(profile, event), event_end_ns(profile, event),
                                 event, (uint8_t) class };

            if (class != SPAN_NONE && !vec_push(&spans->list, scratch, span))
                return false;
        }
    }
    return true;
}

static bool collect_runs(const struct profile *profile, uint32_t device, struct arena *scratch,
                         struct span_list *spans)
{
    for (size_t i = 0; i < profile->op_runs.count; i++) {
        const struct op_run *run = &profile->op_runs.items[i];
        struct span span = { run->start_ns, run->start_ns + run->duration_ns, NO_ID, SPAN_COMPUTE };

        if (run->device != device || !run->is_accelerator || run->start_ns < 0 ||
            run->duration_ns <= 0)
            continue;
        if (!vec_push(&spans->list, scratch, span))
            return false;
    }
    return true;
}

static bool sort_into_classes(const struct span_list *spans, struct arena *arena,
                              struct device_row *row)
{
    for (size_t i = 0; i < spans->list.count; i++) {
        const struct span *span = &spans->list.items[i];
        struct intervals  *set = span->class == SPAN_COMPUTE      ? &row->compute
                                 : span->class == SPAN_COLLECTIVE ? &row->collectives
                                                                  : &row->copies;

        if (!intervals_add(&row->busy, arena, span->start_ns, span->end_ns) ||
            !intervals_add(set, arena, span->start_ns, span->end_ns))
            return false;
    }
    intervals_settle(&row->busy);
    intervals_settle(&row->compute);
    intervals_settle(&row->collectives);
    intervals_settle(&row->copies);
    return true;
}

static double covered_ns(const struct intervals *set, const struct windows *windows)
{
    double total_ns = 0;

    for (size_t i = 0; i < set->list.count; i++)
        total_ns += (double)windows_overlap_ns(windows, set->list.items[i].start_ns,
                                               set->list.items[i].end_ns);
    return total_ns;
}

/* Adds the parts of an idle range that lie in windows. */
static bool add_gap(struct device_row *row, const struct windows *windows, struct arena *arena,
                    struct device_gap gap)
{
    int64_t start_ns = gap.start_ns, end_ns = gap.end_ns;

    for (size_t i = 0; i < windows->count; i++) {
        const struct interval *window = &windows->items[i];

        if (window->end_ns <= start_ns)
            continue;
        if (window->start_ns >= end_ns)
            break;
        gap.start_ns = start_ns > window->start_ns ? start_ns : window->start_ns;
        gap.end_ns = end_ns < window->end_ns ? end_ns : window->end_ns;
        gap.is_boundary = start_ns < window->start_ns || end_ns > window->end_ns;
        gap.window = (uint32_t)i;
        row->idle_ns += (double)(gap.end_ns - gap.start_ns);
        if (!vec_push(&row->gaps, arena, gap))
            return false;
    }
    return true;
}

/* Windows are few, gaps many: start at the first window that can matter. */
static struct windows windows_from(const struct windows *windows, int64_t start_ns, size_t *cursor)
{
    struct windows rest = *windows;

    while (*cursor < windows->count && windows->items[*cursor].end_ns <= start_ns)
        ++*cursor;
    rest.items += *cursor;
    rest.count -= *cursor;
    return rest;
}

static bool find_gaps(const struct span_list *spans, const struct windows *windows,
                      struct arena *arena, struct device_row *row)
{
    int64_t  busy_end_ns = windows->items[0].start_ns;
    uint32_t before = NO_ID;
    size_t   cursor = 0;

    for (size_t i = 0; i <= spans->list.count; i++) {
        struct span span = { windows->items[windows->count - 1].end_ns, INT64_MIN, NO_ID, 0 };

        if (i < spans->list.count)
            span = spans->list.items[i];
        if (span.start_ns > busy_end_ns) {
            struct windows    rest = windows_from(windows, busy_end_ns, &cursor);
            struct device_gap gap = { .start_ns = busy_end_ns,
                                      .end_ns = span.start_ns,
                                      .before = before,
                                      .after = span.event,
                                      .launch = NO_ID,
                                      .cause = GAP_OTHER };
            size_t            first = row->gaps.count;

            if (!add_gap(row, &rest, arena, gap))
                return false;
            for (; first < row->gaps.count; first++)
                row->gaps.items[first].window += (uint32_t)cursor;
        }
        if (span.end_ns > busy_end_ns) {
            busy_end_ns = span.end_ns;
            before = span.event;
        }
    }
    return true;
}

static bool make_row(const struct profile *profile, const struct device_lines *lines,
                     const struct windows *windows, uint32_t device, struct arena *arena,
                     struct device_row *row)
{
    struct arena     scratch = { 0 };
    struct span_list spans = { 0 };
    bool             is_made;

    *row = (struct device_row) { .device = device };
    is_made = collect_events(profile, lines, device, &scratch, &spans) &&
              collect_runs(profile, device, &scratch, &spans);
    if (is_made && spans.list.count > 1)
        qsort(spans.list.items, spans.list.count, sizeof *spans.list.items, compare_spans);
    is_made =
        is_made && sort_into_classes(&spans, arena, row) && find_gaps(&spans, windows, arena, row);
    for (size_t i = 0; i < spans.list.count; i++)
        row->kernel_count += spans.list.items[i].class == SPAN_COMPUTE &&
                             windows_find(windows, spans.list.items[i].start_ns) != SIZE_MAX;
    arena_free(&scratch);
    row->busy_ns = covered_ns(&row->busy, windows);
    row->compute_ns = covered_ns(&row->compute, windows);
    row->collective_ns = covered_ns(&row->collectives, windows);
    row->copy_ns = covered_ns(&row->copies, windows);
    return is_made;
}

/* Launch of each event: from recorded links, else from equal correlation ids on one host. */
static bool find_launches(const struct study *study, struct arena *arena,
                          struct device_activity *activity)
{
    const struct profile *profile = study->profile;

    activity->launch_of = arena_new_array(arena, uint32_t, (size_t)profile->event_count + 1);
    if (!activity->launch_of)
        return false;
    for (uint32_t event = 0; event < profile->event_count; event++)
        activity->launch_of[event] = NO_ID;
    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];

        if (flow->kind == FLOW_LAUNCH && flow->to < profile->event_count)
            activity->launch_of[flow->to] = flow->from;
    }
    return true;
}

bool device_activity_make(const struct study *study, const struct windows *windows,
                          struct arena *arena, struct arena *scratch,
                          struct device_activity *activity)
{
    const struct profile *profile = study->profile;
    struct device_lines   lines;

    *activity = (struct device_activity) { 0 };
    if (!find_lines(profile, scratch, &lines))
        return false;
    for (uint32_t i = 0; i < profile->devices.count; i++) {
        struct device_row row;

        if (profile->devices.items[i].kind == DEVICE_CPU)
            continue;
        if (!make_row(profile, &lines, windows, i, arena, &row))
            return false;
        if (row.busy.list.count == 0)
            continue;
        if (profile->devices.items[i].unit_of ? !vec_push(&activity->units, arena, row)
                                              : !vec_push(&activity->rows, arena, row))
            return false;
    }
    if (activity->rows.count == 0)
        return true;
    return find_launches(study, arena, activity) && device_gaps_explain(study, scratch, activity);
}
