/* The Kineto reader on hand-made traces, on every prefix of one, and on recordings. */

#include "testing.h"

#include "base/text.h"
#include "kineto_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One step on a host thread with an op, its launch, its kernel, its backward op and a free. */
static const char small[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA A100\","
    " \"totalGlobalMem\": 42297524224, \"computeMajor\": 8, \"computeMinor\": 0, \"numSms\": 108},"
    " {\"id\": 1, \"name\": \"NVIDIA A100\"}],"
    " \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 2},"
    " \"host_name\": \"box\", \"record_shapes\": 1,\n"
    " \"traceEvents\": [\n"
    "{\"ph\": \"M\", \"name\": \"thread_name\", \"ts\": 1, \"pid\": 7, \"tid\": 7,"
    " \"args\": {\"name\": \"thread 7 (python)\"}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"sgemm\\u0021\", \"pid\": 0, \"tid\": 9,"
    " \"ts\": 9, \"dur\": 30, \"args\": {\"device\": 0, \"stream\": 9, \"correlation\": 11,"
    " \"External id\": 4, \"grid\": [8, 2, 1], \"block\": [128, 1, 1], \"registers per thread\": "
    "32,"
    " \"shared memory\": 1024, \"est. achieved occupancy %\": 50}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"MmBackward0\", \"pid\": 7, \"tid\": 7,"
    " \"ts\": 40, \"dur\": 8, \"args\": {\"Sequence number\": 9, \"Fwd thread id\": 1}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 7,"
    " \"ts\": 2, \"dur\": 20, \"args\": {\"External id\": 4, \"Sequence number\": 9,"
    " \"Input Dims\": [[8, 64], [64, 512]], \"Input type\": [\"float\", \"c10::BFloat16\"]}},\n"
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7,"
    " \"tid\": 7, \"ts\": 3, \"dur\": 2.5, \"args\": {\"correlation\": 11}},\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#3\", \"pid\": 7,"
    " \"tid\": 7, \"ts\": 1.5, \"dur\": 100.25},\n"
    "{\"ph\": \"s\", \"id\": 1, \"pid\": 7, \"tid\": 7, \"ts\": 2, \"cat\": \"fwdbwd\","
    " \"name\": \"fwdbwd\"},\n"
    "{\"ph\": \"f\", \"id\": 1, \"pid\": 7, \"tid\": 7, \"ts\": 40, \"cat\": \"fwdbwd\","
    " \"name\": \"fwdbwd\", \"bp\": \"e\"},\n"
    "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\","
    " \"pid\": 7, \"tid\": 7, \"ts\": 5, \"args\": {\"Total Reserved\": 100,"
    " \"Total Allocated\": 50, \"Bytes\": -16, \"Device Id\": 0, \"Device Type\": 1,"
    " \"Addr\": 140}},\n"
    "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"a/b.py(12): f\", \"pid\": 7,"
    " \"tid\": 7, \"ts\": 1.5, \"dur\": 200},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"odd\", \"pid\": \"Spans\", \"tid\": \"x\","
    " \"ts\": NaN, \"dur\": Infinity},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"odder\", \"pid\": 7, \"tid\": 7, \"ts\": 4,"
    " \"dur\": -1}\n"
    "], \"traceName\": \"x\", \"baseTimeNanoseconds\": 1711964646000000000}\n";

static void read_text(struct reading *reading, struct str text)
{
    struct read_options options = { 0 };
    struct read_input   input = { .path = "t.json", .source = NO_ID, .file.bytes = text };

    *reading = (struct reading) { 0 };
    assert_true(profile_init(&reading->profile, &reading->arena));
    reading->is_fine = reader_kineto.read(&input, 1, &options, &reading->profile, &reading->err);
}

static void assert_name(const struct profile *profile, uint32_t name, const char *wanted)
{
    assert_string_equal(profile_str(profile, name).data, wanted);
}

static int64_t stat_of(const struct profile *profile, enum stat_key key, uint32_t event)
{
    int64_t value = -1;

    assert_true(profile_stat(profile, key, event, &value));
    return value;
}

/* Older traces of ROCm have no correlation: a call and its work share their external id, which
 * counts apart from those of ops. By time: op 0, its call 1, the other op 2; the stream: kernel 3.
 */
TEST(calls_and_work_share_external_ids)
{
    static const char text[] =
        "{\"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1,"
        " \"ts\": 0, \"dur\": 15, \"args\": {\"External id\": 513}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"hipExtModuleLaunchKernel\","
        " \"pid\": 1, \"tid\": 1, \"ts\": 4, \"dur\": 5, \"args\": {\"External id\": 25}},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 1,"
        " \"ts\": 20, \"dur\": 15, \"args\": {\"External id\": 25}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"Cijk\", \"pid\": 2, \"tid\": 0,"
        " \"ts\": 20, \"dur\": 107, \"args\": {\"External id\": 25}}\n"
        "]}\n";
    struct reading reading;

    read_text(&reading, STR(text));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.flows.count, 1);
    assert_int_equal(reading.profile.flows.items[0].from, 1);
    assert_int_equal(reading.profile.flows.items[0].to, 3);
    assert_int_equal(reading.profile.flows.items[0].kind, FLOW_LAUNCH);
    arena_free(&reading.arena);
}

/* The device's process (17) tells of a wait once more; only the thread's counts as a call. */
TEST(a_wait_is_told_twice)
{
    static const char text[] =
        "{\"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"mtia_runtime\", \"name\": \"synchronizeStream\", \"pid\": 865,"
        " \"tid\": 1, \"ts\": 0, \"dur\": 9, \"args\": {\"correlation\": 5, \"device\": 17}},\n"
        "{\"ph\": \"X\", \"cat\": \"mtia_runtime\", \"name\": \"synchronize\", \"pid\": 17,"
        " \"tid\": 2, \"ts\": 1, \"dur\": 7, \"args\": {\"correlation\": 5, \"device\": 17}}\n"
        "]}\n";
    struct reading reading;

    read_text(&reading, STR(text));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.timelines.count, 2);
    assert_int_equal(reading.profile.timelines.items[0].kind, TIMELINE_THREAD);
    assert_int_equal(reading.profile.timelines.items[0].device, NO_ID);
    assert_int_equal(reading.profile.timelines.items[1].kind, TIMELINE_OTHER);
    assert_int_equal(reading.profile.timelines.items[1].device, 0);
    assert_int_equal(reading.profile.flows.count, 1);
    assert_int_equal(reading.profile.flows.items[0].from, 0);
    assert_int_equal(reading.profile.flows.items[0].kind, FLOW_SYNC);
    arena_free(&reading.arena);
}

/* Categories that nobody knows are told by name and number. */
static uint64_t unknown_of(const struct profile *profile, enum unknown_kind kind, struct str name)
{
    for (size_t i = 0; i < profile->unknowns.count; i++)
        if (profile->unknowns.items[i].kind == kind &&
            str_equal(profile_str(profile, profile->unknowns.items[i].name), name))
            return profile->unknowns.items[i].count;
    return 0;
}

/* Ascend's part of a trace has no categories: work of its device tells its task, and flows which op
 * asked for it; calls have names of their libraries, and sums of the timeline are no events. */
TEST(work_of_ascend_has_no_category)
{
    struct reading        reading;
    const struct profile *profile = &reading.profile;
    const struct device  *device;

    read_text(&reading,
              STR("[{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::zero_\", \"pid\": 43,"
                  " \"tid\": 43, \"ts\": \"100.5\", \"dur\": 20},"
                  "{\"ph\": \"X\", \"cat\": \"enqueue\", \"name\": \"Enqueue\", \"pid\": 43,"
                  " \"tid\": 43, \"ts\": \"104.5\", \"dur\": 9},"
                  "{\"ph\": \"s\", \"cat\": \"async_npu\", \"name\": \"torch_to_npu\", \"id\": 9,"
                  " \"pid\": 43, \"tid\": 43, \"ts\": \"105.5\"},"
                  "{\"ph\": \"f\", \"cat\": \"async_npu\", \"name\": \"torch_to_npu\", \"id\": 9,"
                  " \"pid\": 4376751100, \"tid\": 3, \"ts\": \"150.25\", \"bp\": \"e\"},"
                  "{\"name\": \"aclnnInplaceZero_ZerosLike\", \"pid\": 4376751100, \"tid\": 3,"
                  " \"ts\": \"150.25\", \"dur\": 1.5, \"args\": {\"Task Type\": \"AI_CORE\","
                  " \"Stream Id\": 3, \"connection_id\": 8}, \"ph\": \"X\"},"
                  "{\"name\": \"AscendCL@aclrtSynchronizeStream\", \"pid\": 4302, \"tid\": 43,"
                  " \"ts\": \"130\", \"dur\": 25, \"args\": {\"Thread Id\": 43, \"Mode\": \"ACL\"},"
                  " \"ph\": \"X\"},"
                  "{\"name\": \"Computing\", \"pid\": 4311, \"tid\": 0, \"ts\": \"150.25\","
                  " \"dur\": 1.5, \"ph\": \"X\"}]"));
    assert_true(reading.is_fine);
    assert_int_equal(profile->event_count, 4);
    assert_int_equal(profile->devices.count, 1);
    device = &profile->devices.items[0];
    assert_int_equal(device->kind, DEVICE_OTHER);
    assert_name(profile, device->name, "NPU 0");
    assert_int_equal(profile->flows.count, 1);
    assert_int_equal(profile->flows.items[0].kind, FLOW_LAUNCH);
    assert_int_equal(event_activity(profile, profile->flows.items[0].from)->kind, ACTIVITY_OP);
    assert_int_equal(event_activity(profile, profile->flows.items[0].to)->kind, ACTIVITY_KERNEL);
    assert_int_equal(event_duration_ns(profile, profile->flows.items[0].to), 1500);
    for (size_t i = 0; i < profile->activities.count; i++)
        assert_int_equal(profile->activities.items[i].kind == ACTIVITY_SYNC,
                         str_equal(profile_str(profile, profile->activities.items[i].name),
                                   STR("AscendCL@aclrtSynchronizeStream")));
    assert_int_equal(profile->unknowns.count, 0);
    arena_free(&reading.arena);
}

TEST(what_is_new_is_told_by_name)
{
    static const char text[] =
        "{\"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"novelty\", \"name\": \"x\", \"pid\": 1,"
        " \"tid\": 1, \"ts\": 0, \"dur\": 5},\n"
        "{\"ph\": \"X\", \"cat\": \"novelty\", \"name\": \"y\", \"pid\": 1,"
        " \"tid\": 1, \"ts\": 9, \"dur\": 5},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1,"
        " \"tid\": 1, \"ts\": 20, \"dur\": 5}\n"
        "]}\n";
    struct reading reading;

    read_text(&reading, STR(text));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.unknowns.count, 1);
    assert_name(&reading.profile, reading.profile.unknowns.items[0].name, "novelty");
    assert_int_equal(reading.profile.unknowns.items[0].count, 2);
    arena_free(&reading.arena);
}

/* Arguments of known events that are none of ours, nor known to be of no use ("queued"); events
 * that are like one before them count as well. Those of new categories are not asked for. */
TEST(new_arguments_are_told_by_name)
{
    struct arena   arena = { 0 };
    struct text    text = { .arena = &arena };
    struct reading reading;

    text_add(&text, STR("{\"traceEvents\": [\n"));
    for (int i = 0; i < 40; i++)
        text_print(&text,
                   "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7,"
                   " \"ts\": %d, \"dur\": 5, \"args\": {\"stream\": 7, \"queued\": 0,"
                   " \"clusters\": %d, \"tensor cores\": true}},\n",
                   10 * i, i);
    text_add(&text,
             STR("{\"ph\": \"X\", \"args\": {\"early\": 1}, \"cat\": \"cpu_op\", \"name\": \"o\","
                 " \"pid\": 1, \"tid\": 1, \"ts\": 0, \"dur\": 5},\n"
                 "{\"ph\": \"X\", \"cat\": \"novelty\", \"name\": \"x\", \"pid\": 1,"
                 " \"tid\": 1, \"ts\": 0, \"dur\": 5, \"args\": {\"other\": 1}}]}\n"));
    read_text(&reading, text_str(&text));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.unknown_fields, 40 + 40 + 1);
    assert_int_equal(reading.profile.unknown_stats, 1);
    assert_int_equal(unknown_of(&reading.profile, UNKNOWN_ARGUMENT, STR("clusters")), 40);
    assert_int_equal(unknown_of(&reading.profile, UNKNOWN_ARGUMENT, STR("tensor cores")), 40);
    assert_int_equal(unknown_of(&reading.profile, UNKNOWN_ARGUMENT, STR("early")), 1);
    assert_int_equal(unknown_of(&reading.profile, UNKNOWN_CATEGORY, STR("novelty")), 1);
    assert_int_equal(reading.profile.unknowns.count, 4);
    arena_free(&reading.arena);
    arena_free(&arena);
}

/* Copies of an accelerator of Meta's have one name; their arguments say which way and how much. */
TEST(arguments_tell_where_a_copy_goes)
{
    static const char text[] =
        "{\"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"mtia_ccp_events\", \"name\": \"dma_request\", \"pid\": 17, "
        "\"tid\": 1,"
        " \"ts\": 0, \"dur\": 5, \"args\": {\"stream\": 1, \"direction\": \"DEVICE_TO_HOST\","
        " \"size\": 1024}},\n"
        "{\"ph\": \"X\", \"cat\": \"mtia_ccp_events\", \"name\": \"dma_request\", \"pid\": 17, "
        "\"tid\": 1,"
        " \"ts\": 9, \"dur\": 5, \"args\": {\"stream\": 1, \"direction\": \"HOST_TO_DEVICE\","
        " \"size\": 2048}}\n"
        "]}\n";
    struct reading reading;

    read_text(&reading, STR(text));
    assert_true(reading.is_fine);
    assert_int_equal(event_activity(&reading.profile, 0)->copy, COPY_D2H);
    assert_int_equal(stat_of(&reading.profile, STAT_BYTES, 0), 1024);
    assert_int_equal(event_activity(&reading.profile, 1)->copy, COPY_H2D);
    assert_int_equal(stat_of(&reading.profile, STAT_BYTES, 1), 2048);
    arena_free(&reading.arena);
}

/* Time 0 is the step's and the frame's start, 1.5 us behind the base. The frame is longer, so it
 * comes first: frame 0, step 1, op 2, launch 3, backward op 4; then the stream: kernel 5. */
TEST(places_events_on_timelines)
{
    static const struct {
        const char *name;
        int64_t     start_ns, duration_ns;
        uint8_t     kind;
    } rows[] = {
        { "a/b.py(12): f", 0, 200000, ACTIVITY_PYTHON },
        { "ProfilerStep#3", 0, 100250, ACTIVITY_STEP },
        { "aten::mm", 500, 20000, ACTIVITY_OP },
        { "cudaLaunchKernel", 1500, 2500, ACTIVITY_LAUNCH },
        { "MmBackward0", 38500, 8000, ACTIVITY_OP },
        { "sgemm!", 7500, 30000, ACTIVITY_KERNEL },
    };
    struct reading        reading;
    const struct profile *profile = &reading.profile;

    read_text(&reading, STR(small));
    assert_true(reading.is_fine);
    assert_int_equal(profile->event_count, 6);
    assert_int_equal(profile->timelines.count, 2);
    for (uint32_t i = 0; i < 6; i++) {
        assert_name(profile, event_activity(profile, i)->name, rows[i].name);
        assert_int_equal(event_start_ns(profile, i), rows[i].start_ns);
        assert_int_equal(event_duration_ns(profile, i), rows[i].duration_ns);
        assert_int_equal(event_activity(profile, i)->kind, rows[i].kind);
    }
    assert_name(profile, profile->timelines.items[0].name, "python");
    assert_int_equal(profile->timelines.items[0].kind, TIMELINE_THREAD);
    assert_int_equal(profile->timelines.items[0].event_count, 5);
    assert_int_equal(profile->timelines.items[1].kind, TIMELINE_STREAM);
    assert_int_equal(profile->timelines.items[1].id, 9);
    assert_int_equal(profile->timelines.items[1].device, 0);
    assert_true(profile->origin_ns == INT64_C(1711964646000001500));
    assert_int_equal(profile->end_ns, 200000);
    assert_int_equal(profile->resolution_ns, 1);
    arena_free(&reading.arena);
}

TEST(reads_what_stands_beside_events)
{
    struct reading        reading;
    const struct profile *profile = &reading.profile;
    const struct device  *device;

    read_text(&reading, STR(small));
    assert_int_equal(profile->devices.count, 1);
    device = profile->devices.items;
    assert_name(profile, device->name, "GPU 0");
    assert_name(profile, device->model, "NVIDIA A100");
    assert_true(device->memory_bytes == INT64_C(42297524224));
    assert_int_equal(device->sm_count, 108);
    assert_int_equal(device->compute_major, 8);
    assert_int_equal(profile->hosts.items[0].rank, 0);
    assert_name(profile, profile->hosts.items[0].name, "box");
    assert_int_equal(profile->world_size, 2);
    assert_name(profile, profile->framework, "pytorch");
    assert_true(profile->has_shapes && profile->has_python_frames && !profile->has_stacks);
    assert_true(has_note(profile, "without a usable time"));
    assert_true(has_note(profile, "negative duration"));
    assert_true(has_note(profile, "1 of the job's 2 ranks is missing, rank 1 first"));
    arena_free(&reading.arena);
}

TEST(joins_and_measures)
{
    struct reading              reading;
    const struct profile       *profile = &reading.profile;
    const struct op            *op;
    const struct kernel_config *config;
    const struct memory_event  *memory;
    const struct source_line   *line;

    read_text(&reading, STR(small));
    assert_int_equal(profile->flows.count, 2);
    assert_int_equal(profile->flows.items[0].from, 3);
    assert_int_equal(profile->flows.items[0].to, 5);
    assert_int_equal(profile->flows.items[0].kind, FLOW_LAUNCH);
    assert_int_equal(profile->flows.items[1].from, 2);
    assert_int_equal(profile->flows.items[1].to, 4);
    assert_int_equal(profile->flows.items[1].kind, FLOW_FORWARD_BACKWARD);
    /* 2 x 8 x 64 x 512; 8 x 64 floats, 64 x 512 halves, 8 x 512 floats out */
    op = &profile->ops.items[event_activity(profile, 2)->op];
    assert_int_equal(op->flops, 524288);
    assert_int_equal(op->bytes, 8 * 64 * 4 + 64 * 512 * 2 + 8 * 512 * 4);
    assert_int_equal(op->input_count, 2);
    assert_int_equal(profile->tensors.items[op->first_input + 1].dtype, DTYPE_BF16);
    assert_int_equal(profile->tensors.items[op->first_input + 1].dims[1], 512);
    config = &profile->kernel_configs.items[stat_of(profile, STAT_KERNEL_CONFIG, 5)];
    assert_int_equal(config->grid[1], 2);
    assert_int_equal(config->block[0], 128);
    assert_int_equal(config->registers, 32);
    assert_true(config->occupancy_pct == 50.0F);
    assert_int_equal(stat_of(profile, STAT_STEP_NUMBER, 1), 3);
    assert_int_equal(stat_of(profile, STAT_CORRELATION, 5), 11);
    assert_int_equal(stat_of(profile, STAT_SEQUENCE, 2), 9);
    assert_int_equal(stat_of(profile, STAT_THREAD_FORWARD, 4), 1);
    assert_int_equal(profile->memory_events.count, 1);
    memory = profile->memory_events.items;
    assert_int_equal(memory->kind, MEMORY_FREE);
    assert_int_equal(memory->bytes, 16);
    assert_int_equal(memory->in_use_bytes, 50);
    assert_int_equal(memory->reserved_bytes, 100);
    assert_int_equal(memory->time_ns, 3500);
    assert_int_equal(memory->event, 2);
    line = &profile->sources.items[event_activity(profile, 0)->source];
    assert_name(profile, line->file, "a/b.py");
    assert_name(profile, line->function, "f");
    assert_int_equal(line->line, 12);
    arena_free(&reading.arena);
}

/* Each prefix is copied, so that reading past its end is seen. */
TEST(every_prefix_is_answered)
{
    for (size_t len = 1; len < sizeof small - 3; len++) {
        struct reading reading;
        char          *text = malloc(len);

        assert_non_null(text);
        memcpy(text, small, len);
        read_text(&reading, (struct str) { text, len });
        if (reading.is_fine)
            assert_true(has_note(&reading.profile, "ends early"));
        else
            assert_int_equal(reading.err.code, ERR_FORMAT);
        arena_free(&reading.arena);
        free(text);
    }
}

TEST(steps_over_what_is_no_json)
{
    struct reading reading;

    read_text(&reading, STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2},"
                            "{\"ph\":\"X\",\"name\":\"b \"quoted\"\",\"ts\":2},\n"
                            "{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1},"
                            "{\"ph\":\"B\",\"name\":\"d\",\"ts\":3}]"));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.event_count, 2);
    assert_int_equal(reading.profile.resolution_ns, 1000);
    assert_true(has_note(&reading.profile, "stepped over"));
    assert_true(has_note(&reading.profile, "does not write"));
    arena_free(&reading.arena);
}

TEST(a_long_event_keeps_its_duration)
{
    struct reading reading;

    read_text(&reading, STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":10000000.5}]"));
    assert_true(reading.is_fine);
    assert_true(event_duration_ns(&reading.profile, 0) == INT64_C(10000000500));
    arena_free(&reading.arena);
}

/* 2^50 ns are 1.126 million seconds. */
TEST(nobody_records_for_weeks)
{
    struct reading reading;

    read_text(&reading, STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1.125e12},"
                            "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":1.127e12}]"));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.event_count, 1);
    assert_true(has_note(&reading.profile, "without a usable time"));
    arena_free(&reading.arena);
}

/* Two allocations of 300 and 500 bytes failed: PyTorch's "[OutOfMemory]", which is no memory event.
 */
TEST(failed_allocations_are_counted)
{
    struct reading reading;

    read_text(
        &reading,
        STR("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\","
            " \"pid\": 7, \"tid\": 7, \"ts\": 2, \"dur\": 20},"
            "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[OutOfMemory]\","
            " \"pid\": 7, \"tid\": 7, \"ts\": 4, \"args\": {\"Bytes\": 300, \"Device Type\": 1}},"
            "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[OutOfMemory]\","
            " \"pid\": 7, \"tid\": 7, \"ts\": 5, \"args\": {\"Bytes\": 500, \"Device Type\": 1}}"
            "]}"));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.failed_allocations, 2);
    assert_int_equal(reading.profile.failed_bytes, 500);
    assert_int_equal(reading.profile.memory_events.count, 0);
    arena_free(&reading.arena);
}

/* An empty name and none: rules and tables take names for texts. */
TEST(what_has_no_name_is_told_so)
{
    struct reading        reading;
    const struct profile *profile = &reading.profile;

    read_text(&reading, STR("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\",\"ts\":1,\"dur\":1},"
                            "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":3,\"dur\":1}]"));
    assert_true(reading.is_fine);
    assert_true(profile->event_count == 2);
    for (uint32_t event = 0; event < 2; event++)
        assert_name(profile, event_activity(profile, event)->name, "(no name)");
    arena_free(&reading.arena);
}

/* FLOPs by hand: output 2 x 8 x 16 x 16 (padding 1, stride 2 of 32), filter 3 x 3 x 3. */
TEST(convolutions_and_attention_have_flops)
{
    static const struct {
        const char *name, *args;
        int64_t     flops;
    } rows[] = {
        { "aten::mkldnn_convolution",
          "\"Input Dims\":[[2,3,32,32],[8,3,3,3],[8],[],[],[],[]],\"Input type\":[\"float\","
          "\"float\",\"float\",\"ScalarList\",\"ScalarList\",\"ScalarList\",\"Scalar\"],"
          "\"Concrete Inputs\":[\"\",\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[1, 1]\",\"1\"]",
          2 * (2 * 8 * 16 * 16) * (3 * 3 * 3) },
        { "aten::addmm",
          "\"Input Dims\":[[5],[4,3],[3,5],[],[]],\"Input type\":[\"float\",\"float\",\"float\","
          "\"Scalar\",\"Scalar\"]",
          2 * 4 * 3 * 5 },
        { "aten::bmm", "\"Input Dims\":[[7,4,3],[7,3,5]],\"Input type\":[\"float\",\"float\"]",
          7 * 2 * 4 * 3 * 5 },
        { "aten::_scaled_dot_product_flash_attention",
          "\"Input Dims\":[[1,2,10,8],[1,2,20,8],[1,2,20,8]],\"Input type\":[\"c10::Half\","
          "\"c10::Half\",\"c10::Half\"]",
          4 * 1 * 2 * 10 * 20 * 8 },
        { "aten::mm", "\"Input Dims\":[[9223372036854775807,2],[2,9]],\"Input type\":[]", -1 },
        { "aten::relu", "\"Input Dims\":[[4]],\"Input type\":[\"float\"]", -1 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reading reading;
        char           text[1024];
        int            len = snprintf(text, sizeof text,
                                      "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":1,"
                                                 "\"dur\":2,\"args\":{%s}}]",
                                      rows[i].name, rows[i].args);

        read_text(&reading, (struct str) { text, (size_t)len });
        assert_true(reading.is_fine);
        assert_true(reading.profile.ops.items[0].flops == rows[i].flops);
        arena_free(&reading.arena);
    }
}

TEST(knows_its_files)
{
    static const struct {
        const char *text;
        bool        is_ours;
    } rows[] = {
        { small, true },
        { "\xEF\xBB\xBF {\"traceEvents\": [", true },
        { "[\n {\"name\":\"a\",\"ph\":\"X\"", true },
        { "{\"a\": 1}", false },
        { "<html>", false },
        { "node { name: \"a\" }", false },
        { "", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(reader_kineto.score(str_from(rows[i].text), "x") > 0, rows[i].is_ours);
}

static void read_twice(struct reading *reading, size_t budget_bytes)
{
    struct read_options options = { .threads = 1, .memory_budget_bytes = budget_bytes };
    struct read_input   inputs[2] = {
          { .path = "a.json", .source = NO_ID, .file.bytes = STR(small) },
          { .path = "b.json", .source = NO_ID, .file.bytes = STR(small) }
    };

    *reading = (struct reading) { .arena.budget_bytes = budget_bytes };
    reading->is_fine = profile_init(&reading->profile, &reading->arena) &&
                       reader_kineto.read(inputs, 2, &options, &reading->profile, &reading->err);
}

/* In the least budget that one rank fits, up to a factor of two, it takes more than a quarter, so
 * that two of them take more than half: the second is left out. 64 MB are enough for both. */
TEST(ranks_past_the_budget_are_left_out)
{
    struct reading reading;
    size_t         budget_bytes = 1 << 10;

    for (read_twice(&reading, budget_bytes); !reading.is_fine; budget_bytes *= 2) {
        assert_true(budget_bytes < 64 << 20);
        arena_free(&reading.arena);
        read_twice(&reading, 2 * budget_bytes);
    }
    assert_int_equal(reading.profile.hosts.count, 1);
    assert_int_equal(reading.profile.event_count, 6);
    assert_true(has_note(&reading.profile, "is left out"));
    arena_free(&reading.arena);
    read_twice(&reading, 64 << 20);
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.hosts.count, 2);
    assert_false(has_note(&reading.profile, "is left out"));
    arena_free(&reading.arena);
}

/* All tensors of long lists count, as those that an optimizer takes. */
TEST(long_lists_of_operands)
{
    struct reading reading;
    struct arena   arena = { 0 };
    struct text    text = { .arena = &arena };

    text_print(&text, "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
                      "\"aten::_fused_sgd_\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 5, "
                      "\"args\": {\"Input Dims\": [[[3, 4]");
    for (int i = 1; i < 100; i++)
        text_print(&text, ", [%d]", i);
    text_print(&text, "], [[5]]], \"Input type\": [\"TensorList\", \"TensorList\"]}}]}");
    read_text(&reading, text_str(&text));
    assert_true(reading.is_fine);
    assert_int_equal(reading.profile.ops.items[0].input_count, 101);
    arena_free(&reading.arena);
    arena_free(&arena);
}
