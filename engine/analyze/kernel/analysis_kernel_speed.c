/*
 * kernel speed: the same kernel for the same op and shapes, at different times: beside a collective
 * and alone, and early and late in the recording. Durations of one kernel differ for few reasons.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/kernel/kernel_times.h"
#include "base/sample.h"

enum speed_fact {
    CONTENDED_NS,
    CONTENDED_RATIO,
    CONTENDED_COUNT,
    CONTENDED_KERNEL,
    SLOWDOWN,
    SLOWDOWN_ALIKE,
    SLOWDOWN_KERNELS
};
static const struct fact_spec produces[] = {
    [CONTENDED_NS] = { "contention.ns", UNIT_NS,
                       "time a step that products lose while a collective runs" },
    [CONTENDED_RATIO] = { "contention.ratio", UNIT_RATIO,
                          "their time beside collectives over their time alone" },
    [CONTENDED_COUNT] = { "contention.kernels", UNIT_COUNT,
                          "different products seen five times in both ways" },
    [CONTENDED_KERNEL] = { "contention.kernel", UNIT_NAME, "the one that loses most" },
    [SLOWDOWN] = { "kernels.slowdown", UNIT_RATIO,
                   "median over kernels of late over early durations" },
    [SLOWDOWN_ALIKE] = { "kernels.slowdown_alike", UNIT_SHARE,
                         "of the kernels' time, those within 2 points of it" },
    [SLOWDOWN_KERNELS] = { "kernels.slowdown_kernels", UNIT_COUNT,
                           "different kernels that it is the median of" },
};
enum { FEWEST_CALLS = 5, FEWEST_KERNELS = 5, FEWEST_STEPS = 6 };

struct durations {
    VEC(double) list;
};
struct kernel_row {
    uint32_t         activity;
    bool             is_product;
    double           ns;
    struct durations alone, beside, early, late;
};
struct measuring {
    struct study       *study;
    struct windows      windows;
    struct arena       *scratch;
    struct kernel_times kernels;
    struct id_map       rows_by_key;
    VEC(struct kernel_row) rows;
};

static struct kernel_row *find_row(struct measuring *measuring, uint32_t event)
{
    const struct profile *profile = measuring->study->profile;
    uint32_t              activity = event_activity_id(profile, event);
    uint32_t              launch = measuring->study->devices->launch_of[event];
    uint64_t              key =
        (uint64_t)activity << 32 | (launch == NO_ID ? NO_ID : measuring->kernels.launchers[launch]);
    uint32_t          found = id_map_get(&measuring->rows_by_key, key);
    struct kernel_row row = { .activity = activity };

    if (found == NO_ID) {
        enum kernel_category category = measuring->kernels.names[activity].category;

        row.is_product = category == KERNEL_GEMM || category == KERNEL_CONV;
        found = (uint32_t)measuring->rows.count;
        if (!vec_push(&measuring->rows, measuring->scratch, row) ||
            !id_map_put(&measuring->rows_by_key, key, found))
            return NULL;
    }
    return &measuring->rows.items[found];
}

/* Beside: a collective runs for at least half of it; alone: for none of it. Early and late: in the
 * first and last third of the steps. */
static bool add_kernel(struct measuring *measuring, const struct device_row *device, uint32_t event)
{
    const struct profile *profile = measuring->study->profile;
    int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);
    double  ns = (double)(end_ns - start_ns);
    size_t  window = windows_find(&measuring->windows, start_ns), third;
    int64_t shared_ns = intervals_overlap_ns(&device->collectives, start_ns, end_ns);
    struct kernel_row *row;
    bool               is_added = true;

    if (window == SIZE_MAX || ns <= 0)
        return true;
    row = find_row(measuring, event);
    if (!row)
        return false;
    row->ns += ns;
    third = window * 3 / measuring->windows.count;
    if (row->is_product && shared_ns == 0)
        is_added = vec_push(&row->alone.list, measuring->scratch, ns);
    else if (row->is_product && (double)shared_ns * 2 >= ns)
        is_added = vec_push(&row->beside.list, measuring->scratch, ns);
    if (third == 0)
        is_added = is_added && vec_push(&row->early.list, measuring->scratch, ns);
    else if (third == 2)
        is_added = is_added && vec_push(&row->late.list, measuring->scratch, ns);
    return is_added;
}

static bool collect(struct measuring *measuring)
{
    const struct profile *profile = measuring->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline   *timeline = &profile->timelines.items[i];
        const struct device_row *device =
            device_activity_row(measuring->study->devices, timeline->device);

        if (!device || timeline->kind != TIMELINE_STREAM ||
            timeline->host != measuring->windows.host)
            continue;
        for (uint32_t j = 0; j < timeline->event_count; j++)
            if (event_activity(profile, timeline->first_event + j)->kind == ACTIVITY_KERNEL &&
                !add_kernel(measuring, device, timeline->first_event + j))
                return false;
    }
    return true;
}

static double median(struct durations *durations)
{
    return sample_middle(durations->list.items, durations->list.count);
}

static bool set_contention(struct measuring *measuring)
{
    struct facts *facts = &measuring->study->facts;
    double        lost_ns = 0, beside_ns = 0, alone_ns = 0, count = 0, most_ns = 0, name = 0;

    for (size_t i = 0; i < measuring->rows.count; i++) {
        struct kernel_row *row = &measuring->rows.items[i];
        double             calls = (double)row->beside.list.count, mine_ns;

        if (row->alone.list.count < FEWEST_CALLS || row->beside.list.count < FEWEST_CALLS)
            continue;
        mine_ns = calls * (median(&row->beside) - median(&row->alone));
        beside_ns += calls * median(&row->beside);
        alone_ns += calls * median(&row->alone);
        lost_ns += mine_ns;
        count++;
        if (mine_ns > most_ns) {
            most_ns = mine_ns;
            name = measuring->study->profile->activities.items[row->activity].name;
        }
    }
    if (count == 0)
        return facts_absent(facts, "contention.", NULL,
                            "no product was seen often enough both beside a collective and alone");
    return facts_set(facts, &produces[CONTENDED_NS], lost_ns / (double)measuring->windows.count) &&
           facts_set(facts, &produces[CONTENDED_RATIO], beside_ns / alone_ns) &&
           facts_set(facts, &produces[CONTENDED_COUNT], count) &&
           (name == 0 || facts_set(facts, &produces[CONTENDED_KERNEL], name));
}

static bool no_slowdown(struct facts *facts, const char *reason)
{
    for (size_t i = SLOWDOWN; i < ARRAY_COUNT(produces); i++)
        if (!facts_absent(facts, produces[i].name, NULL, "%s", reason))
            return false;
    return true;
}

static bool set_slowdown(struct measuring *measuring)
{
    struct facts *facts = &measuring->study->facts;
    double       *ratios = arena_new_array(measuring->scratch, double, measuring->rows.count + 1);
    double        middle, all_ns = 0, alike_ns = 0;
    size_t        count = 0;

    if (!ratios)
        return false;
    for (size_t i = 0; i < measuring->rows.count; i++) {
        struct kernel_row *row = &measuring->rows.items[i];

        if (row->early.list.count >= FEWEST_CALLS && row->late.list.count >= FEWEST_CALLS)
            ratios[count++] = median(&row->late) / median(&row->early);
    }
    if (count < FEWEST_KERNELS || measuring->windows.count < FEWEST_STEPS)
        return no_slowdown(facts,
                           "too few kernels run in enough steps to compare early and late ones");
    middle = sample_middle(ratios, count);
    for (size_t i = 0; i < measuring->rows.count; i++) {
        struct kernel_row *row = &measuring->rows.items[i];
        double             ratio;

        if (row->early.list.count < FEWEST_CALLS || row->late.list.count < FEWEST_CALLS)
            continue;
        ratio = median(&row->late) / median(&row->early);
        all_ns += row->ns;
        if (ratio > middle - 0.02 && ratio < middle + 0.02)
            alike_ns += row->ns;
    }
    return facts_set(facts, &produces[SLOWDOWN], middle) &&
           facts_set(facts, &produces[SLOWDOWN_ALIKE], alike_ns / all_ns) &&
           facts_set(facts, &produces[SLOWDOWN_KERNELS], (double)count);
}

static bool run(struct study *study, struct err *err)
{
    struct arena     scratch = { 0 };
    struct measuring measuring = { .study = study, .scratch = &scratch };
    bool             is_done;

    measuring.rows_by_key.arena = &scratch;
    if (study->devices && study->devices->launch_of)
        is_done = windows_make(study, &scratch, &measuring.windows) &&
                  kernel_times_get(study, &scratch, &measuring.kernels) && collect(&measuring) &&
                  set_contention(&measuring) && set_slowdown(&measuring);
    else
        is_done = facts_absent(&study->facts, "contention.", NULL,
                               "no accelerator's work is in the recording") &&
                  no_slowdown(&study->facts, "no accelerator's work is in the recording");
    arena_free(&scratch);
    return is_done || emit_limit("speeds of kernels", err);
}

const struct analysis analysis_kernel_speed = {
    .name = "kernel_speed",
    .summary = "the same kernels beside collectives and alone, early and late",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
