/* Columns against protobuf-c's own unpacking of the same recordings, prefixes of a recording, and
 * hand-made messages. */
#include "testing.h"
#include "xplane.pb-c.h"
#include "xspace_bytes.h"
#include <stdlib.h>
#include <string.h>

static const char *const recordings[] = {
    CASES_DIR "/recordings/jax-sync-every-step/slow/plugins/profile/2026_11_21_12_00_00/"
              "worker0.xplane.pb",
    CASES_DIR "/recordings/tf2-onehot-embedding/slow/plugins/profile/2026_11_21_12_00_00/"
              "worker0.xplane.pb",
    CASES_DIR "/recordings/tf2-input-sequential-map/plugins/profile/2026_11_21_12_00_00/"
              "worker0.xplane.pb",
};

static int64_t floor_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

struct totals {
    uint64_t count;
    int64_t  duration_ns;
    uint64_t name_bytes; /* of all events */
};

static const char *expected_name(const Tensorflow__Profiler__XPlane *plane, int64_t id, size_t *len)
{
    for (size_t i = 0; i < plane->n_event_metadata; i++)
        if (plane->event_metadata[i]->key == id) {
            *len = plane->event_metadata[i]->value->name.len;
            return (const char *)plane->event_metadata[i]->value->name.data;
        }
    *len = 0;
    return "";
}

/* All lines of planes that hold events. */
static struct totals expected_totals(const Tensorflow__Profiler__XSpace *space)
{
    struct totals totals = { 0 };

    for (size_t p = 0; p < space->n_planes; p++)
        for (size_t l = 0; l < space->planes[p]->n_lines; l++)
            for (size_t e = 0; e < space->planes[p]->lines[l]->n_events; e++) {
                const Tensorflow__Profiler__XEvent *event = space->planes[p]->lines[l]->events[e];

                size_t len;

                (void)expected_name(space->planes[p], event->metadata_id, &len);
                totals.name_bytes += len;
                totals.count++;
                totals.duration_ns +=
                    floor_ns(event->offset_ps + event->duration_ps) - floor_ns(event->offset_ps);
            }
    return totals;
}

/* Marks of pool tasks are joined into regions after decoding, which changes names and durations. */
static bool is_joined(const struct profile *profile)
{
    return intern_find(&profile->names, STR("ThreadpoolListener::Region")) != NO_ID;
}

TEST(equals_protobuf_c)
{
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
            found.name_bytes += profile_str(&profile, event_activity(&profile, e)->name).len;
        }
        assert_int_equal(found.count, expected.count);
        if (!is_joined(&profile)) {
            assert_int_equal(found.duration_ns, expected.duration_ns);
            assert_int_equal(found.name_bytes, expected.name_bytes);
        }
        tensorflow__profiler__xspace__free_unpacked(space, NULL);
        file_close(&file);
        arena_free(&arena);
    }
}

/* Every 997th prefix: a profile with a note, or an error with text; never a crash. */
TEST(survives_cuts)
{
    struct file file = { 0 };
    struct err  err = { 0 };

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

/* One line at 5 ns with two events in the wrong order: offset 3500 ps for 2000 ps, from 5 + 3 to
 * 5 + 5 ns; offset 1000 ps for 500 ps, from 5 + 1 to 5 + 1 ns. */
TEST(rounds_and_sorts)
{
    char           line[64] = "\x18\x05", plane[128], space[128];
    size_t         line_len = 2, plane_len = 0, len;
    struct arena   arena = { 0 };
    struct profile profile;
    struct err     err = { 0 };

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
    assert_int_equal(event_start_ns(&profile, 0), 6);
    assert_int_equal(event_duration_ns(&profile, 0), 0);
    assert_int_equal(event_start_ns(&profile, 1), 8);
    assert_int_equal(event_duration_ns(&profile, 1), 2);
    assert_string_equal(profile_str(&profile, event_activity(&profile, 0)->name).data, "a");
    assert_int_equal(profile.notes.count, 1); /* that it was sorted */
    arena_free(&arena);
}

/* A line's clock and name behind its events, which begin at 5 + 1 and 5 + 3 ns, of a device. */
TEST(fields_may_follow_the_events)
{
    char           line[64], plane[128], space[160];
    size_t         line_len = 0, plane_len = 0, len;
    struct arena   arena = { 0 };
    struct profile profile;
    struct err     err = { 0 };

    line_len = put(line, line_len, XLINE_EVENTS, "\x08\x01\x10\xE8\x07\x18\xF4\x03", 8);
    line_len = put(line, line_len, XLINE_EVENTS, "\x08\x01\x10\xAC\x1B\x18\xD0\x0F", 8);
    line[line_len++] = XLINE_TIMESTAMP_NS << 3;
    line[line_len++] = 5;
    line_len = put(line, line_len, XLINE_NAME, "XLA Ops", 7);
    plane_len = put(plane, plane_len, XPLANE_NAME, "/device:TPU:0", 13);
    plane_len = put(plane, plane_len, XPLANE_LINES, line, line_len);
    plane_len = put(plane, plane_len, XPLANE_EVENT_METADATA,
                    "\x08\x01\x12\x03\x12\x01"
                    "a",
                    7);
    len = put(space, 0, XSPACE_PLANES, plane, plane_len);
    assert_true(read_bytes((struct str) { space, len }, &profile, &arena, &err));
    assert_int_equal(profile.event_count, 2);
    assert_int_equal(profile.timelines.items[0].kind, TIMELINE_OPS);
    assert_int_equal(event_start_ns(&profile, 0), 6);
    assert_int_equal(event_start_ns(&profile, 1), 8);
    assert_int_equal(profile.start_ns, 6);
    assert_int_equal(profile.end_ns, 10);
    assert_int_equal(event_activity(&profile, 1)->kind, ACTIVITY_KERNEL);
    arena_free(&arena);
}

/* One line with metadata, stats and two events; every prefix is a profile or a reason. */
TEST(survives_every_cut)
{
    char   line[64] = "\x12\x01t\x18\x05", plane[192], space[256];
    size_t line_len = 5, plane_len = 0, len;

    /* metadata 1 at 1000 ps for 500 ps with stat 1 = 7; metadata 1 at 3500 ps for 2000 ps */
    line_len = put(line, line_len, XLINE_EVENTS,
                   "\x08\x01\x10\xE8\x07\x18\xF4\x03\x22\x04\x08\x01\x20\x07", 14);
    line_len = put(line, line_len, XLINE_EVENTS, "\x08\x01\x10\xAC\x1B\x18\xD0\x0F", 8);
    plane_len = put(plane, plane_len, XPLANE_NAME, "/host:CPU", 9);
    plane_len = put(plane, plane_len, XPLANE_LINES, line, line_len);
    plane_len = put(plane, plane_len, XPLANE_EVENT_METADATA,
                    "\x08\x01\x12\x03\x12\x01"
                    "a",
                    7);
    plane_len = put(plane, plane_len, XPLANE_STAT_METADATA,
                    "\x08\x01\x12\x0A\x12\x08"
                    "step_num",
                    14);
    len = put(space, 0, XSPACE_PLANES, plane, plane_len);
    for (size_t cut = 0; cut <= len; cut++) {
        struct arena   arena = { 0 };
        struct profile profile;
        struct err     err = { 0 };
        char          *copy = malloc(cut ? cut : 1);
        int64_t        number = 0;

        assert_non_null(copy);
        memcpy(copy, space, cut);
        if (!read_bytes((struct str) { copy, cut }, &profile, &arena, &err))
            assert_true(err.text[0] && err.code == ERR_FORMAT);
        else
            assert_true(profile.event_count > 0); /* else there is nothing to speak about */
        if (cut == len)
            assert_true(profile_stat(&profile, STAT_STEP_NUMBER, 0, &number) && number == 7);
        free(copy);
        arena_free(&arena);
    }
}

/* With every budget too small the reader says so, and nothing leaks (the sanitizer looks). */
TEST(keeps_to_budgets)
{
    struct file file = { 0 };
    struct err  err = { 0 };
    bool        was_read = false;

    assert_true(file_open(&file, recordings[1], 0, &err));
    for (size_t budget = 64 << 10; budget < (size_t)16 << 20; budget += budget / 4) {
        struct arena   arena = { .budget_bytes = budget };
        struct profile profile;
        struct err     full = { 0 };
        bool           ok = read_bytes(file.bytes, &profile, &arena, &full);

        assert_true(ok || full.code == ERR_LIMIT);
        assert_true(ok || !was_read); /* what fits once fits in more */
        was_read |= ok;
        arena_free(&arena);
    }
    assert_true(was_read);
    file_close(&file);
}

/* An XSpace whose capture started at `start_ns` (unix time) with one event 100 ns after it. */
static size_t put_host(char *space, int64_t start_ns)
{
    char   stat[32] = "\x08\x01\x18", plane[160];
    size_t stat_len = 3, plane_len = 0, len;

    for (uint64_t rest = (uint64_t)start_ns; rest; rest >>= 7)
        stat[stat_len++] = (char)((rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0));
    plane_len = put(plane, plane_len, XPLANE_NAME, "Task Environment", 16);
    plane_len = put(plane, plane_len, XPLANE_STAT_METADATA,
                    "\x08\x01\x12\x14\x12\x12"
                    "profile_start_time",
                    24);
    plane_len = put(plane, plane_len, XPLANE_STATS, stat, stat_len);
    len = put(space, 0, XSPACE_PLANES, plane, plane_len);
    plane_len = put(plane, 0, XPLANE_NAME, "/host:CPU", 9);
    plane_len = put(plane, plane_len, XPLANE_LINES, "\x18\x64\x22\x04\x08\x01\x10\x00", 8);
    plane_len = put(plane, plane_len, XPLANE_EVENT_METADATA,
                    "\x08\x01\x12\x03\x12\x01"
                    "a",
                    7);
    return put(space, len, XSPACE_PLANES, plane, plane_len);
}

/* Captures that began 250 ns apart: events at 100 and at 250 + 100 ns on the first one's clock. */
TEST(hosts_share_a_clock)
{
    char                one[256], two[256];
    struct read_input   inputs[2] = { { .path = "one", .host_name = "one" },
                                      { .path = "two", .host_name = "two" } };
    struct read_options options = { .threads = 1 };
    struct arena        arena = { 0 };
    struct profile      profile;
    struct err          err = { 0 };

    inputs[0].file.bytes = (struct str) { one, put_host(one, 1700000000000000250) };
    inputs[1].file.bytes = (struct str) { two, put_host(two, 1700000000000000000) };
    assert_true(profile_init(&profile, &arena));
    assert_true(reader_xspace.read(inputs, 2, &options, &profile, &err));
    assert_int_equal(profile.hosts.count, 2);
    assert_int_equal(profile.event_count, 2);
    assert_int_equal(profile.origin_ns, 1700000000000000000);
    assert_int_equal(event_start_ns(&profile, 0), 350);
    assert_int_equal(event_start_ns(&profile, 1), 100);
    arena_free(&arena);
}

/* Two events with the stats "novelty" and "filename", one with "novelty" alone: what nobody knows
 * is told by name, what is known and not wanted is not. */
TEST(what_is_new_is_told_by_name)
{
    static const char both[] = { 8, 9, 0x22, 4, 8, 1, 24, 7, 0x22, 4, 8, 2, 24, 7 };
    char              line[128], plane[256], space[512];
    size_t            line_len, plane_len, len;
    struct arena      arena = { 0 };
    struct profile    profile;
    struct err        err = { 0 };

    line_len = put(line, 0, XLINE_EVENTS, both, sizeof both);
    line_len = put(line, line_len, XLINE_EVENTS, both, sizeof both);
    line_len = put(line, line_len, XLINE_EVENTS, both, 8);
    plane_len = put(plane, 0, XPLANE_NAME, "/host:CPU", 9);
    plane_len = put(plane, plane_len, XPLANE_LINES, line, line_len);
    plane_len = put_stat_name(plane, plane_len, 1, "novelty");
    plane_len = put_stat_name(plane, plane_len, 2, "filename");
    plane_len = put(plane, plane_len, XPLANE_EVENT_METADATA, "\x08\x09\x12\x03\x12\x01x", 7);
    len = put_long(space, 0, XSPACE_PLANES, plane, plane_len);
    assert_true(read_bytes((struct str) { space, len }, &profile, &arena, &err));
    assert_int_equal(profile.unknowns.count, 1);
    assert_string_equal(profile_str(&profile, profile.unknowns.items[0].name).data, "novelty");
    assert_int_equal(profile.unknowns.items[0].kind, UNKNOWN_STAT);
    assert_int_equal(profile.unknowns.items[0].count, 3);
    assert_int_equal(profile.unknown_stats, 3);
    arena_free(&arena);
}

static size_t put_allocation(char *line, size_t line_len, const char *owner)
{
    char   event[64] = { 8, 9 }, stat[32] = { 8, 1 };
    size_t len = put(stat, 2, XSTAT_STR, owner, strlen(owner));

    len = put(event, 2, XEVENT_STATS, stat, len);
    len = put(event, len, XEVENT_STATS,
              "\x08\x02\x2A\x03"
              "bfc",
              7);
    return put(line, line_len, XLINE_EVENTS, event, len);
}

/* The profiler writes "(null)" where it knows no owner: that is no op of the program. */
TEST(a_null_owner_is_none)
{
    char           line[128], plane[256], space[512];
    size_t         line_len, plane_len, len;
    struct arena   arena = { 0 };
    struct profile profile;
    struct err     err = { 0 };

    line_len = put_allocation(line, put_allocation(line, 0, "(null)"), "conv");
    plane_len = put(plane, 0, XPLANE_NAME, "/host:CPU", 9);
    plane_len = put(plane, plane_len, XPLANE_LINES, line, line_len);
    plane_len = put_stat_name(plane, plane_len, 1, "tf_op");
    plane_len = put_stat_name(plane, plane_len, 2, "allocator_name");
    plane_len = put(plane, plane_len, XPLANE_EVENT_METADATA,
                    "\x08\x09\x12\x12\x12\x10MemoryAllocation", 22);
    len = put_long(space, 0, XSPACE_PLANES, plane, plane_len);
    assert_true(read_bytes((struct str) { space, len }, &profile, &arena, &err));
    assert_int_equal(profile.memory_events.count, 2);
    assert_int_equal(profile.memory_events.items[0].op_name, 0);
    assert_string_equal(profile_str(&profile, profile.memory_events.items[1].op_name).data, "conv");
    arena_free(&arena);
}

/* The numbers the decoder uses are those of proto/xplane.proto. */
TEST(numbers_are_the_protos)
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

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(rows[i].type, rows[i].name);

        assert_non_null(field);
        assert_int_equal(field->id, rows[i].number);
    }
}

/* What the recorded program did (its README): 10 steps called "train" marked with step_num. */
TEST(knows_kinds)
{
    struct arena   arena = { 0 };
    struct file    file = { 0 };
    struct err     err = { 0 };
    struct profile profile;
    uint32_t       steps = 0, ops = 0, waits = 0;

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
