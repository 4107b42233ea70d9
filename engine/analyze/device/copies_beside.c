#include "analyze/device/copies_beside.h"

#include "base/sort.h"

#include <stdlib.h>

bool copies_beside_add(struct copies_beside *beside, uint32_t device, int64_t start_ns,
                       int64_t end_ns, struct arena *arena)
{
    return end_ns <= start_ns ||
           (vec_push(&beside->ends, arena, (struct copy_end) { start_ns, device, 1 }) &&
            vec_push(&beside->ends, arena, (struct copy_end) { end_ns, device, -1 }));
}

static int compare_ends(const void *left, const void *right)
{
    const struct copy_end *a = left, *b = right;

    return IN_ORDER(COMPARE(a->time_ns, b->time_ns), COMPARE(a->change, b->change),
                    COMPARE(a->device, b->device));
}

bool copies_beside_sum(struct copies_beside *beside, size_t devices, struct arena *arena)
{
    uint32_t *under_way = arena_new_array(arena, uint32_t, devices);
    bool     *is_seen = arena_new_array(arena, bool, devices);
    uint32_t  busy = 0; /* devices with copies under way */

    if (!under_way || !is_seen)
        return false;
    if (beside->ends.count)
        qsort(beside->ends.items, beside->ends.count, sizeof *beside->ends.items, compare_ends);
    for (size_t i = 0; i < beside->ends.count; i++) {
        const struct copy_end *end = &beside->ends.items[i];
        int64_t                passed = i > 0 ? end->time_ns - end[-1].time_ns : 0;

        beside->any_ns += busy > 0 ? passed : 0;
        beside->several_ns += busy > 1 ? passed : 0;
        beside->device_count += !is_seen[end->device];
        is_seen[end->device] = true;
        if (end->change > 0)
            busy += under_way[end->device]++ == 0;
        else
            busy -= --under_way[end->device] == 0;
    }
    return true;
}
