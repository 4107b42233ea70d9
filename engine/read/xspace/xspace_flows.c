#include "read/xspace/xspace_decode.h"

enum { LOOK_AHEAD = 16 }; /* slots are far apart in memory: they are asked for early */

/* One id: the last host event that has it, and how many have. */
struct slot {
    uint64_t key;
    uint32_t last, count;
};

struct join {
    struct profile *profile;
    struct slot    *slots;
    uint64_t        mask;
};

/* Goes along with events in ascending order. */
struct place {
    const struct profile *profile;
    size_t                timeline;
};

static const struct timeline *timeline_of(struct place *place, uint32_t event)
{
    const struct timeline *lines = place->profile->timelines.items;

    while (place->timeline + 1 < place->profile->timelines.count &&
           event >= lines[place->timeline].first_event + lines[place->timeline].event_count)
        place->timeline++;
    return &lines[place->timeline];
}

/* Ids are unique on one host only. */
static uint64_t key_of(const struct timeline *timeline, int64_t id)
{
    return (uint64_t)id ^ (uint64_t)timeline->host * 0x9E3779B97F4A7C15U;
}

static struct slot *first_slot(const struct join *join, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);

    return &join->slots[(hash ^ hash >> 32) & join->mask];
}

/* The key's slot, or the free one where it belongs: count is 0. */
static struct slot *find_slot(const struct join *join, uint64_t key)
{
    struct slot *slot = first_slot(join, key);

    while (slot->count && slot->key != key)
        slot = slot == &join->slots[join->mask] ? join->slots : slot + 1;
    return slot;
}

static void look_ahead(const struct join *join, const struct stat_column *column, size_t i,
                       const struct timeline *timeline)
{
    if (i + LOOK_AHEAD < stat_count(column))
        __builtin_prefetch(first_slot(join, key_of(timeline, stat_value(column, i + LOOK_AHEAD))),
                           1);
}

/* A table of the column's host events. false: the budget. */
static bool join_start(struct join *join, const struct stat_column *column, struct profile *profile,
                       struct arena *scratch)
{
    struct place place = { .profile = profile };
    uint64_t     slot_count = 64;

    while (slot_count < (uint64_t)stat_count(column) + stat_count(column) / 2)
        slot_count *= 2;
    *join = (struct join) { .profile = profile, .mask = slot_count - 1 };
    join->slots = arena_new_array(scratch, struct slot, slot_count);
    for (size_t i = 0; join->slots && i < stat_count(column); i++) {
        const struct timeline *timeline = timeline_of(&place, stat_event(column, i));
        uint64_t               key = key_of(timeline, stat_value(column, i));
        struct slot           *slot;

        look_ahead(join, column, i, timeline);
        if (timeline->device != NO_ID)
            continue;
        slot = find_slot(join, key);
        slot->key = key;
        slot->last = stat_event(column, i);
        slot->count++;
    }
    return join->slots != NULL;
}

static bool launch_flows(struct profile *profile, struct arena *scratch)
{
    const struct stat_column *column = &profile->stats[STAT_CORRELATION];
    struct place              place = { .profile = profile };
    struct join               join;

    if (!join_start(&join, column, profile, scratch))
        return false;
    for (size_t i = 0; i < stat_count(column); i++) {
        const struct timeline *timeline = timeline_of(&place, stat_event(column, i));
        const struct slot     *slot;

        look_ahead(&join, column, i, timeline);
        if (timeline->device == NO_ID)
            continue;
        slot = find_slot(&join, key_of(timeline, stat_value(column, i)));
        if (slot->count &&
            !vec_push(&profile->flows, profile->arena,
                      (struct flow) {
                          .from = slot->last, .to = stat_event(column, i), .kind = FLOW_LAUNCH }))
            return false;
    }
    return true;
}

static bool has_device_events(const struct profile *profile)
{
    for (size_t t = 0; t < profile->timelines.count; t++)
        if (profile->timelines.items[t].device != NO_ID && profile->timelines.items[t].event_count)
            return true;
    return false;
}

bool xspace_flows(struct profile *profile)
{
    struct arena scratch = { .budget_bytes = profile->arena->budget_bytes };
    bool         ok = !has_device_events(profile) || launch_flows(profile, &scratch);

    arena_free(&scratch);
    return ok;
}
