/*
 * reader_graph: a recorded softmax regression against what the classic tool printed for it, and
 * hand-made graphs, whole and damaged.
 */
#include "tf_sample.h"

#include "model/classic.h"
#include "model/op_graph.h"

#include <stdio.h>

#define SOFTMAX CASES_DIR "/recordings/tf1-mnist-softmax/profile/"
extern const struct reader reader_graph, reader_profile;

/* "scope -select micros,params,float_ops,bytes" averaged over 12 steps: total 189us, 1.57m flops.
 */
static void check_softmax(const struct tf_sample *sample)
{
    static const struct {
        const char *name, *type;
        int64_t     micros, parameters;
    } rows[] = {
        { "MatMul", "MatMul", 25, -1 },
        { "gradients/MatMul_grad/MatMul_1", "MatMul", 25, -1 },
        { "ArgMax_1", "ArgMax", 3, -1 },
        { "add", "AddV2", 3, -1 },
        { "Variable", "VariableV2", 1, 7840 },
        { "Variable_1", "VariableV2", 1, 10 },
        { "Variable/Assign", "Assign", 0, -1 },
    };
    const struct profile *profile = &sample->profile;
    int64_t               total_micros = 0;

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t         row = sample_op(sample, rows[i].name);
        const struct op *op = &profile->ops.items[row];

        assert_string_equal(profile_str(profile, op->type).data, rows[i].type);
        assert_int_equal(sample_micros(sample, row), rows[i].micros);
        assert_int_equal(op->parameters, rows[i].parameters);
    }
    for (uint32_t op = 0; op < profile->ops.count; op++)
        total_micros += sample_micros(sample, op);
    assert_int_equal(total_micros, 189);
    assert_int_equal(profile->recorded_steps.count, 12);
    for (size_t i = 0; i < 12; i++)
        assert_true(profile->recorded_steps.items[i].duration_ns > 0);
    assert_int_equal(profile->devices.count, 1);
    assert_int_equal(profile->devices.items[0].kind, DEVICE_CPU);
    assert_int_equal(profile->framework, intern_find(&profile->names, STR("tensorflow")));
    /* 100 x 10 times 10 x 784: 2 x 10 x 78400; ArgMax over 100 x 10: 1000 - 100 */
    assert_int_equal(profile->ops.items[sample_op(sample, "gradients/MatMul_grad/MatMul")].flops,
                     1568000);
    assert_int_equal(profile->ops.items[sample_op(sample, "ArgMax")].flops, 900);
    assert_int_equal(profile->ops.items[sample_op(sample, "Equal")].flops, 100);
}

/* MatMul: 4.00KB requested (100 x 10 floats), Variable: 31.36KB (784 x 10 floats). */
static void check_memory(const struct tf_sample *sample)
{
    uint32_t matmul = sample_op(sample, "MatMul"), variable = sample_op(sample, "Variable");
    size_t   found = 0;

    for (size_t i = 0; i < sample->profile.op_memory.count; i++) {
        const struct op_memory *memory = &sample->profile.op_memory.items[i];

        if (memory->op != matmul && memory->op != variable)
            continue;
        assert_int_equal(memory->requested_bytes, memory->op == matmul ? 4000 : 31360);
        assert_int_equal(memory->output_bytes, memory->op == matmul ? 4000 : 31360);
        found++;
    }
    assert_int_equal(found, 24); /* both in 12 steps */
}

TEST(graph_runs_and_log_together)
{
    struct tf_sample sample = { 0 };
    char             paths[12][256];
    struct op_ids    order;
    bool             is_acyclic;

    sample_file(&sample, SOFTMAX "graph.pbtxt");
    sample_file(&sample, SOFTMAX "tfprof_log");
    for (int i = 0; i < 12; i++) {
        snprintf(paths[i], sizeof paths[i], SOFTMAX "run_meta_%d", i);
        sample_file(&sample, paths[i]);
    }
    assert_true(sample_read(&sample, &reader_graph));
    check_softmax(&sample);
    check_memory(&sample);
    assert_int_equal(sample.profile.format, FORMAT_GRAPH);
    assert_true(sample.profile.event_count > 0);
    assert_true(
        op_graph_sort(sample.profile.graph, &sample.arena, &order, &is_acyclic, &sample.err));
    assert_true(is_acyclic);
    sample_free(&sample);
}

TEST(profile_proto_says_the_same)
{
    struct tf_sample sample = { 0 };

    sample_file(&sample, SOFTMAX "profile_11");
    assert_true(sample_read(&sample, &reader_profile));
    check_softmax(&sample);
    check_memory(&sample);
    assert_int_equal(sample.profile.format, FORMAT_PROFILE);
    /* Each execution of an op, of which 1140 are recorded, is an event. */
    assert_int_equal(sample.profile.op_runs.count, 1140);
    assert_int_equal(sample.profile.event_count, 1140);
    assert_true(sample.profile.ops.items[sample_op(&sample, "MatMul")].source != NO_ID);
    sample_free(&sample);
}

#define SHAPES(...) "attr { key: \"_output_shapes\" value { list { " __VA_ARGS__ " } } } "
#define SHAPE2(a, b) "shape { dim { size: " #a " } dim { size: " #b " } } "

TEST(text_graph_without_runs)
{
    /* The convolution of tfprof's own documentation: 2x6x6x3 * 3x3x3x6 at stride 2: 5832 flops. */
    static const char text[] =
        "# made by hand\n"
        "node { name: 'w' op: \"Variable\" \"V2\" device: '/device:GPU:1'\n"
        "  attr { key: 'shape' value { shape { dim { size: 3 } dim { size: 0x3 } dim < "
        "size: 3 >\n"
        "     dim { size: 06 } } } }\n"
        "  " SHAPES(
            "shape { dim { size: 3 } dim { size: 3 } dim { size: 3 } dim { size: 6 "
            "} }") "}\n"
                   "node { name: 'x' op: 'Placeholder' experimental_debug_info { "
                   "original_node_names: ['a'] } " SHAPES(
                       "shape { dim { size: 2 } dim { size: 6 } dim { size: 6 } "
                       "dim { size: 3 } }") "attr { key: 'dtype' value { type: "
                                            "DT_FLOAT } } }\n"
                                            "node { name: 'conv' op: 'Conv2D' "
                                            "input: ['x', 'w'] input: "
                                            "'^x'\n" SHAPES(
                                                "shape { dim { size: 2 } dim { "
                                                "size: 3 } dim { size: 3 } dim { "
                                                "size: 6 } }") "attr { key: "
                                                               "'strides' value { "
                                                               "list { i: [1, 2, "
                                                               "2, 1] } } } }\n"
                                                               "node { name: "
                                                               "'unknown' op: "
                                                               "'MatMul' input: "
                                                               "'conv:1' input: "
                                                               "'gone' " SHAPES(
                                                                   "shape { "
                                                                   "unknown_rank: "
                                                                   "true }") "}\n"
                                                                             "libra"
                                                                             "ry { "
                                                                             "funct"
                                                                             "ion "
                                                                             "{ "
                                                                             "signa"
                                                                             "ture "
                                                                             "{ "
                                                                             "name:"
                                                                             " 'f' "
                                                                             "control_output: 'x' "
                                                                             "} "
                                                                             "node_"
                                                                             "def "
                                                                             "{ "
                                                                             "name:"
                                                                             " 'x' "
                                                                             "op: "
                                                                             "'Neg'"
                                                                             " } } "
                                                                             "}\n"
                                                                             "versi"
                                                                             "ons "
                                                                             "{ "
                                                                             "produ"
                                                                             "cer: "
                                                                             "27 "
                                                                             "};";
    struct tf_sample sample = { 0 };
    const struct op *conv, *weights;

    sample_bytes(&sample, "graph.pbtxt", STR(text));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(sample.profile.ops.count, 5);
    weights = &sample.profile.ops.items[sample_op(&sample, "w")];
    conv = &sample.profile.ops.items[sample_op(&sample, "conv")];
    assert_int_equal(weights->parameters, 162);
    assert_int_equal(sample.profile.devices.items[weights->device].ordinal, 1);
    assert_int_equal(sample.profile.devices.items[weights->device].kind, DEVICE_GPU);
    assert_int_equal(conv->flops, 5832);
    assert_int_equal(conv->input_count, 2);
    assert_int_equal(sample.profile.tensors.items[conv->first_input].dims[1], 6);
    assert_int_equal(sample.profile.tensors.items[conv->first_input].dtype, DTYPE_F32);
    assert_int_equal(sample.profile.ops.items[sample_op(&sample, "unknown")].flops, -1);
    assert_string_equal(profile_str(&sample.profile, sample.profile.ops.items[4].module).data, "f");
    assert_int_equal(sample.profile.graph->edge_count, 3); /* x and w to conv, conv to unknown */
    assert_int_equal(sample.profile.unknown_fields,
                     0); /* experimental_debug_info, control_output: known, not wanted */
    sample_free(&sample);
}

TEST(damage_is_located)
{
    static const struct {
        struct str  bytes;
        uint64_t    offset;
        uint32_t    line, column;
        const char *path;
    } rows[] = {
        /* the only node is cut */
        { STR_INIT("\x0a\x20\x0a\x01"
                   "a\x12\x01"
                   "b"),
          0, 0, 0, "" },
        { STR_INIT("node {\n  name: \"a\"\n  op: b\n}\n"), 0, 3, 7, "" },
        { STR_INIT("node {\n  name \"a\"\n}\n"), 0, 2, 8, "" },
        { STR_INIT("node { name: \"a\n\" }"), 0, 1, 16, "" },
        { STR_INIT("node { attr { key: \"T\" value { type: DT_NONE } } }"), 0, 1, 38, "" },
        { STR_INIT("node {\n"), 0, 2, 1, "" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct tf_sample sample = { 0 };

        sample_bytes(&sample, "graph", rows[i].bytes);
        assert_false(sample_read(&sample, &reader_graph));
        assert_int_equal(sample.err.code, ERR_FORMAT);
        assert_int_equal(sample.err.line, rows[i].line);
        assert_int_equal(sample.err.column, rows[i].column);
        if (!rows[i].line) {
            assert_int_equal(sample.err.offset, rows[i].offset);
            assert_string_equal(sample.err.path, rows[i].path);
        }
        sample_free(&sample);
    }
}

TEST(what_is_whole_before_damage_is_kept)
{
    struct tf_sample sample = { 0 };

    sample_bytes(&sample, "graph",
                 STR("\x0a\x06\x0a\x01"
                     "a\x12\x01"
                     "b\x0a\x20\x0a\x01"
                     "c"));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(sample.profile.ops.count, 1);
    assert_int_equal(sample.profile.notes.count, 1);
    sample_free(&sample);
    /* An op is known by its name and type: node { name "a" op "b" } is one, though its attr claims
     * 9 bytes where 1 is left. */
    sample = (struct tf_sample) { 0 };
    sample_bytes(&sample, "graph",
                 STR("\x0a\x09\x0a\x01"
                     "a\x12\x01"
                     "b\x2a\x09\x0a"));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(sample.profile.ops.count, 1);
    assert_non_null(strstr(sample.profile.notes.items[0].what, "node[0]"));
    assert_non_null(strstr(sample.profile.notes.items[0].what, "byte 8"));
    sample_free(&sample);
}

TEST(each_kind_is_recognised)
{
    static const struct {
        const char *name;
        bool        is_graph, is_profile;
    } files[] = {
        { SOFTMAX "graph.pbtxt", true, false },
        { SOFTMAX "run_meta_3", true, false },
        { SOFTMAX "tfprof_log", true, false },
        { SOFTMAX "profile_11", false, true },
        { CASES_DIR "/recordings/tf2-input-sequential-map/plugins/profile/2026_11_21_12_00_00/"
                    "worker0.xplane.pb",
          false, false },
        { CASES_DIR "/../CMakeLists.txt", false, false },
    };

    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct file file = { 0 };
        struct err  err = { 0 };

        assert_true(file_open(&file, files[i].name, 0, &err));
        assert_int_equal(reader_graph.score(file.bytes, files[i].name) > 0, files[i].is_graph);
        assert_int_equal(reader_profile.score(file.bytes, files[i].name) > 0, files[i].is_profile);
        file_close(&file);
    }
    assert_int_equal(reader_graph.score(STR(""), ""), 0);
    assert_int_equal(reader_graph.score(STR("{\"traceEvents\": []}"), ""), 0);
}

/* The classic tool warns once a step of a GPU lacks the row that sums its streams. */
TEST(a_gpu_without_its_streams_is_known)
{
    static const struct {
        struct str run;
        bool       misses;
    } rows[] = {
        { STR_INIT("\x0a\x0a\x0a\x08\x0a\x06/gpu:0"), true },
        { STR_INIT("\x0a\x0a\x0a\x08\x0a\x06/cpu:0"), false },
        { STR_INIT("\x0a\x1f\x0a\x08\x0a\x06/gpu:0\x0a\x13\x0a\x11/gpu:0/stream:all"), false },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct tf_sample    sample = { 0 };
        struct read_options options = { .is_classic = true };

        sample_bytes(&sample, "graph.pbtxt", STR("node { name: \"a\" op: \"NoOp\" }"));
        sample_bytes(&sample, "run_meta", rows[i].run);
        assert_true(profile_init(&sample.profile, &sample.arena));
        assert_true(reader_graph.read(sample.inputs, sample.input_count, &options, &sample.profile,
                                      &sample.err));
        assert_int_equal(sample.profile.classic->misses_streams, rows[i].misses);
        sample_free(&sample);
    }
}

#define RUN_OF(name) "\x12\x07\x0a\x01" name "\x10\x0a\x28\x05" /* begins at 10 us, takes 5 */

/* What an op is beside computing goes by its type, which the graph tells and not the run. */
TEST(ops_are_what_their_types_do)
{
    static const struct {
        const char        *name;
        enum activity_kind kind;
    } rows[] = { { "h", ACTIVITY_OUTPUT }, { "m", ACTIVITY_OP }, { "i", ACTIVITY_INPUT_WAIT } };
    struct tf_sample sample = { 0 };

    sample_bytes(&sample, "run_meta",
                 STR("\x0a\x25\x0a\x23\x0a\x06/cpu:0" RUN_OF("h") RUN_OF("m") RUN_OF("i")));
    sample_bytes(&sample, "graph.pbtxt",
                 STR("node { name: \"h\" op: \"HistogramSummary\" }\n"
                     "node { name: \"m\" op: \"MatMul\" }\n"
                     "node { name: \"i\" op: \"IteratorGetNext\" }"));
    assert_true(sample_read(&sample, &reader_graph));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t op = sample_op(&sample, rows[i].name);
        bool     is_found = false;

        for (size_t a = 0; a < sample.profile.activities.count; a++) {
            if (sample.profile.activities.items[a].op != op)
                continue;
            is_found = true;
            assert_int_equal(sample.profile.activities.items[a].kind, rows[i].kind);
        }
        assert_true(is_found);
    }
    sample_free(&sample);
}
