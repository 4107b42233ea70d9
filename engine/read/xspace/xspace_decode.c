/*
 * Chunks go round: whoever is free takes the next one of the file, decodes it into its own sink,
 * and puts the rows into the profile when the chunks before it are in. So rows come in the same
 * order with any number of threads, and no more of them wait than there are threads.
 */
#include "read/xspace/xspace_decode.h"

#include "base/parallel.h"
#include "base/trace.h"
#include "read/xspace/xspace_functions.h"
#include "read/xspace/xspace_regions.h"

#include <pthread.h>

/* Threads cost more than they save below this. */
enum { PARALLEL_BYTES = 32 << 20, MOST_THREADS = 64 };

struct decoding {
    struct xspace_tasks *tasks;
    struct profile      *profile;
    struct arena        *scratch;
    const struct str    *known; /* names as they were before: the profile's may move */
    uint32_t             known_count;
    unsigned             threads;
    pthread_mutex_t      lock; /* of all below */
    pthread_cond_t       turn;
    size_t               next_task;
    const uint8_t       *next_at; /* in it; NULL: at its start */
    uint64_t             taken, committed;
    bool                 is_full;
};

static const uint8_t *line_start(const struct line_task *task)
{
    return (const uint8_t *)task->line.bytes.data;
}

/* The next chunk, and its place in the order. With several threads its end is looked for first;
 * a single one goes as far as there is room. */
static bool take_chunk(struct decoding *decoding, struct chunk *chunk, uint64_t *turn)
{
    bool is_there;

    pthread_mutex_lock(&decoding->lock);
    is_there = decoding->next_task < decoding->tasks->list.count && !decoding->is_full;
    if (is_there) {
        struct line_task *task = &decoding->tasks->list.items[decoding->next_task];
        const uint8_t    *at = decoding->next_at ? decoding->next_at : line_start(task);
        const uint8_t    *end = line_start(task) + task->line.bytes.len, *stop = end;
        size_t            from = (size_t)((const char *)at - task->file->bytes.data);

        file_want(task->file, from,
                  from + (end - at < CHUNK_BYTES ? (size_t)(end - at) : CHUNK_BYTES));
        if (decoding->threads > 1) {
            stop = xline_hop(at, end, CHUNK_BYTES, CHUNK_EVENTS);
            decoding->next_at = stop;
            decoding->next_task += stop == end;
            if (stop == end)
                decoding->next_at = NULL;
        }
        *chunk =
            (struct chunk) { .task = task, .bytes = { (const char *)at, (size_t)(stop - at) } };
        *turn = decoding->taken++;
    }
    pthread_mutex_unlock(&decoding->lock);
    return is_there;
}

/* A single thread goes on where it stopped. */
static void go_on(struct decoding *decoding, const struct chunk *chunk)
{
    const struct line_task *task = chunk->task;

    decoding->next_at = (const uint8_t *)chunk->bytes.data + chunk->bytes.len;
    if (chunk->is_cut || decoding->next_at == line_start(task) + task->line.bytes.len) {
        decoding->next_task++;
        decoding->next_at = NULL;
    }
}

static void wait_turn(struct decoding *decoding, uint64_t turn)
{
    pthread_mutex_lock(&decoding->lock);
    while (decoding->committed != turn)
        pthread_cond_wait(&decoding->turn, &decoding->lock);
    pthread_mutex_unlock(&decoding->lock);
}

static void end_turn(struct decoding *decoding, bool is_full)
{
    pthread_mutex_lock(&decoding->lock);
    decoding->committed++;
    decoding->is_full |= is_full;
    pthread_cond_broadcast(&decoding->turn);
    pthread_mutex_unlock(&decoding->lock);
}

/* Between turns nobody else touches the profile: commits exclude each other. */
static void decode_chunks(void *shared, size_t index)
{
    struct decoding *decoding = shared;
    struct sink      sink = { .known = decoding->known, .known_count = decoding->known_count };
    bool             is_full = !sink_init(&sink, decoding->profile, decoding->tasks->type_count);
    struct chunk     chunk;
    uint64_t         turn;

    (void)index;
    while (take_chunk(decoding, &chunk, &turn)) {
        if (!is_full) {
            sink_clear(&sink);
            xspace_chunk_decode(&chunk, &sink);
        }
        wait_turn(decoding, turn);
        is_full =
            is_full || sink.is_full || decoding->is_full ||
            !xspace_commit(decoding->tasks, &chunk, &sink, decoding->profile, decoding->scratch);
        if (decoding->threads == 1)
            go_on(decoding, &chunk);
        end_turn(decoding, is_full);
    }
    pthread_mutex_lock(&decoding->lock);
    for (uint32_t i = 0; !is_full && i < decoding->tasks->type_count; i++)
        decoding->tasks->seen[i] |= sink.seen[i];
    pthread_mutex_unlock(&decoding->lock);
    sink_free(&sink);
}

static uint64_t bytes_of(const struct xspace_tasks *tasks)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tasks->list.count; i++)
        bytes += tasks->list.items[i].line.bytes.len;
    return bytes;
}

static bool decode_lines(struct xspace_tasks *tasks, unsigned threads, struct profile *profile,
                         struct arena *scratch)
{
    const struct intern *names = &profile->names;
    struct str          *known = arena_new_array(scratch, struct str, names->count);
    struct decoding      decoding = { .tasks = tasks,
                                      .profile = profile,
                                      .scratch = scratch,
                                      .known = known,
                                      .known_count = names->count,
                                      .threads = threads };

    if (!known || !xspace_commit_start(tasks, scratch))
        return false;
    for (uint32_t i = 0; i < names->count; i++)
        known[i] = intern_str(names, i);
    pthread_mutex_init(&decoding.lock, NULL);
    pthread_cond_init(&decoding.turn, NULL);
    parallel_for(threads, threads, decode_chunks, &decoding);
    pthread_cond_destroy(&decoding.turn);
    pthread_mutex_destroy(&decoding.lock);
    return !decoding.is_full;
}

static void note_oddities(const struct xspace_tasks *tasks, struct profile *profile)
{
    for (size_t i = 0; i < tasks->list.count; i++) {
        const struct line_task *task = &tasks->list.items[i];
        const struct {
            uint64_t    count;
            const char *what;
            bool        is_damage;
        } rows[] = {
            { task->negative_count, "events with a negative duration count as instants", false },
            { task->overflow_count, "events with a time out of range are put at their line's start",
              true },
            { task->nameless_count, "events refer to metadata that is not there", true },
            { task->aggregate_count,
              "events stand for several without a time: they count in sums of ops alone", false },
            { task->is_cut, "lines are cut or damaged; the events before that are used", true },
            { task->is_unsorted, "lines were not sorted by time and have been sorted", false },
        };

        profile->nameless_events += task->nameless_count;
        for (size_t n = 0; n < ARRAY_COUNT(rows); n++)
            if (rows[n].count)
                (rows[n].is_damage ? profile_damage : profile_note)(profile, NULL, rows[n].count,
                                                                    "%s", rows[n].what);
    }
}

static bool order_timelines(const struct xspace_tasks *tasks, struct profile *profile)
{
    uint32_t next = 0;

    for (size_t i = 0; i < tasks->list.count; i++) {
        const struct line_task *task = &tasks->list.items[i];
        struct timeline        *timeline = &profile->timelines.items[task->timeline];

        if (timeline->event_count == 0)
            timeline->first_event = next;
        next += timeline->event_count;
        if (timeline->event_count && task->is_unsorted && !xspace_sort(profile, timeline))
            return false;
    }
    return true;
}

static void set_extent(const struct xspace_tasks *tasks, struct profile *profile)
{
    if (profile->event_count)
        profile->start_ns = INT64_MAX, profile->end_ns = INT64_MIN;
    for (size_t i = 0; i < tasks->list.count; i++) {
        const struct line_task *task = &tasks->list.items[i];

        if (profile->timelines.items[task->timeline].event_count == 0)
            continue;
        profile->start_ns = task->start_ns < profile->start_ns ? task->start_ns : profile->start_ns;
        profile->end_ns = task->end_ns > profile->end_ns ? task->end_ns : profile->end_ns;
    }
}

bool xspace_decode(struct xspace_tasks *tasks, const struct read_options *options,
                   struct profile *profile, struct arena *scratch, struct err *err)
{
    unsigned threads = options->threads ? options->threads : parallel_cores();
    uint64_t bytes = bytes_of(tasks);
    int64_t  start_ns = trace_now_ns();

    threads = bytes < PARALLEL_BYTES ? 1 : threads < MOST_THREADS ? threads : MOST_THREADS;
    if (!decode_lines(tasks, threads, profile, scratch))
        return err_set(err, ERR_LIMIT, "its events do not fit into the memory budget");
    if (trace_is_on("read", 1))
        trace_print("read", "%u events, %llu bytes decoded in %.3f s", profile->event_count,
                    (unsigned long long)bytes, (double)(trace_now_ns() - start_ns) / 1e9);
    if (!order_timelines(tasks, profile) || !xspace_clocks(tasks, profile))
        return err_set(err, ERR_LIMIT, "its events do not fit into the memory budget");
    set_extent(tasks, profile);
    note_oddities(tasks, profile);
    if (!xspace_activities(tasks, profile, scratch) || !xspace_flows(profile) ||
        !xspace_launched(profile) || !xspace_command_buffers(tasks, profile) ||
        !xspace_join_regions(profile) || !xspace_extend_functions(profile))
        return err_set(err, ERR_LIMIT, "its events do not fit into the memory budget");
    profile_fit(profile);
    if (trace_is_on("read", 1))
        trace_print("read", "ordered and named after %.3f s",
                    (double)(trace_now_ns() - start_ns) / 1e9);
    return true;
}
