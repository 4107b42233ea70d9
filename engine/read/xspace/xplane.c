#include "read/xspace/xplane.h"

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

bool xline_field(struct xline *line, const struct wire *field)
{
    bool is_text = field->number == XLINE_NAME || field->number == XLINE_DISPLAY_NAME;

    if (is_text != (field->type == WIRE_BYTES))
        return false;
    switch (field->number) {
    case XLINE_ID:
        line->id = (int64_t)field->value;
        return true;
    case XLINE_DISPLAY_ID:
        line->display_id = (int64_t)field->value;
        return true;
    case XLINE_TIMESTAMP_NS:
        line->timestamp_ns = (int64_t)field->value;
        return true;
    case XLINE_NAME:
        line->name = field->bytes;
        return true;
    case XLINE_DISPLAY_NAME:
        line->display_name = field->bytes;
        return true;
    default:
        return false;
    }
}

const uint8_t *xline_hop(const uint8_t *at, const uint8_t *end, size_t most_bytes,
                         uint32_t most_events)
{
    const uint8_t *stop = (size_t)(end - at) > most_bytes ? at + most_bytes : end;
    struct wire    field = { .at = at, .end = end };

    for (uint32_t hops = 0; field.at < stop && hops < most_events; hops++) {
        at = field.at;
        /* Nearly all events are shorter than 128 bytes. */
        if (LIKELY(end - at >= 2 && at[0] == (XLINE_EVENTS << 3 | WIRE_BYTES) && at[1] < 0x80 &&
                   at[1] <= end - at - 2)) {
            __builtin_prefetch(at + PREFETCH_BYTES);
            field.at = at + 2 + at[1];
        } else if (!wire_next(&field)) {
            return end;
        }
    }
    return field.at;
}

static bool add_line(struct xplane *plane, struct arena *arena, struct str bytes)
{
    struct xline   line = { 0 };
    struct wire    field = wire_start(bytes);
    const uint8_t *at = field.at;

    while (wire_next(&field) && !(field.number == XLINE_EVENTS && field.type == WIRE_BYTES)) {
        xline_field(&line, &field);
        at = field.at;
    }
    line.bytes = (struct str) { (const char *)at, (size_t)(field.end - at) };
    return vec_push(&plane->lines, arena, line);
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
        else if (field.number == XSPACE_ERRORS && field.type == WIRE_BYTES)
            ok = vec_push(&space->errors, arena, field.bytes);
        else if (field.number == XSPACE_WARNINGS && field.type == WIRE_BYTES)
            ok = vec_push(&space->warnings, arena, field.bytes);
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
