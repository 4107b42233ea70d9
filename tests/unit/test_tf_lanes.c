/* Runs of a ProfileProto as events: those that overlap side by side, steps by their numbers. */
#include "base/text.h"
#include "tf_sample.h"
#include "wire_bytes.h"

extern const struct reader reader_profile;

/* An entry of a map: a number, then a message. */
static void put_entry(struct text *text, unsigned field, uint64_t key, struct str value)
{
    struct text entry = { .arena = text->arena };

    put_number(&entry, 1, key);
    put_bytes(&entry, 2, value);
    put_bytes(text, field, text_str(&entry));
}

struct run {
    const char *name;
    uint64_t    step, start_micros, micros;
};

/* nodes[id] { name op execs[step] { cpu_execs[device] { times { start, length } } } } */
static void put_node(struct text *profile, uint64_t id, const struct run *run)
{
    struct arena *arena = profile->arena;
    struct text   numbers = { .arena = arena }, tuple = { .arena = arena },
                times = { .arena = arena };
    struct text device = { .arena = arena }, exec = { .arena = arena }, node = { .arena = arena };

    put_varint(&numbers, run->start_micros);
    put_varint(&numbers, run->micros);
    put_bytes(&tuple, 1, text_str(&numbers));
    put_bytes(&times, 1, text_str(&tuple));
    put_bytes(&device, 1, STR("/job:localhost/replica:0/task:0/device:cpu:0"));
    put_bytes(&device, 2, text_str(&times));
    put_bytes(&exec, 5, text_str(&device));
    put_bytes(&node, 1, str_from(run->name));
    put_bytes(&node, 9, STR("Op"));
    put_entry(&node, 12, run->step, text_str(&exec));
    put_entry(profile, 1, id, text_str(&node));
}

static void read_runs(struct tf_sample *sample, const struct run *runs, size_t count)
{
    struct text profile = { .arena = &sample->arena };

    for (size_t i = 0; i < count; i++)
        put_node(&profile, i + 1, &runs[i]);
    put_bytes(&profile, 3, STR("\x02\x0A\x63")); /* steps 2, 10, 99 */
    sample_bytes(sample, "profile_99", text_str(&profile));
    assert_true(sample_read(sample, &reader_profile));
}

static const char *event_name(const struct profile *profile, uint32_t event)
{
    return profile_str(profile, event_activity(profile, event)->name).data;
}

/* b begins while a runs and is put beside it; c begins as a ends, d while b and c run. */
TEST(runs_that_overlap_stand_side_by_side)
{
    static const struct run runs[] = {
        { "c", 10, 110, 50 }, { "a", 10, 100, 10 }, { "b", 10, 105, 20 }, { "d", 10, 120, 1 }
    };
    static const struct {
        uint32_t    timeline;
        const char *name;
        int64_t     start_ns, duration_ns;
    } rows[] = {
        { 0, "a", 0, 10000 },
        { 0, "c", 10000, 50000 },
        { 1, "b", 5000, 20000 },
        { 2, "d", 20000, 1000 },
    };
    struct tf_sample sample = { 0 };
    uint32_t         at = 0;

    read_runs(&sample, runs, ARRAY_COUNT(runs));
    assert_int_equal(sample.profile.timelines.count, 3);
    for (uint32_t line = 0; line < 3; line++) {
        const struct timeline *timeline = &sample.profile.timelines.items[line];

        assert_int_equal(timeline->kind, TIMELINE_THREAD);
        for (uint32_t i = 0; i < timeline->event_count; i++, at++) {
            uint32_t event = timeline->first_event + i;

            assert_int_equal(rows[at].timeline, line);
            assert_string_equal(event_name(&sample.profile, event), rows[at].name);
            assert_int_equal(event_start_ns(&sample.profile, event), rows[at].start_ns);
            assert_int_equal(event_duration_ns(&sample.profile, event), rows[at].duration_ns);
        }
    }
    assert_int_equal(at, ARRAY_COUNT(rows));
    sample_free(&sample);
}

TEST(steps_stand_by_number)
{
    static const struct run runs[] = { { "late", 10, 300, 7 }, { "early", 2, 100, 5 } };
    struct tf_sample        sample = { 0 };

    read_runs(&sample, runs, ARRAY_COUNT(runs));
    assert_int_equal(sample.profile.recorded_steps.count, 3);
    assert_int_equal(sample.profile.recorded_steps.items[0].number, 2);
    assert_int_equal(sample.profile.recorded_steps.items[0].duration_ns, 5000);
    assert_int_equal(sample.profile.recorded_steps.items[1].number, 10);
    assert_int_equal(sample.profile.recorded_steps.items[2].number, 99); /* of which nothing ran */
    assert_int_equal(sample.profile.recorded_steps.items[2].duration_ns, 0);
    for (size_t i = 0; i < sample.profile.op_runs.count; i++) {
        const struct op_run *run = &sample.profile.op_runs.items[i];

        assert_int_equal(run->step, run->duration_ns == 7000);
    }
    sample_free(&sample);
}
