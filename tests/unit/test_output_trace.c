/* Slices on tracks where they nest. */

#include "testing.h"

#include "report/trace/lanes.h"
#include "report/trace/trace.h"

#include <string.h>

struct bench {
    struct arena        arena;
    struct text         text;
    struct trace_writer writer;
    struct lanes        lanes;
    uint64_t            next_id;
};

static void bench_begin(struct bench *bench)
{
    *bench = (struct bench) { .next_id = 2 };
    bench->text.arena = &bench->arena;
    bench->writer = (struct trace_writer) { .format = &trace_chrome,
                                            .text = &bench->text,
                                            .scratch = &bench->arena };
    bench->lanes = (struct lanes) { .writer = &bench->writer,
                                    .arena = &bench->arena,
                                    .next_id = &bench->next_id,
                                    .first = { .process = 1, .name = STR("main") } };
}

static uint64_t track_of(struct bench *bench, int64_t start_ns, int64_t end_ns)
{
    struct trace_slice slice = {
        .start_ns = start_ns, .duration_ns = end_ns - start_ns, .name = STR("a"), .category = "op"
    };

    lanes_add(&bench->lanes, &slice);
    return slice.track ? slice.track->id : 0;
}

/* [5,15) begins in [0,10) and ends behind it: the second track. [5,8) lies in [0,10), [8,10) behind
 * it, and [10,20) begins where [0,10) ends: the first track. */
TEST(what_does_not_nest_stands_beside)
{
    struct bench bench;

    bench_begin(&bench);
    assert_int_equal(track_of(&bench, 0, 10), 2);
    assert_int_equal(track_of(&bench, 5, 15), 3);
    assert_int_equal(track_of(&bench, 5, 8), 2);
    assert_int_equal(track_of(&bench, 8, 10), 2);
    assert_int_equal(track_of(&bench, 10, 20), 2);
    lanes_end(&bench.lanes);
    assert_int_equal(bench.lanes.count, 2);
    assert_non_null(strstr(bench.text.data, "\"name\":\"main\"}"));
    assert_non_null(strstr(bench.text.data, "\"name\":\"main (2)\"}"));
    assert_non_null(strstr(bench.text.data, "\"ts\":0.005,\"dur\":0.010,"));
    arena_free(&bench.arena);
}

/* Each begins in all those before and ends behind them: the 65th has no track. */
TEST(what_has_no_track_is_counted)
{
    struct bench bench;

    bench_begin(&bench);
    for (int64_t i = 0; i < MOST_LANES; i++)
        assert_true(track_of(&bench, i, 1000 + i) > 0);
    assert_int_equal(bench.lanes.left_out, 0);
    assert_int_equal(track_of(&bench, 500, 5000), 0);
    assert_int_equal(bench.lanes.left_out, 1);
    arena_free(&bench.arena);
}

/* A comma and quotes in names and arguments are the format's business, and formulas stay texts. */
TEST(rows_of_slices)
{
    struct bench       bench;
    struct trace_slice slice = {
        .start_ns = 5, .duration_ns = 10, .name = STR("a,b"), .category = "op", .argument_count = 1
    };

    bench_begin(&bench);
    assert_true(intern_init(&bench.writer.names, &bench.arena));
    bench.writer.format = &trace_csv;
    slice.arguments[0] =
        (struct trace_argument) { .name = "shapes", .kind = ARGUMENT_TEXT, .text = STR("f32[2]") };
    trace_csv.begin(&bench.writer);
    trace_csv.process(&bench.writer, 1, STR("=host"), 0);
    lanes_add(&bench.lanes, &slice);
    trace_csv.counter(&bench.writer, slice.track, 7, 2.5);
    assert_string_equal(text_str(&bench.text).data,
                        "start_ns,duration_ns,process,track,category,name,arguments\n"
                        "5,10,\"'=host\",main,op,\"a,b\",\"{\"\"shapes\"\":\"\"f32[2]\"\"}\"\n"
                        "7,0,\"'=host\",main,counter,main,\"{\"\"value\"\":2.5}\"\n");
    arena_free(&bench.arena);
}
