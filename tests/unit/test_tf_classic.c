/* tf_classic: what the classic views need of hand-made graphs and runs, in the model's order. */
#include "tf_sample.h"

#include "model/classic.h"

extern const struct reader reader_graph;

#define SHAPE(a)                                                                                   \
    "attr { key: \"_output_shapes\" value { list { shape { dim { size: " #a " } } } } } "
#define GRAPH                                                                                      \
    "node { name: \"m/b/x\" op: \"Relu\" input: \"m/b\" " SHAPE(                                   \
        4) "} "                                                                                    \
           "node { name: \"m/b\" op: \"Relu\" " SHAPE(                                             \
               4) "} "                                                                             \
                  "node { name: \"m/b2\" op: \"Relu\" " SHAPE(                                     \
                      5) "} "                                                                      \
                         "node { name: \"m/b10\" op: \"Relu\" " SHAPE(                             \
                             4) "} "                                                               \
                                "node { name: \"m/a_name_of_many_bytes_2\" op: \"Relu\" } "        \
                                "node { name: \"m/a_name_of_many_bytes_1\" op: \"Relu\" } "
#define STATS(name, start, length)                                                                 \
    "node_stats { node_name: \"" name "\" all_start_micros: " #start                               \
    " op_end_rel_micros: " #length " } "
#define RUN(stats) "step_stats { dev_stats { device: \"/device:CPU:0\" " stats "} }"

static void read_views(struct tf_sample *sample, bool has_times)
{
    struct read_options options = { .is_classic = true, .has_classic_times = has_times };

    sample_bytes(sample, "graph.pbtxt", STR(GRAPH));
    /* Out of order, as a folder may list them: 10 stands before 9. */
    sample_bytes(sample, "run_meta_10",
                 STR(RUN(STATS("m/b2", 500, 7) STATS("m/b", 510, 3) STATS("m/b", 520, 4))));
    sample_bytes(sample, "run_meta_9", STR(RUN(STATS("m/b", 100, 2) STATS("m/b/x", 110, 1))));
    assert_true(profile_init(&sample->profile, &sample->arena));
    assert_true(reader_graph.read(sample->inputs, sample->input_count, &options, &sample->profile,
                                  &sample->err));
}

/* Bytewise: '/' is less than digits, and "10" less than "2". */
TEST(nodes_stand_by_name)
{
    static const char *const names[] = {
        "m/a_name_of_many_bytes_1", "m/a_name_of_many_bytes_2", "m/b", "m/b/x", "m/b10", "m/b2"
    };
    struct tf_sample sample = { 0 };

    read_views(&sample, false);
    assert_int_equal(sample.profile.classic->nodes.count, ARRAY_COUNT(names));
    for (uint32_t i = 0; i < ARRAY_COUNT(names); i++) {
        assert_string_equal(classic_name(sample.profile.classic, i).data, names[i]);
        assert_int_equal(classic_find(sample.profile.classic, str_from(names[i])), i);
    }
    sample_free(&sample);
}

TEST(runs_stand_by_node_and_step)
{
    static const struct {
        const char *name;
        int64_t     step, runs, micros; /* of it */
    } rows[] = {
        { "m/b", 9, 1, 2 },    { "m/b", 10, 2, 7 },  { "m/b/x", 9, 1, 1 },
        { "m/b/x", 10, 0, 0 }, { "m/b2", 10, 1, 7 }, { "m/b10", 10, 0, 0 },
    };
    struct tf_sample      sample = { 0 };
    const struct classic *classic;

    read_views(&sample, false);
    classic = sample.profile.classic;
    assert_int_equal(classic->steps.items[0], 9);
    assert_int_equal(classic->steps.items[1], 10);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t node = classic_find(classic, str_from(rows[i].name));

        assert_int_equal(classic_value(classic, node, MEASURE_RUNS, rows[i].step), rows[i].runs);
        assert_int_equal(classic_value(classic, node, MEASURE_EXEC_MICROS, rows[i].step),
                         rows[i].micros);
    }
    sample_free(&sample);
}

TEST(single_runs_are_kept_for_timelines_alone)
{
    for (int has_times = 0; has_times < 2; has_times++) {
        struct tf_sample           sample = { 0 };
        const struct classic      *classic;
        const struct classic_exec *exec;

        (void)state;
        read_views(&sample, has_times);
        classic = sample.profile.classic;
        exec = classic_exec_of(classic, classic_find(classic, STR("m/b")), 10);
        assert_non_null(exec);
        assert_int_equal(exec->time_count, has_times ? 2 : 0);
        assert_int_equal(exec->memory_count, has_times ? 2 : 0);
        if (has_times) {
            assert_int_equal(classic->times.items[exec->first_time].start_micros, 510);
            assert_int_equal(classic->times.items[exec->first_time + 1].start_micros, 520);
            /* start + length of the second run */
            assert_int_equal(classic->memory.items[exec->first_memory + 1].time_micros, 524);
        }
        sample_free(&sample);
    }
}

TEST(results_have_their_shapes)
{
    static const struct {
        const char *name;
        int64_t     elements;
    } rows[] = { { "m/b", 4 }, { "m/b/x", 4 }, { "m/b10", 4 }, { "m/b2", 5 } };
    struct tf_sample      sample = { 0 };
    const struct classic *classic;

    read_views(&sample, false);
    classic = sample.profile.classic;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct classic_node *node =
            &classic->nodes.items[classic_find(classic, str_from(rows[i].name))];

        assert_int_equal(node->output_count, 1);
        assert_int_equal(classic->shapes.items[node->first_output].rank, 1);
        assert_int_equal(classic->shapes.items[node->first_output].dims[0], rows[i].elements);
    }
    assert_int_equal(
        classic->nodes.items[classic_find(classic, STR("m/a_name_of_many_bytes_1"))].output_count,
        0);
    sample_free(&sample);
}

/* Frames {2: line, 6: file}: x at 1 > 2, y at 1 > 2 > 3, z at 1, w at 4 > 2, in that order. */
#define FRAME(line) "\x0a\x04\x10" line "\x30\x01"
static const char log_bytes[] = "\x0a\x11\x0a\x01x\x22\x0c" FRAME("\x01")
    FRAME("\x02") "\x0a\x17\x0a\x01y\x22\x12" FRAME("\x01") FRAME("\x02") FRAME(
        "\x03") "\x0a\x0b\x0a\x01z\x22\x06" FRAME("\x01") "\x0a\x11\x0a\x01w\x22\x0c" FRAME("\x04")
        FRAME("\x02") "\x12\x08\x08\x01\x12\x04m.py";

TEST(traces_share_their_outer_frames)
{
    static const struct {
        const char *name;
        uint32_t    lines[4]; /* innermost first, 0 behind the last */
    } rows[] = { { "x", { 2, 1 } }, { "y", { 3, 2, 1 } }, { "z", { 1 } }, { "w", { 2, 4 } } };
    struct tf_sample sample = { 0 };

    sample_bytes(&sample, "graph.pbtxt",
                 STR("node { name: \"w\" op: \"A\" } node { name: \"x\" op: \"A\" } "
                     "node { name: \"y\" op: \"A\" } node { name: \"z\" op: \"A\" }"));
    sample_bytes(&sample, "tfprof_log", (struct str) { log_bytes, sizeof log_bytes - 1 });
    assert_true(sample_read(&sample, &reader_graph));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t source = sample.profile.ops.items[sample_op(&sample, rows[i].name)].source;

        for (size_t n = 0; rows[i].lines[n]; n++) {
            const struct source_line *line = &sample.profile.sources.items[source];

            assert_int_equal(line->line, rows[i].lines[n]);
            assert_string_equal(profile_str(&sample.profile, line->file).data, "m.py");
            source = line->caller;
        }
        assert_true(source == NO_ID);
    }
    assert_int_equal(sample.profile.sources.count, 5); /* 1, 1 > 2, 1 > 2 > 3, 4, 4 > 2 */
    sample_free(&sample);
}
