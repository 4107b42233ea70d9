/*
 * copies: bytes moved between host and devices, by direction and by what moved them. Device copies
 * are exposed where no kernel of that device hides them; the host's own transfer calls where no
 * accelerator is there to hide them. What instructions of a core begin and end is one copy, exposed
 * while the core stands in them.
 */
#include "analyze/analysis.h"
#include "analyze/device/async_ops.h"
#include "analyze/device/copies_beside.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "base/sort.h"

#include <stdlib.h>

enum direction_fact { F_COUNT, F_BYTES, F_NS, F_EXPOSED_NS, F_EXPOSED_SHARE, PER_DIRECTION };
enum {
    H2D = 0,
    D2H = PER_DIRECTION,
    D2D = 2 * PER_DIRECTION,
    P2P = 3 * PER_DIRECTION,
    PAGEABLE_BYTES = 4 * PER_DIRECTION,
    PAGEABLE_NS,
    TRANSFER_COUNT,
    TRANSFER_NS,
    TRANSFER_BYTES,
    DEVICES,
    BESIDE_SHARE,
    FACT_COUNT
};
/* clang-format off */
#define DIRECTION(id, name, text)                                                                  \
    [id + F_COUNT] = { "copies." name "_count", UNIT_COUNT, "copies a step, " text },              \
    [id + F_BYTES] = { "copies." name "_bytes", UNIT_BYTES, "bytes a step, " text },               \
    [id + F_NS] = { "copies." name "_ns", UNIT_NS, "copying time a step, " text },                 \
    [id + F_EXPOSED_NS] = { "copies." name "_exposed_ns", UNIT_NS, "of that, hidden by no kernel" }, \
    [id + F_EXPOSED_SHARE] = { "copies." name "_exposed_share", UNIT_SHARE, "exposed over the step" }
static const struct fact_spec produces[] = {
    DIRECTION(H2D, "h2d", "host to device"),
    DIRECTION(D2H, "d2h", "device to host"),
    DIRECTION(D2D, "d2d", "inside a device"),
    DIRECTION(P2P, "p2p", "between devices"),
    [PAGEABLE_BYTES] = { "copies.pageable_bytes", UNIT_BYTES, "bytes a step from or to pageable memory" },
    [PAGEABLE_NS] = { "copies.pageable_ns", UNIT_NS, "time a step of those copies" },
    [TRANSFER_COUNT] = { "copies.host_transfer_count", UNIT_COUNT, "transfer calls of the host a step" },
    [TRANSFER_NS] = { "copies.host_transfer_ns", UNIT_NS, "time of the host in transfer calls a step" },
    [TRANSFER_BYTES] = { "copies.host_transfer_bytes", UNIT_BYTES, "bytes of transfer calls a step" },
    [DEVICES] = { "copies.h2d_devices", UNIT_COUNT, "devices of the host that it copies to" },
    [BESIDE_SHARE] = { "copies.h2d_beside_share", UNIT_SHARE,
                       "of the time with copies to devices, that with copies to two or more at once" },
};
/* clang-format on */
#undef DIRECTION

enum copies_column {
    DIRECTION,
    NAME,
    KIND,
    WHERE,
    COUNT,
    BYTES,
    MEAN_BYTES,
    NS,
    EXPOSED_NS,
    SHARE,
    BANDWIDTH,
    IS_PAGEABLE,
    SOURCE_FILE,
    SOURCE_LINE
};
static const struct column_spec columns[] = {
    [DIRECTION] = { "direction", UNIT_NAME, "h2d, d2h, d2d, p2p, h2h" },
    [NAME] = { "name", UNIT_NAME, "copy or call" },
    [KIND] = { "kind", UNIT_NAME, "memory kinds" },
    [WHERE] = { "where", UNIT_NAME, "device or host; how many where devices do the same" },
    [COUNT] = { "count", UNIT_COUNT, "a step" },
    [BYTES] = { "bytes", UNIT_BYTES, "a step" },
    [MEAN_BYTES] = { "mean_bytes", UNIT_BYTES, "of one copy" },
    [NS] = { "ns", UNIT_NS, "time a step; of those that share a link, each by its bytes" },
    [EXPOSED_NS] = { "exposed_ns", UNIT_NS, "time a step that no kernel hides" },
    [SHARE] = { "exposed_share", UNIT_SHARE, "exposed time over the step" },
    [BANDWIDTH] = { "bytes_per_s", UNIT_BYTES_PER_S, "bytes over time" },
    [IS_PAGEABLE] = { "is_pageable", UNIT_BOOL,
                      "one side is pageable host memory, where it is told" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "copies", "copies by kind and origin", columns, ARRAY_COUNT(columns) },
};

enum pageable { PAGEABLE_NO, PAGEABLE_YES, PAGEABLE_UNKNOWN };
struct copy_sum {
    uint32_t activity, kind, device;
    uint8_t  direction;
    bool     is_host;  /* a call on a host thread rather than work of a device */
    uint8_t  pageable; /* enum pageable */
    uint32_t last_device, device_count;
    double   count, bytes, ns, exposed_ns;
};
struct summer {
    const struct study    *study;
    const struct windows  *windows, *called; /* of what ran, and of the calls that asked for it */
    const struct timeline *marking;          /* the thread that marks the steps, or NULL */
    struct arena          *scratch;
    struct id_map          rows_by_key;
    struct async_ops       async;
    struct copies_beside   beside;
    VEC(struct copy_sum) rows;
};

/* Memory of devices never is; of a host's the recording must tell. */
static enum pageable pageable_of(const struct profile *profile, const struct activity *activity,
                                 uint32_t kind, bool is_host)
{
    struct str name = profile_str(profile, activity->name), kinds = profile_str(profile, kind);

    if (str_contains(name, STR("ageable")) || str_contains(kinds, STR("ageable")))
        return PAGEABLE_YES;
    if (!is_host && (activity->copy == COPY_D2D || activity->copy == COPY_P2P))
        return PAGEABLE_NO;
    return kinds.len && !str_contains(kinds, STR("nknown")) ? PAGEABLE_NO : PAGEABLE_UNKNOWN;
}

static struct copy_sum *find_row(struct summer *summer, uint32_t event, uint32_t device)
{
    const struct profile  *profile = summer->study->profile;
    const struct activity *activity = event_activity(profile, event);
    int64_t                kind = 0;
    uint64_t               key;
    uint32_t               found;

    if (!profile_stat(profile, STAT_COPY_KIND, event, &kind))
        kind = 0;
    /* Devices that do the same share a row. */
    key =
        (uint64_t)event_activity_id(profile, event) << 32 ^ (uint64_t)kind << 8 ^ (device != NO_ID);
    found = id_map_get(&summer->rows_by_key, key);
    if (found == NO_ID) {
        struct copy_sum row = { .activity = event_activity_id(profile, event),
                                .kind = (uint32_t)kind,
                                .device = device,
                                .last_device = NO_ID,
                                .direction = activity->copy,
                                .is_host = device == NO_ID };

        row.pageable = (uint8_t)pageable_of(profile, activity, row.kind, row.is_host);
        found = (uint32_t)summer->rows.count;
        if (!vec_push(&summer->rows, summer->scratch, row) ||
            !id_map_put(&summer->rows_by_key, key, found))
            return NULL;
    }
    if (device != summer->rows.items[found].last_device)
        summer->rows.items[found].device_count++;
    summer->rows.items[found].last_device = device;
    return &summer->rows.items[found];
}

/* What a copy carries: as recorded, else what its instruction says. */
static double bytes_of(const struct profile *profile, uint32_t event)
{
    uint32_t op = event_activity(profile, event)->op;
    int64_t  bytes = 0;

    if (!profile_stat(profile, STAT_BYTES, event, &bytes) && op != NO_ID)
        bytes = profile->ops.items[op].bytes;
    return bytes > 0 ? (double)bytes : 0;
}

static bool add_async(struct summer *summer)
{
    const struct profile *profile = summer->study->profile;

    for (size_t i = 0; i < summer->async.list.count; i++) {
        const struct async_op *copy = &summer->async.list.items[i];
        struct copy_sum       *row;

        if (event_activity(profile, copy->start_event)->kind != ACTIVITY_MEMCPY ||
            windows_find(summer->windows, copy->start_ns) == SIZE_MAX)
            continue;
        row = find_row(summer, copy->start_event, copy->device);
        if (!row)
            return false;
        row->count++;
        row->ns += copy->own_ns;
        row->bytes += copy->bytes;
        row->exposed_ns += copy->blocked_ns;
    }
    return true;
}

static bool add_event(struct summer *summer, uint32_t event, uint32_t device)
{
    const struct profile    *profile = summer->study->profile;
    const struct device_row *busy = device_activity_row(summer->study->devices, device);
    int64_t                  start_ns = event_start_ns(profile, event);
    int64_t                  end_ns = event_end_ns(profile, event);
    struct copy_sum         *row = find_row(summer, event, device);

    if (!row)
        return false;
    row->count++;
    row->ns += (double)(end_ns - start_ns);
    row->bytes += bytes_of(profile, event);
    row->exposed_ns += (double)(end_ns - start_ns);
    if (busy)
        row->exposed_ns -= (double)(intervals_overlap_ns(&busy->compute, start_ns, end_ns));
    return true;
}

/* The thread whose marks the steps of the host are, or NULL. */
static const struct timeline *find_marking(const struct study *study, uint32_t host)
{
    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host == host && step->timeline < study->profile->timelines.count)
            return &study->profile->timelines.items[step->timeline];
    }
    return NULL;
}

/* The call that asked for a copy, if it was made on the thread that marks the steps: threads of a
 * runtime ask for copies of a step at any time. NO_ID: it was not, or is not known. */
static uint32_t call_of(const struct summer *summer, uint32_t event)
{
    const struct device_activity *devices = summer->study->devices;
    uint32_t launch = devices && devices->launch_of ? devices->launch_of[event] : NO_ID;

    return summer->marking && launch != NO_ID &&
                   launch - summer->marking->first_event < summer->marking->event_count
               ? launch
               : NO_ID;
}

/* Whether a copy is one of the steps': of the step that asked for it, if that is known, for copies
 * may be made ahead of their step's work. */
static bool is_of_steps(const struct summer *summer, uint32_t event)
{
    const struct profile *profile = summer->study->profile;
    uint32_t              call = call_of(summer, event);

    return call == NO_ID ? windows_find(summer->windows, event_start_ns(profile, event)) != SIZE_MAX
                         : windows_find(summer->called, event_start_ns(profile, call)) != SIZE_MAX;
}

/* On host threads only the outermost transfer counts: runtimes nest several for one transfer. Where
 * devices recorded the copies themselves, the calls that asked for them would count twice. */
static bool add_timeline(struct summer *summer, const struct timeline *timeline)
{
    const struct profile *profile = summer->study->profile;
    bool                  is_host = timeline->device == NO_ID;
    int64_t               transfer_end_ns = INT64_MIN;

    if (is_host && summer->study->devices && summer->study->devices->rows.count > 0)
        return true;
    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t event = timeline->first_event + j;
        uint8_t  kind = event_activity(profile, event)->kind;
        int64_t  start_ns = event_start_ns(profile, event);

        if (kind != (is_host ? ACTIVITY_TRANSFER : ACTIVITY_MEMCPY) || !is_of_steps(summer, event))
            continue;
        if (is_host && start_ns < transfer_end_ns)
            continue;
        if (summer->async.is_part && summer->async.is_part[event])
            continue;
        transfer_end_ns = event_end_ns(profile, event);
        if (!add_event(summer, event, timeline->device) ||
            (!is_host && event_activity(profile, event)->copy == COPY_H2D &&
             !copies_beside_add(&summer->beside, timeline->device, start_ns, transfer_end_ns,
                                summer->scratch)))
            return false;
    }
    return true;
}

/* Of copies on devices the mean of these is told. */
static void take_means(struct summer *summer)
{
    double devices = device_activity_count(summer->study, summer->windows);

    for (size_t i = 0; i < summer->rows.count; i++) {
        struct copy_sum *sum = &summer->rows.items[i];

        if (sum->is_host)
            continue;
        sum->count /= devices;
        sum->bytes /= devices;
        sum->ns /= devices;
        sum->exposed_ns /= devices;
    }
}

static bool sum_all(struct summer *summer)
{
    const struct profile *profile = summer->study->profile;

    if (!async_ops_find(profile, summer->windows->host, summer->scratch, &summer->async) ||
        !add_async(summer))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->host != summer->windows->host ||
            (timeline->kind != TIMELINE_THREAD && timeline->kind != TIMELINE_STREAM &&
             timeline->kind != TIMELINE_OPS))
            continue;
        if (!add_timeline(summer, timeline))
            return false;
    }
    take_means(summer);
    return copies_beside_sum(&summer->beside, profile->devices.count + 1, summer->scratch);
}

static int compare_rows(const void *a, const void *b)
{
    const struct copy_sum *left = a, *right = b;

    return IN_ORDER(COMPARE(right->exposed_ns, left->exposed_ns),
                    COMPARE(left->activity, right->activity), COMPARE(left->kind, right->kind));
}

static void fill_row(struct study *study, const struct windows *windows, struct table *table,
                     size_t row, const struct copy_sum *sum)
{
    static const char *const directions[] = {
        [COPY_NONE] = "unknown", [COPY_H2D] = "h2d", [COPY_D2H] = "d2h",
        [COPY_D2D] = "d2d",      [COPY_P2P] = "p2p", [COPY_H2H] = "h2h"
    };
    const struct profile  *profile = study->profile;
    const struct activity *activity = &profile->activities.items[sum->activity];
    double                 steps = (double)windows->count;

    if (sum->direction < ARRAY_COUNT(directions))
        emit_name(table, DIRECTION, row,
                  facts_name(&study->facts, str_from(directions[sum->direction])));
    emit_name(table, NAME, row,
              activity->op == NO_ID ? activity->name : profile->ops.items[activity->op].name);
    emit_name(table, KIND, row, sum->kind);
    emit_name(table, WHERE, row,
              sum->is_host            ? facts_name(&study->facts, STR("host"))
              : sum->device_count > 1 ? emit_devices(study, sum->device_count)
                                      : profile->devices.items[sum->device].name);
    emit_number(table, COUNT, row, sum->count / steps);
    emit_number(table, BYTES, row, sum->bytes / steps);
    emit_number(table, MEAN_BYTES, row, sum->bytes / sum->count);
    emit_number(table, NS, row, sum->ns / steps);
    emit_number(table, EXPOSED_NS, row, sum->exposed_ns / steps);
    emit_number(table, SHARE, row, sum->exposed_ns / (double)windows->total_ns);
    if (sum->ns > 0 && sum->bytes > 0)
        emit_number(table, BANDWIDTH, row, sum->bytes / sum->ns * 1e9);
    if (sum->pageable != PAGEABLE_UNKNOWN)
        emit_number(table, IS_PAGEABLE, row, sum->pageable == PAGEABLE_YES);
    emit_source(profile, table, SOURCE_FILE, row, activity->source);
}

static void add_to_facts(const struct copy_sum *sum, double steps, double values[FACT_COUNT])
{
    static const int first_of[] = { [COPY_NONE] = -1, [COPY_H2D] = H2D, [COPY_D2H] = D2H,
                                    [COPY_D2D] = D2D, [COPY_P2P] = P2P, [COPY_H2H] = -1 };
    int              first = sum->direction < ARRAY_COUNT(first_of) ? first_of[sum->direction] : -1;

    if (sum->is_host) {
        values[TRANSFER_COUNT] += sum->count / steps;
        values[TRANSFER_NS] += sum->ns / steps;
        values[TRANSFER_BYTES] += sum->bytes / steps;
        return;
    }
    if (sum->pageable == PAGEABLE_YES) {
        values[PAGEABLE_BYTES] += sum->bytes / steps;
        values[PAGEABLE_NS] += sum->ns / steps;
    }
    if (first < 0)
        return;
    values[first + F_COUNT] += sum->count / steps;
    values[first + F_BYTES] += sum->bytes / steps;
    values[first + F_NS] += sum->ns / steps;
    values[first + F_EXPOSED_NS] += sum->exposed_ns / steps;
}

/* Whether no copy tells of host memory what it is, though some are from or to it. */
static bool hides_kinds(const struct summer *summer)
{
    bool is_told = false, is_hidden = false;

    for (size_t i = 0; i < summer->rows.count; i++) {
        const struct copy_sum *sum = &summer->rows.items[i];
        bool                   is_hosts = sum->direction == COPY_H2D || sum->direction == COPY_D2H;

        is_told = is_told || (is_hosts && !sum->is_host && sum->pageable != PAGEABLE_UNKNOWN);
        is_hidden = is_hidden || (is_hosts && !sum->is_host && sum->pageable == PAGEABLE_UNKNOWN);
    }
    return is_hidden && !is_told;
}

static bool emit_all(struct study *study, struct summer *summer)
{
    struct table *table = facts_table(&study->facts, &tables[0]);
    double        values[FACT_COUNT] = { 0 }, steps = (double)summer->windows->count;
    double        step_ns = (double)summer->windows->total_ns / steps;
    bool          is_set = table != NULL;

    if (summer->rows.count > 1)
        qsort(summer->rows.items, summer->rows.count, sizeof *summer->rows.items, compare_rows);
    for (size_t i = 0; table && i < summer->rows.count; i++) {
        size_t row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        fill_row(study, summer->windows, table, row, &summer->rows.items[i]);
        add_to_facts(&summer->rows.items[i], steps, values);
    }
    for (int first = 0; first < PAGEABLE_BYTES; first += PER_DIRECTION)
        values[first + F_EXPOSED_SHARE] = values[first + F_EXPOSED_NS] / step_ns;
    for (size_t i = 0; i < DEVICES; i++)
        if ((i != PAGEABLE_BYTES && i != PAGEABLE_NS) || !hides_kinds(summer))
            is_set = is_set && facts_set(&study->facts, &produces[i], values[i]);
    if (summer->beside.device_count > 1)
        is_set = is_set &&
                 facts_set(&study->facts, &produces[DEVICES], summer->beside.device_count) &&
                 facts_set(&study->facts, &produces[BESIDE_SHARE],
                           (double)summer->beside.several_ns / (double)summer->beside.any_ns);
    return is_set && (!hides_kinds(summer) ||
                      facts_absent(&study->facts, "copies.pageable_", NULL,
                                   "the recording does not tell which host memory is pageable"));
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct windows windows, called;
    struct summer  summer = {
         .study = study, .windows = &windows, .called = &called, .scratch = &scratch
    };
    bool is_done;

    summer.rows_by_key.arena = &scratch;
    is_done =
        windows_make(study, &scratch, &windows) && windows_make_called(study, &scratch, &called);
    summer.marking = is_done ? find_marking(study, windows.host) : NULL;
    is_done = is_done && sum_all(&summer);
    if (is_done && summer.rows.count == 0)
        is_done = facts_absent(&study->facts, "copies|copies.", NULL,
                               "no copy between memories is in the recorded steps");
    else if (is_done)
        is_done = emit_all(study, &summer);
    if (is_done && summer.rows.count > 0 && summer.beside.device_count < 2)
        is_done = facts_absent(&study->facts, "copies.h2d_devices|copies.h2d_beside_share", NULL,
                               "the host copies to no second device");
    arena_free(&scratch);
    return is_done || emit_limit("the table of copies", err);
}

const struct analysis analysis_copies = {
    .name = "copies",
    .summary = "bytes moved between host and devices",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
