/*
 * Single allocations of RunMetadata as memory events. Ops record what each of their allocators gave
 * and took back, in changes; now and then an allocator tells what it has in use, which makes the
 * changes around it absolute. Host allocators that never tell it are left out: most of their frees
 * happen unseen, and what is held would seem to grow.
 * Upstream: tensorflow/core/framework/step_stats.proto (AllocatorMemoryUsed, AllocationRecord)
 */
#include "base/sort.h"
#include "read/tf/tf_run.h"

#include <stdlib.h>

enum { OPEN_BLOCKS = 64 };
struct blocks { /* allocated in the list that is being read, not freed in it so far */
    struct {
        int64_t  bytes;
        uint64_t address;
    } open[OPEN_BLOCKS];
    size_t count;
};

/* Records name no blocks: within a list a free ends the oldest open one of its size. */
static uint64_t address_of(struct tf_run_scan *scan, struct blocks *blocks, int64_t bytes)
{
    if (bytes >= 0) {
        uint64_t address = ++scan->block_count;

        if (blocks->count < OPEN_BLOCKS) {
            blocks->open[blocks->count].bytes = bytes;
            blocks->open[blocks->count++].address = address;
        }
        return address;
    }
    for (size_t i = 0; i < blocks->count; i++) {
        uint64_t address = blocks->open[i].address;

        if (blocks->open[i].bytes != -bytes)
            continue;
        blocks->count--;
        for (; i < blocks->count; i++)
            blocks->open[i] = blocks->open[i + 1];
        return address;
    }
    return 0;
}

static bool read_record(struct tf_run_scan *scan, struct message record, struct blocks *blocks,
                        struct memory_event *event, struct err *err)
{
    struct field field;
    int64_t      micros = 0, bytes = 0;

    while (message_next(&record, &field, err)) {
        if (field_is_number(&field, 1))
            micros = field_int64(&field);
        else if (field_is_number(&field, 2))
            bytes = field_int64(&field);
    }
    if (record.is_damaged)
        return false;
    if (micros <= 0 || !tf_is_sane(micros) || bytes == INT64_MIN || !tf_is_sane(llabs(bytes)) ||
        bytes == 0)
        return true;
    event->kind = bytes < 0 ? MEMORY_FREE : MEMORY_ALLOCATE;
    event->time_ns = micros * 1000;
    event->bytes = bytes;
    event->in_use_bytes = -1;
    event->address = address_of(scan, blocks, bytes);
    return vec_push(&scan->memory_events, &scan->kept, *event) || tf_model_full(err);
}

static bool read_head(struct message allocator, struct str *name, int64_t *in_use_bytes,
                      struct err *err)
{
    struct field field;

    while (message_next(&allocator, &field, err)) {
        if (field_is_bytes(&field, 1))
            *name = field.bytes;
        else if (field_is_number(&field, 5) && field_int64(&field) > *in_use_bytes &&
                 tf_is_sane(field_int64(&field)))
            *in_use_bytes = field_int64(&field);
    }
    return !allocator.is_damaged;
}

bool tf_allocator_read(struct tf_run_scan *scan, const struct tf_allocator *from,
                       struct message allocator, struct err *err)
{
    struct str          name = { 0 };
    struct blocks       blocks = { 0 };
    struct memory_event event = { .event = NO_ID,
                                  .device = from->is_host ? NO_ID : from->row,
                                  .reserved_bytes = -1,
                                  .requested_bytes = -1,
                                  .available_bytes = -1,
                                  .peak_bytes = -1,
                                  .fragmentation = -1,
                                  .op_name = from->record };
    struct field        field;
    int64_t             in_use_bytes = 0;

    if (!read_head(allocator, &name, &in_use_bytes, err))
        return false;
    if (in_use_bytes == 0 && from->is_host)
        return true;
    event.allocator = intern_add(&scan->allocators, name);
    if (event.allocator == NO_ID)
        return tf_model_full(err);
    while (message_next(&allocator, &field, err))
        if (field_is_bytes(&field, 6) &&
            !read_record(scan, message_inside(&allocator, field.bytes), &blocks, &event, err))
            return err_in(err, "allocation_records");
    if (in_use_bytes == 0)
        return true;
    event.kind = MEMORY_SNAPSHOT;
    event.time_ns = from->end_ns;
    event.bytes = 0;
    event.address = 0;
    event.in_use_bytes = in_use_bytes;
    return vec_push(&scan->memory_events, &scan->kept, event) || tf_model_full(err);
}

struct ordered { /* an event by its allocator and time */
    int64_t  time_ns;
    uint32_t pool, row; /* pool: allocators in the order of first sight */
};

static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    return IN_ORDER(COMPARE(a->pool, b->pool), COMPARE(a->time_ns, b->time_ns),
                    COMPARE(a->row, b->row));
}

static int64_t changed(int64_t in_use, int64_t bytes)
{
    tf_add(&in_use, bytes);
    return in_use > 0 ? in_use : 0;
}

/* What is in use after each change, counted from the snapshot before it, or back from the first. */
static void fill_in_use(struct memory_event *events, const struct ordered *order, size_t count)
{
    size_t  first = 0;
    int64_t in_use;

    while (first < count && events[order[first].row].kind != MEMORY_SNAPSHOT)
        first++;
    if (first == count)
        return;
    in_use = events[order[first].row].in_use_bytes;
    for (size_t i = first; i-- > 0;) {
        events[order[i].row].in_use_bytes = in_use;
        in_use = changed(in_use, -events[order[i].row].bytes);
    }
    in_use = events[order[first].row].in_use_bytes;
    for (size_t i = first + 1; i < count; i++) {
        struct memory_event *event = &events[order[i].row];

        in_use =
            event->kind == MEMORY_SNAPSHOT ? event->in_use_bytes : changed(in_use, event->bytes);
        event->in_use_bytes = in_use;
    }
}

/* Ops are recorded as they ended, their allocations mostly before those of the next. */
static bool order_events(struct ordered *order, const struct memory_event *events, size_t count,
                         struct arena *scratch)
{
    struct id_map pools = { .arena = scratch };

    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = (uint64_t)events[i].device << 32 | events[i].allocator;
        uint32_t pool = id_map_get(&pools, key);

        if (pool == NO_ID) {
            pool = pools.count;
            if (!id_map_put(&pools, key, pool))
                return false;
        }
        order[i] = (struct ordered) { events[i].time_ns, pool, i };
    }
    sort_nearly_sorted(order, count, sizeof *order, compare_ordered);
    return true;
}

bool tf_memory_finish(struct profile *profile, struct arena *scratch)
{
    struct memory_event *events = profile->memory_events.items;
    size_t               count = profile->memory_events.count, end;
    struct ordered      *order = arena_new_array(scratch, struct ordered, count);

    if (!order || !order_events(order, events, count, scratch))
        return false;
    for (size_t start = 0; start < count; start = end) {
        for (end = start + 1; end < count && order[end].pool == order[start].pool;)
            end++;
        fill_in_use(events, order + start, end - start);
    }
    return true;
}
