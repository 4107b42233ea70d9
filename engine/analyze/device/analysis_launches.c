/*
 * launches: launch calls and kernel starts that take far longer than the others, where nothing was
 * queued before them; and kernels that seem to start before their launch.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/step/start_up.h"
#include "base/sample.h"

enum launch_fact { LINKED, SLOW, SLOW_SHARE, EXCESS_NS, WORST_NS, EARLY_SHARE, FACT_COUNT };
static const struct fact_spec produces[] = {
    [LINKED] = { "launch.linked_count", UNIT_COUNT, "launches with a known kernel, all steps" },
    [SLOW] = { "launch.slow_count", UNIT_COUNT,
               "launches a step of over 50 us, or with a kernel that starts over 100 us later "
               "though nothing was queued" },
    [SLOW_SHARE] = { "launch.slow_share", UNIT_SHARE, "share of launches" },
    [EXCESS_NS] = { "launch.slow_excess_ns", UNIT_NS,
                    "their time a step above the median of all, while the device was idle" },
    [WORST_NS] = { "launch.slow_worst_ns", UNIT_NS, "longest from the call to the kernel" },
    [EARLY_SHARE] = { "launch.early_share", UNIT_SHARE,
                      "share of kernels that start before the call that launched them" },
};
static const int64_t SLOW_CALL_NS = 50000, SLOW_START_NS = 100000;

struct looking {
    const struct study   *study;
    const struct windows *windows;
    struct arena         *scratch;
    const int64_t **busy_sums; /* by device, of its busy intervals, once: queues may be long */
    VEC(double) excess_ns, latency_ns;
    double linked, early, slow, worst_ns;
};

/* From the launch to the kernel's start the device did nothing: the launch itself was slow. */
static bool add_kernel(struct looking *looking, const struct device_row *row,
                       const int64_t *busy_sums, uint32_t event)
{
    const struct profile *profile = looking->study->profile;
    uint32_t              launch = looking->study->devices->launch_of[event];
    int64_t               start_ns = event_start_ns(profile, event), launched_ns, latency_ns;
    double                idle_ns;

    if (launch == NO_ID || start_up_has(looking->study, launch) ||
        windows_find(looking->windows, start_ns) == SIZE_MAX)
        return true;
    launched_ns = event_start_ns(profile, launch);
    latency_ns = start_ns - launched_ns;
    looking->linked++;
    looking->early += latency_ns < 0;
    if (!vec_push(&looking->latency_ns, looking->scratch, (double)latency_ns))
        return false;
    if (latency_ns <= 0 ||
        (event_duration_ns(profile, launch) <= SLOW_CALL_NS && latency_ns <= SLOW_START_NS))
        return true;
    idle_ns =
        (double)(latency_ns - intervals_overlap_by(&row->busy, busy_sums, launched_ns, start_ns));
    if (idle_ns * 2 < (double)latency_ns) /* it waited behind other work */
        return true;
    looking->slow++;
    if ((double)latency_ns > looking->worst_ns)
        looking->worst_ns = (double)latency_ns;
    return vec_push(&looking->excess_ns, looking->scratch, idle_ns);
}

static bool look(struct looking *looking)
{
    const struct profile *profile = looking->study->profile;

    looking->busy_sums =
        arena_new_array(looking->scratch, const int64_t *, looking->study->devices->rows.count + 1);
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline   *timeline = &profile->timelines.items[i];
        const struct device_row *row =
            device_activity_row(looking->study->devices, timeline->device);
        const int64_t **sums;

        if (!row || timeline->kind != TIMELINE_STREAM || timeline->host != looking->windows->host)
            continue;
        sums = looking->busy_sums ? &looking->busy_sums[row - looking->study->devices->rows.items]
                                  : NULL;
        if (!sums || (!*sums && !(*sums = intervals_sums(&row->busy, looking->scratch))))
            return false;
        for (uint32_t j = 0; j < timeline->event_count; j++)
            if (event_activity(profile, timeline->first_event + j)->kind == ACTIVITY_KERNEL &&
                !add_kernel(looking, row, *sums, timeline->first_event + j))
                return false;
    }
    return true;
}

static bool set_facts(struct study *study, struct looking *looking)
{
    double values[FACT_COUNT] = { 0 }, steps = (double)looking->windows->count;
    double median_ns = sample_middle(looking->latency_ns.items, looking->latency_ns.count);
    bool   is_set = true;

    for (size_t i = 0; i < looking->excess_ns.count; i++)
        if (looking->excess_ns.items[i] > median_ns)
            values[EXCESS_NS] += (looking->excess_ns.items[i] - median_ns) / steps;
    values[LINKED] = looking->linked;
    values[SLOW] = looking->slow / steps;
    values[SLOW_SHARE] = looking->slow / looking->linked;
    values[WORST_NS] = looking->worst_ns;
    values[EARLY_SHARE] = looking->early / looking->linked;
    for (size_t i = 0; i < FACT_COUNT; i++)
        is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct windows windows;
    struct looking looking = { .study = study, .windows = &windows, .scratch = &scratch };
    bool           is_done = windows_make(study, &scratch, &windows);

    if (is_done && study->devices && study->devices->launch_of)
        is_done = look(&looking);
    if (is_done && looking.linked > 0) {
        is_done = set_facts(study, &looking);
    } else {
        for (size_t i = 0; i < FACT_COUNT; i++)
            is_done =
                is_done && facts_absent(&study->facts, produces[i].name, NULL,
                                        "no kernel of the recorded steps is linked to its launch");
    }
    arena_free(&scratch);
    return is_done || emit_limit("launches", err);
}

const struct analysis analysis_launches = {
    .name = "launches",
    .summary = "launches that take far longer than the others",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
