/*
 * Makes timelines: the sorted runs of each track, from the stretches of all threads, are merged by
 * a heap of their first events that were not taken yet.
 */
#include "base/heap.h"
#include "base/sort.h"
#include "read/kineto/reader_kineto.h"

#include <stdio.h>
#include <stdlib.h>

struct track_order {
    const struct track *track;
    uint32_t            row;
};

static int compare_tracks(const void *left, const void *right)
{
    const struct track_order *a = left, *b = right;

    return IN_ORDER(COMPARE(a->track->host, b->track->host),
                    COMPARE(a->track->role, b->track->role),
                    COMPARE(a->track->process, b->track->process),
                    COMPARE(a->track->thread, b->track->thread), COMPARE(a->row, b->row));
}

static uint32_t timeline_name(struct kineto_job *job, const struct track *track)
{
    static const char *const roles[] = {
        "thread", "stream", "annotations of stream", "syncs of stream", "counters of stream",
        "other"
    };
    char text[64];
    int  len;

    if (track->name)
        return track->name;
    len = snprintf(text, sizeof text, "%s %lld", roles[track->role], (long long)track->thread);
    return kineto_job_intern(job, (struct str) { text, (size_t)len });
}

static bool make_timelines(struct placing *placing)
{
    struct kineto_job  *job = placing->job;
    size_t              count = job->tracks.count;
    struct track_order *order = arena_new_array(&job->scratch, struct track_order, count);
    uint32_t            first = 0;

    placing->timeline = arena_new_array(&job->scratch, uint32_t, count);
    if (!order || !placing->timeline)
        return false;
    for (size_t i = 0; i < count; i++)
        order[i] = (struct track_order) { &job->tracks.items[i], (uint32_t)i };
    if (count)
        qsort(order, count, sizeof *order, compare_tracks);
    for (size_t i = 0; i < count; i++) {
        const struct track *track = order[i].track;
        struct timeline     timeline = {
                .name = track->count ? timeline_name(job, track) : 0,
                .id = track->thread,
                .process = track->process,
                .host = track->host,
                .device = track->device,
                .kind = track->kind,
                .first_event = first,
                .event_count = track->count,
        };

        placing->timeline[order[i].row] = NO_ID;
        if (!track->count)
            continue;
        placing->timeline[order[i].row] = (uint32_t)job->profile->timelines.count;
        if (!vec_push(&job->profile->timelines, job->profile->arena, timeline))
            return false;
        first += track->count;
    }
    return true;
}

enum { AHEAD_ROWS = 64 };

struct run_head { /* what is left of a run */
    const struct kineto_columns *columns;
    uint32_t                    *event;
    int64_t                      shift_ns;
    uint32_t                     next, end; /* rows that were not looked at */
    uint32_t                     at, count; /* among those that were */
    int64_t starts_ns[AHEAD_ROWS], durations_ns[AHEAD_ROWS], activities[AHEAD_ROWS];
};

/* Looks at the next rows; false: there are none. */
static bool look_ahead(struct run_head *head)
{
    const struct kineto_columns *columns = head->columns;
    uint32_t                     count = head->end - head->next;

    if (!count)
        return false;
    count = count < AHEAD_ROWS ? count : AHEAD_ROWS;
    packed_read(&columns->starts_ns, head->next, count, head->starts_ns);
    packed_read(&columns->durations_ns, head->next, count, head->durations_ns);
    packed_read(&columns->activities, head->next, count, head->activities);
    for (uint32_t i = 0; i < count; i++)
        head->starts_ns[i] += head->shift_ns;
    head->at = 0;
    head->count = count;
    head->next += count;
    return true;
}

struct heap {
    struct run_head *heads; /* in the order of the file */
    uint32_t        *order; /* of heads */
    uint32_t         count;
};

static bool is_before(const void *context, uint32_t left, uint32_t right)
{
    const struct heap     *heap = context;
    const struct run_head *a = &heap->heads[left], *b = &heap->heads[right];

    if (a->starts_ns[a->at] != b->starts_ns[b->at])
        return a->starts_ns[a->at] < b->starts_ns[b->at];
    if (a->durations_ns[a->at] != b->durations_ns[b->at])
        return a->durations_ns[a->at] > b->durations_ns[b->at];
    return left < right;
}

static void fill_heap(struct heap *heap, uint32_t run_count)
{
    heap->count = 0;
    for (uint32_t i = 0; i < run_count; i++)
        if (look_ahead(&heap->heads[i]))
            heap->order[heap->count++] = i;
    for (uint32_t i = heap->count / 2; i-- > 0;)
        heap_sift_down(heap->order, heap->count, i, is_before, heap);
}

/* Merged events of a timeline as the next rows. */
static bool take_all(struct heap *heap, struct profile *profile)
{
    int64_t           starts_ns[EVENT_BATCH], durations_ns[EVENT_BATCH], labels[EVENT_BATCH];
    struct event_rows rows = { starts_ns, durations_ns, labels };
    uint32_t          count = 0;

    while (heap->count) {
        struct run_head *head = &heap->heads[heap->order[0]];

        starts_ns[count] = head->starts_ns[head->at];
        durations_ns[count] = head->durations_ns[head->at];
        labels[count] = head->activities[head->at];
        head->event[head->next - head->count + head->at] = profile->event_count + count;
        count++;
        if (count == EVENT_BATCH) {
            if (!profile_add_events(profile, &rows, count))
                return false;
            count = 0;
        }
        if (++head->at == head->count && !look_ahead(head))
            heap->order[0] = heap->order[--heap->count];
        heap_sift_down(heap->order, heap->count, 0, is_before, heap);
    }
    return profile_add_events(profile, &rows, count);
}

/* Runs by timeline: first[t] to first[t + 1] of the rows that come back. */
static uint32_t *group_runs(const struct placing *placing, uint32_t *first)
{
    struct kineto_job *job = placing->job;
    size_t             timeline_count = job->profile->timelines.count;
    uint32_t          *rows = arena_new_array(&job->scratch, uint32_t, job->runs.count);

    for (size_t i = 0; i < job->runs.count; i++)
        first[placing->timeline[job->runs.items[i].track] + 1]++;
    for (size_t t = 0; t < timeline_count; t++)
        first[t + 1] += first[t];
    for (size_t i = 0; rows && i < job->runs.count; i++)
        rows[first[placing->timeline[job->runs.items[i].track]]++] = (uint32_t)i;
    for (size_t t = timeline_count; t-- > 0;) /* each counted up to the next one's first */
        first[t + 1] = first[t];
    first[0] = 0;
    return rows;
}

static void start_runs(const struct placing *placing, struct heap *heap, const uint32_t *rows,
                       uint32_t count)
{
    struct kineto_job *job = placing->job;

    for (uint32_t i = 0; i < count; i++) {
        const struct kineto_run *run = &job->runs.items[rows[i]];
        struct run_head         *head = &heap->heads[i];

        head->columns = &job->threads[run->thread].columns;
        head->event = placing->event[run->thread];
        head->shift_ns = job->sources.items[run->source].shift_ns;
        head->next = run->first;
        head->end = run->first + run->count;
        head->at = head->count = 0;
    }
}

static bool make_rooms(struct placing *placing)
{
    struct kineto_job *job = placing->job;

    placing->event = arena_new_array(&job->scratch, uint32_t *, job->thread_count);
    for (unsigned i = 0; placing->event && i < job->thread_count; i++) {
        placing->event[i] =
            arena_new_array(&job->scratch, uint32_t, job->threads[i].columns.starts_ns.count);
        if (!placing->event[i])
            return false;
    }
    return placing->event != NULL;
}

bool kineto_place_events(struct placing *placing)
{
    struct kineto_job *job = placing->job;
    struct heap        heap = { 0 };
    uint32_t          *first, *rows, most = 0;

    if (!make_timelines(placing) || !make_rooms(placing) || !profile_label_activities(job->profile))
        return false;
    first = arena_new_array(&job->scratch, uint32_t, job->profile->timelines.count + 1);
    rows = first ? group_runs(placing, first) : NULL;
    if (!rows)
        return false;
    for (size_t t = 0; t < job->profile->timelines.count; t++)
        most = first[t + 1] - first[t] > most ? first[t + 1] - first[t] : most;
    heap.heads = arena_new_array(&job->scratch, struct run_head, most);
    heap.order = arena_new_array(&job->scratch, uint32_t, most);
    if (!heap.heads || !heap.order)
        return false;
    for (size_t t = 0; t < job->profile->timelines.count; t++) {
        start_runs(placing, &heap, rows + first[t], first[t + 1] - first[t]);
        fill_heap(&heap, first[t + 1] - first[t]);
        if (!take_all(&heap, job->profile))
            return false;
    }
    return true;
}
