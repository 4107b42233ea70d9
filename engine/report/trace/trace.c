/* trace: the walk over a recording. */
#include "report/trace/trace.h"

#include "analyze/path/path.h"
#include "base/macros.h"
#include "base/sort.h"
#include "report/describe.h"
#include "report/layout.h"
#include "report/trace/details.h"
#include "report/trace/lanes.h"
#include "report/trace/rest.h"

#include <stdlib.h>
#include <string.h>

struct flow_end {
    uint32_t event;
    uint64_t id;
};
struct flow_ends { /* by event; the next ones are asked for in that order */
    struct flow_end *items;
    uint64_t        *ids;
    size_t           count, at;
};
struct walk {
    const struct study         *study;
    const struct profile       *profile;
    const struct trace_options *options;
    struct arena               *arena;
    struct trace_writer         writer;
    struct details              details;
    struct flow_ends            from, to;
    int64_t                     base_ns; /* becomes 0 */
    uint64_t                    next_id, left_out;
    uint64_t                   *host_process, *device_process;
};

static bool is_within(const struct walk *walk, int64_t start_ns, int64_t duration_ns)
{
    return start_ns <= walk->options->end_ns && start_ns + duration_ns >= walk->options->start_ns;
}

static struct lanes *lanes_new(struct walk *walk, uint64_t process, struct str name, int32_t rank)
{
    struct lanes *lanes = arena_new(walk->arena, struct lanes);

    if (lanes)
        *lanes = (struct lanes) { .writer = &walk->writer,
                                  .arena = walk->arena,
                                  .next_id = &walk->next_id,
                                  .first = { .process = process, .name = name, .rank = rank } };
    return lanes;
}

static void lanes_close(struct walk *walk, struct lanes *lanes)
{
    lanes_end(lanes);
    walk->left_out += lanes->left_out;
}

/* Marks and steps first, then devices, then hosts. */
enum { RANK_MARKS = 0, RANK_DEVICES = 1, RANK_HOSTS = 1 << 20 };

static uint64_t new_process(struct walk *walk, struct str name, int32_t rank)
{
    uint64_t id = walk->next_id++;

    walk->writer.format->process(&walk->writer, id, name, rank);
    return id;
}

static uint64_t process_of(struct walk *walk, const struct timeline *timeline)
{
    const struct profile *profile = walk->profile;
    struct str            host = profile_str(profile, profile->hosts.items[timeline->host].name);
    bool                  is_device = timeline->device != NO_ID;
    uint64_t             *id =
        is_device ? &walk->device_process[timeline->device] : &walk->host_process[timeline->host];
    struct text name = { .arena = walk->arena };

    if (*id)
        return *id;
    text_add_clean(&name, host);
    if (is_device) {
        text_add(&name, name.len > 0 ? STR(" · ") : STR(""));
        text_add_clean(&name, profile_str(profile, profile->devices.items[timeline->device].name));
    }
    *id = new_process(walk, name.len > 0 ? text_str(&name) : STR("host"),
                      is_device ? RANK_DEVICES + (int32_t)timeline->device
                                : RANK_HOSTS + (int32_t)timeline->host);
    return *id;
}

static struct str track_name(struct walk *walk, const struct timeline *timeline)
{
    struct text name = { .arena = walk->arena };

    text_add_clean(&name, profile_str(walk->profile, timeline->name));
    text_print(&name, "%s%lld", name.len > 0 ? " " : "", (long long)timeline->id);
    return text_str(&name);
}

/* The ids of flows with that end at the event. */
static size_t flows_at(struct flow_ends *ends, uint32_t event, const uint64_t **ids)
{
    size_t first;

    while (ends->at < ends->count && ends->items[ends->at].event < event)
        ends->at++;
    first = ends->at;
    while (ends->at < ends->count && ends->items[ends->at].event == event)
        ends->at++;
    *ids = &ends->ids[first];
    return ends->at - first;
}

static void write_event(struct walk *walk, uint32_t event, struct lanes *lanes)
{
    const struct profile *profile = walk->profile;
    int64_t  start = event_start_ns(profile, event), duration = event_duration_ns(profile, event);
    uint32_t activity = event_activity_id(profile, event);
    struct trace_slice slice = { .duration_ns = duration > 0 ? duration : 0 };

    if (!is_within(walk, start, slice.duration_ns))
        return;
    slice.start_ns = start - walk->base_ns;
    slice.name = details_name(&walk->details, activity);
    slice.category =
        activity_kind_name((enum activity_kind)profile->activities.items[activity].kind);
    slice.flows_from_count = flows_at(&walk->from, event, &slice.flows_from);
    slice.flows_to_count = flows_at(&walk->to, event, &slice.flows_to);
    details_add(&walk->details, event, &slice);
    lanes_add(lanes, &slice);
}

static bool write_timelines(struct walk *walk)
{
    const struct profile *profile = walk->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];
        struct lanes          *lanes;

        if (!timeline_is_shown(timeline))
            continue;
        lanes = lanes_new(walk, process_of(walk, timeline), track_name(walk, timeline), (int32_t)i);
        if (!lanes)
            return false;
        for (uint32_t at = 0; at < timeline->event_count; at++)
            write_event(walk, timeline->first_event + at, lanes);
        lanes_close(walk, lanes);
    }
    return true;
}

static int compare_ends(const void *left, const void *right)
{
    const struct flow_end *a = left, *b = right;

    return IN_ORDER(COMPARE(a->event, b->event), COMPARE(a->id, b->id));
}

static void sort_ends(struct flow_ends *ends)
{
    if (ends->count)
        qsort(ends->items, ends->count, sizeof *ends->items, compare_ends);
    for (size_t i = 0; i < ends->count; i++)
        ends->ids[i] = ends->items[i].id;
}

static bool new_ends(struct flow_ends *ends, size_t count, struct arena *arena)
{
    ends->items = arena_new_array(arena, struct flow_end, count);
    ends->ids = arena_new_array(arena, uint64_t, count);
    return ends->items && ends->ids;
}

/* Which events are written, by row. */
static bool *find_written(struct walk *walk)
{
    const struct profile *profile = walk->profile;
    bool                 *written = arena_new_array(walk->arena, bool, profile->event_count);

    for (size_t i = 0; written && i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        for (uint32_t at = 0; timeline_is_shown(timeline) && at < timeline->event_count; at++) {
            uint32_t event = timeline->first_event + at;

            written[event] =
                is_within(walk, event_start_ns(profile, event), event_duration_ns(profile, event));
        }
    }
    return written;
}

static bool make_flows(struct walk *walk)
{
    const struct profile *profile = walk->profile;
    bool                 *written = find_written(walk);

    if (!written || !new_ends(&walk->from, profile->flows.count, walk->arena) ||
        !new_ends(&walk->to, profile->flows.count, walk->arena))
        return false;
    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];

        if (!written[flow->from] || !written[flow->to])
            continue;
        walk->from.items[walk->from.count++] = (struct flow_end) { flow->from, i + 1 };
        walk->to.items[walk->to.count++] = (struct flow_end) { flow->to, i + 1 };
    }
    sort_ends(&walk->from);
    sort_ends(&walk->to);
    return true;
}

static void write_mark(struct walk *walk, struct lanes *lanes, struct str name, int64_t start_ns,
                       int64_t end_ns)
{
    struct trace_slice slice = { .name = layout_clean(walk->arena, name),
                                 .category = "tfprof",
                                 .start_ns = start_ns - walk->base_ns,
                                 .duration_ns = end_ns > start_ns ? end_ns - start_ns : 0 };

    if (is_within(walk, start_ns, slice.duration_ns))
        lanes_add(lanes, &slice);
}

static void write_steps(struct walk *walk, struct lanes *lanes)
{
    const struct steps *steps = &walk->study->steps;

    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];
        struct text        name = { .arena = walk->arena };

        if (step->host != steps->host)
            continue;
        text_print(&name, "step %lld", (long long)step->number);
        if (step->left_out)
            text_print(&name, ", left out: %s", step->left_out);
        write_mark(walk, lanes, text_str(&name), step->start_ns, step->end_ns);
    }
}

/* Neighbours of one part are one slice. */
static void write_path(struct walk *walk, struct lanes *lanes)
{
    const struct segment *segments = walk->study->path.segments.items;
    size_t                count = walk->study->path.segments.count;

    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && segments[next].part == segments[first].part &&
                               segments[next].start_ns == segments[next - 1].end_ns;)
            next++;
        write_mark(walk, lanes, str_from(part_title((enum part)segments[first].part)),
                   segments[first].start_ns, segments[next - 1].end_ns);
    }
}

/* Those of one track follow each other. */
static bool write_own_marks(struct walk *walk, uint64_t process)
{
    const struct trace_mark *marks = walk->options->marks.items;
    struct lanes            *lanes = NULL;

    for (size_t i = 0; i < walk->options->marks.count; i++) {
        if (i == 0 || strcmp(marks[i].track, marks[i - 1].track) != 0) {
            if (lanes)
                lanes_close(walk, lanes);
            lanes = lanes_new(walk, process, layout_clean(walk->arena, str_from(marks[i].track)),
                              2 + (int32_t)i);
        }
        if (!lanes)
            return false;
        write_mark(walk, lanes, str_from(marks[i].name), marks[i].start_ns, marks[i].end_ns);
    }
    if (lanes)
        lanes_close(walk, lanes);
    return true;
}

static bool write_marks(struct walk *walk)
{
    uint64_t      process = new_process(walk, STR("tfprof"), RANK_MARKS);
    struct lanes *steps = lanes_new(walk, process, STR("steps"), 0);
    struct lanes *path = lanes_new(walk, process, STR("what the step waits for"), 1);

    if (!steps || !path)
        return false;
    write_steps(walk, steps);
    lanes_close(walk, steps);
    write_path(walk, path);
    lanes_close(walk, path);
    return write_own_marks(walk, process);
}

/* Before everything that is written. */
static int64_t first_time(const struct study *study)
{
    const struct profile *profile = study->recording;
    int64_t               first = INT64_MAX;

    for (size_t i = 0; i < profile->op_runs.count; i++) {
        if (profile->op_runs.items[i].start_ns >= 0)
            first = int64_least(first, profile->op_runs.items[i].start_ns);
    }
    for (size_t i = 0; i < profile->timelines.count; i++) {
        if (profile->timelines.items[i].event_count)
            first = int64_least(first,
                                event_start_ns(profile, profile->timelines.items[i].first_event));
    }
    for (size_t i = 0; i < study->steps.list.count; i++)
        first = int64_least(first, study->steps.list.items[i].start_ns);
    for (size_t i = 0; i < profile->memory_events.count; i++)
        first = int64_least(first, profile->memory_events.items[i].time_ns);
    for (size_t i = 0; i < profile->counters.count; i++)
        first = int64_least(first, profile->counters.items[i].time_ns);
    return first == INT64_MAX ? profile->start_ns : first;
}

static bool begin(struct walk *walk, const struct trace_format *format, struct text *text)
{
    walk->writer = (struct trace_writer) { .format = format, .text = text, .scratch = walk->arena };
    walk->next_id = 1;
    walk->base_ns = first_time(walk->study);
    walk->host_process = arena_new_array(walk->arena, uint64_t, walk->profile->hosts.count);
    walk->device_process = arena_new_array(walk->arena, uint64_t, walk->profile->devices.count);
    return walk->host_process && walk->device_process &&
           intern_init(&walk->writer.names, walk->arena) &&
           intern_init(&walk->writer.categories, walk->arena) &&
           intern_init(&walk->writer.argument_names, walk->arena) &&
           details_begin(&walk->details, walk->profile, walk->arena) && make_flows(walk);
}

static bool write_rest(struct walk *walk)
{
    struct trace_rest rest = { .writer = &walk->writer,
                               .profile = walk->profile,
                               .options = walk->options,
                               .arena = walk->arena,
                               .base_ns = walk->base_ns,
                               .next_id = &walk->next_id };
    bool is_done = (walk->profile->event_count > 0 || rest_runs(&rest)) && rest_counters(&rest);

    walk->left_out += rest.left_out;
    return is_done;
}

uint64_t trace_write(const struct trace_format *format, const struct study *study,
                     const struct trace_options *options, struct text *text)
{
    struct arena scratch = { .budget_bytes = text->arena->budget_bytes };
    struct walk  walk = {
         .study = study, .profile = study->recording, .options = options, .arena = &scratch
    };
    bool is_done = begin(&walk, format, text);

    if (is_done) {
        format->begin(&walk.writer);
        is_done = write_marks(&walk) && write_timelines(&walk) && write_rest(&walk);
        format->end(&walk.writer);
    }
    text->is_cut |= !is_done;
    arena_free(&scratch);
    return walk.left_out;
}
