/*
 * Events of a timeline come sorted by start, longest first, so a stack of the open ones is enough:
 * whatever has ended before the next start is done, whatever ends before the next event ends only
 * overlaps it and cannot be its parent.
 */
#include "model/nesting.h"

bool nesting_build(const struct profile *profile, const struct timeline *timeline,
                   struct arena *scratch, struct nesting *nesting)
{
    uint32_t  count = timeline->event_count, depth = 0;
    uint32_t *open = arena_new_array(scratch, uint32_t, count);

    *nesting = (struct nesting) {
        .parent = arena_new_array(scratch, uint32_t, count),
        .self_ns = arena_new_array(scratch, int64_t, count),
        .count = count,
    };
    if (!open || !nesting->parent || !nesting->self_ns)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = timeline->first_event + i;
        int64_t  start_ns = event_start_ns(profile, event);
        int64_t  end_ns = event_end_ns(profile, event);

        /* An event of no length at its neighbour's end stands behind it, not in it. */
        while (depth > 0) {
            int64_t open_end_ns = event_end_ns(profile, timeline->first_event + open[depth - 1]);

            if (open_end_ns > start_ns && open_end_ns >= end_ns)
                break;
            depth--;
        }
        nesting->parent[i] = depth ? open[depth - 1] : NO_ID;
        nesting->self_ns[i] = end_ns - start_ns;
        if (depth)
            nesting->self_ns[open[depth - 1]] -= end_ns - start_ns;
        open[depth++] = i;
    }
    return true;
}
