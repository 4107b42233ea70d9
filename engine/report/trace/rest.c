#include "report/trace/rest.h"

#include "base/sort.h"

#include "report/layout.h"
#include "report/trace/lanes.h"

#include <stdlib.h>

enum { RANK_COUNTERS = 1 << 21, RANK_RUNS = 1 };

struct sample { /* of a counter; those of one stand together, by time */
    uint32_t name, device;
    bool     is_bytes;
    int64_t  time_ns;
    double   value;
    size_t   row; /* as recorded */
};

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;

    return IN_ORDER(COMPARE(b->is_bytes, a->is_bytes), COMPARE(a->name, b->name),
                    COMPARE(a->device, b->device), COMPARE(a->time_ns, b->time_ns),
                    COMPARE(a->row, b->row));
}

static bool is_within(const struct trace_rest *rest, int64_t time_ns)
{
    return time_ns >= rest->options->start_ns && time_ns <= rest->options->end_ns;
}

/* NULL: no memory. */
static struct sample *collect(const struct trace_rest *rest, size_t *count)
{
    const struct profile *profile = rest->profile;
    struct sample        *samples = arena_new_array(
               rest->arena, struct sample, profile->memory_events.count + profile->counters.count);

    *count = 0;
    for (size_t i = 0; samples && i < profile->memory_events.count; i++) {
        const struct memory_event *event = &profile->memory_events.items[i];

        if (event->in_use_bytes >= 0 && is_within(rest, event->time_ns))
            samples[(*count)++] = (struct sample) { event->allocator,
                                                    event->device,
                                                    true,
                                                    event->time_ns,
                                                    (double)event->in_use_bytes,
                                                    i };
    }
    for (size_t i = 0; samples && i < profile->counters.count; i++) {
        const struct counter_sample *sample = &profile->counters.items[i];

        if (is_within(rest, sample->time_ns))
            samples[(*count)++] = (struct sample) { sample->name,    sample->device, false,
                                                    sample->time_ns, sample->value,  i };
    }
    if (samples && *count)
        qsort(samples, *count, sizeof *samples, compare_samples);
    return samples;
}

static struct trace_track counter_track(const struct trace_rest *rest, const struct sample *sample,
                                        uint64_t process, int32_t rank)
{
    struct text name = { .arena = rest->arena };

    text_add(&name, sample->is_bytes ? STR("memory in use: ") : STR(""));
    text_add_clean(&name, profile_str(rest->profile, sample->name));
    if (sample->device != NO_ID) {
        text_add(&name, STR(", "));
        text_add_clean(
            &name, profile_str(rest->profile, rest->profile->devices.items[sample->device].name));
    }
    return (struct trace_track) { .id = (*rest->next_id)++,
                                  .process = process,
                                  .name = text_str(&name),
                                  .rank = rank,
                                  .is_bytes = sample->is_bytes };
}

bool rest_counters(struct trace_rest *rest)
{
    const struct trace_format *format = rest->writer->format;
    size_t                     count;
    struct sample             *samples = collect(rest, &count);
    struct trace_track         track = { 0 };
    uint64_t                   process;

    if (!samples || count == 0)
        return samples != NULL;
    process = (*rest->next_id)++;
    format->process(rest->writer, process, STR("memory and counters"), RANK_COUNTERS);
    for (size_t i = 0; i < count; i++) {
        const struct sample *sample = &samples[i], *last = i > 0 ? &samples[i - 1] : NULL;

        if (!last || last->is_bytes != sample->is_bytes || last->name != sample->name ||
            last->device != sample->device) {
            track = counter_track(rest, sample, process, track.rank + 1);
            format->counter_track(rest->writer, &track);
        }
        format->counter(rest->writer, &track, sample->time_ns - rest->base_ns, sample->value);
    }
    return true;
}

static int compare_runs(const void *left, const void *right)
{
    const struct op_run *a = *(const struct op_run *const *)left,
                        *b = *(const struct op_run *const *)right;

    return IN_ORDER(COMPARE(a->device, b->device), COMPARE(a->stream, b->stream),
                    COMPARE(a->start_ns, b->start_ns), COMPARE(b->duration_ns, a->duration_ns),
                    COMPARE(a, b));
}

/* Those whose times are known and asked for, in order. NULL: no memory. */
static const struct op_run **sorted_runs(const struct trace_rest *rest, size_t *count)
{
    const struct profile *profile = rest->profile;
    const struct op_run **runs =
        arena_new_array(rest->arena, const struct op_run *, profile->op_runs.count);

    *count = 0;
    for (size_t i = 0; runs && i < profile->op_runs.count; i++) {
        const struct op_run *run = &profile->op_runs.items[i];

        if (run->start_ns >= 0 && run->start_ns <= rest->options->end_ns &&
            run->start_ns + run->duration_ns >= rest->options->start_ns)
            runs[(*count)++] = run;
    }
    if (runs && *count)
        qsort(runs, *count, sizeof *runs, compare_runs);
    return runs;
}

static uint64_t run_process(struct trace_rest *rest, const struct op_run *run)
{
    uint64_t    id = (*rest->next_id)++;
    struct text name = { .arena = rest->arena };

    if (run->device < rest->profile->devices.count)
        text_add_clean(&name,
                       profile_str(rest->profile, rest->profile->devices.items[run->device].name));
    rest->writer->format->process(rest->writer, id, name.len > 0 ? text_str(&name) : STR("host"),
                                  RANK_RUNS + (int32_t)(run->device % (1U << 20)));
    return id;
}

static struct lanes *run_lanes(struct trace_rest *rest, const struct op_run *run, uint64_t process)
{
    struct lanes *lanes = arena_new(rest->arena, struct lanes);
    struct str    stream = layout_clean(rest->arena, profile_str(rest->profile, run->stream));

    if (lanes)
        *lanes = (struct lanes) { .writer = rest->writer,
                                  .arena = rest->arena,
                                  .next_id = rest->next_id,
                                  .first = { .process = process,
                                             .name = stream.len > 0 ? stream : STR("ops") } };
    return lanes;
}

static void write_run(struct trace_rest *rest, const struct op_run *run, struct lanes *lanes)
{
    const struct op   *op = &rest->profile->ops.items[run->op];
    struct trace_slice slice = { .start_ns = run->start_ns - rest->base_ns,
                                 .duration_ns = run->duration_ns > 0 ? run->duration_ns : 0,
                                 .name = layout_clean(rest->arena,
                                                      profile_str(rest->profile, op->name)),
                                 .category = run->is_accelerator ? "kernel" : "op" };
    struct str         type = layout_clean(rest->arena, profile_str(rest->profile, op->type));

    if (slice.name.len == 0)
        slice.name = STR("(no name)");
    if (type.len > 0)
        slice.arguments[slice.argument_count++] =
            (struct trace_argument) { .name = "type", .kind = ARGUMENT_TEXT, .text = type };
    lanes_add(lanes, &slice);
}

static void close_lanes(struct trace_rest *rest, struct lanes *lanes)
{
    if (!lanes)
        return;
    lanes_end(lanes);
    rest->left_out += lanes->left_out;
}

bool rest_runs(struct trace_rest *rest)
{
    size_t                count;
    const struct op_run **runs = sorted_runs(rest, &count);
    struct lanes         *lanes = NULL;
    uint64_t              process = 0;

    if (!runs)
        return false;
    for (size_t i = 0; i < count; i++) {
        bool is_other_device = i == 0 || runs[i]->device != runs[i - 1]->device;

        if (is_other_device)
            process = run_process(rest, runs[i]);
        if (is_other_device || runs[i]->stream != runs[i - 1]->stream) {
            close_lanes(rest, lanes);
            lanes = run_lanes(rest, runs[i], process);
            if (!lanes)
                return false;
        }
        write_run(rest, runs[i], lanes);
    }
    close_lanes(rest, lanes);
    return true;
}
