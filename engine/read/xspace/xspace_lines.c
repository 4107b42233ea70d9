#include "read/xspace/xspace_lines.h"

enum { PS_IN_NS = 1000, FAST_SLACK_BYTES = 64, PREFETCH_BYTES = 1024, PAGE_BYTES = 4096 };
#define MAX_PS (INT64_MAX / 4)
#define MOST_OCCURRENCES (UINT64_C(1) << 40)
#define KEY_OF(number, type) ((number) << 3 | (type))
/* How a stat begins whose length and metadata id take a byte each, as a little-endian word. */
#define SHORT_STAT (KEY_OF(XEVENT_STATS, WIRE_BYTES) | KEY_OF(XSTAT_METADATA_ID, WIRE_VARINT) << 16)
#define SHORT_STAT_MASK 0x80FF80FFU

/* One chunk being decoded. */
struct decoder {
    struct sink               *sink;
    struct chunk              *chunk;
    const struct plane_tables *tables;
    int64_t                    base_ns;
    int64_t                    last_start_ns, last_duration_ns, start_ns, end_ns;
};

struct event {
    struct type_info info;
    uint64_t         offset_ps, duration_ps; /* as on the wire */
    unsigned         seen;
};

static int64_t floor_ns(int64_t ps)
{
    return ps / PS_IN_NS - (ps % PS_IN_NS < 0);
}

/* Times that are negative or out of range. */
static void odd_times(struct chunk *chunk, const struct event *event, int64_t *start_ns,
                      int64_t *duration_ns)
{
    int64_t offset_ps = (int64_t)event->offset_ps, duration_ps = (int64_t)event->duration_ps;

    if (duration_ps < 0) {
        chunk->negative_count++;
        duration_ps = 0;
    }
    if (offset_ps > MAX_PS || offset_ps < -MAX_PS || duration_ps > MAX_PS) {
        chunk->overflow_count++;
        offset_ps = duration_ps = 0;
    }
    *start_ns = floor_ns(offset_ps);
    *duration_ns = floor_ns(offset_ps + duration_ps) - *start_ns;
}

static void end_memory(struct sink *sink, const struct event *event, int64_t start_ns)
{
    struct memory_event *memory = &sink->memory;

    if (!sink->has_memory)
        return;
    memory->event = sink->row;
    memory->time_ns = start_ns;
    memory->kind = event->info.flags & TYPE_RELEASE ? MEMORY_FREE : MEMORY_ALLOCATE;
    memory->op_name = sink->variant.tf_op;
    memory->shape = sink->variant.shape;
    if (memory->bytes < 0)
        memory->bytes = sink->memory_size >= 0 ? sink->memory_size : memory->requested_bytes;
    if (!vec_push(&sink->memory_events, &sink->arena, *memory))
        sink->is_full = true;
}

/* Times in whole ns, both ends rounded down, so that nesting survives. */
static ALWAYS_INLINE void store_event(struct decoder *decoder, const struct event *event)
{
    struct sink *sink = decoder->sink;
    uint32_t     row = sink->row, label = event->info.type;
    int64_t      start_ns, duration_ns;

    if (LIKELY((event->offset_ps | event->duration_ps) >> 60 == 0)) {
        start_ns = (int64_t)(event->offset_ps / PS_IN_NS);
        duration_ns = (int64_t)((event->offset_ps + event->duration_ps) / PS_IN_NS) - start_ns;
    } else {
        odd_times(decoder->chunk, event, &start_ns, &duration_ns);
    }
    start_ns += decoder->base_ns;
    if (LIKELY(label != NO_TYPE))
        sink->seen[label] |= (uint16_t)event->seen;
    else
        decoder->chunk->nameless_count++;
    if (UNLIKELY(event->info.flags & TYPE_MEMORY)) {
        end_memory(sink, event, start_ns);
        sink->has_memory = false;
        sink->memory_size = -1;
    }
    sink->variant.is_call = (event->seen & SEEN_FUNCTION_CALL) != 0;
    if (sink->variant.module | sink->variant.hlo_op | sink->variant.tf_op | sink->variant.shape |
        sink->variant.is_call) {
        label = sink_variant(sink, label);
        sink->variant = (struct variant) { 0 };
    }
    sink->variant.program = 0;
    sink->labels[row] = label;
    sink->starts_ns[row] = start_ns;
    sink->durations_ns[row] = duration_ns;
    if (start_ns <= decoder->last_start_ns &&
        (start_ns < decoder->last_start_ns || duration_ns > decoder->last_duration_ns))
        decoder->chunk->is_unsorted = true;
    if (start_ns < decoder->start_ns)
        decoder->start_ns = start_ns;
    if (start_ns + duration_ns > decoder->end_ns)
        decoder->end_ns = start_ns + duration_ns;
    decoder->last_start_ns = start_ns;
    decoder->last_duration_ns = duration_ns;
    if (UNLIKELY(sink->loose_now.count))
        sink_sum_loose(sink);
    sink->row = row + 1;
}

static void slow_stat(struct decoder *decoder, struct event *event, struct str bytes)
{
    struct xstat            stat = xstat_read(bytes);
    const struct stat_info *info = xspace_stat_info(decoder->tables, (uint64_t)stat.type_id);

    event->seen |= info->seen;
    if (info->key >= STAT_SUMMED)
        sink_add_loose(decoder->sink, decoder->tables, info, event->info.type, &stat);
    else if (info->key < EXTRA_NONE && stat.field)
        sink_keep(decoder->sink, decoder->tables, info, event->info.flags, &stat);
}

/* The value behind a stat's metadata id; false when it is not just one, to the end. */
static ALWAYS_INLINE bool fast_value(struct decoder *decoder, const struct event *event,
                                     const struct stat_info *info, const uint8_t *at,
                                     const uint8_t *end)
{
    struct sink *sink = decoder->sink;
    struct xstat stat = { .field = at[0] >> 3 };
    unsigned     column = info->columns[event->info.flags & TYPE_ITERATOR];
    uint64_t     length;

    switch (*at++) {
    case KEY_OF(XSTAT_UINT64, WIRE_VARINT):
    case KEY_OF(XSTAT_INT64, WIRE_VARINT):
        if (wire_varint_fast(at, &stat.number) != end)
            return false;
        if (LIKELY(info->how == HOW_NUMBER && column != NO_COLUMN &&
                   !(event->info.flags & TYPE_MEMORY))) {
            sink_push(sink, column, (int64_t)stat.number);
            return true;
        }
        break;
    case KEY_OF(XSTAT_REF, WIRE_VARINT):
        if (wire_varint_fast(at, &stat.number) != end)
            return false;
        if (info->how == HOW_NAME && column != NO_COLUMN) {
            sink_push(sink, column, xspace_stat_info(decoder->tables, stat.number)->name);
            return true;
        }
        break;
    case KEY_OF(XSTAT_DOUBLE, WIRE_64):
        if (end - at != 8)
            return false;
        memcpy(&stat.number, at, 8);
        break;
    case KEY_OF(XSTAT_STR, WIRE_BYTES):
    case KEY_OF(XSTAT_BYTES, WIRE_BYTES):
        at = wire_varint_fast(at, &length);
        if (!at || at > end || length != (uint64_t)(end - at))
            return false;
        stat.text = (struct str) { (const char *)at, (size_t)length };
        break;
    default:
        return false;
    }
    sink_keep(sink, decoder->tables, info, event->info.flags, &stat);
    return true;
}

/* Stats to the end of the event; false when another field stands between them. */
static ALWAYS_INLINE bool fast_stats(struct decoder *decoder, struct event *event,
                                     const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const struct stat_info *info;
        const uint8_t          *inner, *stat_end;
        uint64_t                length, id;
        uint32_t                head;

        memcpy(&head, at, sizeof head);
        if (LIKELY((head & SHORT_STAT_MASK) == SHORT_STAT)) {
            length = head >> 8 & 0xFF;
            id = head >> 24;
            inner = at + 4;
            at = stat_end = at + 2 + length;
            if (UNLIKELY(length < 2 || stat_end > end))
                return false;
        } else {
            if (at[0] != KEY_OF(XEVENT_STATS, WIRE_BYTES))
                return false;
            inner = wire_varint_fast(at + 1, &length);
            if (!inner || inner > end || length > (uint64_t)(end - inner))
                return false;
            at = stat_end = inner + length;
            if (UNLIKELY(length < 2 || inner[0] != KEY_OF(XSTAT_METADATA_ID, WIRE_VARINT)))
                goto slow;
            inner = wire_varint_fast(inner + 1, &id);
            if (UNLIKELY(!inner || inner > stat_end))
                goto slow;
        }
        info = xspace_stat_info(decoder->tables, id);
        event->seen |= info->seen;
        if (info->key == EXTRA_NONE)
            continue;
        if (LIKELY(info->key < STAT_SUMMED && inner < stat_end &&
                   fast_value(decoder, event, info, inner, stat_end)))
            continue;
    slow:
        inner = stat_end - length;
        slow_stat(decoder, event, (struct str) { (const char *)inner, length });
    }
    return true;
}

/* Fields in the order of their numbers, as protobuf writes them: metadata_id, offset_ps,
 * duration_ps, stats. FAST_SLACK_BYTES behind the end can be read. */
static ALWAYS_INLINE bool fast_event(struct decoder *decoder, const uint8_t *at, const uint8_t *end)
{
    struct event event;
    uint64_t     id;

    if (UNLIKELY(at[0] != KEY_OF(XEVENT_METADATA_ID, WIRE_VARINT)))
        return false;
    at = wire_varint_fast(at + 1, &id);
    if (UNLIKELY(!at || at[0] != KEY_OF(XEVENT_OFFSET_PS, WIRE_VARINT)))
        return false;
    at = wire_varint_long(at + 1, &event.offset_ps);
    event.duration_ps = 0;
    if (at && at < end && at[0] == KEY_OF(XEVENT_DURATION_PS, WIRE_VARINT))
        at = wire_varint_long(at + 1, &event.duration_ps);
    if (UNLIKELY(!at || at > end))
        return false;
    event.info = xspace_type_info(decoder->tables, id);
    event.seen = 0;
    if (UNLIKELY(!fast_stats(decoder, &event, at, end))) {
        sink_undo(decoder->sink);
        return false;
    }
    store_event(decoder, &event);
    return true;
}

/* What stands for many events has no place on the timeline. */
static void keep_aggregate(struct decoder *decoder, const struct event *event, uint64_t count)
{
    struct sink     *sink = decoder->sink;
    struct aggregate row = { .label = event->info.type };

    decoder->chunk->aggregate_count++;
    if (event->info.type == NO_TYPE || count == 0 || count > MOST_OCCURRENCES ||
        event->duration_ps > (uint64_t)MAX_PS)
        return;
    row.count = (int64_t)count;
    row.total_ns = floor_ns((int64_t)event->duration_ps);
    sink->seen[row.label] |= (uint16_t)event->seen;
    sink->is_full |= !vec_push(&sink->aggregates, &sink->arena, row);
}

/* Fields in any order. false: the event is damaged. */
static bool slow_event(struct decoder *decoder, struct str bytes)
{
    struct wire  field = wire_start(bytes);
    struct event event = { 0 };
    uint64_t     id = 0, occurrences = 0;
    bool         is_aggregate = false;

    while (wire_next(&field)) {
        if (field.type != WIRE_VARINT)
            continue;
        if (field.number == XEVENT_METADATA_ID)
            id = field.value;
        else if (field.number == XEVENT_OFFSET_PS)
            event.offset_ps = field.value;
        else if (field.number == XEVENT_DURATION_PS)
            event.duration_ps = field.value;
        else if (field.number == XEVENT_NUM_OCCURRENCES)
            is_aggregate = true, occurrences = field.value;
    }
    event.info = xspace_type_info(decoder->tables, id);
    if (is_aggregate && !field.is_broken)
        keep_aggregate(decoder, &event, occurrences);
    if (field.is_broken || is_aggregate)
        return !field.is_broken;
    for (field = wire_start(bytes); wire_next(&field);)
        if (field.number == XEVENT_STATS && field.type == WIRE_BYTES)
            slow_stat(decoder, &event, field.bytes);
    store_event(decoder, &event);
    return true;
}

/* Events in their usual form, as many as there are; false when the next field is none of these. */
static bool fast_events(struct decoder *decoder, struct wire *field, const uint8_t *safe_end)
{
    const struct sink *sink = decoder->sink;
    const uint8_t     *stop = field->end;

    while (sink->row < CHUNK_EVENTS && field->at < stop) {
        uint64_t       length;
        const uint8_t *at;

        if (field->at >= safe_end || field->at[0] != KEY_OF(XLINE_EVENTS, WIRE_BYTES))
            return false;
        at = wire_varint_fast(field->at + 1, &length);
        __builtin_prefetch(field->at + PREFETCH_BYTES);
        if (!at || at > field->end || length > (uint64_t)(field->end - at) ||
            at + length > safe_end || !fast_event(decoder, at, at + length))
            return false;
        field->at = at + length;
    }
    return true;
}

/* The events of the chunk that find room; false at damage. */
static bool decode_events(struct decoder *decoder, struct wire *field, struct str whole)
{
    const uint8_t *safe_end = (const uint8_t *)whole.data + whole.len;
    struct chunk  *chunk = decoder->chunk;

    safe_end = whole.len > FAST_SLACK_BYTES ? safe_end - FAST_SLACK_BYTES : field->at;
    while (!decoder->sink->is_full && !fast_events(decoder, field, safe_end)) {
        if (!wire_next(field))
            return false;
        if (field->number != XLINE_EVENTS || field->type != WIRE_BYTES)
            chunk->has_head |= xline_field(&chunk->head, field);
        else if (!slow_event(decoder, field->bytes))
            return false;
    }
    return true;
}

void xspace_chunk_decode(struct chunk *chunk, struct sink *sink)
{
    const struct line_task *task = chunk->task;
    struct decoder          decoder = { .sink = sink,
                                        .chunk = chunk,
                                        .tables = task->tables,
                                        .base_ns = task->base_ns,
                                        .last_start_ns = INT64_MIN,
                                        .start_ns = INT64_MAX,
                                        .end_ns = INT64_MIN };
    struct wire             field = wire_start(chunk->bytes);
    size_t                  from = (size_t)(chunk->bytes.data - task->file->bytes.data);

    chunk->is_cut = !decode_events(&decoder, &field, task->file->bytes);
    chunk->bytes.len = (size_t)((const char *)field.at - chunk->bytes.data);
    chunk->is_last =
        chunk->is_cut || (const char *)field.at == task->line.bytes.data + task->line.bytes.len;
    chunk->count = sink->row;
    if (chunk->count) {
        chunk->first_start_ns = sink->starts_ns[0];
        chunk->first_duration_ns = sink->durations_ns[0];
        chunk->last_start_ns = decoder.last_start_ns;
        chunk->last_duration_ns = decoder.last_duration_ns;
        chunk->start_ns = decoder.start_ns;
        chunk->end_ns = decoder.end_ns;
    }
    /* With the page in which the chunk before ended. */
    file_drop(task->file, from < PAGE_BYTES ? 0 : from - PAGE_BYTES, from + chunk->bytes.len);
}
