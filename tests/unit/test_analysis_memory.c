#include <math.h>
#include <stdio.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

static void add(struct profile_builder *b, uint32_t device, enum memory_event_kind kind,
                int64_t time_ns, int64_t bytes, uint64_t address, const char *op)
{
    struct memory_event event = { .event = NO_ID,
                                  .allocator = builder_name(b, "GPU_0_bfc"),
                                  .device = device,
                                  .kind = (uint8_t)kind,
                                  .time_ns = time_ns,
                                  .bytes = bytes,
                                  .in_use_bytes = -1,
                                  .reserved_bytes = -1,
                                  .available_bytes = -1,
                                  .peak_bytes = -1,
                                  .fragmentation = -1,
                                  .requested_bytes = -1,
                                  .address = address,
                                  .op_name = builder_name(b, op) };

    assert_true(vec_push(&b->profile.memory_events, &b->arena, event));
}

/* Two hosts call their memory alike: 1000 bytes on the one, 300 on the other. */
TEST(hosts_have_memory_of_their_own)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               tags[2];

    builder_start(&b, FORMAT_XSPACE);
    for (size_t i = 0; i < 2; i++)
        tags[i] =
            builder_slice(&b, builder_timeline(&b, builder_host(&b, i ? "b" : "a"), NO_ID, "main"),
                          "MemoryAllocation", ACTIVITY_ALLOC, 10, 1);
    builder_step(&b, 0, 0, 100);
    for (size_t i = 0; i < 2; i++)
        add(&b, NO_ID, MEMORY_ALLOCATE, 10, i ? 300 : 1000, 9000, "conv");
    builder_finish(&b);
    for (size_t i = 0; i < 2; i++)
        b.profile.memory_events.items[i].event = b.rows[tags[i]];
    assert_true(analysis_memory.run(&b.study, &err));
    assert_true(builder_cell(&b, "allocators", "host", "a", "peak_bytes") == 1000);
    assert_true(builder_cell(&b, "allocators", "host", "b", "peak_bytes") == 300);
    assert_true(builder_cell(&b, "memory_owners", "host", "b", "bytes") == 300);
    builder_free(&b);
}

/*
 * Six steps of 100 ns. Each allocates 1000 bytes for "conv", frees them, and leaks 10 for "loss".
 * In use at the end of step i: 10·(i + 1), so the slope is 10. The peak is inside the last step:
 * 1000 of conv and 60 of loss (60: the leak comes first).
 */
TEST(leaks_grow_and_owners_are_named)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu;

    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    b.profile.devices.items[gpu].memory_bytes = 10600;
    for (int64_t step = 0; step < 6; step++) {
        builder_step(&b, host, step * 100, step * 100 + 100);
        add(&b, gpu, MEMORY_ALLOCATE, step * 100 + 10, 10, 7000 + (uint64_t)step, "loss");
        add(&b, gpu, MEMORY_ALLOCATE, step * 100 + 20, 1000, 9000, "conv");
        add(&b, gpu, MEMORY_FREE, step * 100 + 50, 0, 9000, "");
    }
    builder_finish(&b);
    assert_true(analysis_memory.run(&b.study, &err));
    assert_true(builder_fact(&b, "memory.peak_bytes") == 1060);
    assert_true(fabs(builder_fact(&b, "memory.peak_share") - 0.1) < 1e-12);
    assert_true(fabs(builder_fact(&b, "memory.growth_bytes_per_step") - 10) < 1e-9);
    assert_true(builder_fact(&b, "memory.is_growing") == 1);
    assert_true(builder_fact(&b, "memory.allocations_per_step") == 2);
    assert_true(builder_fact(&b, "memory.top_owner_bytes") == 1000);
    assert_true(builder_cell(&b, "memory_owners", "owner", "loss", "bytes") == 60);
    assert_true(builder_cell(&b, "memory_owners", "owner", "loss", "count") == 6);
    assert_true(builder_cell(&b, "allocators", "allocator", "GPU_0_bfc", "peak_time_ns") == 520);
    assert_true(isnan(builder_fact(&b, "memory.fragmentation")));
    builder_free(&b);
}

/* "conv" holds two blocks of one shape and one of another; each asked for 4 bytes less than it got.
 * The last release comes after the peak of 3000. Steps are 7 and 8. */
TEST(owners_are_told_by_shape)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu;

    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    builder_step(&b, host, 0, 100);
    builder_step(&b, host, 100, 200);
    for (size_t i = 0; i < 3; i++) {
        struct memory_event *event;

        add(&b, gpu, MEMORY_ALLOCATE, 20 + 60 * (int64_t)i, 1000, 1 + i, "conv");
        event = &b.profile.memory_events.items[i];
        event->requested_bytes = 996;
        event->dtype = DTYPE_F32;
        event->shape = builder_name(&b, i == 1 ? "[3,83]" : "[249]");
        event->available_bytes = 9000 - 1000 * (int64_t)i;
    }
    add(&b, gpu, MEMORY_FREE, 190, 0, 1, "");
    builder_finish(&b);
    b.study.steps.list.items[0].number = 7;
    b.study.steps.list.items[1].number = 8;
    assert_true(analysis_memory.run(&b.study, &err));
    assert_true(builder_cell(&b, "memory_owners", "shape", "[249]", "bytes") == 2000);
    assert_true(builder_cell(&b, "memory_owners", "shape", "[249]", "requested_bytes") == 1992);
    assert_true(builder_cell(&b, "memory_owners", "shape", "[3,83]", "count") == 1);
    assert_true(builder_cell(&b, "memory_owners", "dtype", "float32", "bytes") == 2000);
    assert_true(builder_cell(&b, "memory_use", "shape", "[3,83]", "bytes") == 2000);
    assert_true(builder_cell(&b, "memory_use", "shape", "[3,83]", "event_bytes") == 1000);
    assert_true(builder_cell(&b, "memory_use", "shape", "[3,83]", "requested_bytes") == 996);
    assert_true(builder_cell(&b, "memory_use", "shape", "[3,83]", "free_bytes") == 8000);
    assert_true(builder_cell(&b, "memory_use", "shape", "[3,83]", "step") == 7);
    assert_true(builder_cell(&b, "memory_use", "event", "release", "step") == 8);
    assert_true(builder_cell(&b, "allocators", "allocator", "GPU_0_bfc", "releases") == 0.5);
    builder_free(&b);
}

/*
 * The allocator held 900 bytes before, so that 1000 for "conv" make 1900, twice. At the second peak
 * 50 of the 900 are free again and 50 for "loss" are there: 850 were taken before the recording.
 * Times are on the clock of the steps, which begins before the first event.
 */
TEST(rows_sum_to_the_last_peak)
{
    static const struct {
        int64_t     time_ns, bytes, in_use_bytes;
        uint64_t    address;
        const char *op;
    } rows[] = {
        { 310, 1000, 1900, 1, "conv" }, { 320, 0, 900, 1, "" },         { 330, 0, 850, 99, "" },
        { 340, 50, 900, 2, "loss" },    { 350, 1000, 1900, 3, "conv" },
    };
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu;

    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    builder_step(&b, host, 300, 400);
    builder_slice(&b, builder_timeline(&b, host, NO_ID, "t"), "x", ACTIVITY_OP, 300, 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        add(&b, gpu, rows[i].bytes ? MEMORY_ALLOCATE : MEMORY_FREE, rows[i].time_ns, rows[i].bytes,
            rows[i].address, rows[i].op);
        b.profile.memory_events.items[i].in_use_bytes = rows[i].in_use_bytes;
    }
    builder_finish(&b);
    b.profile.start_ns = 300;
    assert_true(analysis_memory.run(&b.study, &err));
    assert_true(builder_cell(&b, "allocators", "allocator", "GPU_0_bfc", "peak_time_ns") == 350);
    assert_true(builder_cell(&b, "memory_use", "address", "0x3", "bytes") == 1900);
    assert_true(builder_cell(&b, "memory_use", "address", "0x63", "bytes") == 850);
    assert_true(builder_cell(&b, "memory_owners", "owner", "conv", "bytes") == 1000);
    assert_true(builder_cell(&b, "memory_owners", "owner", "loss", "bytes") == 50);
    assert_true(builder_cell(&b, "memory_owners", "owner", "taken before the recording", "bytes") ==
                850);
    builder_free(&b);
}

/* 203 owners of 1000, 1001 … bytes: the 200 largest, and the three smallest in one row. */
TEST(small_owners_share_a_row)
{
    struct profile_builder b;
    struct err             err = { 0 };
    uint32_t               host, gpu;

    host = builder_start_host(&b, FORMAT_XSPACE);
    gpu = builder_device(&b, host, "GPU 0", "", DEVICE_GPU);
    builder_step(&b, host, 0, 1000);
    for (int i = 0; i < 203; i++) {
        char name[16];

        snprintf(name, sizeof name, "op%d", i);
        add(&b, gpu, MEMORY_ALLOCATE, i, 1000 + i, 1 + (uint64_t)i, name);
    }
    builder_finish(&b);
    assert_true(analysis_memory.run(&b.study, &err));
    assert_true(builder_cell(&b, "memory_owners", "owner", "3 others", "bytes") == 3003);
    assert_true(builder_cell(&b, "memory_owners", "owner", "3 others", "count") == 3);
    assert_true(builder_cell(&b, "memory_owners", "owner", "op3", "bytes") == 1003);
    builder_free(&b);
}

TEST(memory_by_op_has_owners_only)
{
    struct op_memory records[] = {
        { .op = 0, .peak_bytes = 100, .residual_bytes = 5, .temporary_bytes = 70 },
        { .op = 1, .peak_bytes = 300, .residual_bytes = 50 },
        { .op = 1, .step = 1, .peak_bytes = 200, .residual_bytes = 60 },
    };
    struct profile_builder b;
    struct err             err = { 0 };

    builder_start_host(&b, FORMAT_PROFILE);
    builder_op(&b, "small", "Relu", NULL);
    builder_op(&b, "big", "Conv2D", NULL);
    for (size_t i = 0; i < ARRAY_COUNT(records); i++)
        assert_true(vec_push(&b.profile.op_memory, &b.arena, records[i]));
    builder_finish(&b);
    assert_true(analysis_memory.run(&b.study, &err));
    assert_true(builder_cell(&b, "memory_owners", NULL, NULL, "bytes") == 300);
    assert_true(builder_fact(&b, "memory.residual_bytes") == 60);
    assert_true(builder_fact(&b, "memory.temporary_bytes") == 70);
    assert_non_null(facts_why_absent(&b.study.facts, "allocators"));
    builder_free(&b);
}
