#include "read/xspace_lines.h"

enum { PS_IN_NS = 1000, FAST_SLACK_BYTES = 64, PREFETCH_BYTES = 1024 };
#define MAX_PS (INT64_MAX / 4)
#define KEY_OF(number, type) ((number) << 3 | (type))

/* One line being decoded. */
struct decoder {
    struct sink               *sink;
    struct line_task          *task;
    const struct plane_tables *tables;
    int64_t                   *starts_ns;
    uint32_t                  *durations, *activities;
    uint64_t                   unknown_stats;
    int64_t                    first_duration_ns, last_start_ns, last_duration_ns, start_ns, end_ns;
};

struct event {
    struct type_info info;
    uint64_t         offset_ps, duration_ps; /* as on the wire */
    unsigned         seen;
    uint64_t         unknown_stats;
};

static int64_t floor_ns(int64_t ps)
{
    return ps / PS_IN_NS - (ps % PS_IN_NS < 0);
}

/* Times that are negative or out of range. */
static void odd_times(struct line_task *task, const struct event *event, int64_t *start_ns,
                      int64_t *duration_ns)
{
    int64_t offset_ps = (int64_t)event->offset_ps, duration_ps = (int64_t)event->duration_ps;

    if (duration_ps < 0) {
        task->negative_count++;
        duration_ps = 0;
    }
    if (offset_ps > MAX_PS || offset_ps < -MAX_PS || duration_ps > MAX_PS) {
        task->overflow_count++;
        offset_ps = duration_ps = 0;
    }
    *start_ns = floor_ns(offset_ps);
    *duration_ns = floor_ns(offset_ps + duration_ps) - *start_ns;
}

static void add_long(struct sink *sink, int64_t duration_ns)
{
    struct long_duration item = { sink->next_event, duration_ns };

    if (!vec_push(&sink->longs, &sink->arena, item))
        sink->is_full = true;
}

static void end_memory(struct sink *sink, const struct event *event, int64_t start_ns)
{
    struct memory_event *memory = &sink->memory;

    if (!sink->has_memory)
        return;
    memory->event = sink->next_event;
    memory->time_ns = start_ns;
    memory->kind = event->info.flags & TYPE_RELEASE ? MEMORY_FREE : MEMORY_ALLOCATE;
    memory->op_name = sink->variant.tf_op;
    if (memory->bytes < 0)
        memory->bytes = sink->memory_size;
    if (!vec_push(&sink->memory_events, &sink->arena, *memory))
        sink->is_full = true;
}

/* Times in whole ns, both ends rounded down, so that nesting survives. */
static ALWAYS_INLINE void store_event(struct decoder *decoder, const struct event *event)
{
    struct sink *sink = decoder->sink;
    uint32_t     row = sink->next_event, activity = event->info.type;
    int64_t      start_ns, duration_ns;

    if (LIKELY((event->offset_ps | event->duration_ps) >> 60 == 0)) {
        start_ns = (int64_t)(event->offset_ps / PS_IN_NS);
        duration_ns = (int64_t)((event->offset_ps + event->duration_ps) / PS_IN_NS) - start_ns;
    } else {
        odd_times(decoder->task, event, &start_ns, &duration_ns);
    }
    start_ns += decoder->task->base_ns;
    if (LIKELY(activity != NO_TYPE))
        sink->seen[activity] |= (uint16_t)event->seen;
    else
        decoder->task->nameless_count++;
    if (UNLIKELY(event->info.flags & TYPE_MEMORY)) {
        end_memory(sink, event, start_ns);
        sink->has_memory = false;
        sink->memory_size = -1;
    }
    if (sink->variant.module | sink->variant.hlo_op | sink->variant.tf_op) {
        if (decoder->task->has_ops)
            activity = sink_variant(sink, activity);
        sink->variant = (struct variant) { 0 };
    }
    sink->variant.program = 0;
    decoder->activities[row] = activity;
    decoder->starts_ns[row] = start_ns;
    if (UNLIKELY(duration_ns >= EVENT_DURATION_LONG))
        add_long(sink, duration_ns);
    decoder->durations[row] =
        duration_ns < EVENT_DURATION_LONG ? (uint32_t)duration_ns : EVENT_DURATION_LONG;
    if (start_ns <= decoder->last_start_ns &&
        (start_ns < decoder->last_start_ns || duration_ns > decoder->last_duration_ns))
        decoder->task->is_unsorted = true;
    if (UNLIKELY(decoder->first_duration_ns < 0))
        decoder->first_duration_ns = duration_ns;
    if (start_ns < decoder->start_ns)
        decoder->start_ns = start_ns;
    if (start_ns + duration_ns > decoder->end_ns)
        decoder->end_ns = start_ns + duration_ns;
    decoder->last_start_ns = start_ns;
    decoder->last_duration_ns = duration_ns;
    decoder->unknown_stats += event->unknown_stats;
    sink->next_event = row + 1;
}

static void slow_stat(struct decoder *decoder, struct event *event, struct str bytes)
{
    struct xstat            stat = xstat_read(bytes);
    const struct stat_info *info = xspace_stat_info(decoder->tables, (uint64_t)stat.type_id);

    event->seen |= info->seen;
    if (info->key == STAT_UNKNOWN)
        event->unknown_stats++;
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
    uint64_t     length;

    switch (*at++) {
    case KEY_OF(XSTAT_UINT64, WIRE_VARINT):
    case KEY_OF(XSTAT_INT64, WIRE_VARINT):
        if (wire_varint_fast(at, &stat.number) != end)
            return false;
        if (info->how == HOW_NUMBER && !event->info.flags) {
            sink_push(sink, info->key, (int64_t)stat.number);
            return true;
        }
        break;
    case KEY_OF(XSTAT_REF, WIRE_VARINT):
        if (wire_varint_fast(at, &stat.number) != end)
            return false;
        if (info->how == HOW_NAME) {
            sink_push(sink, info->key, xspace_stat_info(decoder->tables, stat.number)->name);
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
        info = xspace_stat_info(decoder->tables, id);
        event->seen |= info->seen;
        if (info->key >= EXTRA_NONE) {
            event->unknown_stats += info->key == STAT_UNKNOWN;
            continue;
        }
        if (LIKELY(inner < stat_end && fast_value(decoder, event, info, inner, stat_end)))
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
    at = wire_varint_fast(at + 1, &event.offset_ps);
    event.duration_ps = 0;
    if (at && at < end && at[0] == KEY_OF(XEVENT_DURATION_PS, WIRE_VARINT))
        at = wire_varint_fast(at + 1, &event.duration_ps);
    if (UNLIKELY(!at || at > end))
        return false;
    event.info = xspace_type_info(decoder->tables, id);
    event.seen = 0;
    event.unknown_stats = 0;
    if (UNLIKELY(!fast_stats(decoder, &event, at, end))) {
        sink_undo(decoder->sink);
        return false;
    }
    store_event(decoder, &event);
    return true;
}

/* Fields in any order. false: the event is damaged. */
static bool slow_event(struct decoder *decoder, struct str bytes)
{
    struct wire  field = wire_start(bytes);
    struct event event = { 0 };
    uint64_t     id = 0;
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
            is_aggregate = true;
    }
    decoder->task->aggregate_count += is_aggregate && !field.is_broken;
    if (field.is_broken || is_aggregate)
        return !field.is_broken;
    event.info = xspace_type_info(decoder->tables, id);
    for (field = wire_start(bytes); wire_next(&field);)
        if (field.number == XEVENT_STATS && field.type == WIRE_BYTES)
            slow_stat(decoder, &event, field.bytes);
    store_event(decoder, &event);
    return true;
}

/* All events of the piece; false at damage. */
static bool decode_piece(struct decoder *decoder, struct str whole)
{
    struct str     bytes = decoder->task->piece.bytes;
    const uint8_t *safe_end = (const uint8_t *)whole.data + whole.len;
    struct wire    field = wire_start(bytes);
    uint32_t       left = decoder->task->piece.event_count;

    safe_end = whole.len > FAST_SLACK_BYTES ? safe_end - FAST_SLACK_BYTES : field.at;
    while (left > 0 && !decoder->sink->is_full) {
        while (left > 0 && field.at < safe_end && field.at[0] == KEY_OF(XLINE_EVENTS, WIRE_BYTES)) {
            uint64_t       length;
            const uint8_t *at = wire_varint_fast(field.at + 1, &length);

            __builtin_prefetch(field.at + PREFETCH_BYTES);
            if (!at || length > (uint64_t)(field.end - at) || at + length > safe_end ||
                !fast_event(decoder, at, at + length))
                break;
            field.at = at + length;
            left--;
        }
        if (left == 0 || !wire_next(&field))
            break;
        if (field.number != XLINE_EVENTS || field.type != WIRE_BYTES)
            continue;
        left--;
        if (!slow_event(decoder, field.bytes))
            return false;
    }
    return true;
}

void xspace_line_decode(struct line_task *task, struct sink *sink)
{
    struct profile *profile = sink->profile;
    struct decoder  decoder = { .sink = sink,
                                .task = task,
                                .tables = task->tables,
                                .starts_ns = profile->event_start_ns,
                                .durations = profile->event_duration_,
                                .activities = profile->event_activity,
                                .first_duration_ns = -1,
                                .last_start_ns = INT64_MIN,
                                .start_ns = INT64_MAX,
                                .end_ns = INT64_MIN };
    size_t          from = (size_t)(task->piece.bytes.data - task->file->bytes.data);

    task->first_event = sink->next_event;
    if (task->piece.event_count == 0)
        return;
    task->is_cut = !decode_piece(&decoder, task->file->bytes);
    task->event_count = sink->next_event - task->first_event;
    sink->unknown_stats += decoder.unknown_stats;
    if (task->event_count) {
        task->first_start_ns = profile->event_start_ns[task->first_event];
        task->first_duration_ns = decoder.first_duration_ns;
        task->last_start_ns = decoder.last_start_ns;
        task->last_duration_ns = decoder.last_duration_ns;
        task->start_ns = decoder.start_ns;
        task->end_ns = decoder.end_ns;
    }
    file_drop(task->file, from, from + task->piece.bytes.len);
}
