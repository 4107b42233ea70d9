#include "read/xspace/xspace_regions.h"

/* Marks the labels of activities with this name (one a plane or more); any of these, or NO_ID. */
static uint32_t mark_labels(const struct profile *profile, struct str name, uint8_t mark,
                            uint8_t *marks)
{
    uint32_t id = intern_find(&profile->names, name), any = NO_ID;

    for (size_t i = 0; id != NO_ID && i < profile->labels.count; i++)
        if (profile->activities.items[profile->labels.items[i]].name == id) {
            marks[i] = mark;
            any = profile->labels.items[i];
        }
    return any;
}

static bool add_region_label(struct profile *profile, uint32_t like)
{
    struct activity region = profile->activities.items[like];

    region.name = profile_intern(profile, STR("ThreadpoolListener::Region"));
    region.kind = ACTIVITY_EXECUTOR;
    return region.name != NO_ID && vec_push(&profile->activities, profile->arena, region) &&
           vec_push(&profile->labels, profile->arena, (uint32_t)profile->activities.count - 1);
}

/* What the events of a label are: marks by label. */
enum mark { MARK_NONE, MARK_START, MARK_STOP };

struct joining {
    struct profile *profile;
    const uint8_t  *marks;
    uint32_t        region; /* label */
};

static bool join_pair(const struct joining *joining, uint32_t start, uint32_t stop)
{
    struct profile *profile = joining->profile;
    int64_t         duration_ns = event_start_ns(profile, stop) - event_start_ns(profile, start);

    return packed_set(&profile->event_durations_ns, profile->arena, start, duration_ns) &&
           packed_set(&profile->event_labels, profile->arena, start, joining->region);
}

static bool join_timeline(const struct joining *joining, const struct timeline *line)
{
    enum { MOST = 1024 };
    int64_t  labels[MOST];
    uint32_t open = NO_ID;

    for (uint32_t done = 0; done < line->event_count; done += MOST) {
        uint32_t count = line->event_count - done < MOST ? line->event_count - done : MOST;

        packed_read(&joining->profile->event_labels, line->first_event + done, count, labels);
        for (uint32_t i = 0; i < count; i++) {
            uint8_t  mark = joining->marks[labels[i]];
            uint32_t event = line->first_event + done + i;

            if (LIKELY(mark == MARK_NONE))
                continue;
            if (mark == MARK_STOP && open != NO_ID && !join_pair(joining, open, event))
                return false;
            open = mark == MARK_START ? event : NO_ID;
        }
    }
    return true;
}

bool xspace_join_regions(struct profile *profile)
{
    struct arena   scratch = { .budget_bytes = profile->arena->budget_bytes };
    uint8_t       *marks = arena_new_array(&scratch, uint8_t, profile->labels.count + 1);
    struct joining joining = { profile, marks, (uint32_t)profile->labels.count };
    bool           ok = marks != NULL;

    if (ok) {
        uint32_t start =
            mark_labels(profile, STR("ThreadpoolListener::StartRegion"), MARK_START, marks);
        uint32_t stop =
            mark_labels(profile, STR("ThreadpoolListener::StopRegion"), MARK_STOP, marks);
        bool has_pairs = start != NO_ID && stop != NO_ID;

        ok = !has_pairs || add_region_label(profile, start);
        for (size_t t = 0; ok && has_pairs && t < profile->timelines.count; t++)
            ok = join_timeline(&joining, &profile->timelines.items[t]);
    }
    arena_free(&scratch);
    return ok;
}
