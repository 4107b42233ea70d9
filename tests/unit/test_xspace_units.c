/* Planes that are units of a core, and events that stand for many. */
#include "analyze/ops/op_times.h"
#include "testing.h"
#include "xspace_builder.h"

static struct xspace_builder builder;

static void add_plane(const char *name, const char *line)
{
    int64_t type;

    xspace_plane(&builder, name);
    type = xspace_type(&builder, "%add = f32[8] add(f32[8] %a)", "add");
    xspace_line(&builder, 3, line);
    xspace_event(&builder, type, 1000, 1000);
}

/* Whatever order the planes stand in: one device, with its units. */
TEST(units_are_no_devices)
{
    static const struct {
        const char        *plane, *line;
        enum timeline_kind kind;
        bool               is_unit;
    } rows[] = {
        { "/device:TPU:0 SparseCore 0", "Sparse Core Ops", TIMELINE_OPS, true },
        { "#Chip0 HBM", "Sparse Core Ops", TIMELINE_OTHER, true },
        { "/device:CUSTOM:MOSAIC:0", "XLA Ops", TIMELINE_OPS, true },
        { "/device:TPU:0", "XLA Ops", TIMELINE_OPS, false },
        { "/device:TPU:0 SparseCore 1", "Sparse Core Steps", TIMELINE_OTHER, true },
    };
    struct arena   arena = { 0 };
    struct profile profile;

    xspace_start(&builder);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_plane(rows[i].plane, rows[i].line);
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(profile.devices.count, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(profile.timelines.items[i].kind, rows[i].kind);
        assert_int_equal(profile.devices.items[i].unit_of, rows[i].is_unit ? 4 : 0);
    }
    arena_free(&arena);
}

/* A device that a plug-in adds stands for itself where there is no other. */
TEST(a_plug_in_can_be_the_device)
{
    struct arena   arena = { 0 };
    struct profile profile;

    xspace_start(&builder);
    add_plane("/device:CUSTOM:npu:0", "XLA Ops");
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(profile.devices.count, 1);
    assert_int_equal(profile.devices.items[0].unit_of, 0);
    arena_free(&arena);
}

/* Two calls of 1 and 3 us, and one event for 6 calls of 20 us in all: 8 calls of 24 us, of which no
 * more than two are on the timeline. */
TEST(aggregates_count_in_sums)
{
    struct arena    arena = { 0 };
    struct study    study = { .profile = NULL };
    struct profile  profile;
    struct op_times times;
    int64_t         type;

    xspace_start(&builder);
    xspace_plane(&builder, "/host:CPU");
    type = xspace_type(&builder, "m/dense/MatMul:MatMul", NULL);
    xspace_line(&builder, 1, "main");
    xspace_event(&builder, type, 0, 1000000);
    xspace_events(&builder, type, 6, 20000000);
    xspace_event(&builder, type, 2000000, 3000000);
    xspace_take(&builder, &arena, &profile);
    study.profile = &profile;
    assert_int_equal(profile.event_count, 2);
    assert_true(op_times_make(&study, &arena, &times));
    assert_int_equal(times.count, 1);
    assert_int_equal(times.rows[0].calls, 8);
    assert_true(times.rows[0].total_ns == 24000);
    assert_true(times.rows[0].self_ns == 24000);
    arena_free(&arena);
}
