/* event_graph_lines: what a graph is made from: sampled steps, lines, launches and waits. */
#include "analyze/schedule/event_graph_build.h"

#include "analyze/path/leaves.h"
#include "analyze/path/work.h"
#include "analyze/step/start_up.h"

#include <stdlib.h>

enum {
    SAMPLE_EVENTS = 200000, /* about as many enter a graph, so that its cost stays small */
    SAMPLE_STEPS = 100,
    QUEUED_NS = 10000, /* launched so long before the stream was free, it waited in the queue */
    GAP_MOST_NS = 10000,
    LAUNCH_MOST_NS = 100000, /* longer ways from a launch to its kernel have another cause */
    LAUNCH_PRESET_NS = 5000, /* without a launch to learn from */
    GAP_PRESET_NS = 1000
};

/* The step of another host that belongs to `like`: by number, else by place. */
static const struct step *step_beside(const struct study *study, const struct step *like,
                                      size_t place, uint32_t host)
{
    size_t at = 0;

    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host == host && step->number == like->number && step->is_sampled)
            return step;
    }
    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host == host && step->is_sampled && at++ == place)
            return step;
    }
    return NULL;
}

static bool add_window(struct build *build, const struct step *step)
{
    struct graph_window window = { .step = (uint32_t)(step - build->study->steps.list.items),
                                   .host = step->host,
                                   .group = build->graph->group_count,
                                   .base = NO_ID,
                                   .last_node = NO_ID };

    return vec_push(&build->graph->windows, build->arena, window);
}

/* The step and those of other hosts at the same place. */
static bool add_group(struct build *build, const struct step *step, size_t place)
{
    const struct study *study = build->study;

    if (!add_window(build, step))
        return false;
    for (uint32_t host = 0; host < build->profile->hosts.count; host++) {
        const struct step *beside =
            host == study->steps.host ? NULL : step_beside(study, step, place, host);

        if (beside && beside->end_ns > beside->start_ns && !add_window(build, beside))
            return false;
    }
    build->graph->group_count++;
    return true;
}

/* Steps from the first sampled one on, the reference host's first. */
bool build_windows(struct build *build)
{
    const struct steps *steps = &build->study->steps;
    size_t              sampled = 0, wanted, place = 0;

    for (size_t i = 0; i < steps->list.count; i++)
        sampled += steps->list.items[i].host == steps->host && steps->list.items[i].is_sampled;
    if (!sampled || steps->host >= build->profile->hosts.count)
        return true;
    wanted = SAMPLE_EVENTS / (build->profile->event_count / sampled + 1);
    wanted = wanted < 1 ? 1 : wanted > SAMPLE_STEPS ? SAMPLE_STEPS : wanted;
    if (build->first_step != NO_ID)
        wanted = 2;
    for (size_t i = 0; i < steps->list.count && build->graph->group_count < wanted; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host != steps->host || !step->is_sampled || step->end_ns <= step->start_ns)
            continue;
        place++;
        if ((build->first_step == NO_ID ? !step_stands_alone(steps, step)
                                        : i >= build->first_step) &&
            !add_group(build, step, place - 1))
            return false;
    }
    return true;
}

static size_t host_windows(const struct build *build, uint32_t host, struct interval *windows)
{
    size_t count = 0;

    for (size_t i = 0; i < build->graph->windows.count; i++) {
        const struct graph_window *window = &build->graph->windows.items[i];
        const struct step         *step = &build->study->steps.list.items[window->step];

        if (window->host != host)
            continue;
        /* Steps of other hosts that were matched by place may overlap. */
        if (count && step->start_ns < windows[count - 1].end_ns)
            continue;
        windows[count++] = (struct interval) { step->start_ns, step->end_ns };
    }
    return count;
}

static bool is_wanted(const struct timeline *timeline)
{
    return timeline->event_count && timeline->host != NO_ID &&
           (timeline->device == NO_ID
                ? timeline->kind == TIMELINE_THREAD
                : timeline->kind == TIMELINE_STREAM || timeline->kind == TIMELINE_OPS);
}

static bool add_line(struct build *build, uint32_t timeline, const struct interval *windows,
                     size_t window_count)
{
    const struct timeline *row = &build->profile->timelines.items[timeline];
    struct build_line      line = { .flat.timeline = timeline,
                                    .last = NO_ID,
                                    .enter = NO_ID,
                                    .wait = NO_ID,
                                    .burst_start_ns = INT64_MIN };
    struct graph_line      shown = { .timeline = timeline,
                                     .host = row->host,
                                     .is_device = row->device != NO_ID };

    line.flat.is_device = shown.is_device;
    if (!leaves_build(build->profile, windows, window_count, build->arena, build->scratch,
                      &build->graph->path, &line.flat))
        return false;
    if (!line.flat.leaves.count)
        return true;
    build->graph->has_device = build->graph->has_device || shown.is_device;
    build->line_of_timeline[timeline] = (uint32_t)build->lines.count;
    return vec_push(&build->lines, build->scratch, line) &&
           vec_push(&build->graph->lines, build->arena, shown);
}

static int64_t busy_ns(const struct build_line *line)
{
    int64_t sum_ns = 0;

    for (size_t i = 0; i < line->flat.leaves.count; i++)
        sum_ns += line->flat.leaves.items[i].end_ns - line->flat.leaves.items[i].start_ns;
    return sum_ns;
}

/* The line whose end is the step's: the thread with the markers, else the device that they came
 * from, else the busiest thread, else the busiest device line. */
static uint32_t find_leader(const struct build *build, uint32_t host)
{
    const struct graph_window *window = NULL;
    const struct step         *step;
    uint32_t                   best = NO_ID, marked = NO_ID;
    bool                       on_device = false;
    int64_t                    most_ns = -1;

    for (size_t i = 0; i < build->graph->windows.count && !window; i++)
        if (build->graph->windows.items[i].host == host)
            window = &build->graph->windows.items[i];
    if (!window)
        return NO_ID;
    step = &build->study->steps.list.items[window->step];
    marked = step->timeline;
    if (marked == NO_ID && host == build->study->steps.host)
        marked = build->study->path.leader;
    if (marked != NO_ID && build->line_of_timeline[marked] != NO_ID)
        return build->line_of_timeline[marked];
    if (marked != NO_ID)
        on_device = build->profile->timelines.items[marked].device != NO_ID;
    for (int pass = 0; pass < 2 && best == NO_ID; pass++, on_device = !on_device)
        for (uint32_t i = 0; i < build->lines.count; i++) {
            const struct graph_line *line = &build->graph->lines.items[i];

            if (line->host == host && line->is_device == on_device &&
                busy_ns(&build->lines.items[i]) > most_ns)
                most_ns = busy_ns(&build->lines.items[i]), best = i;
        }
    return best;
}

static int64_t process_of(const struct build *build, uint32_t line)
{
    return build->profile->timelines.items[build->graph->lines.items[line].timeline].process;
}

static bool same_process(const struct build *build, uint32_t a, uint32_t b)
{
    return build->graph->lines.items[a].host == build->graph->lines.items[b].host &&
           process_of(build, a) == process_of(build, b);
}

/* Gives each line the kinds of all threads of its process: in the row of the first of them, which
 * first_of tells. */
static bool join_kinds(const struct build *build, uint32_t *kinds, uint32_t *first_of)
{
    struct id_map firsts = { .arena = build->scratch };

    for (uint32_t i = 0; i < build->lines.count; i++) {
        uint64_t key = (uint64_t)process_of(build, i) ^ (uint64_t)build->graph->lines.items[i].host
                                                            << 40;
        uint32_t first;

        first_of[i] = i;
        if (build->graph->lines.items[i].is_device)
            continue;
        while ((first = id_map_get(&firsts, key)) != NO_ID && !same_process(build, first, i))
            key++;
        if (first == NO_ID && !id_map_put(&firsts, key, i))
            return false;
        first_of[i] = first == NO_ID ? i : first;
        kinds[first_of[i]] |= kinds[i];
    }
    return true;
}

/* Processes beside the one that leads the steps and asks for input: workers of a loader, where they
 * themselves have no steps, no device and no input to ask for. */
static bool mark_workers(struct build *build)
{
    const uint32_t not_theirs = KIND_BIT(ACTIVITY_STEP) | KIND_BIT(ACTIVITY_LAUNCH) |
                                KIND_BIT(ACTIVITY_COLLECTIVE) | KIND_BIT(ACTIVITY_INPUT_WAIT);
    uint32_t *kinds = arena_new_array(build->scratch, uint32_t, build->lines.count + 1);
    uint32_t *first_of = arena_new_array(build->scratch, uint32_t, build->lines.count + 1);

    if (!kinds || !first_of)
        return false;
    for (size_t f = 0; f < build->graph->path.frames.count; f++) {
        const struct frame *frame = &build->graph->path.frames.items[f];
        uint32_t            line = build->line_of_timeline[frame->timeline];

        if (line != NO_ID)
            kinds[line] |= KIND_BIT(event_activity(build->profile, frame->event)->kind);
    }
    if (!join_kinds(build, kinds, first_of))
        return false;
    for (uint32_t i = 0; i < build->lines.count; i++) {
        struct graph_line *line = &build->graph->lines.items[i];
        uint32_t           leader = build->leader_of_host[line->host];

        line->is_worker = !line->is_device && leader != NO_ID && process_of(build, i) > 0 &&
                          process_of(build, leader) > 0 &&
                          process_of(build, i) != process_of(build, leader) &&
                          (kinds[first_of[leader]] & KIND_BIT(ACTIVITY_INPUT_WAIT)) &&
                          !(kinds[first_of[i]] & not_theirs);
    }
    return true;
}

static void note_device_kinds(struct build *build)
{
    struct path *path = &build->graph->path;

    path->has_device = build->graph->has_device;
    for (size_t f = 0; f < path->frames.count; f++) {
        const struct frame *frame = &path->frames.items[f];
        uint32_t            device = build->profile->timelines.items[frame->timeline].device;

        if (device == NO_ID)
            continue;
        if (build->profile->devices.items[device].kind == DEVICE_GPU)
            path->shows_copies = true;
        if (frame->kinds & KIND_BIT(ACTIVITY_COLLECTIVE))
            path->shows_collectives = true;
    }
}

bool build_lines(struct build *build)
{
    const struct profile *profile = build->profile;
    struct interval      *windows =
        arena_new_array(build->scratch, struct interval, build->graph->windows.count + 1);

    build->line_of_timeline =
        arena_new_array(build->scratch, uint32_t, profile->timelines.count + 1);
    build->base_of_host = arena_new_array(build->scratch, uint32_t, profile->hosts.count + 1);
    build->leader_of_host = arena_new_array(build->scratch, uint32_t, profile->hosts.count + 1);
    build->last_on_host = arena_new_array(build->scratch, uint32_t, profile->hosts.count + 1);
    if (!windows || !build->line_of_timeline || !build->base_of_host || !build->leader_of_host ||
        !build->last_on_host)
        return false;
    for (uint32_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];
        size_t                 count;

        build->line_of_timeline[t] = NO_ID;
        if (!is_wanted(timeline) || timeline->host >= profile->hosts.count)
            continue;
        count = host_windows(build, timeline->host, windows);
        if (count && !add_line(build, t, windows, count))
            return false;
    }
    for (uint32_t host = 0; host < profile->hosts.count; host++) {
        uint32_t leader = find_leader(build, host);

        build->base_of_host[host] = build->last_on_host[host] = NO_ID;
        build->leader_of_host[host] = leader;
        if (leader != NO_ID)
            build->graph->lines.items[leader].is_leader = true;
    }
    note_device_kinds(build);
    start_up_mark(build->study, &build->graph->path);
    return mark_workers(build) && work_classify(profile, &build->graph->path, build->arena);
}

static uint32_t *new_ids(struct arena *arena, size_t count)
{
    uint32_t *ids = arena_new_array(arena, uint32_t, count + 1);

    for (size_t i = 0; ids && i < count; i++)
        ids[i] = NO_ID;
    return ids;
}

bool build_launches(struct build *build)
{
    const struct profile *profile = build->profile;

    build->launch_of = new_ids(build->scratch, profile->event_count);
    build->node_of_call = new_ids(build->scratch, profile->event_count);
    build->timeline_of_call = new_ids(build->scratch, profile->event_count);
    if (!build->launch_of || !build->node_of_call || !build->timeline_of_call)
        return false;
    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];

        if (flow->kind == FLOW_LAUNCH && flow->to < profile->event_count &&
            flow->from < profile->event_count)
            build->launch_of[flow->to] = flow->from;
    }
    for (uint32_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];

        for (uint32_t j = 0; j < timeline->event_count; j++)
            build->timeline_of_call[timeline->first_event + j] = t;
    }
    return true;
}

/* The stream that a recorded wait is about, as a line of the same device; NO_ID: none. */
static uint32_t stream_line(const struct build *build, uint32_t device, int64_t stream)
{
    for (uint32_t i = 0; i < build->lines.count; i++) {
        const struct timeline *timeline =
            &build->profile->timelines.items[build->graph->lines.items[i].timeline];

        if (timeline->device == device && timeline->kind == TIMELINE_STREAM &&
            timeline->id == stream)
            return i;
    }
    return NO_ID;
}

/* `sync`: an event on a device's line of waits, with the host calls that made it. */
static bool add_wait(struct build *build, uint32_t sync, uint32_t call, uint32_t record)
{
    const struct profile  *profile = build->profile;
    const struct timeline *timeline = &profile->timelines.items[build->timeline_of_call[sync]];
    struct call_wait       wait = { NO_ID, INT64_MAX, INT64_MAX, NO_ID };
    uint32_t               row = (uint32_t)build->waits.count;
    int64_t                stream;
    bool is_stream = str_contains(profile_str(profile, event_activity(profile, sync)->name),
                                  STR("Stream Wait Event"));

    if (profile_stat(profile, STAT_WAIT_ON, sync, &stream) && stream >= 0)
        wait.stream_line = stream_line(build, timeline->device, stream);
    else if (timeline->id >= 0)
        wait.stream_line = stream_line(build, timeline->device, timeline->id);
    if (record != NO_ID)
        wait.before_ns = event_start_ns(profile, record);
    if (is_stream) {
        uint32_t line = stream_line(build, timeline->device, timeline->id);

        if (line == NO_ID || wait.stream_line == NO_ID || call == NO_ID)
            return true;
        wait.from_ns = event_start_ns(profile, call);
        wait.next = build->lines.items[line].wait;
        build->lines.items[line].wait = row;
        return vec_push(&build->waits, build->scratch, wait);
    }
    return call == NO_ID || (vec_push(&build->waits, build->scratch, wait) &&
                             id_map_put(&build->wait_of_call, call, row));
}

bool build_waits(struct build *build)
{
    const struct profile *profile = build->profile;
    struct id_map         record_of = { .arena = build->scratch };
    struct id_map         call_of = { .arena = build->scratch };

    build->wait_of_call = (struct id_map) { .arena = build->scratch };
    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        bool               is_record;

        if (flow->kind != FLOW_SYNC || flow->from >= profile->event_count)
            continue;
        is_record = str_contains(profile_str(profile, event_activity(profile, flow->from)->name),
                                 STR("EventRecord"));
        if (!id_map_put(is_record ? &record_of : &call_of, flow->to, flow->from))
            return false;
    }
    for (size_t i = profile->flows.count; i > 0; i--) { /* the lists of lines become ascending */
        const struct flow *flow = &profile->flows.items[i - 1];

        if (flow->kind == FLOW_SYNC && flow->to < profile->event_count &&
            id_map_get(&call_of, flow->to) == flow->from &&
            !add_wait(build, flow->to, flow->from, id_map_get(&record_of, flow->to)))
            return false;
    }
    return true;
}

struct mean {
    double sum_ns;
    size_t count;
};

static void add_sample(struct mean *mean, int64_t ns)
{
    mean->sum_ns += (double)ns;
    mean->count++;
}

static int64_t mean_ns(const struct mean *mean, int64_t preset_ns)
{
    return mean->count ? (int64_t)(mean->sum_ns / (double)mean->count) : preset_ns;
}

/* Samples of one device line: ways from a launch to a free stream, and gaps behind which the queue
 * held the next kernel. */
static void sample_line(const struct build *build, const struct build_line *line,
                        struct mean *launches, struct mean *gaps)
{
    int64_t free_ns = INT64_MIN;

    for (size_t k = 0; k < line->flat.leaves.count; k++) {
        const struct leaf *leaf = &line->flat.leaves.items[k];
        uint32_t           event = build->graph->path.frames.items[leaf->frame].event;
        uint32_t           launch = build->launch_of[event];
        int64_t launched_ns = launch == NO_ID ? INT64_MAX : event_start_ns(build->profile, launch);
        bool    is_start = leaf->start_ns == event_start_ns(build->profile, event);

        if (is_start && free_ns > INT64_MIN && launched_ns < free_ns - QUEUED_NS &&
            leaf->start_ns - free_ns < GAP_MOST_NS)
            add_sample(gaps, leaf->start_ns - free_ns);
        else if (is_start && launch != NO_ID && launched_ns >= free_ns &&
                 leaf->start_ns >= launched_ns && leaf->start_ns - launched_ns < LAUNCH_MOST_NS)
            add_sample(launches, leaf->start_ns - launched_ns);
        free_ns = leaf->end_ns;
    }
}

/* Means of what is alike each time: the way from a launch to a free stream, and from a kernel to
 * the next one that waits in the queue. */
void build_means(struct build *build)
{
    struct mean launches = { 0 }, gaps = { 0 };

    for (size_t i = 0; i < build->lines.count; i++)
        if (build->lines.items[i].flat.is_device)
            sample_line(build, &build->lines.items[i], &launches, &gaps);
    build->graph->launch_ns = mean_ns(&launches, LAUNCH_PRESET_NS);
    build->graph->gap_ns = mean_ns(&gaps, GAP_PRESET_NS);
}

bool build_collectives(struct build *build)
{
    struct windows windows;

    build->collective_of = (struct id_map) { .arena = build->scratch };
    build->begun_by = (struct id_map) { .arena = build->scratch };
    if (!windows_make(build->study, build->scratch, &windows) ||
        !collective_list_make(build->study, &windows, build->scratch, &build->collectives))
        return false;
    build->arrival = new_ids(build->scratch, build->collectives.items.count);
    if (!build->arrival)
        return false;
    for (size_t i = 0; i < build->collectives.items.count; i++) {
        const struct collective_instance *item = &build->collectives.items.items[i];
        bool                              is_shared =
            (i > 0 && collective_is_other(item, item - 1)) ||
            (i + 1 < build->collectives.items.count && collective_is_other(item, item + 1));

        if (!is_shared)
            continue;
        if (!id_map_put(&build->collective_of, item->end_event, (uint32_t)i) ||
            (item->end_event != item->event &&
             !id_map_put(&build->begun_by, item->event, (uint32_t)i)))
            return false;
    }
    return true;
}
