/* Kernels of replayed command buffers find their instructions by the order of the program's
 * schedule. */
#include "profile_builder.h"
#include "read/xspace/xspace_decode.h"
#include "testing.h"

struct recorded {
    struct profile_builder b;
    struct xspace_tasks    tasks;
    uint32_t               stream, module, buffer;
    int64_t                now_ns;
};

static void start(struct recorded *r)
{
    uint32_t gpu;

    *r = (struct recorded) { .now_ns = 1000 };
    builder_start(&r->b, FORMAT_XSPACE);
    gpu = builder_device(&r->b, builder_host(&r->b, "h"), "/device:GPU:0", "", DEVICE_GPU);
    r->stream = builder_timeline(&r->b, 0, gpu, "Stream #14");
    r->module = builder_name(&r->b, "jit_f");
    r->buffer = builder_op(&r->b, "command_buffer_1", "command_buffer_1", NULL);
    r->b.profile.ops.items[r->buffer].module = r->module;
    r->b.profile.ops.items[r->buffer].program = r->module;
}

/* The next instruction of the schedule. */
static uint32_t step(struct recorded *r, const char *name, const char *type, const char *target,
                     const char *tensors)
{
    uint32_t op = builder_op(&r->b, name, type, tensors);

    r->b.profile.ops.items[op].module = r->b.profile.ops.items[op].program = r->module;
    assert_true(
        vec_push(&r->tasks.edges.steps, &r->b.arena, (struct hlo_step) { op, str_from(target) }));
    return op;
}

/* The next kernel of the stream; op: the buffer's, or one of its own. */
static uint32_t kernel(struct recorded *r, const char *name, uint32_t op, int64_t replay)
{
    uint32_t activity = builder_activity(&r->b, name, ACTIVITY_KERNEL, op);
    uint32_t event = builder_event(&r->b, r->stream, activity, r->now_ns, 500);

    builder_stat(&r->b, event, STAT_CORRELATION, replay);
    r->now_ns += 1000;
    return event;
}

static void settle(struct recorded *r)
{
    struct hlo_order order = { .program = r->module, .count = r->tasks.edges.steps.count };

    assert_true(vec_push(&r->tasks.edges.orders, &r->b.arena, order));
    builder_finish(&r->b);
    assert_true(xspace_command_buffers(&r->tasks, &r->b.profile));
}

static uint32_t op_of(const struct recorded *r, uint32_t event)
{
    return event_activity(&r->b.profile, r->b.rows[event])->op;
}

/* The second relu shares the first one's kernel, and the two products have one library's name: only
 * their order tells them apart. A product by split k is two kernels. */
TEST(order_tells_equal_kernels_apart)
{
    struct recorded   r;
    static const char relu[] = "f32[8,4] -> f32[8,4]";
    uint32_t          copy, first, up, second, down, events[6];

    start(&r);
    copy = step(&r, "copy.1", "copy", "", "f32[4,4] -> f32[4,4]");
    first = step(&r, "custom-call.2", "custom-call", "__cublas$lt$matmul", NULL);
    up = step(&r, "fusion.21", "fusion", "", relu);
    second = step(&r, "custom-call.1", "custom-call", "__cublas$lt$matmul", NULL);
    down = step(&r, "fusion.22", "fusion", "", relu);
    events[0] = kernel(&r, "memcpy128", r.buffer, 7);
    events[1] = kernel(&r, "nvjet_tst_256x128", r.buffer, 7);
    events[2] = kernel(&r, "fusion_21", r.buffer, 7);
    events[3] = kernel(&r, "nvjet_tst_256x128", r.buffer, 7);
    events[4] = kernel(&r, "cublasLt::splitKreduce_kernel", r.buffer, 7);
    events[5] = kernel(&r, "fusion_21", r.buffer, 7);
    settle(&r);
    assert_int_equal(op_of(&r, events[0]), copy);
    assert_int_equal(op_of(&r, events[1]), first);
    assert_int_equal(op_of(&r, events[2]), up);
    assert_int_equal(op_of(&r, events[3]), second);
    assert_int_equal(op_of(&r, events[4]), second);
    assert_int_equal(op_of(&r, events[5]), down);
    builder_free(&r.b);
}

/* A convolution runs by itself between two buffers of one program: it is no kernel of theirs, so
 * that the product behind it is found though attention, which no kernel of the buffer does, stands
 * before it. */
TEST(what_runs_alone_is_in_no_buffer)
{
    struct recorded r;
    uint32_t        alone, product, event;

    start(&r);
    alone = step(&r, "cudnn-conv.1", "custom-call", "__cudnn$convForward", NULL);
    step(&r, "custom-call.5", "custom-call", "__cudnn$fmhaSoftmax", NULL);
    product = step(&r, "custom-call.6", "custom-call", "__cublas$gemm", NULL);
    kernel(&r, "sm90_xmma_fprop_implicit_gemm", alone, 3);
    event = kernel(&r, "sm90_xmma_gemm_bf16", r.buffer, 4);
    settle(&r);
    assert_int_equal(op_of(&r, event), product);
    builder_free(&r.b);
}

/* Each replay is paired by itself: the same instructions, not the next ones. A kernel that fits no
 * instruction keeps the buffer's name. */
TEST(replays_begin_anew)
{
    struct recorded r;
    uint32_t        product, events[3];

    start(&r);
    product = step(&r, "custom-call.1", "custom-call", "__cublas$gemm", NULL);
    step(&r, "custom-call.2", "custom-call", "__cublas$gemm", NULL);
    step(&r, "fusion.3", "fusion", "", "f32[2] -> f32[2]");
    events[0] = kernel(&r, "nvjet_a", r.buffer, 1);
    kernel(&r, "nvjet_a", r.buffer, 1);
    kernel(&r, "fusion_3", r.buffer, 1);
    events[2] = kernel(&r, "memcpy32_post", r.buffer, 1);
    events[1] = kernel(&r, "nvjet_a", r.buffer, 2);
    kernel(&r, "nvjet_a", r.buffer, 2);
    kernel(&r, "fusion_3", r.buffer, 2);
    settle(&r);
    assert_int_equal(op_of(&r, events[0]), product);
    assert_int_equal(op_of(&r, events[1]), product);
    assert_int_equal(op_of(&r, events[2]), r.buffer);
    builder_free(&r.b);
}
