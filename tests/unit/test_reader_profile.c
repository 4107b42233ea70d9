/*
 * reader_profile: a recorded ProfileProto against what the classic tool answered for it (scope
 * view, mean of all steps), then every kind of cut and too little memory.
 */
#include "base/macros.h"
#include "read/read.h"
#include "tf_sample.h"

extern const struct reader reader_profile, reader_graph;

#define SOFTMAX CASES_DIR "/recordings/tf1-mnist-softmax/profile/"

TEST(as_the_classic_tool_answers)
{
    /* requested, peak, residual and output bytes, cpu micros, as it printed them */
    static const struct {
        const char *name;
        int64_t     bytes[4], micros, parameters;
    } rows[] = {
        { "MatMul", { 4000, 4000, 4000, 4000 }, 25, -1 },
        { "gradients/MatMul_grad/MatMul_1", { 31360, 31360, 31360, 31360 }, 25, -1 },
        { "Variable", { 31360, 31360, 31360, 31360 }, 1, 7840 },
        { "softmax_cross_entropy_with_logits", { 5200, 5200, 4400, 4400 }, 13, -1 },
    };
    struct tf_sample sample = { 0 };

    sample_file(&sample, SOFTMAX "profile_11");
    assert_true(sample_read(&sample, &reader_profile));
    assert_int_equal(sample.profile.recorded_steps.count, 12);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint32_t op = sample_op(&sample, rows[i].name);
        bool     is_found = false;

        assert_int_equal(sample_micros(&sample, op), rows[i].micros);
        assert_int_equal(sample.profile.ops.items[op].parameters, rows[i].parameters);
        for (size_t row = 0; row < sample.profile.op_memory.count && !is_found; row++) {
            const struct op_memory *memory = &sample.profile.op_memory.items[row];

            is_found = memory->op == op && memory->peak_bytes == rows[i].bytes[1] &&
                       memory->requested_bytes == rows[i].bytes[0] &&
                       memory->residual_bytes == rows[i].bytes[2] &&
                       memory->output_bytes == rows[i].bytes[3];
        }
        assert_true(is_found);
    }
    sample_free(&sample);
}

/* "a" gives [5], "b" [7]; "s" takes a, then b, which stand the other way round on the wire, where a
 * map has no order. Nodes are entries of a map by id: 1, 2, 3. */
TEST(inputs_stand_in_their_order)
{
    static const char bytes[] =
        "\x0A\x13\x08\x01\x12\x0F" /* nodes[1]: name, op, output_shapes[0] */
        "\x0A\x01"
        "a"
        "\x4A\x01"
        "C"
        "\x7A\x07\x08\x00\x12\x03\x0A\x01\x05"
        "\x0A\x13\x08\x02\x12\x0F" /* nodes[2] */
        "\x0A\x01"
        "b"
        "\x4A\x01"
        "C"
        "\x7A\x07\x08\x00\x12\x03\x0A\x01\x07"
        "\x0A\x16\x08\x03\x12\x12" /* nodes[3]: name, op, inputs[1] = 2, inputs[0] = 1 */
        "\x0A\x01"
        "s"
        "\x4A\x01"
        "S"
        "\x12\x04\x08\x01\x10\x02\x12\x04\x08\x00\x10\x01";
    struct tf_sample sample = { 0 };
    const struct op *op;

    sample_bytes(&sample, "profile_0", (struct str) { bytes, sizeof bytes - 1 });
    assert_true(sample_read(&sample, &reader_profile));
    op = &sample.profile.ops.items[sample_op(&sample, "s")];
    assert_int_equal(op->input_count, 2);
    assert_int_equal(sample.profile.tensors.items[op->first_input].dims[0], 5);
    assert_int_equal(sample.profile.tensors.items[op->first_input + 1].dims[0], 7);
    sample_free(&sample);
}

static void read_cut(const struct reader *reader, struct str bytes, size_t budget)
{
    struct tf_sample sample = { 0 };

    sample.arena.budget_bytes = budget;
    sample_bytes(&sample, "cut", bytes);
    if (!sample_read(&sample, reader))
        assert_true(sample.err.code == ERR_FORMAT || sample.err.code == ERR_LIMIT);
    sample_free(&sample);
}

TEST(cuts_and_budgets)
{
    static const struct {
        const char          *path;
        const struct reader *reader;
    } rows[] = {
        { SOFTMAX "profile_11", &reader_profile },
        { SOFTMAX "run_meta_0", &reader_graph },
        { SOFTMAX "graph.pbtxt", &reader_graph },
        { SOFTMAX "tfprof_log", &reader_graph },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct file file;
        struct err  err = { 0 };
        size_t      stride;

        assert_true(file_open(&file, rows[i].path, 0, &err));
        stride = file.bytes.len / 100 + 1;
        for (size_t length = 0; length < file.bytes.len; length += length < 100 ? 1 : stride)
            read_cut(rows[i].reader, str_slice(file.bytes, 0, length), 0);
        for (size_t budget = 64 << 10; budget < 2 << 20; budget += 96 << 10)
            read_cut(rows[i].reader, file.bytes, budget);
        file_close(&file);
    }
}
