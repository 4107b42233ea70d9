/*
 * An XSpace repeated inside its own planes: the n-th copy of a line's events is n recordings later,
 * and so are the numbers that tell steps, runs and iterators apart, so that the copies look like
 * one long capture.
 */
#include "bench_make.h"

#include <stdlib.h>
#include <string.h>
#include <xplane.pb-c.h>

typedef Tensorflow__Profiler__XSpace xspace;
typedef Tensorflow__Profiler__XPlane xplane;
typedef Tensorflow__Profiler__XLine  xline;
typedef Tensorflow__Profiler__XEvent xevent;
typedef Tensorflow__Profiler__XStat  xstat;

/* Stats that number something which each copy has anew. */
static const char *const identities[] = {
    "step_num",    "group_id",       "run_id",         "_p",
    "_c",          "correlation_id", "step_id",        "launch_id",
    "producer_id", "consumer_id",    "parent_step_id", "request_id"
};
enum { IDENTITY_COUNT = sizeof identities / sizeof *identities };

struct identity {
    uint64_t lowest, highest; /* over the recording */
};
struct repeat {
    int64_t         span_ps;
    struct identity identity[IDENTITY_COUNT];
};

static int identity_of(const xplane *plane, const xstat *stat)
{
    for (size_t i = 0; i < plane->n_stat_metadata; i++) {
        if (plane->stat_metadata[i]->key != stat->metadata_id || !plane->stat_metadata[i]->value)
            continue;
        for (int n = 0; n < IDENTITY_COUNT; n++)
            if (strcmp(plane->stat_metadata[i]->value->name, identities[n]) == 0)
                return n;
    }
    return -1;
}

/* Where the stat's number is, or NULL. */
static uint64_t *number_of(xstat *stat)
{
    if (stat->value_case == TENSORFLOW__PROFILER__XSTAT__VALUE_UINT64_VALUE)
        return &stat->uint64_value;
    if (stat->value_case == TENSORFLOW__PROFILER__XSTAT__VALUE_INT64_VALUE)
        return (uint64_t *)&stat->int64_value;
    return NULL;
}

/* Keeps in metadata_id's place for later whether a stat is an identity: beside the stat. */
struct shifted {
    uint64_t *number, recorded;
    int       identity;
};
struct line_plan {
    xline           *line;
    struct shifted **stats; /* by event */
    size_t          *stat_counts;
    int64_t         *offsets_ps;
};

static struct line_plan plan_line(const xplane *plane, xline *line, struct repeat *repeat)
{
    struct line_plan plan = { line, calloc(line->n_events + 1, sizeof *plan.stats),
                              calloc(line->n_events + 1, sizeof *plan.stat_counts),
                              calloc(line->n_events + 1, sizeof *plan.offsets_ps) };

    for (size_t e = 0; e < line->n_events; e++) {
        xevent *event = line->events[e];

        plan.offsets_ps[e] = event->offset_ps;
        plan.stats[e] = calloc(event->n_stats + 1, sizeof **plan.stats);
        for (size_t s = 0; s < event->n_stats; s++) {
            struct shifted shifted = { .number = number_of(event->stats[s]) };

            shifted.identity = shifted.number ? identity_of(plane, event->stats[s]) : -1;
            if (shifted.identity < 0)
                continue;
            shifted.recorded = *shifted.number;
            plan.stats[e][plan.stat_counts[e]++] = shifted;

            struct identity *range = &repeat->identity[shifted.identity];
            if (shifted.recorded < range->lowest)
                range->lowest = shifted.recorded;
            if (shifted.recorded > range->highest)
                range->highest = shifted.recorded;
        }
    }
    return plan;
}

static void shift_event(const struct line_plan *plan, size_t e, uint64_t copy,
                        const struct repeat *repeat)
{
    xevent *event = plan->line->events[e];

    if (event->data_case == TENSORFLOW__PROFILER__XEVENT__DATA_OFFSET_PS ||
        event->data_case == TENSORFLOW__PROFILER__XEVENT__DATA__NOT_SET) {
        event->data_case = TENSORFLOW__PROFILER__XEVENT__DATA_OFFSET_PS;
        event->offset_ps = plan->offsets_ps[e] + (int64_t)copy * repeat->span_ps;
    }
    for (size_t s = 0; s < plan->stat_counts[e]; s++) {
        const struct shifted  *shifted = &plan->stats[e][s];
        const struct identity *range = &repeat->identity[shifted->identity];

        *shifted->number = shifted->recorded + copy * (range->highest - range->lowest + 1);
    }
}

static void write_line(struct sink *sink, const struct line_plan *plan, uint64_t copies,
                       const struct repeat *repeat)
{
    xline  *line = plan->line;
    size_t  count = line->n_events;
    uint8_t head[512];
    size_t  head_len;

    line->n_events = 0;
    head_len = protobuf_c_message_get_packed_size(&line->base);
    if (head_len > sizeof head)
        abort();
    protobuf_c_message_pack(&line->base, head);
    line->n_events = count;
    sink_bytes(sink, head, head_len);
    for (uint64_t copy = 0; copy < copies; copy++)
        for (size_t e = 0; e < count; e++) {
            shift_event(plan, e, copy, repeat);
            sink_message(sink, 4, &line->events[e]->base);
        }
}

struct plane_plan {
    xplane           *plane;
    struct line_plan *lines;
    uint64_t         *line_bytes;
    uint64_t          bytes; /* of the whole message */
};

/* Lines come first; the rest of the plane, as protobuf-c packs it, behind them. */
static void measure_plane(struct plane_plan *plan, uint64_t copies, const struct repeat *repeat)
{
    struct sink count = { 0 };
    size_t      line_count = plan->plane->n_lines;

    for (size_t l = 0; l < line_count; l++) {
        struct sink line = { 0 };

        write_line(&line, &plan->lines[l], copies, repeat);
        plan->line_bytes[l] = line.bytes;
        sink_open(&count, 3, line.bytes);
        count.bytes += line.bytes;
    }
    plan->plane->n_lines = 0;
    plan->bytes = count.bytes + protobuf_c_message_get_packed_size(&plan->plane->base);
    plan->plane->n_lines = line_count;
}

static void write_plane(struct sink *sink, const struct plane_plan *plan, uint64_t copies,
                        const struct repeat *repeat)
{
    size_t   line_count = plan->plane->n_lines;
    uint8_t *rest;
    size_t   rest_len;

    sink_open(sink, 1, plan->bytes);
    plan->plane->n_lines = 0;
    rest_len = protobuf_c_message_get_packed_size(&plan->plane->base);
    rest = malloc(rest_len + 1);
    protobuf_c_message_pack(&plan->plane->base, rest);
    plan->plane->n_lines = line_count;
    sink_bytes(sink, rest, rest_len);
    free(rest);
    for (size_t l = 0; l < line_count; l++) {
        sink_open(sink, 3, plan->line_bytes[l]);
        write_line(sink, &plan->lines[l], copies, repeat);
    }
}

static int64_t span_ps(const xspace *space)
{
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;

    for (size_t p = 0; p < space->n_planes; p++)
        for (size_t l = 0; l < space->planes[p]->n_lines; l++) {
            const xline *line = space->planes[p]->lines[l];

            for (size_t e = 0; e < line->n_events; e++) {
                int64_t start_ps = line->events[e]->offset_ps;
                int64_t end_ps = start_ps + line->events[e]->duration_ps;

                first_ps = start_ps < first_ps ? start_ps : first_ps;
                last_ps = end_ps > last_ps ? end_ps : last_ps;
            }
        }
    return last_ps - first_ps + 1000;
}

void make_xspace(const char *source, const char *target, uint64_t wanted_bytes,
                 uint64_t wanted_events)
{
    size_t             len;
    uint8_t           *bytes = load_file(source, &len);
    xspace            *space = tensorflow__profiler__xspace__unpack(NULL, len, bytes);
    struct repeat      repeat = { 0 };
    struct plane_plan *plans;
    uint64_t           event_bytes = 0, event_count = 0, copies;
    struct sink        sink = { .file = create_file(target) };

    if (!space) {
        fprintf(stderr, "%s is no XSpace\n", source);
        exit(1);
    }
    repeat.span_ps = span_ps(space);
    for (int i = 0; i < IDENTITY_COUNT; i++)
        repeat.identity[i].lowest = UINT64_MAX;
    plans = calloc(space->n_planes + 1, sizeof *plans);
    for (size_t p = 0; p < space->n_planes; p++) {
        xplane *plane = space->planes[p];

        plans[p].plane = plane;
        plans[p].lines = calloc(plane->n_lines + 1, sizeof *plans[p].lines);
        plans[p].line_bytes = calloc(plane->n_lines + 1, sizeof *plans[p].line_bytes);
        for (size_t l = 0; l < plane->n_lines; l++) {
            plans[p].lines[l] = plan_line(plane, plane->lines[l], &repeat);
            event_bytes += protobuf_c_message_get_packed_size(&plane->lines[l]->base);
            event_count += plane->lines[l]->n_events;
        }
    }
    copies = wanted_events ? (wanted_events + event_count - 1) / event_count
                           : (wanted_bytes + event_bytes - 1) / event_bytes;
    for (size_t p = 0; p < space->n_planes; p++) {
        measure_plane(&plans[p], copies, &repeat);
        write_plane(&sink, &plans[p], copies, &repeat);
    }
    for (size_t i = 0; i < space->n_hostnames; i++) {
        sink_open(&sink, 4, strlen(space->hostnames[i]));
        sink_bytes(&sink, space->hostnames[i], strlen(space->hostnames[i]));
    }
    close_file(sink.file, target);
    printf("%s: %llu bytes, %llu events\n", target, (unsigned long long)sink.bytes,
           (unsigned long long)(event_count * copies));
    tensorflow__profiler__xspace__free_unpacked(space, NULL);
    free(bytes);
}
