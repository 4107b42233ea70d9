/*
 * step_updates: of how many updates a step is, where several optimizers take turns, as those of two
 * networks against each other, of an actor and its critics, or of tables beside the rest. Each
 * update has the ops in it, and those since the one before, by which it is known again.
 */
#include "analyze/step/step_markers.h"

#include <stdlib.h>

enum {
    FEWEST_ROUNDS = 3, /* until they are steps */
    MOST_TURNS = 8,    /* updates a step */
};
static const double MOST_OFF = 0.02; /* ops since the one before, as branches on values make them */

struct update {
    uint32_t inside, since;
};

/* Of the updates of one host, in order of time. */
static void count_ops(const struct profile *profile, const struct marker *list, size_t count,
                      struct update *updates)
{
    const struct timeline *line = &profile->timelines.items[list->timeline];
    size_t                 u = 0;

    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        int64_t start_ns = event_start_ns(profile, i);

        while (u < count && start_ns >= list[u].end_ns)
            u++;
        if (u == count)
            return;
        if (event_activity(profile, i)->kind != ACTIVITY_OP)
            continue;
        updates[u].since++;
        if (start_ns >= event_start_ns(profile, list[u].event))
            updates[u].inside++;
    }
}

/* What leads to the first update may have begun before the recording. */
static bool is_same(const struct update *updates, size_t a, size_t b, bool and_since)
{
    return updates[a].inside == updates[b].inside &&
           (!and_since || a == 0 ||
            abs((int)updates[a].since - (int)updates[b].since) <= MOST_OFF * updates[a].since);
}

/* The fewest updates after which all come again; 0: they do not, or tell nothing. */
static size_t find_turns(const struct update *updates, size_t count, bool and_since)
{
    for (size_t turns = 1; turns <= MOST_TURNS && turns * FEWEST_ROUNDS <= count; turns++) {
        size_t i = 0;

        while (i + turns < count && updates[i].inside && is_same(updates, i, i + turns, and_since))
            i++;
        if (i + turns == count)
            return turns;
    }
    return 0;
}

/* Rounds that the recording cuts are left out. */
static size_t join_rounds(struct marker *list, size_t count, size_t turns, struct marker *rounds)
{
    size_t kept = 0;

    for (size_t i = 0; i + turns <= count; i += turns) {
        struct marker round = list[i + turns - 1];

        round.start_ns = list[i].start_ns;
        rounds[kept++] = round;
    }
    return kept;
}

bool markers_take_turns(struct profile const *profile, struct arena *scratch,
                        struct markers *markers, bool *are_told)
{
    struct marker *list = markers->list.items;
    struct update *updates = arena_new_array(scratch, struct update, markers->list.count + 1);
    size_t         kept = 0;

    *are_told = true;
    if (!updates)
        return false;
    for (size_t from = 0, end; from < markers->list.count; from = end) {
        size_t turns;

        for (end = from; end < markers->list.count && list[end].host == list[from].host;)
            end++;
        count_ops(profile, &list[from], end - from, &updates[from]);
        turns = find_turns(&updates[from], end - from, true);
        if (!turns) {
            turns = find_turns(&updates[from], end - from, false);
            *are_told = *are_told && turns > 1;
        }
        kept += join_rounds(&list[from], end - from, turns ? turns : 1, &list[kept]);
    }
    markers->list.count = kept;
    return true;
}
