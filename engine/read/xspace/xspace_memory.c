#include "read/xspace/xspace_memory.h"

#include <inttypes.h>
#include <stdio.h>

/* "GPU_6_bfc", "gpu_async_6": memory of that GPU; "gpu_host_bfc" is the host's. NO_ID: none. */
static uint32_t gpu_of_name(struct str name)
{
    static const struct str heads[] = { STR_INIT("GPU_"), STR_INIT("gpu_async_") };
    int64_t                 ordinal;

    for (size_t i = 0; i < ARRAY_COUNT(heads); i++) {
        struct str rest = str_slice(name, heads[i].len, name.len);

        if (str_starts(name, heads[i]) &&
            str_to_int64(str_slice(rest, 0, str_find(rest, '_')), &ordinal) && ordinal >= 0 &&
            ordinal <= INT32_MAX)
            return (uint32_t)ordinal;
    }
    return NO_ID;
}

static uint32_t find_device(const struct profile *profile, uint32_t host, uint32_t ordinal)
{
    for (uint32_t i = 0; i < profile->devices.count; i++) {
        const struct device *device = &profile->devices.items[i];

        if (device->host == host && device->ordinal >= 0 && (uint32_t)device->ordinal == ordinal &&
            !device->unit_of && (device->kind == DEVICE_GPU || device->kind == DEVICE_TPU))
            return i;
    }
    return NO_ID;
}

static uint32_t add_gpu(struct profile *profile, uint32_t host, uint32_t ordinal)
{
    char          name[32];
    int           len = snprintf(name, sizeof name, "/device:GPU:%" PRIu32, ordinal);
    struct device device = { .host = host, .ordinal = (int32_t)ordinal, .kind = DEVICE_GPU };

    device.name = profile_intern(profile, (struct str) { name, (size_t)len });
    return device.name != NO_ID && vec_push(&profile->devices, profile->arena, device)
               ? (uint32_t)profile->devices.count - 1
               : NO_ID;
}

static uint32_t ordinal_name(struct profile *profile, uint32_t ordinal)
{
    char text[16];
    int  len = snprintf(text, sizeof text, "%" PRIu32, ordinal);

    return profile_intern(profile, (struct str) { text, (size_t)len });
}

bool xspace_memory_place(struct profile *profile, uint32_t host, struct memory_event *event)
{
    uint32_t ordinal = event->device;
    uint32_t gpu = gpu_of_name(profile_str(profile, event->allocator));

    /* What is held for running programs is told apart from what programs asked for. */
    event->stack_bytes = event->reserved_bytes > 0 ? event->reserved_bytes : 0;
    if (event->in_use_bytes >= 0 &&
        __builtin_add_overflow(event->in_use_bytes, event->stack_bytes, &event->in_use_bytes))
        event->in_use_bytes = -1;
    if (event->allocator == 0 && ordinal != NO_ID)
        event->allocator = ordinal_name(profile, ordinal);
    event->device = NO_ID;
    if (ordinal != NO_ID || gpu != NO_ID)
        event->device = find_device(profile, host, ordinal != NO_ID ? ordinal : gpu);
    if (event->device == NO_ID && gpu != NO_ID) {
        event->device = add_gpu(profile, host, gpu);
        return event->device != NO_ID;
    }
    return event->allocator != NO_ID;
}
