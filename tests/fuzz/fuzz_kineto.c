/* The Kineto reader on any bytes: no crash, and what it gives holds the model's promises. */
#include "fuzz.h"

#include "read/read.h"

#include <stdlib.h>

extern const struct reader reader_kineto;

static void check_profile(const struct profile *profile)
{
    uint32_t next = 0;

    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];

        if (timeline->first_event != next)
            abort();
        next += timeline->event_count;
        for (uint32_t i = timeline->first_event; i < next; i++) {
            if (event_duration_ns(profile, i) < 0 ||
                profile->event_activity[i] >= profile->activities.count)
                abort();
            if (i > timeline->first_event &&
                profile->event_start_ns[i] < profile->event_start_ns[i - 1])
                abort();
        }
    }
    if (next != profile->event_count)
        abort();
    for (size_t i = 0; i < profile->flows.count; i++)
        if (profile->flows.items[i].from >= next || profile->flows.items[i].to >= next)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena        arena = { .budget_bytes = 64 << 20 };
    struct read_options options = { .memory_budget_bytes = 64 << 20 };
    struct read_input   input = { .path = "rank0.json",
                                  .source = NO_ID,
                                  .file.bytes = { (const char *)bytes, len } };
    struct profile      profile;
    struct err          err = { 0 };

    if (!len || !profile_init(&profile, &arena))
        return 0;
    if (reader_kineto.read(&input, 1, &options, &profile, &err))
        check_profile(&profile);
    else if (err.code == ERR_NONE)
        abort();
    arena_free(&arena);
    return 0;
}
