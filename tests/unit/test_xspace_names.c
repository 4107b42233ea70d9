/* What events of XSpace are, by their names; what the texts of their stats tell. */
#include "profile_builder.h"
#include "read/xspace/xspace_decode.h"
#include "read/xspace/xspace_details.h"
#include "read/xspace/xspace_names.h"
#include "read/xspace/xspace_shapes.h"
#include "testing.h"
#include "xspace_builder.h"
#include <string.h>

static struct xname host(const char *name)
{
    return xspace_name(str_from(name), 0, XLINE_CLASS_HOST);
}

/* "name:Type" is an op of the program whatever its scope is called: people call scopes after what
 * runtimes do. Without a type the last part of the name stands for it. */
TEST(ops_are_ops_in_any_scope)
{
    static const struct {
        const char *name, *op, *type;
    } rows[] = {
        { "CodegenModel/MatMul:MatMul", "CodegenModel/MatMul", "MatMul" },
        { "CompileNet/MatMul:MatMul", "CompileNet/MatMul", "MatMul" },
        { "LLVM/dense/Add:AddV2", "LLVM/dense/Add", "AddV2" },
        { "m/TransferToDevice/MatMul:MatMul", "m/TransferToDevice/MatMul", "MatMul" },
        { "m/BlockUntilReady/x:Mul", "m/BlockUntilReady/x", "Mul" },
        { "Linearizer/MatMul:MatMul", "Linearizer/MatMul", "MatMul" },
        { "m/dense/MatMul:", "m/dense/MatMul", "MatMul" },
        { "jit(f)/dot_general:", "jit(f)/dot_general", "dot_general" },
        { "jit(f)/jit(main)/transpose(jvp(g))/mul:", "jit(f)/jit(main)/transpose(jvp(g))/mul",
          "mul" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xname name = host(rows[i].name);

        assert_int_equal(name.kind, ACTIVITY_OP);
        assert_true(str_equal(name.op_name, str_from(rows[i].op)));
        assert_true(str_equal(name.op_type, str_from(rows[i].type)));
    }
    /* What runtimes say has colons too. */
    assert_int_equal(host("IteratorGetNextOp::DoCompute").kind, ACTIVITY_INPUT_WAIT);
    assert_int_equal(host("CpuCompiler::Compile").kind, ACTIVITY_COMPILE);
    assert_int_equal(host("XlaModule:").kind, ACTIVITY_OTHER);
    assert_int_equal(host("gpu:XLA GPU module").kind, ACTIVITY_RUN);
    assert_int_equal(host("ThenExecuteCallback:GetEventForComputeStreamSyncPoint").kind,
                     ACTIVITY_EXECUTOR);
    assert_true(host("ThenExecuteCallback:GetEventForComputeStreamSyncPoint").op_name.len == 0);
    /* XLA's runtime for GPUs calls what it is at by the instruction's name. */
    assert_int_equal(host("pure_callback.1").kind, ACTIVITY_CALLBACK);
    assert_int_equal(host("debug_print").kind, ACTIVITY_CALLBACK);
    assert_int_equal(host("command_buffer_1").kind, ACTIVITY_OTHER);
}

/* join, select and dump are names that many functions have: the module tells. */
TEST(modules_tell_what_python_does)
{
    static const struct {
        const char        *name;
        enum activity_kind kind;
    } rows[] = {
        { "$posixpath.py:71 join", ACTIVITY_PYTHON },
        { "$<unknown> join", ACTIVITY_PYTHON }, /* of text */
        { "$threading.py:1080 join", ACTIVITY_WAIT },
        { "$multiprocessing/process.py:142 join", ACTIVITY_WAIT },
        { "$numpy/lib.py:1 select", ACTIVITY_PYTHON },
        { "$selectors.py:451 select", ACTIVITY_WAIT },
        { "$select select", ACTIVITY_WAIT },
        { "$json/__init__.py:120 dump", ACTIVITY_PYTHON },
        { "$_pickle dump", ACTIVITY_OUTPUT },
        { "$<unknown> acquire", ACTIVITY_WAIT }, /* of a lock */
        { "$pipeline.py:9 acquire", ACTIVITY_PYTHON },
        { "$time sleep", ACTIVITY_WAIT },
        { "$threading.py:295 wait", ACTIVITY_WAIT },
        { "$mymodel.py:3 wait", ACTIVITY_PYTHON },
        { "$api.py:2700 block_until_ready", ACTIVITY_SYNC },
        { "$mymodel.py:30 _value", ACTIVITY_PYTHON },
        { "$array.py:628 _value", ACTIVITY_SYNC },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (host(rows[i].name).kind != rows[i].kind)
            fail_msg("%s is %s", rows[i].name, activity_kind_name(host(rows[i].name).kind));
}

TEST(copies_tell_their_direction)
{
    static const struct {
        const char         *name;
        enum copy_direction copy;
    } rows[] = {
        { "MemcpyH2D", COPY_H2D },
        { "CopyHostToDevice", COPY_H2D },
        { "CopyDeviceToDevice", COPY_D2D },
        { "CopyDeviceToHost", COPY_D2H },
        { "hipMemcpyHtoDAsync", COPY_H2D },
        { "hipMemcpyDtoDAsync", COPY_D2D },
        { "cuMemcpyDtoHAsync_v2", COPY_D2H },
        { "MemcpyP2P", COPY_P2P },
        { "hipMemcpyAsync", COPY_NONE },
    };
    struct xname kernel =
        xspace_name(STR("__amd_rocclr_copyBuffer.kd"), SEEN_KERNEL, XLINE_CLASS_DEVICE);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(xspace_copy_direction(str_from(rows[i].name)), rows[i].copy);
    assert_int_equal(kernel.kind, ACTIVITY_MEMCPY);
    assert_int_equal(
        xspace_name(STR("__amd_rocclr_fillBufferAligned"), SEEN_KERNEL, XLINE_CLASS_DEVICE).kind,
        ACTIVITY_MEMSET);
}

/* ROCm: the call says for which op its kernel is and which way its copies go. Two calls of one
 * kernel are for different ops, and copies go both ways. */
TEST(launches_tell_what_kernels_do_not)
{
    struct profile_builder   b;
    uint32_t                 gpu, thread, stream, ops[2], kernel, copy, work[4];
    static const char *const calls[] = { "hipModuleLaunchKernel", "hipModuleLaunchKernel",
                                         "hipMemcpyHtoDAsync", "hipMemcpyDtoDAsync" };

    builder_start(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, builder_host(&b, "h"), "/device:GPU:0", "", DEVICE_GPU);
    thread = builder_timeline(&b, 0, NO_ID, "python");
    stream = builder_timeline(&b, 0, gpu, "Stream #1");
    ops[0] = builder_op(&b, "dot.1", "dot", NULL);
    ops[1] = builder_op(&b, "add.2", "add", NULL);
    kernel = builder_activity(&b, "k.kd", ACTIVITY_KERNEL, NO_ID);
    copy = builder_activity(&b, "__amd_rocclr_copyBuffer.kd", ACTIVITY_MEMCPY, NO_ID);
    for (int i = 0; i < 4; i++) {
        uint32_t call = builder_activity(&b, calls[i], ACTIVITY_LAUNCH, i < 2 ? ops[i] : NO_ID);

        work[i] = builder_event(&b, stream, i < 2 ? kernel : copy, i * 1000 + 200, 500);
        builder_flow(&b, builder_event(&b, thread, call, i * 1000, 100), work[i], FLOW_LAUNCH);
    }
    builder_finish(&b);
    assert_true(xspace_launched(&b.profile));
    for (int i = 0; i < 2; i++)
        assert_int_equal(event_activity(&b.profile, b.rows[work[i]])->op, ops[i]);
    assert_int_equal(event_activity(&b.profile, b.rows[work[2]])->copy, COPY_H2D);
    assert_int_equal(event_activity(&b.profile, b.rows[work[3]])->copy, COPY_D2D);
    assert_int_equal(b.profile.activities.items[copy].copy, COPY_NONE);
    builder_free(&b);
}

/* XLA asks for 8 bytes of its autotuner's results by a call named "MemcpyD2H"; CUPTI tells that
 * they lie in pinned memory of the host and go to pageable memory there. What it does not know the
 * call tells. */
TEST(memories_tell_the_way_of_a_copy)
{
    static const struct {
        const char         *kinds;
        enum copy_direction copy;
    } rows[] = {
        { "pinned -> pageable", COPY_H2H },  { "pageable -> device", COPY_H2D },
        { "array -> pinned", COPY_D2H },     { "device -> device", COPY_D2D },
        { "unknown -> pageable", COPY_D2H }, { "device -> managed", COPY_D2H },
    };
    struct profile_builder b;
    uint32_t               gpu, thread, stream, call, copy, work[6];

    builder_start(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, builder_host(&b, "h"), "/device:GPU:0", "", DEVICE_GPU);
    thread = builder_timeline(&b, 0, NO_ID, "python");
    stream = builder_timeline(&b, 0, gpu, "Stream #1");
    call = builder_activity(&b, "MemcpyD2H", ACTIVITY_LAUNCH, NO_ID);
    copy = builder_activity(&b, "MemcpyOther", ACTIVITY_MEMCPY, NO_ID);
    for (int i = 0; i < 6; i++) {
        work[i] = builder_event(&b, stream, copy, i * 1000 + 200, 500);
        builder_stat(&b, work[i], STAT_COPY_KIND, builder_name(&b, rows[i].kinds));
        builder_flow(&b, builder_event(&b, thread, call, i * 1000, 100), work[i], FLOW_LAUNCH);
    }
    builder_finish(&b);
    assert_true(xspace_launched(&b.profile));
    for (int i = 0; i < 6; i++)
        assert_int_equal(event_activity(&b.profile, b.rows[work[i]])->copy, rows[i].copy);
    builder_free(&b);
}

/* Asynchronous kernels have no event of their own. Crops are computed where they are started; a
 * loop's start runs nothing. Ends are no ops, nor names that events of another type have. */
TEST(starts_of_kernels_are_ops_where_they_compute)
{
    static struct xspace_builder builder;
    static const struct {
        const char        *op, *kernel, *name; /* of the activity that is expected */
        enum activity_kind kind;
    } rows[] = {
        { "roi/CropAndResize_1", "CropAndResize", "roi/CropAndResize_1:CropAndResize",
          ACTIVITY_OP },
        { "back", "CropAndResizeGradImage", "back:CropAndResizeGradImage", ACTIVITY_OP },
        { "loop", "While", "ExecutorState::ProcessAsync::Start", ACTIVITY_EXECUTOR },
        { "roi/CropAndResize_1", "CropAndResize", "ExecutorState::ProcessAsync::Done",
          ACTIVITY_EXECUTOR },
    };
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        start, done;

    xspace_start(&builder);
    xspace_plane(&builder, "/host:CPU");
    start = xspace_type(&builder, "ExecutorState::ProcessAsync::Start", NULL);
    done = xspace_type(&builder, "ExecutorState::ProcessAsync::Done", NULL);
    xspace_line(&builder, 1, "tf_Compute/1");
    for (int i = 0; i < 4; i++) {
        xspace_event(&builder, i < 3 ? start : done, i * 5000000, 2000000);
        xspace_text(&builder, "name", rows[i].op);
        xspace_text(&builder, "kernel_type", rows[i].kernel);
    }
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(profile.event_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct activity *activity = event_activity(&profile, i);

        assert_int_equal(activity->kind, rows[i].kind);
        assert_true(str_equal(profile_str(&profile, activity->name), str_from(rows[i].name)));
        assert_true((activity->op != NO_ID) == (rows[i].kind == ACTIVITY_OP));
        if (activity->op == NO_ID)
            continue;
        assert_true(str_equal(profile_str(&profile, profile.ops.items[activity->op].name),
                              str_from(rows[i].op)));
        assert_true(str_equal(profile_str(&profile, profile.ops.items[activity->op].type),
                              str_from(rows[i].kernel)));
    }
    arena_free(&arena);
}

TEST(launch_calls_of_ops_are_calls)
{
    struct xname name = xspace_name(STR("hipModuleLaunchKernel"), SEEN_HLO_OP, XLINE_CLASS_HOST);

    assert_int_equal(name.kind, ACTIVITY_LAUNCH);
    assert_int_equal(name.op_name.len, 0);
    assert_int_equal(xspace_name(STR("dot.3"), SEEN_HLO_OP, XLINE_CLASS_HOST).kind, ACTIVITY_OP);
}

/* As CUPTI and ROCm write them; more registers than 512 a thread cannot be, and ROCm writes an
 * occupancy of 0 where it knows none. */
TEST(details_tell_what_can_be)
{
    struct kernel_config config;
    struct str           from, to;

    assert_true(xspace_kernel_config(
        STR("regs:122 static_shared:16 dynamic_shared:32 grid:16,4,1 block:256,1,1 occ_pct:43.75"),
        &config));
    assert_int_equal(config.registers, 122);
    assert_int_equal(config.grid[1], 4);
    assert_true(config.occupancy_pct == 43.75F);
    assert_true(xspace_kernel_config(
        STR("regs:2191500840 grid:1,1,1 block:512,1,1 private_mem:0 occ_pct:0"), &config));
    assert_int_equal(config.registers, 0);
    assert_true(config.occupancy_pct < 0);
    assert_true(xspace_details_kinds(
        STR("kind_src:pageable kind_dst:device size:1048576 dest:0 async:1"), &from, &to));
    assert_true(str_equal(from, STR("pageable")));
    assert_true(str_equal(to, STR("device")));
    assert_false(xspace_details_kinds(STR("kind:Unknown size:655360 dest:2 async:1"), &from, &to));
}

TEST(shapes_become_operands)
{
    struct profile_builder b;
    struct op             *op;
    const struct tensor   *tensors;
    uint32_t               row;

    builder_start(&b, FORMAT_XSPACE);
    row = builder_op(&b, "m/mul", "Mul", NULL);
    op = &b.profile.ops.items[row];
    assert_true(xspace_shapes(&b.profile, STR("(half[4,384,?];float[];int32[3])"), op));
    assert_int_equal(op->input_count, 3);
    assert_int_equal(op->output_count, 0);
    tensors = &b.profile.tensors.items[op->first_input];
    assert_int_equal(tensors[0].dtype, DTYPE_F16);
    assert_int_equal(tensors[0].rank, 3);
    assert_int_equal(tensors[0].dims[1], 384);
    assert_int_equal(tensors[0].dims[2], -1);
    assert_int_equal(tensors[1].dtype, DTYPE_F32);
    assert_int_equal(tensors[1].rank, 0);
    assert_int_equal(tensors[2].dtype, DTYPE_I32);
    row = builder_op(&b, "m/add", "Add", NULL);
    op = &b.profile.ops.items[row];
    assert_true(xspace_shapes(&b.profile, STR("(half[4]; what is this)"), op));
    assert_int_equal(op->input_count, 0);
    builder_free(&b);
}
