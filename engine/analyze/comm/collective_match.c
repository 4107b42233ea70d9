#include "analyze/comm/collective_match.h"
#include "base/sort.h"

#include <stdlib.h>

/* A host may be as much beside the first one's clock, and besides by what its collectives deviate.
 */
#define CLOSE_NS INT64_C(200000)
/* One and the same collective ends as close on all hosts, or within half of the time it took. */
#define END_NS INT64_C(5000000)
enum { ORDER_PART = 10 }; /* order tells which belong together where all but one in so many can */

struct moment { /* what a host, or all of them, had of one collective */
    int64_t                  latest_start_ns, earliest_end_ns, slack_ns;
    const struct collective *args; /* NULL: not recorded */
    bool                     is_on_thread;
};
struct member { /* a host's part in a collective: one instance a device */
    struct moment moment;
    size_t        first, end; /* of list->items */
    uint32_t      name, host;
    uint32_t      meeting; /* its number, or NO_ID */
    uint8_t       by;      /* enum collective_match */
};
struct meeting { /* a collective of one or more hosts; they are sorted by end_ns */
    struct moment moment;
    int64_t       end_ns;
    uint32_t      number;
};
struct matching {
    const struct profile   *profile;
    struct arena           *scratch;
    struct collective_list *list;
    VEC(struct member) members;
    VEC(struct meeting) meetings, merged; /* of one name */
    uint32_t next_number;
};

static const struct collective *args_of(const struct profile *profile, uint32_t event)
{
    int64_t row;

    if (!profile_stat(profile, STAT_COLLECTIVE, event, &row) || row < 0 ||
        (uint64_t)row >= profile->collectives.count)
        return NULL;
    return &profile->collectives.items[row];
}

static struct member make_member(const struct matching *matching, size_t first)
{
    const struct collective_list     *list = matching->list;
    const struct collective_instance *item = &list->items.items[first];
    const struct profile             *profile = matching->profile;
    struct member                     member = { .first = first,
                                                 .end = first,
                                                 .host = item->host,
                                                 .name = event_activity(profile, item->event)->name,
                                                 .meeting = NO_ID,
                                                 .by = MATCHED_BY_ORDER };

    member.moment =
        (struct moment) { INT64_MIN, INT64_MAX,
                          CLOSE_NS + profile->hosts.items[item->host].clock_deviation_ns,
                          args_of(profile, item->event), item->device == NO_ID };
    for (; member.end < list->items.count && list->items.items[member.end].key == item->key;
         member.end++) {
        const struct collective_instance *of = &list->items.items[member.end];

        if (of->start_ns > member.moment.latest_start_ns)
            member.moment.latest_start_ns = of->start_ns;
        if (of->end_ns < member.moment.earliest_end_ns)
            member.moment.earliest_end_ns = of->end_ns;
    }
    return member;
}

/* Ranks give and take as much, except where each has its own share. */
static bool agree(const struct profile *profile, const struct collective *a,
                  const struct collective *b)
{
    struct str type;

    if (!a || !b)
        return true;
    if (a->group && b->group && a->group != b->group)
        return false;
    type = profile_str(profile, a->type);
    if (str_fits(type, "*all-to-all*|*send*|*recv*"))
        return a->type == b->type;
    return a->type == b->type && (a->bytes_in < 0 || b->bytes_in < 0 || a->bytes_in == b->bytes_in);
}

static int64_t length_ns(const struct moment *moment)
{
    return moment->earliest_end_ns - moment->latest_start_ns;
}

/* Threads are held up before they can say that they have left: there the longer part counts. */
static int64_t apart_ns(const struct moment *a, const struct moment *b)
{
    int64_t least_ns = length_ns(a) < length_ns(b) ? length_ns(a) : length_ns(b);
    int64_t most_ns = length_ns(a) > length_ns(b) ? length_ns(a) : length_ns(b);
    int64_t half_ns = (a->is_on_thread && b->is_on_thread ? most_ns : least_ns) / 2;

    return half_ns > END_NS ? half_ns : END_NS;
}

/* Nobody leaves a collective before all have come to it, and they leave it together. */
static bool fits(const struct profile *profile, const struct moment *a, const struct moment *b)
{
    int64_t slack_ns = a->slack_ns > b->slack_ns ? a->slack_ns : b->slack_ns;

    return a->latest_start_ns <= b->earliest_end_ns + slack_ns &&
           b->latest_start_ns <= a->earliest_end_ns + slack_ns &&
           llabs(a->earliest_end_ns - b->earliest_end_ns) <= apart_ns(a, b) &&
           agree(profile, a->args, b->args);
}

static void join(struct meeting *meeting, struct member *member, enum collective_match by)
{
    struct moment *all = &meeting->moment;

    member->meeting = meeting->number;
    member->by = (uint8_t)by;
    if (member->moment.latest_start_ns > all->latest_start_ns)
        all->latest_start_ns = member->moment.latest_start_ns;
    if (member->moment.earliest_end_ns < all->earliest_end_ns)
        all->earliest_end_ns = member->moment.earliest_end_ns;
    if (member->moment.slack_ns > all->slack_ns)
        all->slack_ns = member->moment.slack_ns;
}

/* The first with the first, and so on, where times allow that for nearly all. */
static bool join_by_order(struct matching *matching, struct member *members, size_t count)
{
    struct meeting *meetings = matching->meetings.items;
    size_t          fit_count = 0;

    if (count != matching->meetings.count)
        return false;
    for (size_t i = 0; i < count; i++)
        fit_count += fits(matching->profile, &meetings[i].moment, &members[i].moment);
    if ((count - fit_count) * ORDER_PART > count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (fits(matching->profile, &meetings[i].moment, &members[i].moment))
            join(&meetings[i], &members[i], MATCHED_BY_ORDER);
    return true;
}

static bool is_nearer(const struct profile *profile, const struct meeting *meeting,
                      const struct member *member, int64_t than_ns)
{
    return llabs(meeting->end_ns - member->moment.earliest_end_ns) < than_ns &&
           fits(profile, &meeting->moment, &member->moment);
}

/* Those that end together; some were not recorded on one of the hosts. */
static void join_by_ends(struct matching *matching, struct member *members, size_t count)
{
    const struct profile *profile = matching->profile;
    struct meeting       *meetings = matching->meetings.items;
    size_t                i = 0, j = 0, meeting_count = matching->meetings.count;

    while (i < meeting_count && j < count) {
        int64_t distance_ns = meetings[i].end_ns - members[j].moment.earliest_end_ns;

        if (!fits(profile, &meetings[i].moment, &members[j].moment)) {
            if (distance_ns <= 0)
                i++;
            else
                j++;
        } else if (i + 1 < meeting_count &&
                   is_nearer(profile, &meetings[i + 1], &members[j], llabs(distance_ns))) {
            i++;
        } else if (j + 1 < count &&
                   is_nearer(profile, &meetings[i], &members[j + 1], llabs(distance_ns))) {
            j++;
        } else {
            join(&meetings[i++], &members[j++], MATCHED_BY_ENDS);
        }
    }
}

static struct meeting open_meeting(struct matching *matching, struct member *member)
{
    member->meeting = matching->next_number++;
    return (struct meeting) { member->moment, member->moment.earliest_end_ns, member->meeting };
}

/* Collectives that only this host has so far may be those of a next one. */
static bool add_alone(struct matching *matching, struct member *members, size_t count)
{
    size_t i = 0;

    matching->merged.count = 0;
    for (size_t j = 0; j < count; j++) {
        if (members[j].meeting != NO_ID)
            continue;
        for (; i < matching->meetings.count &&
               matching->meetings.items[i].end_ns <= members[j].moment.earliest_end_ns;
             i++)
            if (!vec_push(&matching->merged, matching->scratch, matching->meetings.items[i]))
                return false;
        if (!vec_push(&matching->merged, matching->scratch, open_meeting(matching, &members[j])))
            return false;
    }
    for (; i < matching->meetings.count; i++)
        if (!vec_push(&matching->merged, matching->scratch, matching->meetings.items[i]))
            return false;
    matching->meetings.count = 0;
    for (i = 0; i < matching->merged.count; i++)
        if (!vec_push(&matching->meetings, matching->scratch, matching->merged.items[i]))
            return false;
    return true;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;

    return IN_ORDER(COMPARE(left->name, right->name), COMPARE(left->host, right->host),
                    COMPARE(left->moment.earliest_end_ns, right->moment.earliest_end_ns),
                    COMPARE(left->first, right->first));
}

/* One host's parts in collectives of one name, after those of the hosts before it. */
static bool match_host(struct matching *matching, size_t first, size_t end)
{
    struct member *members = matching->members.items + first;

    if (first == 0 || members[-1].name != members[0].name)
        matching->meetings.count = 0;
    if (matching->meetings.count && !join_by_order(matching, members, end - first))
        join_by_ends(matching, members, end - first);
    return add_alone(matching, members, end - first);
}

static bool find_members(struct matching *matching)
{
    const struct collective_list *list = matching->list;

    for (size_t i = 0, next; i < list->items.count; i = next) {
        struct member member = make_member(matching, i);

        next = member.end;
        if (list->items.items[i].by != MATCHED_BY_NUMBER &&
            !vec_push(&matching->members, matching->scratch, member))
            return false;
    }
    if (matching->members.count > 1)
        qsort(matching->members.items, matching->members.count, sizeof *matching->members.items,
              compare_members);
    return true;
}

bool collective_match(const struct profile *profile, struct arena *scratch,
                      struct collective_list *list)
{
    struct matching matching = { .profile = profile, .scratch = scratch, .list = list };
    size_t          end;

    if (!find_members(&matching))
        return false;
    for (size_t first = 0; first < matching.members.count; first = end) {
        const struct member *member = &matching.members.items[first];

        end = first + 1;
        while (end < matching.members.count && member->name == matching.members.items[end].name &&
               member->host == matching.members.items[end].host)
            end++;
        if (!match_host(&matching, first, end))
            return false;
    }
    for (size_t i = 0; i < matching.members.count; i++)
        for (size_t j = matching.members.items[i].first; j < matching.members.items[i].end; j++) {
            list->items.items[j].key = matching.members.items[i].meeting;
            list->items.items[j].by = matching.members.items[i].by;
        }
    return true;
}
