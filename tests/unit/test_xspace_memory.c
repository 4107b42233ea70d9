/* Allocations of an XSpace: whose memory, and how much of it is in use; and what the profiler says.
 */
#include "read/xspace/xplane.h"
#include "testing.h"
#include "xspace_builder.h"
#include <string.h>

static struct xspace_builder builder;

static void allocation(int64_t type, int64_t at_ps, int64_t heap, int64_t stack)
{
    xspace_event(&builder, type, at_ps, 0);
    xspace_number(&builder, "bytes_allocated", heap);
    xspace_number(&builder, "bytes_reserved", stack);
    xspace_number(&builder, "bytes_available", 1000 - heap - stack);
    xspace_number(&builder, "allocation_bytes", 16);
}

static bool is_device(const struct profile *profile, size_t row, const char *name)
{
    uint32_t device = profile->memory_events.items[row].device;

    return device < profile->devices.count &&
           str_equal(profile_str(profile, profile->devices.items[device].name), str_from(name));
}

/* A TPU's allocators have a number alone. In use: 300 of the heap and 500 of the stack. */
TEST(ordinals_tell_the_device)
{
    struct arena               arena = { 0 };
    struct profile             profile;
    const struct memory_event *event;
    int64_t                    type;

    xspace_start(&builder);
    for (int i = 0; i < 2; i++) {
        xspace_plane(&builder, i ? "/device:TPU:1" : "/device:TPU:0");
        type = xspace_type(&builder, "%add = f32[] add(f32[] %a)", "add");
        xspace_line(&builder, 3, "XLA Ops");
        xspace_event(&builder, type, 1000, 1000);
    }
    xspace_plane(&builder, "/host:CPU");
    type = xspace_type(&builder, "MemoryAllocation", NULL);
    xspace_line(&builder, 1, "main");
    allocation(type, 1000, 300, 500);
    xspace_number(&builder, "index_on_host", 1);
    xspace_number(&builder, "requested_bytes", 12);
    xspace_number(&builder, "data_type", 101); /* a reference to float */
    xspace_text(&builder, "shape", "[3]");
    allocation(type, 2000, 200, 0);
    xspace_number(&builder, "device_ordinal", 0);
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(profile.memory_events.count, 2);
    event = &profile.memory_events.items[0];
    assert_true(is_device(&profile, 0, "/device:TPU:1"));
    assert_true(str_equal(profile_str(&profile, event->allocator), STR("1")));
    assert_int_equal(event->in_use_bytes, 800);
    assert_int_equal(event->stack_bytes, 500);
    assert_int_equal(event->available_bytes, 200);
    assert_int_equal(event->requested_bytes, 12);
    assert_int_equal(event->dtype, DTYPE_F32);
    assert_true(str_equal(profile_str(&profile, event->shape), STR("[3]")));
    assert_int_equal(profile.memory_events.items[1].requested_bytes, -1);
    assert_true(is_device(&profile, 1, "/device:TPU:0"));
    assert_int_equal(profile.memory_events.items[1].in_use_bytes, 200);
    assert_int_equal(profile.devices.count, 2);
    arena_free(&arena);
}

/* Of GPUs the allocator's name tells, also of one that has no timeline. */
TEST(names_tell_the_gpu)
{
    static const char *const names[] = { "GPU_6_bfc", "gpu_host_bfc", "mklcpu", "GPU_6_bfc" };
    struct arena             arena = { 0 };
    struct profile           profile;
    int64_t                  type;

    xspace_start(&builder);
    xspace_plane(&builder, "/host:CPU");
    type = xspace_type(&builder, "MemoryAllocation", NULL);
    xspace_line(&builder, 1, "main");
    for (int i = 0; i < 4; i++) {
        allocation(type, i * 1000, 100, 0);
        xspace_text(&builder, "allocator_name", names[i]);
    }
    xspace_take(&builder, &arena, &profile);
    assert_true(is_device(&profile, 0, "/device:GPU:6"));
    assert_int_equal(profile.memory_events.items[1].device, NO_ID);
    assert_int_equal(profile.memory_events.items[2].device, NO_ID);
    assert_true(is_device(&profile, 3, "/device:GPU:6"));
    assert_int_equal(profile.devices.count, 1);
    arena_free(&arena);
}

TEST(the_profilers_words_are_notes)
{
    struct arena   arena = { 0 };
    struct profile profile;
    int64_t        type;

    xspace_start(&builder);
    xspace_plane(&builder, "/host:CPU");
    type = xspace_type(&builder, "a", NULL);
    xspace_line(&builder, 1, "main");
    xspace_event(&builder, type, 0, 1000);
    xspace_say(&builder, XSPACE_ERRORS, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
    xspace_say(&builder, XSPACE_WARNINGS, "12345 events lost");
    xspace_take(&builder, &arena, &profile);
    assert_int_equal(profile.notes.count, 2);
    assert_non_null(strstr(profile.notes.items[0].what, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
    assert_non_null(strstr(profile.notes.items[1].what, "12345 events lost"));
    assert_true(str_equal(profile_str(&profile, profile.capture_error),
                          STR("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")));
    arena_free(&arena);
}
