/* What the metadata of a core's instructions tell: program, shapes, origin, line, way of a copy. */
#include "read/xspace/xspace_meta.h"
#include "testing.h"
#include "xspace_builder.h"

static struct xspace_builder builder;

static const struct activity *of_event(const struct profile *profile, uint32_t n)
{
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_OPS)
            return event_activity(profile, profile->timelines.items[i].first_event + n);
    fail();
    return NULL;
}

static bool is_name(const struct profile *profile, uint32_t name, const char *text)
{
    return str_equal(profile_str(profile, name), str_from(text));
}

/* Two programs have an instruction "add": one is called by its run on the core, the other by its
 * metadata. */
TEST(instructions_are_of_their_program)
{
    struct arena         arena = { 0 };
    struct profile       profile;
    const struct op     *first, *second;
    const struct tensor *tensor;
    int64_t              run, add, other;

    xspace_start(&builder);
    xspace_plane(&builder, "/host:metadata");
    (void)xspace_type(&builder, "jit_g(8)", NULL);
    xspace_plane(&builder, "/device:TPU:0");
    run = xspace_type(&builder, "jit_f(7)", NULL);
    add = xspace_type(&builder, "%add = bf16[8,4]{1,0} add(bf16[8,4]{1,0} %a, bf16[8,4]{1,0} %b)",
                      "add");
    xspace_number(&builder, "program_id", 7);
    xspace_number(&builder, "flops", 32);
    xspace_number(&builder, "bytes_accessed", 192);
    xspace_text(&builder, "hlo_category", "non-fusion elementwise");
    xspace_text(&builder, "tf_op", "jit(f)/jit(main)/add:");
    xspace_text(&builder, "source", "lib/train.py:29");
    other = xspace_type(&builder, "%add = f32[3]{0} add(f32[3]{0} %a, f32[3]{0} %b)", "add");
    xspace_number(&builder, "program_id", 8);
    xspace_line(&builder, 2, "XLA Modules");
    xspace_event(&builder, run, 0, 1000000);
    xspace_line(&builder, 3, "XLA Ops");
    xspace_event(&builder, add, 1000, 1000);
    xspace_event(&builder, other, 3000, 1000);
    xspace_take(&builder, &arena, &profile);
    assert_true(of_event(&profile, 0)->op != of_event(&profile, 1)->op);
    first = &profile.ops.items[of_event(&profile, 0)->op];
    second = &profile.ops.items[of_event(&profile, 1)->op];
    assert_true(is_name(&profile, first->module, "jit_f"));
    assert_true(is_name(&profile, second->module, "jit_g"));
    assert_true(is_name(&profile, first->type, "add"));
    assert_true(is_name(&profile, first->origin, "jit(f)/jit(main)/add"));
    assert_true(is_name(&profile, first->category, "non-fusion elementwise"));
    assert_true(is_name(&profile, profile.sources.items[first->source].file, "lib/train.py"));
    assert_int_equal(profile.sources.items[first->source].line, 29);
    assert_int_equal(first->flops, 32);
    assert_int_equal(first->bytes, 192);
    assert_int_equal(first->input_count, 2);
    assert_int_equal(first->output_count, 1);
    tensor = &profile.tensors.items[first->first_output];
    assert_int_equal(tensor->dtype, DTYPE_BF16);
    assert_int_equal(tensor->dims[0], 8);
    assert_int_equal(tensor->dims[1], 4);
    assert_int_equal(profile.tensors.items[second->first_input].dtype, DTYPE_F32);
    arena_free(&arena);
}

/* Of 300 bytes 100 are read from the memory beside the chip (space 1), 120 are read from one inside
 * of it (space 3) and 80 written there (space 2). */
TEST(bytes_inside_of_the_chip_are_apart)
{
    static const unsigned char breakdown[] = { 10, 6, 8, 1, 16, 1, 24, 100, /* read, space 1 */
                                               10, 6, 8, 1, 16, 3, 24, 120, /* read, space 3 */
                                               10, 6, 8, 2, 16, 2, 24, 80 };
    struct arena               arena = { 0 };
    struct profile             profile;
    const struct op           *op;
    int64_t                    add;

    xspace_start(&builder);
    xspace_plane(&builder, "/device:TPU:0");
    add = xspace_type(&builder, "%add = f32[3]{0} add(f32[3]{0} %a, f32[3]{0} %b)", "add");
    xspace_number(&builder, "bytes_accessed", 300);
    xspace_bytes(&builder, "memory_access_breakdown", breakdown, sizeof breakdown);
    xspace_line(&builder, 3, "XLA Ops");
    xspace_event(&builder, add, 1000, 1000);
    xspace_take(&builder, &arena, &profile);
    op = &profile.ops.items[of_event(&profile, 0)->op];
    assert_int_equal(op->bytes, 100);
    assert_int_equal(op->on_chip_bytes, 200);
    arena_free(&arena);
}

/* What planes say of their device; another of the same host has none. */
TEST(planes_describe_devices)
{
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        add;

    xspace_start(&builder);
    xspace_plane(&builder, "/device:TPU:0");
    xspace_number(&builder, "peak_vmem_rd_bw_gigabytes_per_second", 23296);
    add = xspace_type(&builder, "%add = f32[3]{0} add(f32[3]{0} %a, f32[3]{0} %b)", "add");
    xspace_line(&builder, 3, "XLA Ops");
    xspace_event(&builder, add, 1000, 1000);
    xspace_plane(&builder, "/device:TPU:1"); /* does nothing */
    xspace_number(&builder, "peak_vmem_rd_bw_gigabytes_per_second", 1);
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(profile.properties.count, 1);
    assert_int_equal(profile.properties.items[0].device, 0);
    assert_true(is_name(&profile, profile.properties.items[0].name,
                        "peak_vmem_rd_bw_gigabytes_per_second"));
    assert_true(profile.properties.items[0].number == 23296);
    arena_free(&arena);
}

static const struct event_stat *stat_of(const struct profile *profile, const char *stat)
{
    for (size_t i = 0; i < profile->event_stats.count; i++)
        if (is_name(profile, profile->event_stats.items[i].stat, stat))
            return &profile->event_stats.items[i];
    fail();
    return NULL;
}

/* What no column holds is summed by event: stalls of 100, 700 and 400 ps are 1200 ps, from 100 to
 * 700; of the type once: 64 operations, and a name. */
TEST(other_stats_are_summed_by_event)
{
    static const int         stalls[] = { 100, 700, 400 };
    struct arena             arena = { 0 };
    struct profile           profile;
    const struct event_stat *found;
    int64_t                  add, copy;

    xspace_start(&builder);
    xspace_plane(&builder, "/device:TPU:0");
    add = xspace_type(&builder, "%add = f32[3]{0} add(f32[3]{0} %a, f32[3]{0} %b)", "add");
    xspace_number(&builder, "flops", 32); /* the op's own column */
    xspace_number(&builder, "model_flops", 64);
    xspace_text(&builder, "deduplicated_name", "add.7");
    copy = xspace_type(&builder, "%copy = f32[3]{0} copy(f32[3]{0} %a)", "copy");
    xspace_line(&builder, 3, "XLA Ops");
    for (int i = 0; i < 3; i++) {
        xspace_event(&builder, add, 1000 + 2000 * i, 1000);
        xspace_number(&builder, "dma_stall_duration_ps", stalls[i]);
        xspace_text(&builder, "a_stat_of_tomorrow", i ? "later" : "first");
    }
    xspace_event(&builder, copy, 9000, 1000);
    xspace_number(&builder, "vdd_energy_j", 5);
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(profile.event_stats.count, 5);
    found = stat_of(&profile, "dma_stall_duration_ps");
    assert_true(is_name(&profile, found->event, "add") && found->device == 0 && !found->is_fixed);
    assert_int_equal(found->count, 3);
    assert_true(found->sum == 100 + 700 + 400 && found->least == 100 && found->most == 700);
    found = stat_of(&profile, "vdd_energy_j");
    assert_true(is_name(&profile, found->event, "copy") && found->count == 1 && found->sum == 5);
    found = stat_of(&profile, "a_stat_of_tomorrow");
    assert_true(is_name(&profile, found->text, "first") && found->count == 3);
    found = stat_of(&profile, "model_flops");
    assert_true(found->is_fixed && found->sum == 64);
    found = stat_of(&profile, "deduplicated_name");
    assert_true(found->is_fixed && is_name(&profile, found->text, "add.7"));
    assert_int_equal(profile.unknown_stats, 3); /* the one of tomorrow alone */
    arena_free(&arena);
}

/* CoreDetails { device_ordinal = 2; core_num = 3; local_chip_id = 4; global_chip_id = 5;
 * global_core_id = 6 }, zeros left out, as a recording of four chips has them. */
TEST(cores_say_where_they_are)
{
    static const unsigned char details[] = { 16, 1, 32, 1, 40, 5, 48, 5 };
    struct arena               arena = { 0 };
    struct profile             profile;
    const struct property     *rows;
    int64_t                    add;

    xspace_start(&builder);
    xspace_plane(&builder, "/device:TPU:1");
    xspace_bytes(&builder, "core_details", details, sizeof details);
    add = xspace_type(&builder, "%add = f32[3]{0} add(f32[3]{0} %a, f32[3]{0} %b)", "add");
    xspace_line(&builder, 3, "XLA Ops");
    xspace_event(&builder, add, 1000, 1000);
    xspace_take(&builder, &arena, &profile);
    rows = profile.properties.items;
    assert_int_equal(profile.properties.count, 4);
    assert_true(is_name(&profile, rows[0].name, "device_ordinal") && rows[0].number == 1);
    assert_true(is_name(&profile, rows[1].name, "local_chip_id") && rows[1].number == 1);
    assert_true(is_name(&profile, rows[2].name, "global_chip_id") && rows[2].number == 5);
    assert_true(is_name(&profile, rows[3].name, "global_core_id") && rows[3].number == 5);
    arena_free(&arena);
}

TEST(copies_go_by_their_memories)
{
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        types[2];

    xspace_start(&builder);
    xspace_plane(&builder, "/device:TPU:0");
    types[0] = xspace_type(&builder,
                           "%copy-start = (f32[5]{0}, f32[5]{0:S(5)}, u32[]{:S(2)}) "
                           "copy-start(f32[5]{0:S(5)} %p)",
                           "copy-start");
    types[1] = xspace_type(&builder,
                           "%copy-done.1 = f32[5]{0:S(5)} copy-done((f32[5]{0:S(5)}, f32[5]{0}, "
                           "u32[]{:S(2)}) %copy-start.1)",
                           "copy-done.1");
    xspace_line(&builder, 3, "XLA Ops");
    xspace_event(&builder, types[0], 1000, 1000);
    xspace_event(&builder, types[1], 3000, 1000);
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(of_event(&profile, 0)->kind, ACTIVITY_MEMCPY);
    assert_int_equal(of_event(&profile, 0)->copy, COPY_H2D);
    assert_int_equal(of_event(&profile, 1)->copy, COPY_D2H);
    arena_free(&arena);
}

/* A tf.function that is called as its step is marked: the mark, 0..9 us, is a step; the call in it,
 * 2..8 us, is none. */
TEST(calls_are_not_the_marks_they_are_named_like)
{
    struct arena           arena = { 0 };
    struct profile         profile;
    int64_t                type;
    const struct timeline *line;

    xspace_start(&builder);
    xspace_plane(&builder, "/host:CPU");
    type = xspace_type(&builder, "train", NULL);
    xspace_line(&builder, 1, "python");
    for (int64_t step = 0; step < 2; step++) {
        xspace_event(&builder, type, step * 10000000, 9000000);
        xspace_number(&builder, "step_num", step);
        xspace_event(&builder, type, step * 10000000 + 2000000, 6000000);
        xspace_text(&builder, "tf_function_call", "notTraced-nonXla");
    }
    xspace_take(&builder, &arena, &profile);
    line = &profile.timelines.items[0];
    assert_int_equal(line->event_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct activity *activity = event_activity(&profile, line->first_event + i);

        assert_int_equal(activity->kind, i % 2 ? ACTIVITY_DISPATCH : ACTIVITY_STEP);
        assert_true(is_name(&profile, activity->name, "train"));
    }
    arena_free(&arena);
}

TEST(programs_have_a_number)
{
    struct str module;
    uint64_t   number;

    assert_true(xspace_program(STR("jit_f(x)(18446744073709551615)"), &module, &number));
    assert_true(str_equal(module, STR("jit_f(x)")));
    assert_true(number == UINT64_MAX);
    assert_false(xspace_program(STR("jit_f"), &module, &number));
    assert_false(xspace_program(STR("(7)"), &module, &number));
    assert_false(xspace_program(STR("f(7) g"), &module, &number));
    assert_false(xspace_program(STR(""), &module, &number));
}
