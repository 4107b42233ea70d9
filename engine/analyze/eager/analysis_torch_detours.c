/*
 * torch detours: downloads that a PyTorch program waits for and then works on with the CPU, while
 * the device has nothing to do: metrics over all logits, indices that numpy sorts. A detour lasts
 * from the op that downloads to the next launch of a kernel, by whichever thread.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "base/sort.h"

#include <stdlib.h>

enum { LEAST_BYTES = 1024 }; /* fewer are single values, which are read */
enum detour_fact { COUNT, BYTES, HOST_NS, OPS_NS, RETURNS };
static const struct fact_spec produces[] = {
    [COUNT] = { "torch.detours", UNIT_COUNT,
                "times a step that the host waits for a download and goes on with it on the CPU" },
    [BYTES] = { "torch.detour_bytes", UNIT_BYTES, "downloaded so a step" },
    [HOST_NS] = { "torch.detour_ns", UNIT_NS,
                  "from there to the next launch of a kernel, further copies left out, a step" },
    [OPS_NS] = { "torch.detour_ops_ns", UNIT_NS, "of that ops on the CPU" },
    [RETURNS] = { "torch.detour_returns", UNIT_COUNT, "of them, those that end in an upload" },
};

enum work { WORK_DOWNLOAD = 1, WORK_UPLOAD = 2, WORK_KERNEL = 4, WORK_WAIT = 8 };
struct outermost { /* an op that is in no other, with what it enqueues */
    int64_t  start_ns, end_ns;
    double   bytes; /* downloaded */
    unsigned work;  /* enum work */
};
struct detour {
    int64_t from_ns, until_ns;
    double  bytes, copies_ns, ops_ns;
    bool    is_open, returns;
};
struct looking {
    struct study  *study;
    struct windows windows;
    struct arena  *scratch;
    uint8_t       *work;   /* by event of a thread: enum work that it enqueues */
    double        *bytes;  /* by the same */
    VEC(int64_t) launches; /* of kernels */
    struct outermost op;   /* of the thread that is looked at */
    struct detour    detour;
    double           values[ARRAY_COUNT(produces)];
};

static int compare_times(const void *a, const void *b)
{
    return COMPARE(*(const int64_t *)a, *(const int64_t *)b);
}

static bool add_work(struct looking *looking, uint32_t event)
{
    const struct profile  *profile = looking->study->profile;
    const struct activity *activity = event_activity(profile, event);
    uint32_t               launch = looking->study->devices->launch_of[event];
    int64_t                bytes = 0;

    if (launch == NO_ID)
        return true;
    if (activity->kind == ACTIVITY_KERNEL || activity->kind == ACTIVITY_COLLECTIVE) {
        looking->work[launch] |= WORK_KERNEL;
        return vec_push(&looking->launches, looking->scratch, event_start_ns(profile, launch));
    }
    if (activity->kind != ACTIVITY_MEMCPY || !profile_stat(profile, STAT_BYTES, event, &bytes) ||
        bytes < LEAST_BYTES)
        return true;
    if (activity->copy == COPY_H2D)
        looking->work[launch] |= WORK_UPLOAD;
    if (activity->copy == COPY_D2H) {
        looking->work[launch] |= WORK_DOWNLOAD;
        looking->bytes[launch] += (double)bytes;
    }
    return true;
}

static bool find_work(struct looking *looking)
{
    const struct profile *profile = looking->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        for (uint32_t j = 0; timeline->kind == TIMELINE_STREAM && j < timeline->event_count; j++)
            if (!add_work(looking, timeline->first_event + j))
                return false;
    }
    if (looking->launches.count > 1)
        qsort(looking->launches.items, looking->launches.count, sizeof *looking->launches.items,
              compare_times);
    return true;
}

/* The first launch of a kernel from the end of the op on; without one the end of its step. */
static int64_t next_launch(const struct looking *looking, const struct outermost *op)
{
    size_t  window = windows_find(&looking->windows, op->start_ns);
    int64_t time_ns = op->end_ns;
    size_t  low = LOWER_BOUND(looking->launches.count, i, looking->launches.items[i] < time_ns);

    if (low < looking->launches.count)
        return looking->launches.items[low];
    if (window != SIZE_MAX && looking->windows.items[window].end_ns > time_ns)
        return looking->windows.items[window].end_ns;
    return time_ns;
}

static void close_detour(struct looking *looking)
{
    struct detour *detour = &looking->detour;

    if (detour->is_open) {
        looking->values[COUNT]++;
        looking->values[BYTES] += detour->bytes;
        looking->values[HOST_NS] +=
            (double)(detour->until_ns - detour->from_ns) - detour->copies_ns;
        looking->values[OPS_NS] += detour->ops_ns;
        looking->values[RETURNS] += detour->returns;
    }
    *detour = (struct detour) { 0 };
}

static void open_detour(struct looking *looking, const struct outermost *op)
{
    close_detour(looking);
    if (windows_find(&looking->windows, op->start_ns) == SIZE_MAX)
        return;
    looking->detour = (struct detour) { .from_ns = op->end_ns,
                                        .until_ns = next_launch(looking, op),
                                        .bytes = op->bytes,
                                        .is_open = true };
}

static void end_op(struct looking *looking)
{
    const struct outermost op = looking->op;
    struct detour         *detour = &looking->detour;
    double                 ns = (double)(op.end_ns - op.start_ns);
    bool                   downloads = op.work & WORK_DOWNLOAD && op.work & WORK_WAIT;

    looking->op = (struct outermost) { .end_ns = INT64_MIN };
    if (op.end_ns == INT64_MIN)
        return;
    if (!detour->is_open || op.start_ns >= detour->until_ns) {
        if (downloads)
            open_detour(looking, &op);
        return;
    }
    if (downloads) /* a kernel may only make what it copies */
        detour->until_ns = next_launch(looking, &op);
    if (downloads || op.work & WORK_UPLOAD) {
        detour->bytes += op.bytes;
        detour->copies_ns += ns;
        detour->returns = detour->returns || op.work & WORK_UPLOAD;
    } else if (!(op.work & WORK_KERNEL)) {
        detour->ops_ns += ns;
    }
}

static void walk(struct looking *looking, const struct timeline *timeline)
{
    const struct profile *profile = looking->study->profile;

    looking->op = (struct outermost) { .end_ns = INT64_MIN };
    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t event = timeline->first_event + j;
        uint8_t  kind = event_activity(profile, event)->kind;

        if (event_start_ns(profile, event) >= looking->op.end_ns)
            end_op(looking);
        if (kind == ACTIVITY_OP && looking->op.end_ns == INT64_MIN)
            looking->op = (struct outermost) { .start_ns = event_start_ns(profile, event),
                                               .end_ns = event_end_ns(profile, event) };
        looking->op.work |= looking->work[event] | (kind == ACTIVITY_SYNC ? WORK_WAIT : 0);
        looking->op.bytes += looking->bytes[event];
    }
    end_op(looking);
    close_detour(looking);
}

static bool examine(struct looking *looking)
{
    struct study         *study = looking->study;
    const struct profile *profile = study->profile;
    bool                  is_set = true;

    looking->work = arena_new_array(looking->scratch, uint8_t, (size_t)profile->event_count + 1);
    looking->bytes = arena_new_array(looking->scratch, double, (size_t)profile->event_count + 1);
    if (!looking->work || !looking->bytes ||
        !windows_make_called(study, looking->scratch, &looking->windows) || !find_work(looking))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_THREAD &&
            profile->timelines.items[i].host == looking->windows.host)
            walk(looking, &profile->timelines.items[i]);
    for (size_t i = 0; i < ARRAY_COUNT(produces); i++)
        is_set = is_set && facts_set(&study->facts, &produces[i],
                                     looking->values[i] / (double)looking->windows.count);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    const struct profile *profile = study->profile;
    struct arena          scratch = { 0 };
    struct looking        looking = { .study = study, .scratch = &scratch };
    bool                  is_done = true;

    if (str_equal(profile_str(profile, profile->framework), STR("pytorch")) &&
        profile->event_count > 0 && study->devices && study->devices->launch_of)
        is_done = examine(&looking);
    else
        is_done = facts_absent(&study->facts, "torch.detour", NULL,
                               "no accelerator of a PyTorch program is in the recording");
    arena_free(&scratch);
    return is_done || emit_limit("detours over the CPU", err);
}

const struct analysis analysis_torch_detours = {
    .name = "torch_detours",
    .summary = "downloads that a PyTorch program waits for and works on with the CPU",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
