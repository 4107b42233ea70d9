/* Columns against protobuf-c's own unpacking of the same recordings, prefixes of a recording, and
 * hand-made messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the ones above. */
#include "read/read.h"
#include "read/xplane.h"
#include "xplane.pb-c.h"

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

extern const struct reader reader_xspace;

static const char *const recordings[] = {
    CASES_DIR "/recordings/jax-sync-every-step/slow/plugins/profile/2026_11_21_12_00_00/"
              "worker0.xplane.pb",
    CASES_DIR "/recordings/tf2-onehot-embedding/slow/plugins/profile/2026_11_21_12_00_00/"
              "worker0.xplane.pb",
};

static bool read_bytes(struct str bytes, struct profile *profile, struct arena *arena,
                       struct err *err)
{
    struct read_input   input = { .path = "test", .file.bytes = bytes };
    struct read_options options = { .threads = 1 };

    assert_true(profile_init(profile, arena));
    return reader_xspace.read(&input, 1, &options, profile, err);
}

static int64_t floor_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

struct totals {
    uint64_t count;
    int64_t  duration_ns;
};

/* All lines of planes that hold events. */
static struct totals expected_totals(const Tensorflow__Profiler__XSpace *space)
{
    struct totals totals = { 0 };

    for (size_t p = 0; p < space->n_planes; p++)
        for (size_t l = 0; l < space->planes[p]->n_lines; l++)
            for (size_t e = 0; e < space->planes[p]->lines[l]->n_events; e++) {
                const Tensorflow__Profiler__XEvent *event = space->planes[p]->lines[l]->events[e];

                totals.count++;
                totals.duration_ns +=
                    floor_ns(event->offset_ps + event->duration_ps) - floor_ns(event->offset_ps);
            }
    return totals;
}

static void equals_protobuf_c(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        struct arena                  arena = { 0 };
        struct file                   file = { 0 };
        struct err                    err = { 0 };
        struct profile                profile;
        struct totals                 expected, found = { 0 };
        Tensorflow__Profiler__XSpace *space;

        assert_true(file_open(&file, recordings[i], 0, &err));
        space = tensorflow__profiler__xspace__unpack(NULL, file.bytes.len,
                                                     (const uint8_t *)file.bytes.data);
        assert_non_null(space);
        expected = expected_totals(space);
        assert_true(read_bytes(file.bytes, &profile, &arena, &err));
        for (uint32_t e = 0; e < profile.event_count; e++) {
            found.count++;
            /* Pairs of instants that the reader joins have no duration in the file. */
            if (!str_equal(profile_str(&profile, event_activity(&profile, e)->name),
                           STR("ThreadpoolListener::Region")))
                found.duration_ns += event_duration_ns(&profile, e);
        }
        assert_int_equal(found.count, expected.count);
        assert_int_equal(found.duration_ns, expected.duration_ns);
        tensorflow__profiler__xspace__free_unpacked(space, NULL);
        file_close(&file);
        arena_free(&arena);
    }
}

/* Every 997th prefix: a profile with a note, or an error with text; never a crash. */
static void survives_cuts(void **state)
{
    struct file file = { 0 };
    struct err  err = { 0 };

    (void)state;
    assert_true(file_open(&file, recordings[1], 0, &err));
    for (size_t len = 0; len < file.bytes.len; len += 997) {
        struct arena   arena = { 0 };
        struct profile profile;
        struct err     cut = { 0 };
        char          *copy = malloc(len ? len : 1); /* so that reading behind it is noticed */

        assert_non_null(copy);
        memcpy(copy, file.bytes.data, len);
        if (!read_bytes((struct str) { copy, len }, &profile, &arena, &cut))
            assert_true(cut.text[0]);
        free(copy);
        arena_free(&arena);
    }
    file_close(&file);
}

/* Appends field `number` as a length-delimited one. */
static size_t put(char *out, size_t at, int number, const char *inner, size_t len)
{
    out[at++] = (char)(number << 3 | WIRE_BYTES);
    out[at++] = (char)len;
    memcpy(out + at, inner, len);
    return at + len;
}

/* One line at 5 ns with two events in the wrong order: offset 3500 ps for 2000 ps, from 5 + 3 to
 * 5 + 5 ns; offset 1000 ps for 500 ps, from 5 + 1 to 5 + 1 ns. */
static void rounds_and_sorts(void **state)
{
    char           line[64] = "\x18\x05", plane[128], space[128];
    size_t         line_len = 2, plane_len = 0, len;
    struct arena   arena = { 0 };
    struct profile profile;
    struct err     err = { 0 };

    (void)state;
    line_len = put(line, line_len, XLINE_EVENTS, "\x08\x01\x10\xAC\x1B\x18\xD0\x0F", 8);
    line_len = put(line, line_len, XLINE_EVENTS, "\x08\x01\x10\xE8\x07\x18\xF4\x03", 8);
    plane_len = put(plane, plane_len, XPLANE_NAME, "/host:CPU", 9);
    plane_len = put(plane, plane_len, XPLANE_LINES, line, line_len);
    plane_len = put(plane, plane_len, XPLANE_EVENT_METADATA,
                    "\x08\x01\x12\x03\x12\x01"
                    "a",
                    7);
    len = put(space, 0, XSPACE_PLANES, plane, plane_len);
    assert_true(read_bytes((struct str) { space, len }, &profile, &arena, &err));
    assert_int_equal(profile.event_count, 2);
    assert_int_equal(profile.event_start_ns[0], 6);
    assert_int_equal(event_duration_ns(&profile, 0), 0);
    assert_int_equal(profile.event_start_ns[1], 8);
    assert_int_equal(event_duration_ns(&profile, 1), 2);
    assert_string_equal(profile_str(&profile, event_activity(&profile, 0)->name).data, "a");
    assert_int_equal(profile.notes.count, 1); /* that it was sorted */
    arena_free(&arena);
}

/* The numbers the decoder uses are those of proto/xplane.proto. */
static void numbers_are_the_protos(void **state)
{
    static const struct {
        const ProtobufCMessageDescriptor *type;
        const char                       *name;
        unsigned                          number;
    } rows[] = {
        { &tensorflow__profiler__xspace__descriptor, "planes", XSPACE_PLANES },
        { &tensorflow__profiler__xspace__descriptor, "hostnames", XSPACE_HOSTNAMES },
        { &tensorflow__profiler__xplane__descriptor, "lines", XPLANE_LINES },
        { &tensorflow__profiler__xplane__descriptor, "event_metadata", XPLANE_EVENT_METADATA },
        { &tensorflow__profiler__xplane__descriptor, "stat_metadata", XPLANE_STAT_METADATA },
        { &tensorflow__profiler__xplane__descriptor, "stats", XPLANE_STATS },
        { &tensorflow__profiler__xline__descriptor, "timestamp_ns", XLINE_TIMESTAMP_NS },
        { &tensorflow__profiler__xline__descriptor, "events", XLINE_EVENTS },
        { &tensorflow__profiler__xline__descriptor, "display_id", XLINE_DISPLAY_ID },
        { &tensorflow__profiler__xline__descriptor, "display_name", XLINE_DISPLAY_NAME },
        { &tensorflow__profiler__xevent__descriptor, "metadata_id", XEVENT_METADATA_ID },
        { &tensorflow__profiler__xevent__descriptor, "offset_ps", XEVENT_OFFSET_PS },
        { &tensorflow__profiler__xevent__descriptor, "duration_ps", XEVENT_DURATION_PS },
        { &tensorflow__profiler__xevent__descriptor, "num_occurrences", XEVENT_NUM_OCCURRENCES },
        { &tensorflow__profiler__xevent__descriptor, "stats", XEVENT_STATS },
        { &tensorflow__profiler__xstat__descriptor, "double_value", XSTAT_DOUBLE },
        { &tensorflow__profiler__xstat__descriptor, "uint64_value", XSTAT_UINT64 },
        { &tensorflow__profiler__xstat__descriptor, "int64_value", XSTAT_INT64 },
        { &tensorflow__profiler__xstat__descriptor, "str_value", XSTAT_STR },
        { &tensorflow__profiler__xstat__descriptor, "bytes_value", XSTAT_BYTES },
        { &tensorflow__profiler__xstat__descriptor, "ref_value", XSTAT_REF },
        { &tensorflow__profiler__xevent_metadata__descriptor, "name", XEVENT_METADATA_NAME },
        { &tensorflow__profiler__xevent_metadata__descriptor, "stats", XEVENT_METADATA_STATS },
        { &tensorflow__profiler__xstat_metadata__descriptor, "name", XSTAT_METADATA_NAME },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(rows[i].type, rows[i].name);

        assert_non_null(field);
        assert_int_equal(field->id, rows[i].number);
    }
}

/* What the recorded program did (its README): 10 steps called "train" marked with step_num. */
static void knows_kinds(void **state)
{
    struct arena   arena = { 0 };
    struct file    file = { 0 };
    struct err     err = { 0 };
    struct profile profile;
    uint32_t       steps = 0, ops = 0, waits = 0;

    (void)state;
    assert_true(file_open(&file, recordings[1], 0, &err));
    assert_true(read_bytes(file.bytes, &profile, &arena, &err));
    for (uint32_t e = 0; e < profile.event_count; e++) {
        const struct activity *activity = event_activity(&profile, e);

        steps += activity->kind == ACTIVITY_STEP;
        waits +=
            str_equal(profile_str(&profile, activity->name), STR("IteratorGetNextOp::DoCompute")) &&
            activity->kind == ACTIVITY_INPUT_WAIT;
        ops += activity->kind == ACTIVITY_OP && activity->op != NO_ID;
    }
    assert_int_equal(steps, 10);
    assert_int_equal(waits, 10);
    assert_true(ops > 100);
    file_close(&file);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_protobuf_c),      cmocka_unit_test(survives_cuts),
        cmocka_unit_test(rounds_and_sorts),       cmocka_unit_test(knows_kinds),
        cmocka_unit_test(numbers_are_the_protos),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
