/* Payloads and groups of collectives, worked out beside each. */
#include "read/xspace/xspace_collectives.h"

#include "profile_builder.h"
#include "testing.h"

static void add_attr(struct profile_builder *b, uint32_t op, const char *name, const char *value)
{
    struct op  *row = &b->profile.ops.items[op];
    struct attr attr = { builder_name(b, name), builder_name(b, value) };

    if (row->attr_count++ == 0)
        row->first_attr = (uint32_t)b->profile.attrs.count;
    assert_true(vec_push(&b->profile.attrs, &b->arena, attr));
}

static const struct collective *collective_of(const struct profile_builder *b, uint32_t tag)
{
    int64_t row;

    assert_true(profile_stat(&b->profile, STAT_COLLECTIVE, b->rows[tag], &row));
    assert_in_range(row, 0, b->profile.collectives.count - 1);
    return &b->profile.collectives.items[row];
}

TEST(payload_and_group)
{
    static const struct {
        const char *name, *op_type, *tensors, *group, *type;
        int64_t     bytes_in, bytes_out;
        int32_t     group_size;
    } cases[] = {
        /* 8 * 4 * 4 bytes both ways */
        { "all-reduce.1", "all-reduce", "f32[8,4] -> f32[8,4]", "2", "all-reduce", 128, 128, 2 },
        /* a start yields its operand again: 2 * 2 in, 16 * 2 gathered */
        { "all-gather-start.3", "all-gather-start", "bf16[2] -> bf16[2] bf16[16]", "8",
          "all-gather", 4, 32, 8 },
        /* its end moves nothing more */
        { "all-gather-done.3", "all-gather-done", "bf16[2] bf16[16] -> bf16[16]", NULL,
          "all-gather", -1, -1, -1 },
        /* a kernel is told by the instruction it runs */
        { "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "reduce-scatter", "f32[64] -> f32[16]",
          "4", "reduce-scatter", 256, 64, 4 },
        { "collective-permute.9", "collective-permute", "i8[10] -> i8[10]", NULL,
          "collective-permute", 10, 10, -1 },
        { "ncclKernel_AllReduce_RING_LL_Sum_float", NULL, NULL, NULL, "all-reduce", -1, -1, -1 },
    };
    struct profile_builder b;
    uint32_t               thread, tags[ARRAY_COUNT(cases)], other;

    builder_start(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "XLA Ops");
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        uint32_t op = cases[i].op_type
                          ? builder_op(&b, cases[i].name, cases[i].op_type, cases[i].tensors)
                          : NO_ID;

        if (cases[i].group)
            add_attr(&b, op, "group_size", cases[i].group);
        tags[i] =
            builder_event(&b, thread, builder_activity(&b, cases[i].name, ACTIVITY_COLLECTIVE, op),
                          (int64_t)i * 100, 50);
    }
    other = builder_slice(&b, thread, "fusion", ACTIVITY_OP, 5000, 10);
    builder_finish(&b);
    assert_true(xspace_collectives(&b.profile));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct collective *row = collective_of(&b, tags[i]);

        assert_string_equal(profile_str(&b.profile, row->type).data, cases[i].type);
        assert_int_equal(row->bytes_in, cases[i].bytes_in);
        assert_int_equal(row->bytes_out, cases[i].bytes_out);
        assert_int_equal(row->group_size, cases[i].group_size);
        assert_int_equal(row->sequence, -1);
    }
    assert_false(profile_stat(&b.profile, STAT_COLLECTIVE, b.rows[other], &(int64_t) { 0 }));
    builder_free(&b);
}

/* A TPU's line says "all-reduce" without the program: one instruction of that name is it, of two
 * neither. */
TEST(an_instruction_without_its_program)
{
    for (int programs = 1; programs <= 2; programs++) {
        struct profile_builder b;
        uint32_t               thread, seen, tag;

        builder_start(&b, FORMAT_XSPACE);
        thread = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "XLA Ops");
        for (int i = 0; i < programs; i++)
            add_attr(&b, builder_op(&b, "all-reduce", "all-reduce", "f32[5] -> f32[5]"),
                     "group_size", "2");
        seen = builder_op(&b, "all-reduce", "all-reduce", NULL);
        tag = builder_event(&b, thread,
                            builder_activity(&b, "all-reduce", ACTIVITY_COLLECTIVE, seen), 0, 9);
        builder_finish(&b);
        assert_true(xspace_collectives(&b.profile));
        assert_int_equal(collective_of(&b, tag)->bytes_in, programs == 1 ? 20 : -1);
        assert_int_equal(collective_of(&b, tag)->group_size, programs == 1 ? 2 : -1);
        builder_free(&b);
    }
}
