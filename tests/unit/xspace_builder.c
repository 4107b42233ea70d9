#include "xspace_builder.h"

#include "read/read.h"
#include "read/xspace/xplane.h"
#include "testing.h"

#include <string.h>

extern const struct reader reader_xspace;

static void put_varint(struct xbytes *out, uint64_t number)
{
    assert_true(out->len + 10 < sizeof out->data);
    for (; number > 0x7F; number >>= 7)
        out->data[out->len++] = (char)((number & 0x7F) | 0x80);
    out->data[out->len++] = (char)number;
}

static void put_number(struct xbytes *out, int field, int64_t number)
{
    put_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(out, (uint64_t)number);
}

static void put_bytes(struct xbytes *out, int field, const char *data, size_t len)
{
    put_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(out, len);
    assert_true(out->len + len < sizeof out->data);
    memcpy(out->data + out->len, data, len);
    out->len += len;
}

static void move(struct xbytes *out, int field, struct xbytes *from)
{
    put_bytes(out, field, from->data, from->len);
    from->len = 0;
}

/* Puts the item at hand where it belongs. */
static void end_item(struct xspace_builder *builder)
{
    if (builder->kind == ITEM_TYPE) {
        struct xbytes entry = { .len = 0 };

        put_number(&entry, MAP_KEY, builder->type_count);
        move(&entry, MAP_VALUE, &builder->item);
        move(&builder->plane, XPLANE_EVENT_METADATA, &entry);
    } else if (builder->kind == ITEM_EVENT) {
        move(&builder->line, XLINE_EVENTS, &builder->item);
    }
    builder->kind = ITEM_NONE;
}

static void end_line(struct xspace_builder *builder)
{
    end_item(builder);
    if (builder->line.len)
        move(&builder->plane, XPLANE_LINES, &builder->line);
}

static void end_plane(struct xspace_builder *builder)
{
    end_line(builder);
    for (int64_t i = 0; i < builder->name_count; i++) {
        struct xbytes type = { .len = 0 }, entry = { .len = 0 };

        put_bytes(&type, XSTAT_METADATA_NAME, builder->names[i], strlen(builder->names[i]));
        put_number(&entry, MAP_KEY, i + 1);
        move(&entry, MAP_VALUE, &type);
        move(&builder->plane, XPLANE_STAT_METADATA, &entry);
    }
    if (builder->plane.len)
        move(&builder->space, XSPACE_PLANES, &builder->plane);
    builder->name_count = builder->type_count = 0;
}

void xspace_start(struct xspace_builder *builder)
{
    memset(builder, 0, sizeof *builder);
}

void xspace_plane(struct xspace_builder *builder, const char *name)
{
    end_plane(builder);
    put_bytes(&builder->plane, XPLANE_NAME, name, strlen(name));
}

void xspace_line(struct xspace_builder *builder, int64_t id, const char *name)
{
    end_line(builder);
    put_number(&builder->line, XLINE_ID, id);
    put_bytes(&builder->line, XLINE_NAME, name, strlen(name));
}

int64_t xspace_type(struct xspace_builder *builder, const char *name, const char *display)
{
    end_item(builder);
    builder->kind = ITEM_TYPE;
    put_number(&builder->item, MAP_KEY, ++builder->type_count);
    put_bytes(&builder->item, XEVENT_METADATA_NAME, name, strlen(name));
    if (display)
        put_bytes(&builder->item, XEVENT_METADATA_DISPLAY_NAME, display, strlen(display));
    return builder->type_count;
}

void xspace_event(struct xspace_builder *builder, int64_t type, int64_t start_ps, int64_t ps)
{
    end_item(builder);
    builder->kind = ITEM_EVENT;
    put_number(&builder->item, XEVENT_METADATA_ID, type);
    put_number(&builder->item, XEVENT_OFFSET_PS, start_ps);
    put_number(&builder->item, XEVENT_DURATION_PS, ps);
}

void xspace_events(struct xspace_builder *builder, int64_t type, int64_t count, int64_t ps)
{
    end_item(builder);
    builder->kind = ITEM_EVENT;
    put_number(&builder->item, XEVENT_METADATA_ID, type);
    put_number(&builder->item, XEVENT_DURATION_PS, ps);
    put_number(&builder->item, XEVENT_NUM_OCCURRENCES, count);
}

static void start_stat(struct xspace_builder *builder, const char *name)
{
    int64_t row = 0;

    while (row < builder->name_count && strcmp(builder->names[row], name) != 0)
        row++;
    if (row == builder->name_count) {
        assert_true(row < 64 && strlen(name) < sizeof builder->names[0]);
        strncpy(builder->names[builder->name_count++], name, sizeof builder->names[0] - 1);
    }
    put_number(&builder->stats, XSTAT_METADATA_ID, row + 1);
}

static void end_stat(struct xspace_builder *builder)
{
    if (builder->kind == ITEM_TYPE)
        move(&builder->item, XEVENT_METADATA_STATS, &builder->stats);
    else if (builder->kind == ITEM_EVENT)
        move(&builder->item, XEVENT_STATS, &builder->stats);
    else
        move(&builder->plane, XPLANE_STATS, &builder->stats);
}

void xspace_number(struct xspace_builder *builder, const char *stat, int64_t value)
{
    start_stat(builder, stat);
    put_number(&builder->stats, XSTAT_INT64, value);
    end_stat(builder);
}

void xspace_bytes(struct xspace_builder *builder, const char *stat, const void *value, size_t len)
{
    start_stat(builder, stat);
    put_bytes(&builder->stats, XSTAT_BYTES, value, len);
    end_stat(builder);
}

void xspace_text(struct xspace_builder *builder, const char *stat, const char *value)
{
    start_stat(builder, stat);
    put_bytes(&builder->stats, XSTAT_STR, value, strlen(value));
    end_stat(builder);
}

void xspace_say(struct xspace_builder *builder, int field, const char *text)
{
    end_plane(builder);
    put_bytes(&builder->space, field, text, strlen(text));
}

void xspace_take(struct xspace_builder *builder, struct arena *arena, struct profile *profile)
{
    struct read_input   input = { .path = "test" };
    struct read_options options = { .threads = 1 };
    struct err          err = { 0 };

    end_plane(builder);
    input.file.bytes = (struct str) { builder->space.data, builder->space.len };
    assert_true(profile_init(profile, arena));
    assert_true(reader_xspace.read(&input, 1, &options, profile, &err));
}
