#include "analyze/excess/launchers.h"

#include "analyze/device/device_activity.h"

uint32_t *launchers_find(const struct study *study, struct arena *arena)
{
    const struct path *path = &study->path;
    const uint32_t    *launch_of = study->devices->launch_of;
    size_t             count = study->profile->event_count;
    uint32_t          *frame_of = arena_new_array(arena, uint32_t, count + 1);
    uint32_t          *launcher = arena_new_array(arena, uint32_t, path->frames.count + 1);

    if (!frame_of || !launcher)
        return NULL;
    for (size_t event = 0; event < count; event++)
        frame_of[event] = NO_ID;
    for (uint32_t f = 0; f < path->frames.count; f++)
        frame_of[path->frames.items[f].event] = f;
    for (uint32_t f = 0; f < path->frames.count; f++) {
        uint32_t launch = launch_of[path->frames.items[f].event];

        launcher[f] = launch < count ? frame_of[launch] : NO_ID;
    }
    return launcher;
}
