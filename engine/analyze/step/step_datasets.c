/*
 * step_datasets: calls of one graph function that go through a data set, and the next ones through
 * another one, as each call of Keras' predict or evaluate makes it. What the data set takes to be
 * made is then part of a step, and the function is called as often as the data set has batches.
 */
#include "analyze/step/step_markers.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/names.h"

#include <stdlib.h>

enum { FEWEST_SETS = 3 }; /* fewer are no steps */

struct made { /* an iterator */
    int64_t  at_ns;
    uint32_t host;
};
struct sets {
    VEC(struct made) list; /* by host, then time */
};

static int by_host_and_time(const void *a, const void *b)
{
    const struct made *x = a, *y = b;

    return IN_ORDER(COMPARE(x->host, y->host), COMPARE(x->at_ns, y->at_ns));
}

static bool find_sets(const struct profile *profile, struct arena *scratch, struct sets *sets)
{
    bool *makes = arena_new_array(scratch, bool, profile->activities.count + 1);

    for (size_t a = 0; makes && a < profile->activities.count; a++)
        makes[a] = name_is(profile_str(profile, profile->activities.items[a].name),
                           NAMES_TF_MAKES_ITERATOR);
    for (size_t t = 0; makes && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->kind == TIMELINE_THREAD && i < line->event_count; i++) {
            uint32_t    event = line->first_event + i;
            struct made made = { event_start_ns(profile, event), line->host };

            if (makes[event_activity_id(profile, event)] && !vec_push(&sets->list, scratch, made))
                return false;
        }
    }
    if (sets->list.count)
        qsort(sets->list.items, sets->list.count, sizeof *sets->list.items, by_host_and_time);
    return makes != NULL;
}

/* How many iterators were made on a host before a time, those of hosts before it included. */
static size_t made_before(const struct sets *sets, uint32_t host, int64_t at_ns)
{
    return LOWER_BOUND(sets->list.count, i,
                       sets->list.items[i].host < host ||
                           (sets->list.items[i].host == host && sets->list.items[i].at_ns < at_ns));
}

/* A call behind another one of its host, on the same data set. */
static bool goes_on(const struct sets *sets, const struct marker *last, const struct marker *marker)
{
    return last->host == marker->host && made_before(sets, last->host, last->start_ns) ==
                                             made_before(sets, marker->host, marker->start_ns);
}

bool markers_join_sets(const struct profile *profile, struct arena *scratch,
                       struct markers *markers, bool *are_joined)
{
    struct marker *list = markers->list.items;
    struct sets    sets = { 0 };
    size_t         count = 0, kept = 0;

    *are_joined = false;
    if (!find_sets(profile, scratch, &sets))
        return false;
    for (size_t i = 0; i < markers->list.count; i++)
        count += i == 0 || !goes_on(&sets, &list[i - 1], &list[i]);
    if (count < FEWEST_SETS || count == markers->list.count)
        return true;
    for (size_t i = 0; i < markers->list.count; i++) {
        struct marker marker = list[i];

        if (kept && goes_on(&sets, &list[kept - 1], &marker))
            list[kept - 1].end_ns = list[kept - 1].until_ns = marker.end_ns;
        else
            list[kept++] = marker;
    }
    /* What makes a data set lies behind the last call on the one before. */
    for (size_t i = kept; i-- > 1;)
        if (list[i].host == list[i - 1].host)
            list[i].start_ns = list[i - 1].end_ns;
    markers->list.count = kept;
    *are_joined = true;
    return true;
}
