/*
 * ProfileProto, as TensorFlow 1's ProfileContext writes it: a node for each op with its runs by
 * step. Times on the host are the op's own event, times on an accelerator those of the device work
 * that it launched. Upstream: tensorflow/core/profiler/tfprof_log.proto
 */
#include "base/intern.h"
#include "base/wire_out.h"
#include "synth/writers.h"

#include <string.h>

enum {
    PROFILE_NODES = 1,
    PROFILE_STEPS = 3,
    NODE_NAME = 1,
    NODE_DEVICE = 6,
    NODE_FLOPS = 8,
    NODE_OP = 9,
    NODE_EXECS = 12,
    NODE_ID = 13,
    EXEC_RUN_COUNT = 1,
    EXEC_START_US = 2,
    EXEC_END_US = 3,
    EXEC_ACCELERATOR = 4,
    EXEC_CPU = 5,
    EXEC_MEMORY = 7,
    TIMES = 1,
    TUPLE_VALUES = 1,
    MEMORY_REQUESTED = 6,
    MEMORY_PEAK = 7,
    MEMORY_RESIDUAL = 8,
    MEMORY_OUTPUT = 9,
};
static const char cpu[] = "/job:localhost/replica:0/task:0/device:CPU:0";
static const char task[] = "/job:localhost/replica:0/task:0";

/* What one node did in one step; the next step of the same node is behind it. */
struct step_run {
    uint32_t    node;
    int64_t     step, start_us, end_us;
    int64_t     requested_bytes, residual_bytes;
    struct text cpu_times, gpu_times;
    uint32_t    next; /* row + 1; 0: the last one */
};
struct node {
    uint32_t line, first_run, last_run; /* rows + 1 of runs */
    int64_t  gpu;                       /* -1: runs on the host */
};
struct profile_out {
    const struct recording *recording;
    struct arena           *arena;
    struct intern           names;
    VEC(struct node) nodes; /* by name id; id 0 is unused */
    VEC(struct step_run) runs;
    VEC(uint32_t) run_of_event; /* row + 1, of ops */
    bool is_full;
};

static struct step_run *run_for(struct profile_out *out, uint32_t id, int64_t step)
{
    struct node    *node = &out->nodes.items[id];
    struct step_run run = { .node = id,
                            .step = step,
                            .start_us = INT64_MAX,
                            .cpu_times.arena = out->arena,
                            .gpu_times.arena = out->arena };

    if (node->last_run && out->runs.items[node->last_run - 1].step == step)
        return &out->runs.items[node->last_run - 1];
    if (!vec_push(&out->runs, out->arena, run))
        return NULL;
    if (node->last_run)
        out->runs.items[node->last_run - 1].next = (uint32_t)out->runs.count;
    else
        node->first_run = (uint32_t)out->runs.count;
    node->last_run = (uint32_t)out->runs.count;
    return &out->runs.items[out->runs.count - 1];
}

/* Both ends are rounded down, so that what follows on in ns follows on in µs. */
static void add_times(struct arena *arena, struct text *times, struct step_run *run,
                      const struct recorded_event *event)
{
    struct text tuple = { .arena = arena };
    int64_t     start_us = event->start_ns / 1000;
    int64_t     end_us = (event->start_ns + event->duration_ns) / 1000;

    wire_out_number(&tuple, TUPLE_VALUES, (uint64_t)start_us);
    wire_out_number(&tuple, TUPLE_VALUES, (uint64_t)(end_us - start_us));
    wire_out_bytes(times, TIMES, text_str(&tuple));
    run->start_us = start_us < run->start_us ? start_us : run->start_us;
    run->end_us = end_us > run->end_us ? end_us : run->end_us;
}

static bool add_op(struct profile_out *out, size_t row, int64_t step)
{
    const struct recorded_event *event = &out->recording->events.items[row];
    const struct sketch_line    *line = recorded_line(out->recording, event);
    uint32_t         id = intern_add(&out->names, line->title.len ? line->title : line->name);
    struct step_run *run;

    while (id != NO_ID && out->nodes.count <= id)
        if (!vec_push(&out->nodes, out->arena, (struct node) { .line = event->line, .gpu = -1 }))
            return false;
    run = id == NO_ID ? NULL : run_for(out, id, step);
    if (!run)
        return false;
    add_times(out->arena, &run->cpu_times, run, event);
    out->run_of_event.items[row] = out->nodes.items[id].last_run;
    return true;
}

/* Device work and memory count for the op around them. */
static void add_to_owner(struct profile_out *out, const struct recorded_event *event)
{
    const struct sketch_line *line = recorded_line(out->recording, event);
    struct step_run          *run;

    if (event->owner == NO_EVENT || !out->run_of_event.items[event->owner])
        return;
    run = &out->runs.items[out->run_of_event.items[event->owner] - 1];
    if (event->role == ROLE_WORK) {
        add_times(out->arena, &run->gpu_times, run, event);
        out->nodes.items[run->node].gpu = out->recording->tracks.items[event->track].gpu;
    }
    if (line->word == WORD_ALLOC)
        run->requested_bytes += event->bytes;
    run->residual_bytes += line->word == WORD_ALLOC  ? event->bytes
                           : line->word == WORD_FREE ? -event->bytes
                                                     : 0;
}

/* Of an op on an accelerator both keys name it: its call there, and its work on all streams. */
static void write_run(struct profile_out *out, const struct step_run *run, const char *device,
                      struct text *node)
{
    struct text exec = { .arena = out->arena }, entry = { .arena = out->arena },
                key = { .arena = out->arena };

    wire_out_number(&exec, EXEC_RUN_COUNT, 1);
    wire_out_number(&exec, EXEC_START_US, (uint64_t)run->start_us);
    wire_out_number(&exec, EXEC_END_US, (uint64_t)(run->end_us - run->start_us));
    if (run->gpu_times.len) {
        text_print(&key, "%s/stream:all", device);
        wire_out_bytes(&entry, 1, text_str(&key));
        wire_out_bytes(&entry, 2, text_str(&run->gpu_times));
        wire_out_bytes(&exec, EXEC_ACCELERATOR, text_str(&entry));
        entry.len = 0;
    }
    wire_out_bytes(&entry, 1, str_from(device));
    wire_out_bytes(&entry, 2, text_str(&run->cpu_times));
    wire_out_bytes(&exec, EXEC_CPU, text_str(&entry));
    if (run->requested_bytes) {
        entry.len = 0;
        wire_out_number(&entry, MEMORY_REQUESTED, (uint64_t)run->requested_bytes);
        wire_out_number(&entry, MEMORY_PEAK, (uint64_t)run->requested_bytes);
        wire_out_number(&entry, MEMORY_RESIDUAL,
                        run->residual_bytes > 0 ? (uint64_t)run->residual_bytes : 0);
        wire_out_number(&entry, MEMORY_OUTPUT, (uint64_t)run->requested_bytes);
        wire_out_bytes(&exec, EXEC_MEMORY, text_str(&entry));
    }
    wire_out_entry(node, NODE_EXECS, (uint64_t)run->step, text_str(&exec));
    out->is_full |= exec.is_cut | entry.is_cut | key.is_cut;
}

static void write_node(struct profile_out *out, uint32_t id, struct text *bytes)
{
    const struct node        *about = &out->nodes.items[id];
    const struct sketch_line *line = &out->recording->sketch->lines.items[about->line];
    struct text               node = { .arena = out->arena }, gpu = { .arena = out->arena };
    const char               *device = cpu;

    if (about->gpu >= 0) {
        text_print(&gpu, "%s/device:GPU:%lld", task, (long long)about->gpu);
        device = gpu.is_cut ? cpu : gpu.data;
    }
    wire_out_bytes(&node, NODE_NAME, intern_str(&out->names, id));
    wire_out_bytes(&node, NODE_OP, line->name);
    wire_out_number(&node, NODE_ID, id);
    wire_out_bytes(&node, NODE_DEVICE, str_from(device));
    if (line->flops >= 0)
        wire_out_number(&node, NODE_FLOPS, (uint64_t)line->flops);
    for (uint32_t run = about->first_run; run; run = out->runs.items[run - 1].next)
        write_run(out, &out->runs.items[run - 1], device, &node);
    out->is_full |= node.is_cut;
    wire_out_entry(bytes, PROFILE_NODES, id, text_str(&node));
}

static bool collect(struct profile_out *out)
{
    const struct recording *recording = out->recording;
    int64_t                 step = -1;

    if (!vec_reserve(&out->run_of_event, out->arena, recording->events.count))
        return false;
    out->run_of_event.count = recording->events.count;
    memset(out->run_of_event.items, 0, recording->events.count * sizeof *out->run_of_event.items);
    for (size_t i = 0; i < recording->events.count; i++) {
        const struct recorded_event *event = &recording->events.items[i];

        if (event->role == ROLE_STEP)
            step = event->number;
        else if (recorded_line(recording, event)->word != WORD_OP)
            add_to_owner(out, event);
        else if (!add_op(out, i, step < 0 ? 0 : step))
            return false;
    }
    return true;
}

void write_profile(const struct recording *recording, struct text *bytes)
{
    struct arena       scratch = { .budget_bytes = bytes->arena->budget_bytes };
    struct profile_out out = { .recording = recording, .arena = &scratch };

    if (!intern_init(&out.names, &scratch) || !collect(&out))
        bytes->is_cut = true;
    for (uint32_t id = 1; id < out.nodes.count && !bytes->is_cut; id++)
        write_node(&out, id, bytes);
    for (uint32_t step = 0; step < recording->step_count; step++)
        wire_out_number(bytes, PROFILE_STEPS, step);
    bytes->is_cut |= out.is_full;
    arena_free(&scratch);
}
