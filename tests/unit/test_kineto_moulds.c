/* Events that have the text of one before them but for some numbers are read as if they stood
 * alone. */

#include "testing.h"

#include "base/macros.h"
#include "base/text.h"
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

extern const struct reader reader_kineto;

struct reading {
    struct arena   arena;
    struct profile profile;
    struct err     err;
    bool           is_fine;
};

/* The text stands at the end of its memory, so that reading behind it is seen. */
static void read_text(struct reading *reading, struct str text)
{
    struct read_options options = { .threads = 1 };
    char               *copy = malloc(text.len ? text.len : 1);
    struct read_input   input = { .path = "t.json",
                                  .source = NO_ID,
                                  .file.bytes = { copy, text.len } };

    memcpy(copy, text.data, text.len);
    *reading = (struct reading) { 0 };
    assert_true(profile_init(&reading->profile, &reading->arena));
    reading->is_fine = reader_kineto.read(&input, 1, &options, &reading->profile, &reading->err);
    free(copy);
}

enum { FIRST_EVENTS = 3 };

/* A call as written before and behind the numbers of the table below. */
static void add_call(struct text *text, int start_us, const char *duration, const char *correlation)
{
    text_print(text,
               "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\","
               " \"pid\": 7, \"tid\": 7, \"ts\": %d, \"dur\": %s, \"args\":"
               " {\"External id\": 4, \"correlation\": %s, \"cbid\": 211, \"extra\": %s}},\n",
               start_us, duration, correlation, duration);
}

/* By hand: us to ns, digits behind the third cut off; ids as the 64 bits that were written, and
 * numbers with a fraction or an exponent as what they are, rounded down. */
static const struct {
    const char *duration, *correlation;
    int64_t     duration_ns, id;
} numbers[] = {
    { "3", "5", 3000, 5 },
    { "0", "0", 0, 0 },
    { "2.5", "12345678", 2500, 12345678 },
    { "2.25", "123456789", 2250, 123456789 },
    { "0.001", "1234567890123456", 1, 1234567890123456 },
    { "12.3456", "123456789012345", 12345, 123456789012345 },
    { "12345678.5", "12345678901234567", 12345678500, 12345678901234567 },
    { "123456789012.001", "9223372036854775807", 123456789012001, INT64_MAX },
    { "1e3", "18446744073709551614", 1000000, -2 },
    { "1.5e1", "-5", 15000, -5 },
    { "7", "12.9", 7000, 12 },
    { "8 ", "2e2", 8000, 200 },
};

TEST(numbers_in_gaps)
{
    struct arena   arena = { 0 };
    struct text    text = { .arena = &arena };
    struct reading reading;

    text_add(&text, STR("{\"traceEvents\": [\n"));
    for (int i = 0; i < FIRST_EVENTS; i++)
        add_call(&text, i, "1", "9");
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        add_call(&text, 10 + (int)i, numbers[i].duration, numbers[i].correlation);
    text_add(&text, STR("{\"ph\": \"M\"}], \"end\": 1}\n"));
    read_text(&reading, text_str(&text));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.event_count, FIRST_EVENTS + ARRAY_COUNT(numbers));
    for (uint32_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        uint32_t event = FIRST_EVENTS + i;
        int64_t  id = -1;

        assert_int_equal(event_start_ns(&reading.profile, event), (10 + (int64_t)i) * 1000);
        assert_int_equal(event_duration_ns(&reading.profile, event), numbers[i].duration_ns);
        assert_true(profile_stat(&reading.profile, STAT_CORRELATION, event, &id));
        assert_int_equal(id, numbers[i].id);
    }
    arena_free(&reading.arena);
    arena_free(&arena);
}

#define CALL_HEAD "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 7, \"tid\": 7, "
/* Beginnings of one like it, and other ends. One has no time, one no number for it, one a negative
 * duration, one is no JSON: four events are left out. */
static const char other_ends[] =
    "{\"traceEvents\": [\n" CALL_HEAD
    "\"ts\": 1, \"dur\": 1, \"args\": {\"Ev Idx\": 1}},\n" CALL_HEAD
    "\"ts\": 2, \"dur\": 2, \"args\": {\"Ev Idx\": 2}},\n" CALL_HEAD
    "\"ts\": 3, \"dur\": 3, \"args\": {\"Ev Idx\": 3}},\n" CALL_HEAD
    "\"ts\": 4, \"dur\": 4, \"args\": {\"Ev Idx\": \"4\"}},\n" CALL_HEAD
    "\"ts\": 5, \"dur\": 5, \"args\": {\"Ev Idx\": 5, \"External id\": 5}},\n" CALL_HEAD
    "\"ts\": 6, \"dur\": 6},\n" CALL_HEAD "\"ts\": 7},\n" CALL_HEAD
    "\"dur\": 7, \"args\": {\"Ev Idx\": 7}},\n" CALL_HEAD
    "\"ts\": NaN, \"dur\": 8, \"args\": {\"Ev Idx\": 8}},\n" CALL_HEAD
    "\"ts\": 9, \"dur\": -9, \"args\": {\"Ev Idx\": 9}},\n" CALL_HEAD
    "\"ts\": 10, \"dur\": 10, \"args\": {\"Ev Idx\": 10, \"args\": {\"Ev Idx\": 1}}},\n" CALL_HEAD
    "\"ts\": 11, \"dur\": 11, \"args\": {\"Ev Idx\": 11}, \"dur\": 12},\n" CALL_HEAD
    "\"ts\": 13, \"dur\": 13 oops, \"args\": {\"Ev Idx\": 13}},\n" CALL_HEAD
    "\"ts\": 14, \"dur\": 14, \"args\": {\"Ev Idx\": 14}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\\\"\", \"pid\": 7, \"tid\": 7, \"ts\": 15,"
    " \"dur\": 15, \"args\": {\"Ev Idx\": 15}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 8, \"tid\": 7, \"ts\": 16,"
    " \"dur\": 16, \"args\": {\"Ev Idx\": 16}}\n"
    "], \"end\": 1}\n";

TEST(other_ends_of_events)
{
    static const int64_t durations_ns[] = { 1000, 2000,  3000,  4000,  5000,  6000,
                                            0,    10000, 12000, 14000, 15000, 16000 };
    struct reading       reading;

    read_text(&reading, STR(other_ends));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.event_count, ARRAY_COUNT(durations_ns));
    for (uint32_t i = 0; i < ARRAY_COUNT(durations_ns); i++)
        assert_int_equal(event_duration_ns(&reading.profile, i), durations_ns[i]);
    assert_int_equal(reading.profile.timelines.count, 2); /* of processes 7 and 8 */
    assert_int_equal(reading.profile.timelines.items[1].event_count, 1);
    arena_free(&reading.arena);
}

#define FRAME(start)                                                                               \
    "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"f.py(1): f\", \"pid\": 7, "         \
    "\"tid\": 7,"                                                                                  \
    " \"ts\": " start ", \"dur\": 1, \"args\": {\"Python id\": " start

/* The quote behind the last one's number begins a text, which goes on up to the quote before "end":
 * there is no end of that event. */
static const char open_text[] = "{\"traceEvents\": [\n" FRAME("1") "}},\n" FRAME("2") "}},\n" FRAME(
    "3") "}},\n" FRAME("4") "\"}}\n], \"end\": 1}\n";

TEST(quotes_behind_numbers_begin_texts)
{
    struct reading reading;

    read_text(&reading, STR(open_text));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.event_count, 3);
    arena_free(&reading.arena);
}

/* The more is there the more events are found, and none twice. */
TEST(texts_that_end_early)
{
    uint32_t before = 0;

    for (size_t len = 0; len < sizeof other_ends; len++) {
        struct reading reading;

        read_text(&reading, (struct str) { other_ends, len });
        assert_in_range(reading.profile.event_count, before, before + 1);
        before = reading.profile.event_count;
        arena_free(&reading.arena);
    }
    assert_int_equal(before, 12);
}
