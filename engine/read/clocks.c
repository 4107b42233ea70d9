#include "read/clocks.h"

#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "base/trace.h"
#include "model/names.h"

#include <math.h>
#include <stdlib.h>

/* Farther apart they are no recordings of one job. */
#define FARTHEST_NS INT64_C(86400000000000)
enum {
    LEAST_MATCHES = 4,
    CLOSE_NS = 200000, /* collectives of ranks on one clock end within as much */
    DEVIATIONS = 4,    /* a shift is as many times what the differences deviate from it */
    EARLY_PART = 10    /* one in so many that cannot be makes times incomparable */
};

struct meeting {  /* a host's part in a collective */
    uint64_t key; /* equal on all hosts */
    uint64_t run; /* of a collective without a number: those it was counted among, else 0 */
    uint32_t host, order;
    int64_t  start_ns, end_ns;
};
struct host_step {
    uint32_t host;
    int64_t  start_ns, number;
};
struct clocks {
    struct profile *profile;
    struct arena   *scratch;
    VEC(struct meeting) meetings; /* by host, then key */
    VEC(struct host_step) steps;  /* by host, then time */
    struct id_map counts;         /* run and host -> collectives */
    size_t       *first;          /* meetings of a host, and behind the last */
};

static const struct timeline *timeline_of(const struct profile *profile, uint32_t event)
{
    const struct timeline *timelines = profile->timelines.items;
    size_t behind = LOWER_BOUND(profile->timelines.count, i, timelines[i].first_event <= event);

    return &timelines[behind - (behind > 0)];
}

/* Nobody leaves these before all have come. */
static bool joins_all(const struct profile *profile, const struct collective *collective)
{
    return name_is(profile_str(profile, collective->type), NAMES_ALL_RANKS_MEET);
}

static int compare_steps(const void *left, const void *right)
{
    const struct host_step *a = left, *b = right;

    return IN_ORDER(COMPARE(a->host, b->host), COMPARE(a->start_ns, b->start_ns));
}

static bool find_steps(struct clocks *clocks)
{
    const struct profile     *profile = clocks->profile;
    const struct stat_column *column = &profile->stats[STAT_STEP_NUMBER];

    for (size_t i = 0; i < stat_count(column); i++) {
        uint32_t         event = stat_event(column, i);
        struct host_step step = { .host = timeline_of(profile, event)->host,
                                  .start_ns = event_start_ns(profile, event),
                                  .number = stat_value(column, i) };

        if (timeline_of(profile, event)->device == NO_ID &&
            !vec_push(&clocks->steps, clocks->scratch, step))
            return false;
    }
    if (clocks->steps.count)
        qsort(clocks->steps.items, clocks->steps.count, sizeof *clocks->steps.items, compare_steps);
    return true;
}

/* Number of the step that a host's moment lies in; -1 ahead of all. */
static int64_t step_at(const struct clocks *clocks, uint32_t host, int64_t time_ns)
{
    const struct host_step *steps = clocks->steps.items;
    size_t                  low = LOWER_BOUND(clocks->steps.count, i,
                                              steps[i].host < host ||
                                                  (steps[i].host == host && steps[i].start_ns <= time_ns));

    return low && steps[low - 1].host == host ? steps[low - 1].number : -1;
}

/* By time, so that what is counted is counted in order. */
static int compare_times(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;

    return IN_ORDER(COMPARE(a->start_ns, b->start_ns), COMPARE(a->order, b->order));
}

static int compare_keys(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;

    return IN_ORDER(COMPARE(a->host, b->host), COMPARE(a->key, b->key), compare_times(left, right));
}

/* Where a host has collectives on devices, those on its threads (the calls that launch them) do not
 * count. */
static bool find_meetings(struct clocks *clocks)
{
    const struct profile     *profile = clocks->profile;
    const struct stat_column *column = &profile->stats[STAT_COLLECTIVE];
    bool *is_on_device = arena_new_array(clocks->scratch, bool, profile->hosts.count);

    if (!is_on_device)
        return false;
    for (size_t i = 0; i < stat_count(column); i++) {
        const struct timeline *timeline = timeline_of(profile, stat_event(column, i));

        is_on_device[timeline->host] |= timeline->device != NO_ID;
    }
    for (size_t i = 0; i < stat_count(column); i++) {
        uint32_t                 event = stat_event(column, i);
        const struct timeline   *timeline = timeline_of(profile, event);
        const struct collective *row;
        struct meeting           meeting = { .host = timeline->host,
                                             .order = (uint32_t)i,
                                             .start_ns = event_start_ns(profile, event),
                                             .end_ns = event_end_ns(profile, event) };

        if ((timeline->device == NO_ID && is_on_device[timeline->host]) ||
            (uint64_t)stat_value(column, i) >= profile->collectives.count)
            continue;
        row = &profile->collectives.items[stat_value(column, i)];
        if (!joins_all(profile, row))
            continue;
        if (row->sequence >= 0)
            meeting.key = hash_mix(hash_mix(row->group, row->type), (uint64_t)row->sequence);
        else
            meeting.run = hash_mix(event_activity(profile, event)->name,
                                   (uint64_t)step_at(clocks, meeting.host, meeting.start_ns));
        if (!vec_push(&clocks->meetings, clocks->scratch, meeting))
            return false;
    }
    return true;
}

static uint32_t count_of(const struct clocks *clocks, uint64_t run, uint32_t host)
{
    uint32_t count = id_map_get(&clocks->counts, hash_mix(run, host));

    return count == NO_ID ? 0 : count;
}

/* Collectives without a number are the same where they are as far along in the same run. */
static bool number_meetings(struct clocks *clocks)
{
    size_t count = clocks->meetings.count;

    qsort(clocks->meetings.items, count, sizeof *clocks->meetings.items, compare_times);
    for (size_t i = 0; i < count; i++) {
        struct meeting *meeting = &clocks->meetings.items[i];
        uint32_t        before;

        if (!meeting->run)
            continue;
        before = count_of(clocks, meeting->run, meeting->host);
        meeting->key = hash_mix(hash_mix(meeting->run, 1), before);
        if (!id_map_put(&clocks->counts, hash_mix(meeting->run, meeting->host), before + 1))
            return false;
    }
    qsort(clocks->meetings.items, count, sizeof *clocks->meetings.items, compare_keys);
    clocks->first = arena_new_array(clocks->scratch, size_t, clocks->profile->hosts.count + 1);
    if (!clocks->first)
        return false;
    for (size_t i = 0; i < count; i++)
        clocks->first[clocks->meetings.items[i].host + 1] = i + 1;
    for (size_t host = 0; host < clocks->profile->hosts.count; host++)
        if (clocks->first[host + 1] < clocks->first[host])
            clocks->first[host + 1] = clocks->first[host];
    return true;
}

struct shared { /* a collective that the first host and another one took part in */
    const struct meeting *first, *other;
};

static size_t find_shared(const struct clocks *clocks, uint32_t host, struct shared *found)
{
    const struct meeting *items = clocks->meetings.items;
    size_t                a = clocks->first[0], b = clocks->first[host], count = 0;

    while (a < clocks->first[1] && b < clocks->first[host + 1]) {
        if (items[a].key != items[b].key) {
            if (items[a].key < items[b].key)
                a++;
            else
                b++;
            continue;
        }
        if (count_of(clocks, items[a].run, 0) == count_of(clocks, items[b].run, host) &&
            llabs(items[a].end_ns - items[b].end_ns) <= FARTHEST_NS)
            found[count++] = (struct shared) { &items[a], &items[b] };
        a++;
        b++;
    }
    return count;
}

/* Those that one of the two leaves before the other one has come. */
static uint32_t count_early(const struct shared *shared, size_t count, int64_t shift_ns)
{
    uint32_t early = 0;

    for (size_t i = 0; i < count; i++)
        early += shared[i].first->end_ns < shared[i].other->start_ns + shift_ns ||
                 shared[i].other->end_ns + shift_ns < shared[i].first->start_ns;
    return early;
}

static void note_clock(struct profile *profile, const struct host *host)
{
    struct str name = profile_str(profile, host->name);

    if (host->clock_shift_ns)
        profile_note(profile, NULL, 1,
                     "the clock of %.*s was moved by %.3f ms, so that its %u collectives end when "
                     "those of the first host do, within %.3f ms",
                     STR_ARG(name), (double)host->clock_shift_ns / 1e6, host->clock_meetings,
                     (double)host->clock_deviation_ns / 1e6);
    if (host->clock_early > host->clock_meetings / EARLY_PART)
        profile_note(profile, NULL, 1,
                     "%u of %u collectives of %.*s end before another host has come to them: its "
                     "clock could not be aligned",
                     host->clock_early, host->clock_meetings, STR_ARG(name));
}

/* What a host's clock has to be moved by, into its row. False: no memory. */
static bool judge(struct clocks *clocks, uint32_t host)
{
    struct profile *profile = clocks->profile;
    struct host    *row = &profile->hosts.items[host];
    size_t          room = clocks->first[host + 1] - clocks->first[host] + 1, count;
    struct shared  *shared = arena_new_array(clocks->scratch, struct shared, room);
    double         *late_ns = arena_new_array(clocks->scratch, double, room);
    int64_t         shift_ns;

    if (!shared || !late_ns)
        return false;
    count = find_shared(clocks, host, shared);
    if (count < LEAST_MATCHES)
        return true;
    for (size_t i = 0; i < count; i++)
        late_ns[i] = (double)(shared[i].first->end_ns - shared[i].other->end_ns);
    shift_ns = (int64_t)sample_kth(late_ns, count, count / 2);
    for (size_t i = 0; i < count; i++)
        late_ns[i] = fabs(late_ns[i] - (double)shift_ns);
    row->clock_deviation_ns = (int64_t)sample_kth(late_ns, count, count / 2);
    row->clock_meetings = (uint32_t)count;
    if (row->name != profile->hosts.items[0].name && llabs(shift_ns) > CLOSE_NS &&
        row->clock_deviation_ns <= llabs(shift_ns) / DEVIATIONS)
        row->clock_shift_ns = shift_ns;
    row->clock_early = count_early(shared, count, row->clock_shift_ns);
    if (trace_is_on("read", 1))
        trace_print("read", "clocks: host %u, %zu collectives, %u left early, %lld ns, +- %lld ns",
                    host, count, row->clock_early, (long long)shift_ns,
                    (long long)row->clock_deviation_ns);
    note_clock(profile, row);
    return true;
}

static bool move_events(struct profile *profile, const struct timeline *timeline, int64_t shift_ns)
{
    int64_t           starts_ns[EVENT_BATCH], durations_ns[EVENT_BATCH], labels[EVENT_BATCH];
    struct event_rows rows = { starts_ns, durations_ns, labels };
    uint32_t          some;

    for (uint32_t done = 0; done < timeline->event_count; done += some) {
        uint32_t first = timeline->first_event + done;

        some = timeline->event_count - done;
        some = some < EVENT_BATCH ? some : EVENT_BATCH;
        packed_read(&profile->event_starts_ns, first, some, starts_ns);
        packed_read(&profile->event_durations_ns, first, some, durations_ns);
        packed_read(&profile->event_labels, first, some, labels);
        for (uint32_t i = 0; i < some; i++) {
            int64_t end_ns = starts_ns[i] += shift_ns;

            end_ns += durations_ns[i];
            profile->end_ns = end_ns > profile->end_ns ? end_ns : profile->end_ns;
        }
        if (!profile_write_events(profile, first, &rows, some))
            return false;
    }
    return true;
}

static uint32_t memory_host(const struct profile *profile, const struct memory_event *memory)
{
    if (memory->device != NO_ID)
        return profile->devices.items[memory->device].host;
    return memory->event == NO_ID ? 0 : timeline_of(profile, memory->event)->host;
}

static int compare_memory(const void *left, const void *right)
{
    const struct memory_event *a = left, *b = right;

    return COMPARE(a->time_ns, b->time_ns);
}

/* Time 0 stays the earliest event. */
static bool move_hosts(struct profile *profile)
{
    int64_t least_ns = 0;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];
        int64_t                first_ns;

        if (!timeline->event_count)
            continue;
        first_ns = event_start_ns(profile, timeline->first_event) +
                   profile->hosts.items[timeline->host].clock_shift_ns;
        least_ns = first_ns < least_ns ? first_ns : least_ns;
    }
    profile->end_ns = 0;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (!move_events(profile, timeline,
                         profile->hosts.items[timeline->host].clock_shift_ns - least_ns))
            return false;
    }
    for (size_t i = 0; i < profile->memory_events.count; i++) {
        struct memory_event *memory = &profile->memory_events.items[i];

        memory->time_ns +=
            profile->hosts.items[memory_host(profile, memory)].clock_shift_ns - least_ns;
    }
    if (profile->memory_events.count)
        qsort(profile->memory_events.items, profile->memory_events.count,
              sizeof *profile->memory_events.items, compare_memory);
    for (size_t i = 0; i < profile->counters.count; i++)
        profile->counters.items[i].time_ns +=
            profile->hosts.items[profile->counters.items[i].host].clock_shift_ns - least_ns;
    if (profile->origin_ns)
        profile->origin_ns += least_ns;
    return true;
}

bool clocks_align(struct profile *profile, struct arena *scratch)
{
    struct clocks clocks = { .profile = profile, .scratch = scratch, .counts.arena = scratch };
    bool          is_moved = false;

    if (profile->hosts.count < 2 || !profile->timelines.count)
        return true;
    if (!find_steps(&clocks) || !find_meetings(&clocks))
        return false;
    if (!clocks.meetings.count)
        return true;
    if (!number_meetings(&clocks))
        return false;
    for (uint32_t host = 1; host < profile->hosts.count; host++) {
        if (!judge(&clocks, host))
            return false;
        is_moved |= profile->hosts.items[host].clock_shift_ns != 0;
    }
    return !is_moved || move_hosts(profile);
}
