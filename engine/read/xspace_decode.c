#include "read/xspace_decode.h"

#include "base/parallel.h"
#include "base/trace.h"
#include "read/xspace_regions.h"

/* Threads cost more than they save below this. */
enum { PARALLEL_BYTES = 64 << 20, SINKS_A_THREAD = 4 };

static void decode_sink(void *shared, size_t index)
{
    struct xspace_tasks *tasks = shared;
    struct sink         *sink = &tasks->sinks.items[index];

    for (size_t i = sink->first_task; i < sink->end_task && !sink->is_full; i++)
        xspace_line_decode(&tasks->list.items[i], sink);
}

static uint64_t bytes_of(const struct xspace_tasks *tasks)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tasks->list.count; i++)
        bytes += tasks->list.items[i].piece.bytes.len;
    return bytes;
}

/* Cuts the list of tasks into runs of about the same size, one a sink. */
static bool plan_sinks(struct xspace_tasks *tasks, unsigned threads, struct profile *profile,
                       struct arena *scratch)
{
    uint64_t total = bytes_of(tasks), done = 0;
    size_t   count = total < PARALLEL_BYTES || threads == 1 ? 1 : (size_t)threads * SINKS_A_THREAD;
    uint32_t event = 0;

    if (!vec_reserve(&tasks->sinks, scratch, count))
        return false;
    for (size_t i = 0; i < tasks->list.count || (i == 0 && tasks->sinks.count == 0);) {
        struct sink sink = { .first_event = event, .next_event = event, .first_task = i };

        for (; i < tasks->list.count &&
               (tasks->sinks.count + 1 == count || done * count < total * (tasks->sinks.count + 1));
             i++) {
            done += tasks->list.items[i].piece.bytes.len;
            event += tasks->list.items[i].piece.event_count;
        }
        sink.end_task = i;
        sink.end_event = event;
        if (!vec_push(&tasks->sinks, scratch, sink) || tasks->list.count == 0)
            break;
    }
    for (size_t i = 0; i < tasks->sinks.count; i++) {
        struct sink *sink = &tasks->sinks.items[i];

        sink->arena.budget_bytes = sink->own_columns.budget_bytes = profile->arena->budget_bytes;
        sink->columns_arena = tasks->sinks.count == 1 ? profile->arena : &sink->own_columns;
        if (!sink_init(sink, profile, tasks->type_count))
            return false;
    }
    return true;
}

static void note_oddities(const struct xspace_tasks *tasks, struct profile *profile)
{
    for (size_t i = 0; i < tasks->list.count; i++) {
        const struct line_task *task = &tasks->list.items[i];
        const struct {
            uint64_t    count;
            const char *what;
        } rows[] = {
            { task->negative_count, "events with a negative duration count as instants" },
            { task->overflow_count,
              "events with a time out of range are put at their line's start" },
            { task->nameless_count, "events refer to metadata that is not there" },
            { task->aggregate_count, "aggregated events without a time are left out" },
            { task->is_cut || (task->line->is_cut && task->is_last),
              "lines are cut or damaged; the events before that are used" },
            { task->is_first && task->is_unsorted,
              "lines were not sorted by time and have been sorted" },
        };

        for (size_t n = 0; n < ARRAY_COUNT(rows); n++)
            if (rows[n].count)
                profile_note(profile, NULL, rows[n].count, "%s", rows[n].what);
    }
}

static void set_extent(const struct xspace_tasks *tasks, struct profile *profile)
{
    if (profile->event_count)
        profile->start_ns = INT64_MAX, profile->end_ns = INT64_MIN;
    for (size_t i = 0; i < tasks->list.count; i++) {
        const struct line_task *task = &tasks->list.items[i];

        if (task->event_count == 0)
            continue;
        profile->start_ns = task->start_ns < profile->start_ns ? task->start_ns : profile->start_ns;
        profile->end_ns = task->end_ns > profile->end_ns ? task->end_ns : profile->end_ns;
    }
}

bool xspace_decode(struct xspace_tasks *tasks, const struct read_options *options,
                   struct profile *profile, struct arena *scratch, struct err *err)
{
    unsigned      threads = options->threads ? options->threads : parallel_cores();
    uint64_t      count = 0;
    int64_t       start_ns = trace_now_ns();
    struct merged merged = { 0 };

    for (size_t i = 0; i < tasks->list.count; i++) {
        count += tasks->list.items[i].piece.event_count;
        if (count >= NO_ID)
            return err_set(err, ERR_LIMIT, "holds more than %u events", NO_ID - 1);
    }
    if (!profile_reserve_events(profile, (uint32_t)count))
        return err_set(err, ERR_LIMIT, "its %llu events do not fit into the memory budget",
                       (unsigned long long)count);
    if (!plan_sinks(tasks, threads, profile, scratch))
        return err_set(err, ERR_LIMIT, "its metadata do not fit into the memory budget");
    parallel_for(tasks->sinks.count, threads, decode_sink, tasks);
    for (size_t i = 0; i < tasks->sinks.count; i++)
        if (tasks->sinks.items[i].is_full)
            return err_set(err, ERR_LIMIT, "its stats do not fit into the memory budget");
    if (trace_is_on("read", 1))
        trace_print("read", "%llu events, %llu bytes decoded in %.3f s", (unsigned long long)count,
                    (unsigned long long)bytes_of(tasks), (double)(trace_now_ns() - start_ns) / 1e9);
    if (!xspace_merge(tasks, profile, &merged, scratch))
        return err_set(err, ERR_LIMIT, "its stats do not fit into the memory budget");
    note_oddities(tasks, profile);
    set_extent(tasks, profile);
    if (!xspace_activities(tasks, &merged, profile, scratch) || !xspace_flows(profile) ||
        !xspace_join_regions(profile))
        return err_set(err, ERR_LIMIT, "its events do not fit into the memory budget");
    if (trace_is_on("read", 1))
        trace_print("read", "merged and named after %.3f s",
                    (double)(trace_now_ns() - start_ns) / 1e9);
    return true;
}
