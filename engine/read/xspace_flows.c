#include "read/xspace_merge.h"

enum { GROUP_LIMIT = 64 }; /* more producers of one id say nothing about who waited for whom */

static uint32_t timeline_of(const struct profile *profile, uint32_t event)
{
    size_t low = 0, high = profile->timelines.count;

    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (profile->timelines.items[middle].first_event <= event)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* Ids are unique on one host only. */
static uint64_t key_on_host(const struct profile *profile, uint32_t timeline, int64_t id)
{
    return (uint64_t)id ^ (uint64_t)profile->timelines.items[timeline].host * 0x9E3779B97F4A7C15U;
}

static bool launch_flows(struct profile *profile, struct arena *scratch)
{
    const struct stat_column *column = &profile->stats[STAT_CORRELATION];
    struct id_map             launches = { .arena = scratch };

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < column->count; i++) {
            uint32_t    event = column->events[i], timeline = timeline_of(profile, event), from;
            uint64_t    key = key_on_host(profile, timeline, column->values[i]);
            bool        is_host = profile->timelines.items[timeline].device == NO_ID;
            struct flow flow = { .to = event, .kind = FLOW_LAUNCH };

            if (pass == 0 && is_host && !id_map_put(&launches, key, event))
                return false;
            if (pass == 0 || is_host)
                continue;
            from = id_map_get(&launches, key);
            flow.from = from;
            if (from != NO_ID && !vec_push(&profile->flows, profile->arena, flow))
                return false;
        }
    return true;
}

static bool produce_flows(struct profile *profile, struct arena *scratch)
{
    const struct stat_column *producers = &profile->stats[STAT_PRODUCER];
    const struct stat_column *consumers = &profile->stats[STAT_CONSUMER];
    struct id_map             last = { .arena = scratch }, counts = { .arena = scratch };

    for (size_t i = 0; i < producers->count; i++) {
        uint64_t key =
            key_on_host(profile, timeline_of(profile, producers->events[i]), producers->values[i]);
        uint32_t count = id_map_get(&counts, key);

        count = count == NO_ID ? 1 : count + 1;
        if (!id_map_put(&counts, key, count) || !id_map_put(&last, key, producers->events[i]))
            return false;
    }
    for (size_t i = 0; i < consumers->count; i++) {
        uint32_t    event = consumers->events[i];
        uint64_t    key = key_on_host(profile, timeline_of(profile, event), consumers->values[i]);
        uint32_t    from = id_map_get(&last, key);
        struct flow flow = { .from = from, .to = event, .kind = FLOW_PRODUCE };

        if (from == NO_ID || from == event || id_map_get(&counts, key) >= GROUP_LIMIT ||
            profile->event_start_ns[from] > event_end_ns(profile, event))
            continue;
        if (!vec_push(&profile->flows, profile->arena, flow))
            return false;
    }
    return true;
}

bool xspace_flows(struct profile *profile, struct arena *scratch)
{
    return profile->timelines.count == 0 ||
           (launch_flows(profile, scratch) && produce_flows(profile, scratch));
}
