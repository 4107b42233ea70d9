/* eager_typical: medians by op and shapes, and what a view costs. */
#include "analyze/eager/eager_typical.h"

#include "profile_builder.h"
#include "testing.h"

struct timed_call {
    const char *type, *tensors; /* NULL: the op of the first call */
    int64_t     duration_ns;
};

/* The calls follow each other in one step of 10 ms. */
static void make_typical(const struct timed_call *calls, size_t count, struct arena *scratch,
                         double *call_ns, double *view_ns)
{
    struct profile_builder b;
    struct eager_calls     found;
    struct eager_typical   typical;
    uint32_t               host, thread, first_op = NO_ID;
    int64_t                at = 0;

    host = builder_start_host(&b, FORMAT_KINETO);
    thread = builder_timeline(&b, host, NO_ID, "python");
    builder_step(&b, host, 0, 10000000);
    for (size_t i = 0; i < count; i++) {
        uint32_t op = calls[i].tensors
                          ? builder_op(&b, calls[i].type, calls[i].type, calls[i].tensors)
                          : first_op;

        first_op = i == 0 ? op : first_op;
        builder_event(&b, thread, builder_activity(&b, calls[i].type, ACTIVITY_OP, op), at,
                      calls[i].duration_ns);
        at += calls[i].duration_ns + 1000;
    }
    builder_finish(&b);
    assert_true(eager_calls_make(&b.study, scratch, &found));
    assert_int_equal(found.list.count, count);
    assert_true(eager_typical_make(&b.study, &found, scratch, &typical));
    for (size_t i = 0; i < count; i++)
        call_ns[i] = typical.call_ns[i];
    *view_ns = typical.view_ns;
    builder_free(&b);
}

/* Three products of one shape take 10, 4000 and 12 us: each counts as 12 us, however long one was
 * held up. A relu of its own shape is its own median. No call makes a view. */
TEST(held_up_calls)
{
    static const struct timed_call calls[] = { { "aten::mm", "f32[4,8] f32[8,3]", 10000 },
                                               { "aten::relu", "f32[9]", 700 },
                                               { "aten::mm", NULL, 4000000 },
                                               { "aten::mm", NULL, 12000 } };
    struct arena                   scratch = { 0 };
    double                         call_ns[ARRAY_COUNT(calls)], view_ns;

    make_typical(calls, ARRAY_COUNT(calls), &scratch, call_ns, &view_ns);
    assert_true(call_ns[0] == 12000 && call_ns[2] == 12000 && call_ns[3] == 12000);
    assert_true(call_ns[1] == 700);
    assert_true(view_ns == 0);
    arena_free(&scratch);
}

/* Eight views of 1, 2, 2, 5, 6, 7, 8 and 900 us: the lower quartile is 2 us by any definition. */
TEST(views)
{
    static const struct timed_call calls[] = {
        { "aten::select", "f32[9]", 900000 }, { "aten::t", "f32[9]", 2000 },
        { "aten::select", "f32[8]", 8000 },   { "aten::slice", "f32[9]", 1000 },
        { "aten::select", "f32[7]", 2000 },   { "aten::view", "f32[9]", 5000 },
        { "aten::select", "f32[6]", 6000 },   { "aten::expand", "f32[9]", 7000 },
        { "aten::relu", "f32[6]", 100 }
    };
    struct arena scratch = { 0 };
    double       call_ns[ARRAY_COUNT(calls)], view_ns;

    make_typical(calls, ARRAY_COUNT(calls), &scratch, call_ns, &view_ns);
    assert_true(view_ns == 2000);
    arena_free(&scratch);
}
