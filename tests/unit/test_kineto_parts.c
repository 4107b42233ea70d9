/* Events taken apart by several threads in small parts are those of one thread that takes all. */

#include "testing.h"

#include "base/macros.h"
#include "read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct reader reader_kineto;

/* Texts that look like the border of two events, an event that is no JSON, one that is longer than
 * most parts, ids that are texts, and a second list of events behind the first. */
static const char tricky[] =
    "{\"schemaVersion\": 1, \"traceEvents\": [\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 7, \"tid\": 7, \"ts\": 50,"
    " \"dur\": 1, \"args\": {\"External id\": 5, \"Concrete Inputs\": [\"b\", \"2\"]}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"}, {\\\"ph\\\": \\\"X\\\"}, { \\\"\","
    " \"pid\": 7, \"tid\": 7, \"ts\": 3, \"dur\": 9},\n"
    "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"x.py(3): }, {\\\"ph\\\": \","
    " \"pid\": 7, \"tid\": 7, \"ts\": 3, \"dur\": 9, \"args\": {\"list\": [{\"a\": 1}, {\"b\": 2},"
    " {\"c\": 3}, {\"d\": 4}, {\"e\": 5}, {\"f\": 6}]}},\n"
    "{\"ph\": \"X\", \"cat\" oops, \"name\": \"broken\"}, {\"ph\": \"M\", \"name\":"
    " \"thread_name\", \"pid\": 7, \"tid\": 7, \"args\": {\"name\": \"thread 7 (one)\"}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 9, \"ts\": 60,"
    " \"dur\": 2, \"args\": {\"External id\": 5, \"grid\": [1, 1, 1], \"block\": [2, 1, 1]}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"b\", \"pid\": \"Spans\", \"tid\": \"b\","
    " \"ts\": 4, \"dur\": 9, \"args\": {\"Concrete Inputs\": [\"b\", \"2\"]}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": \"Spans\", \"tid\": \"b\","
    " \"ts\": 4, \"dur\": -9},\n"
    "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 7, \"tid\": 7,"
    " \"args\": {\"name\": \"thread 7 (two)\"}}\n"
    "], \"traceName\": \"}, {\\\"\", \"traceEvents\": [\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"last\", \"pid\": 7, \"tid\": 7, \"ts\": 99,"
    " \"dur\": 1}], \"host_name\": \"box\"}\n";

struct reading {
    struct arena   arena;
    struct profile profile;
    struct err     err;
    bool           is_fine;
};

struct way { /* how a trace is read */
    size_t   part_bytes;
    unsigned threads;
    bool     is_stream;
};

static void read_file(struct reading *reading, const char *path, struct way way)
{
    struct read_options options = { .threads = way.threads, .part_bytes = way.part_bytes };
    struct read_input   input = { .path = path, .source = NO_ID };

    *reading = (struct reading) { 0 };
    if (!way.is_stream)
        assert_true(file_open(&input.file, path, 0, &reading->err));
    assert_true(profile_init(&reading->profile, &reading->arena));
    reading->is_fine = reader_kineto.read(&input, 1, &options, &reading->profile, &reading->err);
    file_close(&input.file);
}

static void assert_same_events(const struct profile *a, const struct profile *b)
{
    assert_int_equal(a->event_count, b->event_count);
    assert_int_equal(a->origin_ns, b->origin_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    for (uint32_t i = 0; i < a->event_count; i++) {
        assert_int_equal(event_start_ns(a, i), event_start_ns(b, i));
        assert_int_equal(event_duration_ns(a, i), event_duration_ns(b, i));
        assert_int_equal(event_activity_id(a, i), event_activity_id(b, i));
    }
    assert_int_equal(a->timelines.count, b->timelines.count);
    for (size_t i = 0; i < a->timelines.count; i++)
        assert_memory_equal(&a->timelines.items[i], &b->timelines.items[i],
                            sizeof a->timelines.items[i]);
}

static void assert_same_stats(const struct profile *a, const struct profile *b)
{
    for (int key = 0; key < STAT_KEY_COUNT; key++) {
        assert_int_equal(stat_count(&a->stats[key]), stat_count(&b->stats[key]));
        for (size_t i = 0; i < stat_count(&a->stats[key]); i++) {
            assert_int_equal(stat_event(&a->stats[key], i), stat_event(&b->stats[key], i));
            assert_int_equal(stat_value(&a->stats[key], i), stat_value(&b->stats[key], i));
        }
    }
}

#define assert_same_rows(a, b, rows)                                                               \
    do {                                                                                           \
        assert_int_equal((a)->rows.count, (b)->rows.count);                                        \
        if ((a)->rows.count)                                                                       \
            assert_memory_equal((a)->rows.items, (b)->rows.items,                                  \
                                (a)->rows.count * sizeof *(a)->rows.items);                        \
    } while (0)

/* Rows by their bytes: readers clear what they push. */
static void assert_same(const struct reading *left, const struct reading *right)
{
    const struct profile *a = &left->profile, *b = &right->profile;

    assert_int_equal(left->is_fine, right->is_fine);
    assert_int_equal(a->names.count, b->names.count);
    for (uint32_t i = 0; i < a->names.count; i++)
        assert_string_equal(profile_str(a, i).data, profile_str(b, i).data);
    assert_same_events(a, b);
    assert_same_stats(a, b);
    assert_int_equal(a->flows.count, b->flows.count);
    for (size_t i = 0; i < a->flows.count; i++) {
        assert_int_equal(a->flows.items[i].from, b->flows.items[i].from);
        assert_int_equal(a->flows.items[i].to, b->flows.items[i].to);
    }
    assert_same_rows(a, b, kernel_configs);
    assert_int_equal(a->activities.count, b->activities.count);
    assert_int_equal(a->ops.count, b->ops.count);
    for (size_t i = 0; i < a->ops.count; i++) {
        assert_int_equal(a->ops.items[i].name, b->ops.items[i].name);
        assert_int_equal(a->ops.items[i].first_input, b->ops.items[i].first_input);
        assert_int_equal(a->ops.items[i].flops, b->ops.items[i].flops);
    }
    assert_int_equal(a->devices.count, b->devices.count);
    assert_int_equal(a->memory_events.count, b->memory_events.count);
    for (size_t i = 0; i < a->memory_events.count; i++)
        assert_int_equal(a->memory_events.items[i].event, b->memory_events.items[i].event);
    assert_int_equal(a->collectives.count, b->collectives.count);
    for (size_t i = 0; i < a->collectives.count; i++)
        assert_int_equal(a->collectives.items[i].group, b->collectives.items[i].group);
    assert_int_equal(a->notes.count, b->notes.count);
    for (size_t i = 0; i < a->notes.count; i++) {
        assert_string_equal(a->notes.items[i].what, b->notes.items[i].what);
        assert_int_equal(a->notes.items[i].count, b->notes.items[i].count);
    }
}

static void check_ways(const char *path, const size_t *parts, size_t part_count)
{
    struct reading whole, cut;

    read_file(&whole, path, (struct way) { .threads = 1 });
    for (size_t i = 0; i < part_count; i++)
        for (unsigned threads = 1; threads <= 3; threads++)
            for (int is_stream = 0; is_stream < 2; is_stream++) {
                read_file(&cut, path, (struct way) { parts[i], threads, is_stream });
                assert_same(&whole, &cut);
                arena_free(&cut.arena);
            }
    arena_free(&whole.arena);
}

static void write_text(char *path, const char *text, size_t len)
{
    int descriptor = mkstemp(path);

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, len), len);
    close(descriptor);
}

/* In the first list five whole events with a time and in the second one; one is no JSON, one has a
 * negative duration. The latest name of the thread counts. By start, the longest first, times in
 * us: }, { and x.py at 3, a at 50, last at 99; b at 4 on its own thread; k at 60 on the stream. */
TEST(texts_that_look_like_borders)
{
    static const size_t  parts[] = { 1, 7, 40, 64, 100, 190, 333, 512, 1000, 4000 };
    static const int64_t starts_ns[] = { 0, 0, 47000, 96000, 1000, 57000 };
    char                 path[] = "/tmp/tfprof-parts-XXXXXX";
    struct reading       reading;

    write_text(path, tricky, sizeof tricky - 1);
    read_file(&reading, path, (struct way) { .part_bytes = 64, .threads = 2 });
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.event_count, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(event_start_ns(&reading.profile, i), starts_ns[i]);
    assert_string_equal(profile_str(&reading.profile, reading.profile.timelines.items[0].name).data,
                        "two");
    assert_int_equal(reading.profile.flows.count, 1); /* k runs for a, by the external id */
    assert_string_equal(profile_str(&reading.profile, reading.profile.hosts.items[0].name).data,
                        "box");
    arena_free(&reading.arena);
    check_ways(path, parts, ARRAY_COUNT(parts));
    unlink(path);
}

TEST(texts_that_end_early)
{
    static const size_t parts[] = { 30, 200 };

    for (size_t len = 60; len < sizeof tricky; len += 13) {
        char path[] = "/tmp/tfprof-parts-XXXXXX";

        write_text(path, tricky, len);
        check_ways(path, parts, ARRAY_COUNT(parts));
        unlink(path);
    }
}

TEST(recordings)
{
    static const char *const paths[] = {
        CASES_DIR "/recordings/torch-cast-each-step/slow/trace.json.gz",
        CASES_DIR "/recordings/torch-ddp-straggler/slow/rank0.pt.trace.json.gz",
    };
    static const size_t parts[] = { 70000, 900001 };

    for (size_t i = 0; i < ARRAY_COUNT(paths); i++)
        check_ways(paths[i], parts, ARRAY_COUNT(parts));
}
