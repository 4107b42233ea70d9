/*
 * The graph view's timeline: each device's runs in lanes that do not overlap, and what flows from
 * one device to another.
 */
#include "view/timeline_step.h"

#include "base/macros.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct classic_exec *exec_of(const struct view_call *call, uint32_t node)
{
    const struct classic_exec *exec = classic_exec_of(call->classic, node, call->options->step);

    return exec && exec->start_micros && call->classic->nodes.items[node].device ? exec : NULL;
}

static uint32_t find_device(const struct step_timeline *timeline, struct str name)
{
    for (uint32_t i = 0; i < timeline->devices.count; i++)
        if (str_equal(timeline->devices.items[i].name, name))
            return i;
    return NO_ID;
}

/* The next device of an exec behind `after` by name; NO_ID: none is left. */
static uint32_t next_device(const struct step_timeline *timeline, const struct classic_exec *exec,
                            struct str after)
{
    const struct classic *classic = timeline->call->classic;
    struct str            best = { 0 };
    uint32_t              device = NO_ID;

    for (uint32_t i = 0; i < exec->time_count; i++) {
        uint32_t   name_id = classic->times.items[exec->first_time + i].device;
        struct str name = profile_str(classic->profile, name_id);

        if (str_compare(name, after) <= 0 || (device != NO_ID && str_compare(name, best) >= 0))
            continue;
        best = name;
        device = name_id;
    }
    return device;
}

static bool meet_device(struct step_timeline *timeline, struct str name, uint32_t *row,
                        struct timeline_json *meta)
{
    struct step_device device = { .name = name, .process = timeline->process_count };

    *row = find_device(timeline, name);
    if (*row != NO_ID)
        return true;
    *row = (uint32_t)timeline->devices.count;
    timeline->process_count++;
    timeline_process(meta,
                     str_contains(name, STR("stream")) ? "Op execution threads: "
                                                       : "Op scheduling threads: ",
                     name, device.process);
    return vec_push(&timeline->devices, timeline->call->arena, device);
}

static bool add_node(struct step_timeline *timeline, uint32_t node, struct timeline_json *meta)
{
    const struct classic      *classic = timeline->call->classic;
    const struct classic_exec *exec = exec_of(timeline->call, node);
    struct str                 name = { 0 };
    uint32_t                   id;

    if (!exec)
        return true;
    if (!vec_push(&timeline->tracked, timeline->call->arena, node))
        return false;
    while ((id = next_device(timeline, exec, name)) != NO_ID) {
        struct step_run run = { .node = node };

        name = profile_str(classic->profile, id);
        if (!meet_device(timeline, name, &run.device, meta))
            return false;
        for (uint32_t i = 0; i < exec->time_count; i++) {
            const struct classic_time *time = &classic->times.items[exec->first_time + i];

            run.start_micros = time->start_micros;
            run.duration_micros = time->duration_micros;
            if (time->device == id && !vec_push(&timeline->runs, timeline->call->arena, run))
                return false;
        }
    }
    return true;
}

/* Nodes as they are displayed, from the top down. */
static bool collect(struct step_timeline *timeline, const struct tree *tree,
                    struct timeline_json *meta)
{
    uint32_t *stack = arena_new_array(timeline->call->arena, uint32_t, tree->nodes.count);
    size_t    depth = 0;

    if (!stack)
        return false;
    stack[depth++] = 0;
    while (depth > 0) {
        uint32_t                 row = stack[--depth], node = tree->nodes.items[row].node;
        const struct tree_state *state = &tree->states[row];

        if (node != NO_ID && !add_node(timeline, node, meta))
            return false;
        for (uint32_t i = state->shown_count; i-- > 0;)
            stack[depth++] = tree->shown[state->first_shown + i];
    }
    return true;
}

struct ordered {                    /* a run where it goes */
    uint32_t        rank, sequence; /* of its device by name; as met */
    struct step_run run;
};

static int compare_runs(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    return IN_ORDER(COMPARE(a->rank, b->rank), COMPARE(a->run.start_micros, b->run.start_micros),
                    COMPARE(a->sequence, b->sequence));
}

/* Devices are few: each is put before those with later names. */
static bool sort_devices(struct step_timeline *timeline, uint32_t *ranks)
{
    size_t count = timeline->devices.count;

    timeline->by_name = arena_new_array(timeline->call->arena, uint32_t, count);
    if (!timeline->by_name)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        size_t at = i;

        for (; at > 0 && str_compare(timeline->devices.items[timeline->by_name[at - 1]].name,
                                     timeline->devices.items[i].name) > 0;
             at--)
            timeline->by_name[at] = timeline->by_name[at - 1];
        timeline->by_name[at] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        ranks[timeline->by_name[i]] = i;
    return true;
}

/* Of runs of a device that start together only the first met stays in the original. */
static bool sort_runs(struct step_timeline *timeline)
{
    struct arena   *arena = timeline->call->arena;
    size_t          count = timeline->runs.count, kept = 0;
    uint32_t       *ranks = arena_new_array(arena, uint32_t, timeline->devices.count);
    struct ordered *order = arena_new_array(arena, struct ordered, count);

    if (!ranks || !order || !sort_devices(timeline, ranks))
        return false;
    for (uint32_t i = 0; i < count; i++)
        order[i] =
            (struct ordered) { ranks[timeline->runs.items[i].device], i, timeline->runs.items[i] };
    if (count)
        qsort(order, count, sizeof *order, compare_runs);
    for (size_t i = 0; i < count; i++) {
        struct step_device *device = &timeline->devices.items[order[i].run.device];

        if (timeline->call->options->is_compat && device->run_count &&
            timeline->runs.items[kept - 1].start_micros == order[i].run.start_micros)
            continue;
        if (device->run_count++ == 0)
            device->first_run = (uint32_t)kept;
        timeline->runs.items[kept++] = order[i].run;
    }
    timeline->runs.count = kept;
    return true;
}

/* The run of a node, or of another in whose place it is not shown; NO_ID: none. */
static uint32_t find_run(const struct step_timeline *timeline, struct str device_name,
                         uint32_t node, int64_t start_micros)
{
    uint32_t                  row = find_device(timeline, device_name), low, high;
    const struct step_run    *runs;
    const struct step_device *device;

    if (row == NO_ID)
        return NO_ID;
    device = &timeline->devices.items[row];
    runs = timeline->runs.items + device->first_run;
    low = (uint32_t)LOWER_BOUND(device->run_count, i, runs[i].start_micros < start_micros);
    for (high = low; high < device->run_count && runs[high].start_micros == start_micros; high++)
        if (runs[high].node == node)
            return device->first_run + high;
    return high > low ? device->first_run + low : NO_ID;
}

struct crossing {
    uint32_t from, to; /* runs */
};
struct flows {
    VEC(struct crossing) items;
    const uint8_t *is_accounted; /* by node */
};

/* What a run takes in from other devices. */
static bool add_flows(struct step_timeline *timeline, struct flows *flows, uint32_t to)
{
    const struct classic      *classic = timeline->call->classic;
    const struct step_run     *run = &timeline->runs.items[to];
    const struct classic_node *node = &classic->nodes.items[run->node];
    struct str                 device = timeline->devices.items[run->device].name;

    for (uint32_t i = 0; i < node->input_count; i++) {
        uint32_t                   input = classic->inputs.items[node->first_input + i].node;
        const struct classic_exec *exec;

        if (input == NO_ID || !flows->is_accounted[input] ||
            !(exec = exec_of(timeline->call, input)))
            continue;
        for (uint32_t n = 0; n < exec->time_count; n++) {
            const struct classic_time *time = &classic->times.items[exec->first_time + n];
            struct str                 other = profile_str(classic->profile, time->device);
            struct crossing            flow = { NO_ID, to };

            if (time->is_accelerator || !classic_is_canonical(other) || str_equal(other, device))
                continue;
            flow.from = find_run(timeline, other, input, time->start_micros);
            if (flow.from != NO_ID && !vec_push(&flows->items, timeline->call->arena, flow))
                return false;
        }
    }
    return true;
}

static bool connect(struct step_timeline *timeline, const struct tree *tree)
{
    struct arena *arena = timeline->call->arena;
    uint8_t *is_accounted = arena_new_array(arena, uint8_t, timeline->call->classic->nodes.count);
    struct flows flows = { .is_accounted = is_accounted };
    uint32_t     total = 0;

    if (!is_accounted)
        return false;
    for (size_t i = 1; i < tree->nodes.count; i++)
        is_accounted[tree->nodes.items[i].node] = tree->states[i].is_accounted;
    for (uint32_t i = 0; i < timeline->runs.count; i++)
        if (classic_is_canonical(timeline->devices.items[timeline->runs.items[i].device].name) &&
            !add_flows(timeline, &flows, i))
            return false;
    timeline->targets = arena_new_array(arena, uint32_t, flows.items.count);
    if (!timeline->targets)
        return false;
    for (size_t i = 0; i < flows.items.count; i++)
        timeline->runs.items[flows.items.items[i].from].flow_count++;
    for (size_t i = 0; i < timeline->runs.count; i++) {
        timeline->runs.items[i].first_flow = total;
        total += timeline->runs.items[i].flow_count;
        timeline->runs.items[i].flow_count = 0;
    }
    for (size_t i = 0; i < flows.items.count; i++) {
        struct step_run *from = &timeline->runs.items[flows.items.items[i].from];

        timeline->targets[from->first_flow + from->flow_count++] = flows.items.items[i].to;
    }
    return true;
}

/* Whether a run may follow the runs of a lane, which are linked from the latest back. */
static bool fits(const struct step_timeline *timeline, const uint32_t *previous, uint32_t last,
                 int64_t start_micros)
{
    for (; last != NO_ID; last = previous[last]) {
        const struct step_run *run = &timeline->runs.items[last];
        int64_t                end_micros = run->start_micros + run->duration_micros;

        if (end_micros > start_micros)
            return false;
        if (end_micros < start_micros)
            break;
    }
    return true;
}

static bool set_lanes(struct step_timeline *timeline)
{
    uint32_t *previous = arena_new_array(timeline->call->arena, uint32_t, timeline->runs.count);
    VEC(uint32_t) lasts = { 0 }; /* latest run of each lane */

    for (size_t d = 0; previous && d < timeline->devices.count; d++) {
        const struct step_device *device = &timeline->devices.items[d];

        lasts.count = 0;
        for (uint32_t i = device->first_run; i < device->first_run + device->run_count; i++) {
            struct step_run *run = &timeline->runs.items[i];

            while (run->lane < lasts.count &&
                   !fits(timeline, previous, lasts.items[run->lane], run->start_micros))
                run->lane++;
            if (run->lane == lasts.count && !vec_push(&lasts, timeline->call->arena, NO_ID))
                return false;
            previous[i] = lasts.items[run->lane];
            lasts.items[run->lane] = i;
        }
    }
    return previous != NULL;
}

static void print_flow(const struct step_timeline *timeline, const struct step_run *run,
                       const struct step_run *to, uint64_t id, struct timeline_json *events)
{
    struct str  name = classic_name(timeline->call->classic, run->node);
    struct text flow_name = { .arena = events->text->arena };

    text_print(&flow_name, "%.*s_flow", STR_ARG(name));
    for (int i = 0; i < 2; i++) {
        const struct step_run *end = i ? to : run;

        if (events->has_events)
            text_add_byte(events->text, ',');
        events->has_events = true;
        text_print(events->text, "{\"cat\":\"DataFlow\",\"id\":%" PRIu64 ",\"name\":", id);
        timeline_string(events->text, text_str(&flow_name));
        text_print(events->text,
                   ",\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64 "}",
                   i ? "t" : "s", timeline->devices.items[end->device].process, end->lane,
                   i ? end->start_micros : end->start_micros + end->duration_micros);
    }
}

static int compare_lanes(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    return IN_ORDER(COMPARE(a->run.lane, b->run.lane), COMPARE(a->sequence, b->sequence));
}

/* Devices as met, their lanes one after the other. */
static bool print_runs(const struct step_timeline *timeline, struct timeline_json *meta,
                       struct timeline_json *events)
{
    struct ordered *order =
        arena_new_array(timeline->call->arena, struct ordered, timeline->runs.count);
    uint64_t flow_id = 1;

    for (size_t d = 0; order && d < timeline->devices.count; d++) {
        const struct step_device *device = &timeline->devices.items[d];

        for (uint32_t i = 0; i < device->run_count; i++)
            order[i] = (struct ordered) { 0, i, timeline->runs.items[device->first_run + i] };
        qsort(order, device->run_count, sizeof *order, compare_lanes);
        for (uint32_t i = 0; i < device->run_count; i++) {
            const struct step_run *run = &order[i].run;
            struct timeline_region region = {
                .name = classic_name(timeline->call->classic, run->node),
                .process = device->process,
                .thread = run->lane,
                .start_micros = run->start_micros,
                .duration_micros = run->duration_micros,
            };

            timeline_region(meta, &region);
            for (uint32_t n = 0; n < run->flow_count; n++)
                print_flow(timeline, run,
                           &timeline->runs.items[timeline->targets[run->first_flow + n]], flow_id++,
                           events);
        }
    }
    return order != NULL;
}

bool timeline_of_step(const struct tree *tree, const struct view_call *call, struct text *text)
{
    struct step_timeline timeline = { .call = call };
    struct text          rest = { .arena = call->arena };
    struct timeline_json meta = { .text = text }, events = { .text = &rest };

    timeline_begin(&meta);
    if (!collect(&timeline, tree, &meta) || !sort_runs(&timeline) || !connect(&timeline, tree) ||
        !set_lanes(&timeline))
        return false;
    text_add(call->text, STR("generating trace file.\n"));
    if (!print_runs(&timeline, &meta, &events) || !step_memory_print(&timeline, &meta, &events))
        return false;
    if (meta.has_events && events.has_events)
        text_add_byte(text, ',');
    text_add(text, text_str(&rest));
    timeline_end(&meta);
    return true;
}
