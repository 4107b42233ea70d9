/*
 * A Kineto trace whose events are repeated: the n-th copy is n recordings later, and so are the
 * numbers that tell launches, ops, flows and steps apart, so that the copies look like one long
 * capture. Everything else is copied as it is written.
 */
#include "bench_make.h"

#include "base/file.h"
#include "base/macros.h"
#include "read/json_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum shift_kind {
    SHIFT_TIME,
    SHIFT_CORRELATION,
    SHIFT_OP,
    SHIFT_SEQUENCE,
    SHIFT_STEP,
    SHIFT_KINDS
};

struct shift { /* a number in the text that each copy has anew */
    struct str      text;
    enum shift_kind kind;
    int64_t         number; /* ns for times */
};
struct shifts {
    struct shift *items;
    size_t        count, capacity;
    int64_t       lowest[SHIFT_KINDS], highest[SHIFT_KINDS];
};

static const struct {
    struct str      key;
    enum shift_kind kind;
} shifted_keys[] = {
    { STR_INIT("ts"), SHIFT_TIME },
    { STR_INIT("correlation"), SHIFT_CORRELATION },
    { STR_INIT("wait_on_cuda_event_record_corr_id"), SHIFT_CORRELATION },
    { STR_INIT("id"), SHIFT_CORRELATION },
    { STR_INIT("External id"), SHIFT_OP },
    { STR_INIT("external id"), SHIFT_OP },
    { STR_INIT("Record function id"), SHIFT_OP },
    { STR_INIT("Ev Idx"), SHIFT_OP },
    { STR_INIT("Sequence number"), SHIFT_SEQUENCE },
};

static void add_shift(struct shifts *shifts, enum shift_kind kind, struct str text)
{
    struct shift shift = { .text = text, .kind = kind };

    if (!json_decimal(text, kind == SHIFT_TIME ? 3 : 0, &shift.number) || shift.number < 0)
        return;
    if (shifts->count == shifts->capacity) {
        shifts->capacity = shifts->capacity ? 2 * shifts->capacity : 1024;
        shifts->items = realloc(shifts->items, shifts->capacity * sizeof *shifts->items);
        if (!shifts->items)
            abort();
    }
    shifts->items[shifts->count++] = shift;
    if (shift.number < shifts->lowest[kind])
        shifts->lowest[kind] = shift.number;
    if (shift.number > shifts->highest[kind])
        shifts->highest[kind] = shift.number;
}

/* "ProfilerStep#12": the number behind the sign. */
static void add_step(struct shifts *shifts, struct str name)
{
    static const struct str prefix = STR_INIT("ProfilerStep#");

    if (str_starts(name, prefix))
        add_shift(shifts, SHIFT_STEP, str_slice(name, prefix.len, name.len));
}

/* An object's numbers, and those of the objects inside it. */
static void scan_object(struct shifts *shifts, struct json_scan *scan)
{
    struct str key;

    json_open(scan, '{');
    while (json_member(scan, &key)) {
        size_t row = 0;

        if (json_peek(scan) == '{') {
            scan_object(shifts, scan);
            continue;
        }
        while (row < ARRAY_COUNT(shifted_keys) && !str_equal(key, shifted_keys[row].key))
            row++;
        if (row < ARRAY_COUNT(shifted_keys))
            add_shift(shifts, shifted_keys[row].kind, json_scalar(scan));
        else if (str_equal(key, STR("name")))
            add_step(shifts, json_scalar(scan));
        else
            json_skip(scan);
    }
}

/* Events from the first one on; `events` becomes their text. */
static void scan_events(struct shifts *shifts, struct json_scan *scan, struct str *events)
{
    const char *first;

    json_peek(scan);
    first = scan->at;
    while (json_peek(scan) != ']' && json_item(scan))
        if (json_peek(scan) == '{')
            scan_object(shifts, scan);
        else
            json_skip(scan);
    *events = (struct str) { first, (size_t)(scan->at - first) };
}

static void write_copy(struct sink *sink, struct str events, const struct shifts *shifts,
                       uint64_t copy)
{
    const char *at = events.data;

    for (size_t i = 0; i < shifts->count; i++) {
        const struct shift *shift = &shifts->items[i];
        int64_t             range = shifts->highest[shift->kind] - shifts->lowest[shift->kind] + 1;
        int64_t             number = shift->number + (int64_t)copy * range;
        char                text[48];
        int                 len;

        if (shift->kind == SHIFT_TIME)
            len = snprintf(text, sizeof text, "%" PRId64 ".%03d", number / 1000,
                           (int)(number % 1000));
        else
            len = snprintf(text, sizeof text, "%" PRId64, number);
        sink_bytes(sink, at, (size_t)(shift->text.data - at));
        sink_bytes(sink, text, (size_t)len);
        at = shift->text.data + shift->text.len;
    }
    sink_bytes(sink, at, (size_t)(events.data + events.len - at));
}

void make_kineto(const char *source, const char *target, uint64_t wanted_bytes)
{
    struct file      file = { 0 };
    struct err       err = { 0 };
    struct shifts    shifts = { 0 };
    struct str       events, key;
    struct json_scan scan;
    struct sink      sink = { .file = create_file(target) };

    if (!file_open(&file, source, 0, &err)) {
        fprintf(stderr, "%s: %s\n", source, err.text);
        exit(1);
    }
    for (int kind = 0; kind < SHIFT_KINDS; kind++)
        shifts.lowest[kind] = INT64_MAX;
    scan = (struct json_scan) { .at = file.bytes.data, .end = file.bytes.data + file.bytes.len };
    json_open(&scan, '{');
    while (json_member(&scan, &key) && !str_equal(key, STR("traceEvents")))
        json_skip(&scan);
    json_open(&scan, '[');
    scan_events(&shifts, &scan, &events);
    if (scan.state != JSON_FINE || !shifts.count) {
        fprintf(stderr, "%s is no Kineto trace\n", source);
        exit(1);
    }
    sink_bytes(&sink, file.bytes.data, (size_t)(events.data - file.bytes.data));
    for (uint64_t copy = 0; copy == 0 || sink.bytes < wanted_bytes; copy++) {
        if (copy)
            sink_bytes(&sink, ",\n", 2);
        write_copy(&sink, events, &shifts, copy);
    }
    sink_bytes(&sink, scan.at, (size_t)(scan.end - scan.at));
    close_file(sink.file, target);
    free(shifts.items);
    file_close(&file);
}
