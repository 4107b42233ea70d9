#include "read/xplane.h"

enum { PREFETCH_BYTES = 1024 };

/* Truncated input: what is there of a message whose length runs past the end. */
static struct str rest_of(const struct wire *wire)
{
    const uint8_t *at = wire->at;
    uint64_t       key, length;

    at = wire_varint(at, wire->end, &key);
    if (!at || (key & 7) != WIRE_BYTES)
        return (struct str) { 0 };
    at = wire_varint(at, wire->end, &length);
    if (!at || length <= (uint64_t)(wire->end - at))
        return (struct str) { 0 };
    return (struct str) { (const char *)at, (size_t)(wire->end - at) };
}

static uint32_t cut_field(const struct wire *wire)
{
    uint64_t key;

    return wire_varint(wire->at, wire->end, &key) ? (uint32_t)(key >> 3) : 0;
}

static void line_field(struct xline *line, const struct wire *field)
{
    switch (field->number) {
    case XLINE_ID:
        line->id = (int64_t)field->value;
        break;
    case XLINE_DISPLAY_ID:
        line->display_id = (int64_t)field->value;
        break;
    case XLINE_TIMESTAMP_NS:
        line->timestamp_ns = (int64_t)field->value;
        break;
    case XLINE_NAME:
        line->name = field->bytes;
        break;
    case XLINE_DISPLAY_NAME:
        line->display_name = field->bytes;
        break;
    case XLINE_EVENTS:
        line->event_count += line->event_count < UINT32_MAX;
        break;
    default:
        break;
    }
}

/* Hops over the events at `at` whose length takes one or two bytes, as nearly all do. */
static const uint8_t *hop_events(const uint8_t *at, const uint8_t *end, uint32_t *count)
{
    uint32_t hops = 0;

    while (end - at >= 4 && at[0] == (XLINE_EVENTS << 3 | WIRE_BYTES) && hops < UINT16_MAX) {
        size_t length = at[1], head = 2;

        __builtin_prefetch(at + PREFETCH_BYTES);
        if (length >= 0x80) {
            if (at[2] >= 0x80)
                break;
            length = (length & 0x7F) | (size_t)at[2] << 7;
            head = 3;
        }
        if (length > (size_t)(end - at) - head)
            break;
        at += head + length;
        hops++;
    }
    *count = hops;
    return at;
}

static bool end_piece(struct xline *line, const char *start, const uint8_t *at, uint32_t before,
                      struct arena *arena)
{
    struct xline_piece piece = { .bytes = { start, (size_t)((const char *)at - start) },
                                 .event_count = line->event_count - before };

    return vec_push(&line->pieces, arena, piece);
}

static bool line_index(struct xline *line, struct str bytes, struct arena *arena)
{
    struct wire field = wire_start(bytes);
    const char *start = (const char *)field.at;
    uint32_t    before = 0, hops;

    *line = (struct xline) { .bytes = bytes };
    for (;;) {
        bool is_bytes;

        field.at = hop_events(field.at, field.end, &hops);
        line->event_count += hops < UINT32_MAX - line->event_count ? hops : 0;
        if ((const char *)field.at - start >= XLINE_PIECE_BYTES) {
            if (!end_piece(line, start, field.at, before, arena))
                return false;
            start = (const char *)field.at;
            before = line->event_count;
        }
        if (!wire_next(&field))
            break;
        is_bytes = field.number == XLINE_NAME || field.number == XLINE_DISPLAY_NAME ||
                   field.number == XLINE_EVENTS;
        if (is_bytes == (field.type == WIRE_BYTES))
            line_field(line, &field);
    }
    line->is_cut = field.is_broken;
    return end_piece(line, start, field.at, before, arena);
}

static bool add_line(struct xplane *plane, struct arena *arena, struct str bytes)
{
    struct xline line;

    return line_index(&line, bytes, arena) && vec_push(&plane->lines, arena, line);
}

/* Key and value of a map's entry; false when it is broken. */
static bool map_entry(struct str bytes, int64_t *key, struct str *value)
{
    struct wire field = wire_start(bytes);

    *key = 0;
    *value = (struct str) { 0 };
    while (wire_next(&field)) {
        if (field.number == MAP_KEY && field.type == WIRE_VARINT)
            *key = (int64_t)field.value;
        else if (field.number == MAP_VALUE && field.type == WIRE_BYTES)
            *value = field.bytes;
    }
    return !field.is_broken;
}

static bool add_event_type(struct xplane *plane, struct arena *arena, struct str entry)
{
    struct xevent_type type = { 0 };
    struct str         display = { 0 };

    if (!map_entry(entry, &type.id, &type.bytes)) {
        plane->is_cut = true;
        return true;
    }
    for (struct wire field = wire_start(type.bytes); wire_next(&field);) {
        if (field.number == XEVENT_METADATA_NAME && field.type == WIRE_BYTES)
            type.name = field.bytes;
        else if (field.number == XEVENT_METADATA_DISPLAY_NAME && field.type == WIRE_BYTES)
            display = field.bytes;
    }
    if (display.len && (!type.name.len || type.name.data[0] == '%')) /* "%fusion.3 = f32[8] …" */
        type.name = display;
    return vec_push(&plane->event_types, arena, type) &&
           id_map_put(&plane->event_type_of, (uint64_t)type.id,
                      (uint32_t)plane->event_types.count - 1);
}

static bool add_stat_type(struct xplane *plane, struct arena *arena, struct str entry)
{
    struct xstat_type type = { 0 };
    struct str        bytes;

    if (!map_entry(entry, &type.id, &bytes)) {
        plane->is_cut = true;
        return true;
    }
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == XSTAT_METADATA_NAME && field.type == WIRE_BYTES)
            type.name = field.bytes;
    return vec_push(&plane->stat_types, arena, type) &&
           id_map_put(&plane->stat_type_of, (uint64_t)type.id,
                      (uint32_t)plane->stat_types.count - 1);
}

static bool plane_field(struct xplane *plane, struct arena *arena, const struct wire *field)
{
    if (field->type == WIRE_VARINT) {
        if (field->number == XPLANE_ID)
            plane->id = (int64_t)field->value;
        return true;
    }
    if (field->type != WIRE_BYTES)
        return true;
    switch (field->number) {
    case XPLANE_NAME:
        plane->name = field->bytes;
        return true;
    case XPLANE_LINES:
        return add_line(plane, arena, field->bytes);
    case XPLANE_EVENT_METADATA:
        return add_event_type(plane, arena, field->bytes);
    case XPLANE_STAT_METADATA:
        return add_stat_type(plane, arena, field->bytes);
    case XPLANE_STATS:
        return vec_push(&plane->stats, arena, field->bytes);
    default:
        return true;
    }
}

static bool add_plane(struct xspace *space, struct arena *arena, struct str bytes)
{
    struct xplane plane = { .bytes = bytes,
                            .event_type_of.arena = arena,
                            .stat_type_of.arena = arena };
    struct wire   field = wire_start(bytes);

    while (wire_next(&field))
        if (!plane_field(&plane, arena, &field))
            return false;
    if (field.is_broken) {
        struct str rest = rest_of(&field);

        plane.is_cut = true;
        if (rest.len && cut_field(&field) == XPLANE_LINES && !add_line(&plane, arena, rest))
            return false;
    }
    for (size_t i = 0; i < plane.lines.count; i++)
        space->event_count += plane.lines.items[i].event_count;
    return vec_push(&space->planes, arena, plane);
}

bool xspace_index(struct str bytes, struct arena *arena, struct xspace *space, struct err *err)
{
    struct wire field = wire_start(bytes);
    bool        ok = true;

    *space = (struct xspace) { 0 };
    while (ok && wire_next(&field)) {
        if (field.number == XSPACE_PLANES && field.type == WIRE_BYTES)
            ok = add_plane(space, arena, field.bytes);
        else if (field.number == XSPACE_HOSTNAMES && field.type == WIRE_BYTES)
            ok = vec_push(&space->hostnames, arena, field.bytes);
        else if (field.number > XSPACE_HOSTNAMES)
            space->unknown_fields++;
    }
    if (ok && field.is_broken) {
        struct str rest = rest_of(&field);

        space->is_cut = true;
        space->cut_offset = wire_offset(&field, bytes);
        if (rest.len && cut_field(&field) == XSPACE_PLANES)
            ok = add_plane(space, arena, rest);
    }
    if (!ok)
        return err_set(err, ERR_LIMIT, "its metadata do not fit into the memory budget");
    if (space->planes.count == 0)
        return err_set_at(err, ERR_FORMAT, space->cut_offset, "holds no plane of an XSpace");
    return true;
}

struct xstat xstat_read(struct str bytes)
{
    struct xstat stat = { 0 };

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        bool is_text = field.number == XSTAT_STR || field.number == XSTAT_BYTES;

        if (field.number == XSTAT_METADATA_ID && field.type == WIRE_VARINT)
            stat.type_id = (int64_t)field.value;
        else if (is_text && field.type == WIRE_BYTES) {
            stat.field = field.number;
            stat.text = field.bytes;
        } else if (field.number >= XSTAT_DOUBLE && field.number <= XSTAT_REF && !is_text &&
                   field.type == (field.number == XSTAT_DOUBLE ? WIRE_64 : WIRE_VARINT)) {
            stat.field = field.number;
            stat.number = field.value;
        }
    }
    return stat;
}

struct str xplane_stat_name(const struct xplane *plane, int64_t type_id)
{
    uint32_t index = id_map_get(&plane->stat_type_of, (uint64_t)type_id);

    return index == NO_ID ? (struct str) { "", 0 } : plane->stat_types.items[index].name;
}

struct str xstat_text(const struct xplane *plane, const struct xstat *stat)
{
    return stat->field == XSTAT_REF ? xplane_stat_name(plane, (int64_t)stat->number) : stat->text;
}

double xstat_number(const struct xstat *stat)
{
    double number;

    switch (stat->field) {
    case XSTAT_DOUBLE:
        memcpy(&number, &stat->number, sizeof number);
        return number;
    case XSTAT_UINT64:
        return (double)stat->number;
    case XSTAT_INT64:
        return (double)(int64_t)stat->number;
    default:
        return 0;
    }
}
