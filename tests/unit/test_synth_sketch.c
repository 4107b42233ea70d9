/* Sketches taken apart: what lines say, where errors stand, and every prefix of a good one. */

#include "testing.h"

#include "base/macros.h"
#include "synth/recording.h"

#include <stdlib.h>
#include <string.h>

static const char whole[] =
    "# every word once\n"
    "format xspace\n"
    "framework tensorflow\n"
    "seed 7\n"
    "noise 2%\n"
    "ranks 2\n"
    "cores 8\n"
    "launch 10us\n"
    "gpu \"NVIDIA \\\"A100\\\"\" memory 40GB used 1GB sms 108 compute 8.0\n"
    "expect acme/slow-decode finding impact 12% +- 2%\n"
    "expect acme/other skipped because \"no iterators\"\n"
    "outside 1s\n"
    "  compile 500ms\n"
    "step 10ms x3 noise 1%\n"
    "  next 4ms\n"
    "    iterator Root\n"
    "      iterator Prefetch 3ms parallel 4\n"
    "  op MatMul \"model/dense/MatMul\" 1ms x2 f32[128,256] f32[256,512] flops 2G\n"
    "    kernel sgemm 2ms grid 64,1,1 block 256 stream 8 late 3us\n"
    "    alloc a 4MB\n"
    "  free a\n"
    "  copy h2d 1ms 4MB pageable blocking\n"
    "  memset 10us 1KB\n"
    "  rank 1\n"
    "    gap 1ms\n"
    "  collective all-reduce 2ms 4MB group 2\n"
    "  sync stream 7\n"
    "  thread loader at 1ms\n"
    "    iterator Map 2ms parent Prefetch as decode\n"
    "    python \"data.py:12 load\" 1ms\n"
    "    range read 1ms\n"
    "    call cudaMalloc 1us\n"
    "    gc 1ms\n"
    "  wait loader\n"
    "  stream 20 gpu 1\n"
    "    repeat 3\n"
    "      kernel other 1us\n";

TEST(lines_say_what_they_say)
{
    struct arena              arena = { .budget_bytes = 1 << 20 };
    struct err                err = { 0 };
    struct sketch             sketch;
    const struct sketch_line *line;

    assert_true(sketch_parse(str_from(whole), &arena, &sketch, &err));
    assert_int_equal(sketch.format, SKETCH_XSPACE);
    assert_int_equal(sketch.framework, FRAMEWORK_TENSORFLOW);
    assert_int_equal(sketch.seed, 7);
    assert_float_equal(sketch.noise_share, 0.02, 1e-12);
    assert_int_equal(sketch.rank_count, 2);
    assert_int_equal(sketch.core_count, 8);
    assert_int_equal(sketch.launch_ns, 10000);
    line = &sketch.lines.items[sketch.gpu];
    assert_int_equal(line->bytes, 40000000000);
    assert_int_equal(line->used_bytes, 1000000000);
    assert_true(str_equal(line->name, STR("NVIDIA \"A100\"")));
    assert_int_equal(sketch.expects.count, 2);
    assert_float_equal(sketch.expects.items[0].impact, 0.12, 1e-12);
    assert_float_equal(sketch.expects.items[0].tolerance, 0.02, 1e-12);
    assert_true(str_equal(sketch.expects.items[1].because, STR("no iterators")));
    for (size_t i = 0; i < sketch.lines.count; i++) {
        line = &sketch.lines.items[i];
        if (line->word == WORD_OP) {
            assert_int_equal(line->repeat, 2);
            assert_int_equal(line->duration_ns, 1000000);
            assert_int_equal(line->shape_count, 2);
            assert_int_equal(sketch.shapes.items[line->first_shape + 1].dims[1], 512);
            assert_float_equal(line->flops, 2e9, 1);
        }
        if (line->word == WORD_ITERATOR && str_equal(line->name, STR("Map")))
            assert_true(str_equal(line->path, STR("Root::Prefetch::Map")));
    }
    arena_free(&arena);
}

static const struct {
    const char *text;
    uint32_t    line, column;
    const char *what; /* part of the message */
} broken[] = {
    { "stp 10ms\n", 1, 1, "begins no line" },
    { "step 10\n", 1, 6, "needs a unit" },
    { "  step 10ms\n", 1, 1, "not indented" },
    { "step 10ms\n\tgap 1ms\n", 2, 2, "not with tabs" },
    { "step 10ms\n    gap 1ms\n  gap 1ms\n", 3, 3, "like no line above" },
    { "step 10ms\n  gap 1ms\n    gap 1ms\n", 3, 5, "holds no lines" },
    { "step 10ms\n  step 1ms\n", 2, 3, "outside of steps" },
    { "kernel k 1ms\n", 1, 1, "inside a step" },
    { "step 10ms\n  stream 7\n    op A 1ms\n", 3, 5, "stream of a device" },
    { "step 10ms\n  op\n", 2, 5, "a name is missing" },
    { "step 10ms\n  op A 1ms wth 3\n", 2, 12, "not understood" },
    { "step 10ms\n  op \"A 1ms\n", 2, 6, "never closed" },
    { "step 10ms\n  op A 1ms f32[a]\n", 2, 12, "a shape is" },
    { "step 10ms\n  op A\n", 2, 3, "a time is missing" },
    { "step 10ms\n  op A 1ms x0\n", 2, 12, "repeats 1 to" },
    { "step 10ms\n  copy up 1ms\n", 2, 8, "no copy 'up'" },
    { "step 10ms\n  alloc a\n", 2, 10, "a size is missing" },
    { "step 10ms\n  iterator Map 1ms parent Nobody\n", 2, 3, "no iterator is called" },
    { "step 10ms\n  iterator A 1ms parent B\n  iterator B 1ms parent A\n", 2, 3, "never end" },
    { "seed 1\nseed 2\n", 2, 1, "said already" },
    { "ranks 0\n", 1, 7, "1 to 64" },
    { "format pdf\n", 1, 8, "no format 'pdf'" },
    { "noise 200%\n", 1, 7, "at most 100%" },
    { "expect a\n", 1, 9, "finding, silent or skipped" },
    { "expect a finding impact 3\n", 1, 25, "an impact is" },
    { "expect a finding impact 3% +- 1ms\n", 1, 31, "same unit" },
    { "expect none at all\n", 1, 13, "nothing more" },
    { "profile a.pb\nstep 10ms\n", 2, 1, "recorded profile is named" },
};

TEST(errors_are_located)
{
    for (size_t i = 0; i < ARRAY_COUNT(broken); i++) {
        struct arena  arena = { .budget_bytes = 1 << 20 };
        struct err    err = { 0 };
        struct sketch sketch;

        print_message("%s", broken[i].text);
        assert_false(sketch_parse(str_from(broken[i].text), &arena, &sketch, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_non_null(strstr(err.text, broken[i].what));
        assert_int_equal(err.line, broken[i].line);
        assert_int_equal(err.column, broken[i].column);
        arena_free(&arena);
    }
}

/* What only placing finds. */
static const struct {
    const char   *text;
    uint32_t      line;
    enum err_code code;
    const char   *what;
} misplaced[] = {
    { "step 10ms\n  op A 4ms\n  op B 1ms at 3ms\n", 3, ERR_USAGE, "not done by then" },
    { "step 10ms\n  free a\n", 2, ERR_USAGE, "nothing of this name" },
    { "step 10ms\n  wait loader\n", 2, ERR_USAGE, "no thread of this name" },
    { "seed 1\n", 0, ERR_USAGE, "describes no event" },
    { "step 1us x1000000\n  op A 1us x1000000\n", 0, ERR_LIMIT, "more than 2000000 events" },
    { "repeat 1000000000000\n  repeat 1000000000000\n", 0, ERR_LIMIT, "too often" },
    { "step 24h x1000\n", 0, ERR_LIMIT, "longer than 11 days" },
};

TEST(what_cannot_be_placed_is_said)
{
    for (size_t i = 0; i < ARRAY_COUNT(misplaced); i++) {
        struct arena                   arena = { .budget_bytes = (size_t)1 << 30 };
        struct err                     err = { 0 };
        struct sketch                  sketch;
        struct recording               recording;
        const struct recording_options options = { .change.factor = 1 };

        print_message("%s", misplaced[i].text);
        assert_true(sketch_parse(str_from(misplaced[i].text), &arena, &sketch, &err));
        assert_false(recording_make(&sketch, &options, &arena, &recording, &err));
        assert_int_equal(err.code, misplaced[i].code);
        assert_non_null(strstr(err.text, misplaced[i].what));
        assert_int_equal(err.line, misplaced[i].line);
        arena_free(&arena);
    }
}

/* Each prefix in a block of exactly its size, so that a read past the end is seen. */
TEST(every_prefix_is_taken_or_located)
{
    for (size_t len = 0; len < sizeof whole; len++) {
        struct arena                   arena = { .budget_bytes = 1 << 22 };
        struct err                     err = { 0 };
        struct sketch                  sketch;
        struct recording               recording;
        const struct recording_options options = { .rank = 1, .change.factor = 1 };
        char                          *copy = malloc(len ? len : 1);

        assert_non_null(copy);
        memcpy(copy, whole, len);
        if (sketch_parse((struct str) { copy, len }, &arena, &sketch, &err))
            recording_make(&sketch, &options, &arena, &recording, &err);
        else
            assert_true(err.line > 0 && err.column > 0);
        assert_true(err.code == ERR_NONE || err.text[0]);
        free(copy);
        arena_free(&arena);
    }
}
