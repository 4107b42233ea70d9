/* Sketches through writers, readers and analyses: facts that follow from the sketch by hand. */

#include "testing.h"

#include "analyze/analysis.h"
#include "base/macros.h"
#include "read/read.h"
#include "synth/write.h"

#include <stdio.h>
#include <string.h>

struct studied {
    struct arena   profile_arena, arena;
    struct profile profile;
    struct study   study;
    struct text    notes;
};

static const struct reader *reader_of(enum sketch_format format)
{
    for (size_t i = 0; i < reader_count; i++)
        if (strcmp(readers[i]->name, write_format_name(format)) == 0)
            return readers[i];
    fail();
    return NULL;
}

enum { MAX_RANKS = 4 };

/* From text to facts; the bytes are recognised by their content, as those of any file. */
static void study(struct studied *studied, const char *text, enum sketch_format format)
{
    const struct reader      *reader = reader_of(format);
    struct recording_options  options = { .change.factor = 1 };
    const struct read_options reading = { .threads = 1 };
    struct study_options      all = { .first_step = INT64_MIN, .last_step = INT64_MAX };
    struct read_input         inputs[MAX_RANKS] = { 0 };
    struct text               bytes[MAX_RANKS] = { 0 };
    struct sketch             sketch;
    struct err                err = { 0 };

    *studied = (struct studied) { .arena.budget_bytes = 1 << 28 };
    studied->notes.arena = &studied->arena;
    assert_true(profile_init(&studied->profile, &studied->profile_arena));
    assert_true(sketch_parse(str_from(text), &studied->arena, &sketch, &err));
    assert_true(sketch.rank_count <= MAX_RANKS);
    for (options.rank = 0; options.rank < sketch.rank_count; options.rank++) {
        struct recording recording;

        bytes[options.rank].arena = &studied->arena;
        studied->notes.len = 0;
        assert_true(recording_make(&sketch, &options, &studied->arena, &recording, &err));
        assert_true(
            write_recording(&recording, format, &bytes[options.rank], &studied->notes, &err));
        inputs[options.rank] = (struct read_input) { .path = "synthetic",
                                                     .source = NO_ID,
                                                     .file.bytes = text_str(&bytes[options.rank]) };
        for (size_t i = 0; i < reader_count; i++)
            assert_true(readers[i] == reader ||
                        readers[i]->score(inputs[options.rank].file.bytes, "x") <
                            reader->score(inputs[options.rank].file.bytes, "x"));
    }
    assert_true(reader->read(inputs, sketch.rank_count, &reading, &studied->profile, &err));
    assert_int_equal(studied->profile.notes.count, 0);
    assert_true(study_run(&studied->study, &studied->profile, &all, &studied->arena, &err));
}

static void done(struct studied *studied)
{
    arena_free(&studied->arena);
    arena_free(&studied->profile_arena);
}

static double fact(const struct studied *studied, const char *name)
{
    double value = 0;

    if (!facts_get(&studied->study.facts, name, &value))
        fail_msg("no fact %s", name);
    return value;
}

struct expected {
    const char *name;
    double      value;
};

static void check(const char *text, enum sketch_format format, const struct expected *facts,
                  size_t count)
{
    struct studied studied;

    study(&studied, text, format);
    for (size_t i = 0; i < count; i++) {
        double value = fact(&studied, facts[i].name);

        if (value < facts[i].value * 0.999999 || value > facts[i].value * 1.000001)
            fail_msg("%s: %s is %.9g, not %.9g", write_format_name(format), facts[i].name, value,
                     facts[i].value);
    }
    done(&studied);
}

/* Five steps of 10 ms: 4 ms in a pipeline that the step waits for, 6 ms in one op. */
TEST(steps_and_input_come_through)
{
    static const char            input[] = "step 10ms x5\n"
                                           "  next\n"
                                           "    iterator Root\n"
                                           "      iterator Map 4ms\n"
                                           "  op MatMul 6ms\n";
    static const struct expected facts[] = {
        { "step.count", 5 },        { "step.median_ns", 1e7 }, { "step.min_ns", 1e7 },
        { "step.max_ns", 1e7 },     { "part.input_ns", 4e6 },  { "input.wait_share", 0.4 },
        { "part.compute_ns", 6e6 },
    };
    /* A ProfileProto knows of ops alone: a step is as long as they are. */
    static const char            ops[] = "step x5\n  op Conv2D 4ms\n  op MatMul 6ms\n";
    static const struct expected op_facts[] = { { "step.count", 5 }, { "step.median_ns", 1e7 } };

    check(input, SKETCH_XSPACE, facts, ARRAY_COUNT(facts));
    check(input, SKETCH_KINETO, facts, ARRAY_COUNT(facts));
    check(ops, SKETCH_PROFILE, op_facts, ARRAY_COUNT(op_facts));
    check(ops, SKETCH_XSPACE, op_facts, ARRAY_COUNT(op_facts));
    check(ops, SKETCH_KINETO, op_facts, ARRAY_COUNT(op_facts));
}

/* Steps of 10 ms; launches of 5 us; a kernel of 6 ms from 5 us on, a copy of 2 ms behind it until
 * 8.005 ms: the device is busy for 8 of 10 ms. */
static const char device[] = "gpu \"NVIDIA A100\" memory 40GB sms 108 compute 8.0\n"
                             "step 10ms x5\n"
                             "  op MatMul \"model/dense/MatMul\"\n"
                             "    kernel sgemm 6ms grid 64,2,1 block 128,1,1\n"
                             "  copy h2d 2ms 4MB pageable\n"
                             "  sync\n";

TEST(device_work_comes_through)
{
    static const struct expected facts[] = {
        { "step.median_ns", 1e7 },   { "device.busy_share", 0.8 }, { "kernels.count_per_step", 1 },
        { "copies.h2d_bytes", 4e6 }, { "sync.count_per_step", 1 }, { "part.compute_ns", 6e6 },
    };

    check(device, SKETCH_XSPACE, facts, ARRAY_COUNT(facts));
    check(device, SKETCH_KINETO, facts, ARRAY_COUNT(facts));
    /* A copy's call is a launch in XSpace and a transfer in Kineto. */
    check(device, SKETCH_XSPACE, &(struct expected) { "launch.count_per_step", 2 }, 1);
    check(device, SKETCH_KINETO, &(struct expected) { "launch.count_per_step", 1 }, 1);
}

TEST(the_model_has_what_the_sketch_says)
{
    static const enum sketch_format formats[] = { SKETCH_XSPACE, SKETCH_KINETO };

    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        struct studied        studied;
        const struct profile *profile = &studied.profile;

        study(&studied, device, formats[i]);
        assert_int_equal(profile->flows.count, 10); /* a kernel and a copy a step */
        assert_int_equal(profile->kernel_configs.count, 1);
        assert_int_equal(profile->kernel_configs.items[0].grid[1], 2);
        assert_int_equal(profile->kernel_configs.items[0].block[0], 128);
        assert_int_equal(profile->devices.count, 1);
        assert_int_equal(profile->devices.items[0].sm_count, 108);
        assert_int_equal(profile->devices.items[0].compute_major, 8);
        assert_int_equal(profile->devices.items[0].memory_bytes, 40000000000);
        done(&studied);
    }
}

TEST(frameworks_are_recognised)
{
    static const struct {
        const char        *text, *framework;
        enum sketch_format format;
    } rows[] = {
        { "framework tensorflow\nstep 1ms x3\n  op A 1ms\n", "tensorflow", SKETCH_XSPACE },
        { "framework jax\nstep 1ms x3\n  op dot.1 1ms\n", "jax", SKETCH_XSPACE },
        { "step 1ms x3\n  op aten::mm 1ms\n", "pytorch", SKETCH_KINETO },
        { "step 1ms x3\n  op A 1ms\n", "tensorflow", SKETCH_PROFILE },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct studied studied;

        study(&studied, rows[i].text, rows[i].format);
        assert_string_equal(profile_str(&studied.profile, studied.profile.framework).data,
                            rows[i].framework);
        done(&studied);
    }
}

TEST(ranks_become_hosts)
{
    static const char text[] = "ranks 3\nstep x5\n  op A 9ms\n  rank 2\n    op B 1ms\n";
    struct studied    studied;

    study(&studied, text, SKETCH_KINETO);
    assert_int_equal(studied.profile.hosts.count, 3);
    assert_int_equal(studied.profile.hosts.items[2].rank, 2);
    assert_int_equal(studied.profile.world_size, 3);
    done(&studied);
    study(&studied, text, SKETCH_XSPACE);
    assert_int_equal(studied.profile.hosts.count, 3);
    assert_string_equal(profile_str(&studied.profile, studied.profile.hosts.items[1].name).data,
                        "host1");
    done(&studied);
}

TEST(memory_comes_through)
{
    static const char               text[] = "gpu G memory 1MB\n"
                                             "step 1ms x3\n"
                                             "  alloc a 600KB\n"
                                             "  gap 500us\n"
                                             "  free a\n";
    static const enum sketch_format formats[] = { SKETCH_XSPACE, SKETCH_KINETO };

    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        struct studied             studied;
        const struct memory_event *event;

        study(&studied, text, formats[i]);
        assert_int_equal(studied.profile.memory_events.count, 6);
        event = &studied.profile.memory_events.items[0];
        assert_int_equal(event->kind, MEMORY_ALLOCATE);
        assert_int_equal(event->bytes, 600000);
        assert_int_equal(event->in_use_bytes, 600000);
        assert_int_equal(event->time_ns, 0);
        event = &studied.profile.memory_events.items[1];
        assert_int_equal(event->kind, MEMORY_FREE);
        assert_int_equal(event->time_ns, 500000);
        done(&studied);
    }
}

TEST(what_is_left_out_is_said)
{
    struct studied studied;

    study(&studied, "step 10ms x3\n  next 1ms\n  iterator A 1ms x2\n  iterator B 1ms\n",
          SKETCH_KINETO);
    assert_string_equal(studied.notes.data,
                        "Kineto knows no tf.data: iterators become plain ranges\n");
    done(&studied);
    study(&studied, "step 10ms x3\n  next 1ms\n  op A 1ms\n", SKETCH_PROFILE);
    assert_string_equal(studied.notes.data,
                        "a ProfileProto does not tell waiting for input: left out\n");
    done(&studied);
}

TEST(names_tell_formats)
{
    static const struct {
        const char        *path;
        enum sketch_format format;
        bool               is_gzip;
    } rows[] = {
        { "a.xplane.pb", SKETCH_XSPACE, false }, { "a/b.json", SKETCH_KINETO, false },
        { "a.json.gz", SKETCH_KINETO, true },    { "a.profile", SKETCH_PROFILE, false },
        { "a.pb", SKETCH_ANY, false },           { "", SKETCH_ANY, false },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        bool is_gzip = false;

        assert_int_equal(write_format_of(str_from(rows[i].path), &is_gzip), rows[i].format);
        assert_int_equal(is_gzip, rows[i].is_gzip);
    }
}
