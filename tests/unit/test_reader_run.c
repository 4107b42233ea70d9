/*
 * RunMetadata beyond the times of ops: the graphs that were run, the cost graph, names of threads
 * and single allocations. All made by hand.
 */
#include "tf_sample.h"

#include "model/op_graph.h"
#include "read/proto/textproto.h"

#include <run_metadata.pb-c.h>
#include <stdlib.h>

extern const struct reader reader_graph;

#define CPU "device: '/job:a/replica:0/task:0/device:CPU:0' "
#define GPU "device: '/job:a/replica:0/task:0/device:GPU:0' "
#define TENSOR_NAME "attr { key: 'tensor_name' value { s: 'edge_1_x' } } "

static const char partitions[] =
    "partition_graphs {"
    "  node { name: 'x' op: 'Placeholder' " CPU "}"
    "  node { name: 'x/send' op: '_Send' input: 'x' " TENSOR_NAME "}"
    "  library { function { signature { name: 'f' } node_def { name: 'n' op: 'Neg' } } } }\n"
    "partition_graphs {"
    "  node { name: 'x/recv' op: '_Recv' " TENSOR_NAME "}"
    "  node { name: 'y' op: 'MatMul' input: ['x/recv', 'x/recv'] } }\n"
    "step_stats { dev_stats { " CPU
    "  node_stats { node_name: 'x' all_start_micros: 100 op_end_rel_micros: 5 thread_id: 7 }"
    "  node_stats { node_name: 'z' all_start_micros: 110 op_end_rel_micros: 5 thread_id: 8 }"
    "  thread_names { key: 7 value: 'tf_Compute/7' }"
    "  thread_names { key: 9 value: 'idle' } } }\n";

static uint64_t noted(const struct profile *profile, const char *start)
{
    uint64_t count = 0;

    for (size_t i = 0; i < profile->notes.count; i++)
        if (str_starts(str_from(profile->notes.items[i].what), str_from(start)))
            count += profile->notes.items[i].count;
    return count;
}

static const char *type_of(const struct tf_sample *sample, const char *name)
{
    const struct profile *profile = &sample->profile;

    return profile_str(profile, profile->ops.items[sample_op(sample, name)].type).data;
}

/* x -> x/send -> x/recv -> y; both inputs of y are one edge. */
TEST(graphs_that_ran_are_the_graph_of_ops)
{
    struct tf_sample sample = { 0 };
    struct op_ids    order;
    bool             is_acyclic;

    sample_bytes(&sample, "run_meta", STR(partitions));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(sample.profile.ops.count, 6); /* x, send, recv, y; n of f; z, which only ran */
    assert_string_equal(type_of(&sample, "x"), "Placeholder");
    assert_string_equal(type_of(&sample, "z"), "z");
    assert_int_equal(sample.profile.graph->edge_count, 3);
    assert_true(
        op_graph_sort(sample.profile.graph, &sample.arena, &order, &is_acyclic, &sample.err));
    assert_true(is_acyclic);
    assert_int_equal(sample.profile.ops.items[sample_op(&sample, "y")].input_count, 2);
    sample_free(&sample);
}

TEST(a_given_graph_counts_instead)
{
    struct tf_sample sample = { 0 };

    sample_bytes(&sample, "run_meta", STR(partitions));
    sample_bytes(&sample, "graph.pbtxt", STR("node { name: 'x' op: 'Const' }"));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(sample.profile.ops.count, 2); /* x and z */
    assert_string_equal(type_of(&sample, "x"), "Const");
    assert_int_equal(sample.profile.graph->edge_count, 0);
    sample_free(&sample);
}

/* A round of a loop that a program's graph does not show: x is defined there, the rest by what the
 * run says. What comes round again is no edge, since that would be a cycle; "far" ran nowhere. */
TEST(a_run_tells_of_ops_that_no_graph_defines)
{
    struct tf_sample sample = { 0 };
    const struct op *merge, *product;
    struct op_ids    order;
    bool             is_acyclic;

    sample_bytes(&sample, "graph.pbtxt", STR("node { name: 'x' op: 'Const' }"));
    sample_bytes(
        &sample, "run_meta",
        STR("step_stats { dev_stats { " CPU
            "  node_stats { node_name: 'x' all_start_micros: 99 timeline_label: 'x = Abs(far)' }"
            "  node_stats { node_name: 'enter' all_start_micros: 100"
            "    timeline_label: 'enter = Enter(x)' }"
            "  node_stats { node_name: 'merge' all_start_micros: 101"
            "    timeline_label: 'merge = Merge(enter, next)' }"
            "  node_stats { node_name: 'm' all_start_micros: 102 timeline_label:"
            "    '[mklcpu 0.4MB 0.4MB] m = _MklMatMul(merge, merge:1, far, ^x)' }"
            "  node_stats { node_name: 'next' all_start_micros: 103"
            "    timeline_label: 'next = NextIteration(m)' }"
            "  node_stats { node_name: 'other' all_start_micros: 104"
            "    timeline_label: 'another = Neg(m)' } } }"));
    assert_true(sample_read(&sample, &reader_graph));
    assert_string_equal(type_of(&sample, "x"), "Const");
    assert_string_equal(type_of(&sample, "enter"), "Enter");
    assert_string_equal(type_of(&sample, "m"), "_MklMatMul");
    assert_string_equal(type_of(&sample, "other"), "other");
    merge = &sample.profile.ops.items[sample_op(&sample, "merge")];
    product = &sample.profile.ops.items[sample_op(&sample, "m")];
    assert_int_equal(merge->input_count, 1);
    assert_int_equal(merge->attr_count, 1); /* next_round: next */
    assert_int_equal(product->input_count, 3);
    /* x to enter and m, enter to merge, merge to m, m to next */
    assert_int_equal(sample.profile.graph->edge_count, 5);
    assert_int_equal(op_graph_operand(sample.profile.graph, sample_op(&sample, "m"), 0),
                     sample_op(&sample, "merge"));
    assert_true(
        op_graph_sort(sample.profile.graph, &sample.arena, &order, &is_acyclic, &sample.err));
    assert_true(is_acyclic);
    assert_int_equal(noted(&sample.profile, "inputs that name no node"), 0);
    sample_free(&sample);
}

TEST(a_function_s_graphs_stand_in)
{
    struct tf_sample sample = { 0 };

    sample_bytes(&sample, "run_meta",
                 STR("function_graphs {\n"
                     " partition_graphs { node { name: 'a' op: 'Neg' } }"
                     " pre_optimization_graph { node { name: 'b' op: 'Neg' } } }"
                     "function_graphs { partition_graphs {"
                     "  node { name: 'c' op: 'Abs' input: 'a' } } }"));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(sample.profile.ops.count, 2);
    assert_string_equal(type_of(&sample, "c"), "Abs");
    assert_int_equal(sample.profile.graph->edge_count, 1);
    assert_int_equal(noted(&sample.profile, "run metadata without step_stats"), 1);
    sample_free(&sample);
}

TEST(threads_have_their_names)
{
    struct tf_sample      sample = { 0 };
    const struct profile *profile = &sample.profile;

    sample_bytes(&sample, "run_meta", STR(partitions));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(profile->timelines.count, 2);
    assert_int_equal(profile->timelines.items[0].id, 7);
    assert_string_equal(profile_str(profile, profile->timelines.items[0].name).data, "tf_Compute");
    assert_int_equal(profile->timelines.items[1].id, 8);
    assert_string_equal(profile_str(profile, profile->timelines.items[1].name).data,
                        "/job:a/replica:0/task:0/device:CPU:0");
    sample_free(&sample);
}

/* Two runs of x in step 1, whose memory adds up, and one in step 2, on the same thread; only the
 * first file sums the streams of the GPU, whose single rows therefore count in neither. */
TEST(several_runs_follow_each_other)
{
    struct tf_sample      sample = { 0 };
    const struct profile *profile = &sample.profile;
    uint32_t              x;

    sample_bytes(
        &sample, "run_meta_2",
        STR("step_stats { dev_stats { " CPU
            "  node_stats { node_name: 'x' all_start_micros: 300 op_end_rel_micros: 7"
            "    thread_id: 7 memory { allocator_name: 'cpu' total_bytes: 4 } } }"
            "  dev_stats { device: '/device:GPU:0/stream:11'"
            "  node_stats { node_name: 'x' all_start_micros: 310 op_end_rel_micros: 2 } } }\n"));
    sample_bytes(
        &sample, "run_meta_1",
        STR("step_stats { dev_stats { " CPU
            "  node_stats { node_name: 'x' all_start_micros: 100 op_end_rel_micros: 5"
            "    thread_id: 7 memory { allocator_name: 'cpu' total_bytes: 8 } }"
            "  node_stats { node_name: 'x:MEMCPYHtoD' all_start_micros: 105"
            "    op_end_rel_micros: 1 thread_id: 7 }"
            "  node_stats { node_name: 'x' all_start_micros: 110 op_end_rel_micros: 5"
            "    thread_id: 7 memory { allocator_name: 'cpu' total_bytes: 16 } } }"
            "  dev_stats { device: '/device:GPU:0/stream:all'"
            "  node_stats { node_name: 'x' all_start_micros: 112 op_end_rel_micros: 3 } } }\n"));
    assert_true(sample_read(&sample, &reader_graph));
    x = sample_op(&sample, "x");
    assert_int_equal(profile->recorded_steps.count, 2);
    /* By number, though the file of step 2 was given first. */
    assert_int_equal(profile->recorded_steps.items[0].number, 1);
    assert_int_equal(profile->recorded_steps.items[1].number, 2);
    assert_int_equal(profile->op_runs.count, 6);
    assert_int_equal(profile->op_memory.count, 2);
    assert_int_equal(profile->op_memory.items[0].op, x);
    assert_int_equal(profile->op_memory.items[0].step, 1);
    assert_int_equal(profile->op_memory.items[0].requested_bytes, 4);
    assert_int_equal(profile->op_memory.items[1].step, 0);
    assert_int_equal(profile->op_memory.items[1].requested_bytes, 8 + 16);
    assert_int_equal(profile->timelines.count, 3);
    assert_int_equal(profile->timelines.items[0].event_count, 4);
    sample_free(&sample);
}

static const char costs[] =
    "cost_graph {"
    "  node { name: '_SOURCE' compute_cost: 9 }"
    "  node { name: 'b' " CPU "id: 3 input_info { preceding_node: 2 } control_input: [4, 77]"
    "    compute_cost: 50 temporary_memory_size: 999 }"
    "  node { name: 'a' " CPU "id: 2 compute_cost: 30 temporary_memory_size: 64"
    "    persistent_memory_size: 16"
    "    output_info { size: 400 shape { dim { size: 100 } } dtype: DT_FLOAT } }"
    "  node { name: 'c' " CPU "id: 4 } }\n"
    "step_stats { dev_stats { " CPU
    "  node_stats { node_name: 'b' all_start_micros: 1000 op_end_rel_micros: 20"
    "    memory { allocator_name: 'cpu' total_bytes: 8 peak_bytes: 8 } } } }\n";

/* What the step recorded of b counts; a has only the cost graph. */
TEST(cost_graph_fills_in)
{
    struct tf_sample        sample = { 0 };
    const struct profile   *profile = &sample.profile;
    const struct op_memory *memory;
    const struct op_run    *run;
    const struct tensor    *result;
    uint32_t                a, b;

    sample_bytes(&sample, "run_meta", STR(costs));
    assert_true(sample_read(&sample, &reader_graph));
    a = sample_op(&sample, "a");
    b = sample_op(&sample, "b");
    assert_int_equal(profile->ops.count, 3);
    assert_int_equal(profile->graph->edge_count, 2); /* a and, for order only, c to b */
    assert_int_equal(profile->op_runs.count, 2);
    assert_int_equal(sample_micros(&sample, a), 30);
    assert_int_equal(sample_micros(&sample, b), 20);
    run = &profile->op_runs.items[1];
    assert_int_equal(run->op, a);
    assert_int_equal(run->start_ns, -1);
    assert_int_equal(profile->op_memory.count, 2);
    memory = &profile->op_memory.items[1];
    assert_int_equal(memory->op, a);
    assert_int_equal(memory->requested_bytes, 80);
    assert_int_equal(memory->peak_bytes, 80);
    assert_int_equal(memory->residual_bytes, 16);
    assert_int_equal(memory->temporary_bytes, 64);
    assert_int_equal(memory->persistent_bytes, 16);
    assert_int_equal(memory->output_bytes, 400);
    assert_int_equal(profile->ops.items[a].output_count, 1);
    result = &profile->tensors.items[profile->ops.items[a].first_output];
    assert_int_equal(result->rank, 1);
    assert_int_equal(result->dims[0], 100);
    assert_int_equal(result->dtype, DTYPE_F32);
    assert_int_equal(noted(profile, "times of ops"), 1);
    assert_int_equal(noted(profile, "memory of ops"), 1);
    sample_free(&sample);
}

static const char allocations[] =
    "step_stats { dev_stats { " GPU
    "  node_stats { node_name: 'fc/MatMul' all_start_micros: 1010 op_end_rel_micros: 20"
    "    memory { allocator_name: 'GPU_0_bfc' total_bytes: 4096 peak_bytes: 2048 live_bytes: 1024"
    "      allocator_bytes_in_use: 5000000"
    "      allocation_records { alloc_micros: 1012 alloc_bytes: 2000000 }"
    "      allocation_records { alloc_micros: 1500 alloc_bytes: -2000000 } }"
    "    memory_stats { temp_memory_size: 512 device_temp_memory_size: 8"
    "      persistent_memory_size: 256 device_persistent_memory_size: 4 } } }\n"
    "dev_stats { " CPU "  node_stats { node_name: 'in' all_start_micros: 1020 op_end_rel_micros: 5"
    "    memory { allocator_name: 'cpu' total_bytes: 64"
    "      allocation_records { alloc_micros: 1021 alloc_bytes: 64 } } }"
    "  node_stats { node_name: 'out' all_start_micros: 1030 op_end_rel_micros: 5"
    "    memory { allocator_name: 'pinned' allocator_bytes_in_use: 700"
    "      allocation_records { alloc_micros: 1031 alloc_bytes: 300 }"
    "      allocation_records { alloc_micros: 1032 alloc_bytes: 100 }"
    "      allocation_records { alloc_micros: 1040 alloc_bytes: -300 }"
    "      allocation_records { alloc_micros: 0 alloc_bytes: 5 } } } } }\n";

TEST(single_allocations_make_a_timeline)
{
    /* Time 0 is 1010 us. "pinned" has 700 in use at 1035: 600 before the 100, 300 less the 300
     * before; 400 after the free. "cpu" never tells what it has in use. */
    static const struct {
        uint8_t     kind;
        const char *allocator, *op;
        int64_t     micros, bytes, in_use_bytes;
        bool        is_host;
        uint64_t    address;
    } rows[] = {
        { MEMORY_ALLOCATE, "GPU_0_bfc", "fc/MatMul", 2, 2000000, 5000000, false, 1 },
        { MEMORY_FREE, "GPU_0_bfc", "fc/MatMul", 490, -2000000, 3000000, false, 1 },
        { MEMORY_SNAPSHOT, "GPU_0_bfc", "fc/MatMul", 20, 0, 5000000, false, 0 },
        { MEMORY_ALLOCATE, "pinned", "out", 21, 300, 600, true, 2 },
        { MEMORY_ALLOCATE, "pinned", "out", 22, 100, 700, true, 3 },
        { MEMORY_FREE, "pinned", "out", 30, -300, 400, true, 2 },
        { MEMORY_SNAPSHOT, "pinned", "out", 25, 0, 700, true, 0 },
    };
    struct tf_sample      sample = { 0 };
    const struct profile *profile = &sample.profile;

    sample_bytes(&sample, "run_meta", STR(allocations));
    assert_true(sample_read(&sample, &reader_graph));
    assert_int_equal(profile->memory_events.count, ARRAY_COUNT(rows));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct memory_event *event = &profile->memory_events.items[i];

        assert_int_equal(event->kind, rows[i].kind);
        assert_string_equal(profile_str(profile, event->allocator).data, rows[i].allocator);
        assert_string_equal(profile_str(profile, event->op_name).data, rows[i].op);
        assert_int_equal(event->time_ns, rows[i].micros * 1000);
        assert_int_equal(event->bytes, rows[i].bytes);
        assert_int_equal(event->in_use_bytes, rows[i].in_use_bytes);
        assert_int_equal(event->device == NO_ID, rows[i].is_host);
        assert_int_equal(event->address, rows[i].address);
    }
    /* 4096 and both kinds of temporary and of persistent bytes */
    assert_int_equal(profile->op_memory.items[0].requested_bytes, 4096 + 512 + 8 + 256 + 4);
    assert_int_equal(profile->op_memory.items[0].residual_bytes, 1024 + 256 + 4);
    sample_free(&sample);
}

/* Text made into the bytes that TensorFlow writes. */
static struct str packed(const char *text, struct arena *arena)
{
    struct str bytes = { 0 };
    struct err err = { 0 };

    assert_true(textproto_to_bytes(&tfprof__tf__run_metadata__descriptor, str_from(text), arena,
                                   &bytes, NULL, &err));
    return bytes;
}

static void read_within(struct str bytes, size_t budget_bytes)
{
    struct tf_sample sample = { .arena.budget_bytes = budget_bytes };

    sample_bytes(&sample, "run_meta", bytes);
    if (!profile_init(&sample.profile, &sample.arena) ||
        !reader_graph.read(sample.inputs, 1, &(struct read_options) { 0 }, &sample.profile,
                           &sample.err))
        assert_true(sample.err.code == ERR_FORMAT || sample.err.code == ERR_LIMIT || budget_bytes);
    sample_free(&sample);
}

TEST(cuts_flips_and_budgets)
{
    static const char *const texts[] = { partitions, costs, allocations };

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct arena arena = { 0 };
        struct str   whole = packed(texts[i], &arena);

        for (size_t cut = 0; cut <= whole.len; cut++) {
            char *copy = malloc(cut + 1); /* of its own, so that a read past the end is seen */

            memcpy(copy, whole.data, cut);
            read_within((struct str) { copy, cut }, 0);
            free(copy);
        }
        for (size_t at = 0; at < whole.len; at++) {
            char *copy = malloc(whole.len);

            memcpy(copy, whole.data, whole.len);
            copy[at] = (char)(copy[at] ^ 0x80);
            read_within((struct str) { copy, whole.len }, 0);
            free(copy);
        }
        for (size_t budget = 1 << 10; budget < 96 << 10; budget += 512)
            read_within(whole, budget);
        arena_free(&arena);
    }
}

TEST(runs_of_graphs_alone_are_recognised)
{
    static const char *const texts[] = {
        "cost_graph { node { name: 'a' id: 3 compute_cost: 5 } }",
        "partition_graphs { node { name: 'a' op: 'Neg' } }",
        "function_graphs { partition_graphs { node { name: 'a' op: 'Neg' } } }",
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct tf_sample sample = { 0 };

        sample_bytes(&sample, "run_meta", packed(texts[i], &arena));
        assert_true(reader_graph.score(sample.inputs[0].file.bytes, "") > 0);
        assert_true(sample_read(&sample, &reader_graph));
        assert_int_equal(sample.profile.ops.count, 1);
        sample_free(&sample);
    }
    arena_free(&arena);
}
