#include "analyze/comm/collective_match.h"
#include "analyze/device/async_ops.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *part, *type;
} type_names[] = {
    /* lower case, without dashes and underscores; specific before general */
    { "allreduce", "all-reduce" },
    { "reducescatter", "reduce-scatter" },
    { "allgather", "all-gather" },
    { "raggedalltoall", "ragged-all-to-all" },
    { "alltoall", "all-to-all" },
    { "collectivepermute", "collective-permute" },
    { "ppermute", "collective-permute" },
    { "broadcast", "broadcast" },
    { "barrier", "barrier" },
    { "sendrecv", "send-recv" },
    { "send", "send" },
    { "recv", "recv" },
    { "psum", "all-reduce" },
    { "reduce", "reduce" },
};

const char *collective_type(const struct profile *profile, uint32_t event)
{
    enum { LONGEST_NAME = 256 };
    char       text[LONGEST_NAME];
    struct str name = profile_str(profile, event_activity(profile, event)->name);
    struct str small = { text, 0 };
    int64_t    row;

    if (profile_stat(profile, STAT_COLLECTIVE, event, &row) && row >= 0 &&
        (uint64_t)row < profile->collectives.count && profile->collectives.items[row].type != 0)
        return profile_str(profile, profile->collectives.items[row].type).data;
    for (size_t i = 0; i < name.len && small.len < LONGEST_NAME; i++) {
        char byte = name.data[i];

        if (byte != '-' && byte != '_')
            text[small.len++] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
    }
    for (size_t i = 0; i < ARRAY_COUNT(type_names); i++)
        if (str_contains(small, str_from(type_names[i].part)))
            return type_names[i].type;
    return "collective";
}

double collective_payload(const struct profile *profile, uint32_t event, double *group_size)
{
    int64_t row, bytes;

    if (profile_stat(profile, STAT_COLLECTIVE, event, &row) && row >= 0 &&
        (uint64_t)row < profile->collectives.count) {
        const struct collective *from = &profile->collectives.items[row];

        if (from->group_size > 0)
            *group_size = from->group_size;
        if (from->bytes_in >= 0 || from->bytes_out >= 0)
            return (double)(from->bytes_in > from->bytes_out ? from->bytes_in : from->bytes_out);
    }
    return profile_stat(profile, STAT_BYTES, event, &bytes) ? (double)bytes : -1;
}

double collective_bus_factor(const char *type, double n)
{
    if (n < 2)
        return 0;
    if (strcmp(type, "all-reduce") == 0)
        return 2 * (n - 1) / n;
    if (strcmp(type, "all-gather") == 0 || strcmp(type, "reduce-scatter") == 0 ||
        strcmp(type, "all-to-all") == 0)
        return (n - 1) / n;
    return 1;
}

uint64_t collective_kind(const struct profile *profile, uint32_t event)
{
    uint32_t activity = event_activity_id(profile, event), type = 0;
    int64_t  row;

    if (profile_stat(profile, STAT_COLLECTIVE, event, &row) && row >= 0 &&
        (uint64_t)row < profile->collectives.count)
        type = profile->collectives.items[row].type;
    return (uint64_t)type << 32 | activity;
}

bool collective_is_other(const struct collective_instance *a, const struct collective_instance *b)
{
    bool are_threads = a->device == NO_ID && a->first_end_ns && b->first_end_ns;

    return a->key == b->key && (a->host != b->host || a->device != b->device || are_threads);
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
    return (hash ^ more) * 0x9e3779b97f4a7c15u ^ (hash >> 31);
}

/* Devices of one process that run on threads of the host: they are in the same collective at the
 * same time, in the same run of their program. */
static bool is_beside(const struct profile *profile, const struct collective_instance *before,
                      const struct collective_instance *instance)
{
    int64_t run, run_before;

    return instance->device == NO_ID && instance->start_ns < before->first_end_ns &&
           profile_stat(profile, STAT_RUN_ID, before->event, &run_before) &&
           profile_stat(profile, STAT_RUN_ID, instance->event, &run) && run == run_before;
}

/* Collectives carry a sequence number in their group. Else those of one host's devices are one by
 * name and turn, each device by itself. last_of: row of a device's last one of a name. */
static bool make_key(const struct profile *profile, struct id_map *last_of,
                     struct collective_list *list, uint32_t at)
{
    struct collective_instance *instance = &list->items.items[at];
    uint32_t                    name = event_activity(profile, instance->event)->name;
    uint64_t place = mix(mix((uint64_t)instance->host << 32 | name, 2), instance->device);
    int64_t  row;
    uint32_t before;

    if (profile_stat(profile, STAT_COLLECTIVE, instance->event, &row) && row >= 0 &&
        (uint64_t)row < profile->collectives.count &&
        profile->collectives.items[row].sequence >= 0) {
        const struct collective *collective = &profile->collectives.items[row];

        instance->key =
            mix(mix(collective->group, collective->type), (uint64_t)collective->sequence);
        return true;
    }
    instance->by = MATCHED_BY_ORDER;
    before = id_map_get(last_of, place);
    instance->first_end_ns = instance->end_ns;
    if (before != NO_ID) {
        const struct collective_instance *last = &list->items.items[before];
        bool                              beside = is_beside(profile, last, instance);

        instance->turn = last->turn + !beside;
        if (beside && last->first_end_ns < instance->first_end_ns)
            instance->first_end_ns = last->first_end_ns;
    }
    instance->key = mix(mix(mix(1, name), instance->turn), instance->host);
    return id_map_put(last_of, place, at);
}

static int compare_instances(const void *a, const void *b)
{
    const struct collective_instance *left = a, *right = b;

    return IN_ORDER(COMPARE(left->key, right->key), COMPARE(left->host, right->host),
                    COMPARE(left->event, right->event));
}

static bool has_kind(const struct profile *profile, const struct timeline *timeline)
{
    for (uint32_t j = 0; j < timeline->event_count; j++)
        if (event_activity(profile, timeline->first_event + j)->kind == ACTIVITY_COLLECTIVE)
            return true;
    return false;
}

/* Collects the collectives of all hosts. */
struct collector {
    const struct profile   *profile;
    const struct windows   *windows;
    struct arena           *scratch;
    struct collective_list *list;
    bool                   *is_on_device; /* by host */
    uint32_t *end_of; /* by event: what ends what it begins; NO_ID: it ends one. NULL: none do */
};

/* What one instruction of a core begins and another ends is one collective. */
static bool find_ends(struct collector *collector, uint32_t host)
{
    const struct profile *profile = collector->profile;
    struct async_ops      ops;

    if (!async_ops_find(profile, host, collector->scratch, &ops))
        return false;
    for (size_t i = 0; i < ops.list.count; i++) {
        const struct async_op *op = &ops.list.items[i];

        if (event_activity(profile, op->start_event)->kind != ACTIVITY_COLLECTIVE)
            continue;
        if (!collector->end_of) {
            collector->end_of = arena_new_array(collector->scratch, uint32_t, profile->event_count);
            if (!collector->end_of)
                return false;
            for (uint32_t event = 0; event < profile->event_count; event++)
                collector->end_of[event] = event;
        }
        collector->end_of[op->start_event] = op->end_event;
        collector->end_of[op->end_event] = NO_ID;
    }
    return true;
}

static bool add_timeline(struct collector *collector, const struct timeline *timeline)
{
    const struct profile *profile = collector->profile;
    int64_t               outer_end_ns = INT64_MIN;

    for (uint32_t j = 0; j < timeline->event_count; j++) {
        uint32_t                   event = timeline->first_event + j;
        uint32_t                   end = collector->end_of ? collector->end_of[event] : event;
        struct collective_instance instance = { .host = timeline->host,
                                                .event = event,
                                                .end_event = end,
                                                .device = timeline->device,
                                                .start_ns = event_start_ns(profile, event) };

        if (event_activity(profile, event)->kind != ACTIVITY_COLLECTIVE || end == NO_ID ||
            instance.start_ns < outer_end_ns)
            continue;
        outer_end_ns = event_end_ns(profile, event);
        instance.end_ns = event_end_ns(profile, end);
        instance.is_inside = windows_find(collector->windows, instance.start_ns) != SIZE_MAX;
        if (!vec_push(&collector->list->items, collector->scratch, instance))
            return false;
    }
    return true;
}

static bool collect(struct collector *collector)
{
    const struct profile *profile = collector->profile;

    collector->is_on_device = arena_new_array(collector->scratch, bool, profile->hosts.count + 1);
    if (!collector->is_on_device)
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].device != NO_ID &&
            profile->timelines.items[i].kind != TIMELINE_DERIVED &&
            has_kind(profile, &profile->timelines.items[i]))
            collector->is_on_device[profile->timelines.items[i].host] = true;
    for (uint32_t host = 0; host < profile->hosts.count; host++)
        if (collector->is_on_device[host] && !find_ends(collector, host))
            return false;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        if (timeline->kind == TIMELINE_DERIVED ||
            (timeline->device == NO_ID && collector->is_on_device[timeline->host]))
            continue;
        if (!add_timeline(collector, timeline))
            return false;
    }
    return true;
}

/* When a host has come to a collective: the first instance of each of its devices counts, and the
 * last of those. *end: one past its instances. */
static int64_t arrival_ns(const struct collective_list *list, size_t first, size_t *end)
{
    const struct collective_instance *items = list->items.items;
    int64_t                           latest_ns = items[first].start_ns;
    size_t                            i = first + 1;

    for (; i < *end && items[i].host == items[first].host; i++)
        if (items[i].device != items[i - 1].device && items[i].start_ns > latest_ns)
            latest_ns = items[i].start_ns;
    *end = i;
    return latest_ns;
}

/* One collective's instances, one or more a host. */
static void match(struct collective_list *list, size_t first, size_t end)
{
    int64_t  earliest_ns = INT64_MAX, latest_ns = INT64_MIN;
    uint32_t last_host = NO_ID;
    uint8_t  by = MATCHED_BY_NUMBER;
    bool     is_inside = false;

    for (size_t i = first; i < end; i++) {
        is_inside = is_inside || list->items.items[i].is_inside;
        by = list->items.items[i].by > by ? list->items.items[i].by : by;
    }
    if (!is_inside)
        return;
    if (list->items.items[first].host == list->items.items[end - 1].host) {
        list->alone_count++;
        return;
    }
    for (size_t i = first, next = end; i < end; i = next, next = end) {
        int64_t come_ns = arrival_ns(list, i, &next);

        if (come_ns < earliest_ns)
            earliest_ns = come_ns;
        if (come_ns > latest_ns) {
            latest_ns = come_ns;
            last_host = list->items.items[i].host;
        }
    }
    for (size_t i = first, next = end; i < end; i = next, next = end) {
        int64_t               come_ns = arrival_ns(list, i, &next);
        struct host_lateness *host = &list->hosts[list->items.items[i].host];

        host->count++;
        host->late_ns += (double)(come_ns - earliest_ns);
    }
    list->hosts[last_host].last_count++;
    list->matched_count++;
    list->matched_by[by]++;
    list->skew_ns += (double)(latest_ns - earliest_ns);
}

static int compare_starts(const void *a, const void *b)
{
    const struct collective_instance *left = a, *right = b;

    return IN_ORDER(COMPARE(left->start_ns, right->start_ns), COMPARE(left->event, right->event));
}

bool collective_list_make(const struct study *study, const struct windows *windows,
                          struct arena *scratch, struct collective_list *list)
{
    const struct profile *profile = study->profile;
    struct id_map         last_of = { .arena = scratch };
    struct collector      collector = {
             .profile = profile, .windows = windows, .scratch = scratch, .list = list
    };
    size_t end;

    *list = (struct collective_list) { 0 };
    list->hosts = arena_new_array(scratch, struct host_lateness, profile->hosts.count + 1);
    if (!list->hosts || !collect(&collector))
        return false;
    if (list->items.count == 0)
        return true;
    qsort(list->items.items, list->items.count, sizeof *list->items.items, compare_starts);
    for (uint32_t i = 0; i < list->items.count; i++)
        if (!make_key(profile, &last_of, list, i))
            return false;
    qsort(list->items.items, list->items.count, sizeof *list->items.items, compare_instances);
    if (profile->hosts.count > 1) {
        if (!collective_match(profile, scratch, list))
            return false;
        qsort(list->items.items, list->items.count, sizeof *list->items.items, compare_instances);
    }
    for (size_t first = 0; first < list->items.count; first = end) {
        end = first + 1;
        while (end < list->items.count &&
               list->items.items[end].key == list->items.items[first].key)
            end++;
        match(list, first, end);
    }
    end = 0;
    for (size_t i = 0; i < list->items.count; i++)
        if (list->items.items[i].is_inside)
            list->items.items[end++] = list->items.items[i];
    list->items.count = end;
    return true;
}
