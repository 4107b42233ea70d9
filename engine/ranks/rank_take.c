/* rank_take: what a study has of its reference host, as a summary. */
#include "analyze/comm/collective_list.h"
#include "analyze/comm/rank_times.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "ranks/taking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_STEPS = 512,
    MOST_MEETINGS = 4096, /* collectives; beyond it those of every second, fourth … step are kept */
    MOST_FAMILIES = 48,
    LONGEST_NAME = 96,
    LONGEST_GROUP = 48,
};

struct family { /* what ran on the path under one name, as one part */
    uint32_t name, part;
    int64_t  count, ns;
    int64_t  buckets[64]; /* by the logarithm of the length */
};
void taking_push(struct taking *taking, struct numbers *numbers, int64_t number)
{
    taking->is_full |= !vec_push(numbers, taking->arena, number);
}

int64_t taking_name(struct taking *taking, struct intern *names, struct str text)
{
    uint32_t row = intern_add(names, str_slice(text, 0, LONGEST_NAME));

    taking->is_full |= row == NO_ID;
    return row;
}

static struct str keep(struct taking *taking, struct str text)
{
    struct str kept = arena_str(taking->arena, text);

    taking->is_full |= !kept.data;
    return kept.data ? kept : STR("");
}

static void take_device(struct taking *taking)
{
    const struct profile *profile = taking->study->profile;
    struct rank_summary  *summary = taking->summary;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct device *device = &profile->devices.items[i];

        if (device->host != taking->host || device->kind == DEVICE_CPU || device->unit_of)
            continue;
        if (summary->device_count++ == 0) {
            summary->device = keep(taking, profile_str(profile, device->model));
            summary->device_kind = device->kind;
        }
    }
}

static void take_place(struct taking *taking)
{
    const struct profile *profile = taking->study->profile;
    const struct host    *host = &profile->hosts.items[taking->host];
    struct rank_summary  *summary = taking->summary;

    summary->rank = host->rank;
    summary->host = keep(taking, profile_str(profile, host->name));
    summary->name = keep(taking, str_from(profile->name));
    summary->world_size =
        host->world_size ? host->world_size : (profile->world_size > 0 ? profile->world_size : 0);
    summary->cores = taking->study->path.core_count;
    summary->origin_ns = profile->origin_ns;
    summary->format = profile->format;
    summary->framework = keep(taking, profile_str(profile, profile->framework));
    summary->framework_version = keep(taking, profile_str(profile, profile->framework_version));
    take_device(taking);
    for (size_t i = 0; i < profile->notes.count; i++)
        if (profile->notes.items[i].is_damage)
            taking_push(
                taking, &summary->damage,
                taking_name(taking, &taking->names, str_from(profile->notes.items[i].what)));
}

/* Every so many steps, so that all ranks keep the same ones: a power of two, and by their number.
 */
static int64_t stride_of(size_t count, size_t most)
{
    int64_t stride = 1;

    while (count / (size_t)stride > most)
        stride *= 2;
    return stride;
}

static void take_steps(struct taking *taking)
{
    const struct steps  *steps = &taking->study->steps;
    struct rank_summary *summary = taking->summary;
    int64_t              stride = stride_of(steps->used_count, MOST_STEPS);

    summary->step_source = steps->source;
    summary->step_marker = keep(taking, str_from(steps->marker_name));
    summary->step_ns = steps_ns(steps);
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host != taking->host)
            continue;
        summary->left_out += !step->is_used;
        if (!step->is_used || (step->number % stride != 0 && !step->is_sampled))
            continue;
        taking_push(taking, &summary->step_number, step->number);
        taking_push(taking, &summary->step_start, step->start_ns);
        taking_push(taking, &summary->step_length, step->end_ns - step->start_ns);
    }
}

/* Row of the step that holds a moment, or SIZE_MAX. */
static size_t step_at(const struct rank_summary *summary, int64_t time_ns)
{
    const int64_t *starts = summary->step_start.items;
    size_t         behind = LOWER_BOUND(summary->step_start.count, i, starts[i] <= time_ns);

    return behind && starts[behind - 1] + summary->step_length.items[behind - 1] > time_ns
               ? behind - 1
               : SIZE_MAX;
}

static void take_parts(struct taking *taking)
{
    const struct path   *path = &taking->study->path;
    const struct steps  *steps = &taking->study->steps;
    struct rank_summary *summary = taking->summary;
    size_t               at = 0;

    for (int part = 0; part < PART_COUNT && path->step_rows.count; part++)
        taking_push(taking, &summary->part_name,
                    taking_name(taking, &taking->names, str_from(part_name((enum part)part))));
    for (size_t i = 0; i < path->step_rows.count; i++) {
        int64_t ns[PART_COUNT] = { 0 };
        size_t  row = step_at(summary, steps->list.items[path->step_rows.items[i]].start_ns);

        for (;
             at < path->segments.count && path->segments.items[at].step <= path->step_rows.items[i];
             at++)
            if (path->segments.items[at].step == path->step_rows.items[i])
                ns[path->segments.items[at].part] +=
                    path->segments.items[at].end_ns - path->segments.items[at].start_ns;
        if (row == SIZE_MAX)
            continue;
        taking_push(taking, &summary->part_step, (int64_t)row);
        for (int part = 0; part < PART_COUNT; part++)
            taking_push(taking, &summary->part_ns, ns[part]);
    }
}

int64_t rank_weight(double own_ns)
{
    static const double BASE = 1.05;

    return (int64_t)floor(log(fmax(1, own_ns)) / log(BASE));
}

static void take_weight(struct taking *taking)
{
    struct rank_summary *summary = taking->summary;
    double *own_ns = arena_new_array(&taking->scratch, double, summary->part_step.count + 1);

    taking->is_full |= !own_ns;
    for (size_t step = 0; own_ns && step < summary->part_step.count; step++)
        for (size_t part = 0; part < PART_COUNT; part++)
            if (part != PART_COMMUNICATION)
                own_ns[step] += (double)summary->part_ns.items[step * PART_COUNT + part];
    if (own_ns)
        summary->weight = rank_weight(sample_middle(own_ns, summary->part_step.count));
}

/* "void at::native::elementwise<4, …>(…)" is "at::native::elementwise", "fusion.12" is "fusion". */
static struct str family_name(struct str name)
{
    size_t end;

    if (str_starts(name, STR("void ")))
        name = str_slice(name, 5, name.len);
    end = str_find(name, '<');
    if (str_find(name, '(') < end)
        end = str_find(name, '(');
    if (end > 0)
        name = str_slice(name, 0, end);
    end = name.len;
    while (end > 0 && name.data[end - 1] >= '0' && name.data[end - 1] <= '9')
        end--;
    if (end > 1 && end < name.len && (name.data[end - 1] == '.' || name.data[end - 1] == '_'))
        name = str_slice(name, 0, end - 1);
    return name;
}

static struct str segment_name(const struct study *study, const struct segment *segment)
{
    if (segment->frame != NO_ID && segment->frame < study->path.frames.count) {
        uint32_t event = study->path.frames.items[segment->frame].event;

        return family_name(
            profile_str(study->profile, event_activity(study->profile, event)->name));
    }
    return segment->is_python ? STR("Python") : STR("");
}

static unsigned log2_of(int64_t ns)
{
    return ns > 0 ? 63 - (unsigned)__builtin_clzll((uint64_t)ns) : 0;
}

static int compare_families(const void *a, const void *b)
{
    const struct family *left = a, *right = b;

    return IN_ORDER(COMPARE(right->ns, left->ns), COMPARE(left->part, right->part),
                    COMPARE(left->name, right->name));
}

struct family_list {
    VEC(struct family) items;
    struct intern names;
};

static bool sum_families(struct taking *taking, struct family_list *list)
{
    const struct path *path = &taking->study->path;
    struct id_map      rows = { .arena = &taking->scratch };

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        int64_t               ns = segment->end_ns - segment->start_ns;
        uint32_t name = intern_add(&list->names, segment_name(taking->study, segment)), row;
        uint64_t key = (uint64_t)name << 8 | segment->part;

        row = name == NO_ID ? NO_ID : id_map_get(&rows, key);
        if (row == NO_ID) {
            struct family fresh = { .name = name, .part = segment->part };

            row = (uint32_t)list->items.count;
            if (name == NO_ID || !vec_push(&list->items, &taking->scratch, fresh) ||
                !id_map_put(&rows, key, row))
                return false;
        }
        list->items.items[row].count++;
        list->items.items[row].ns += ns;
        list->items.items[row].buckets[log2_of(ns)]++;
    }
    if (list->items.count > 1)
        qsort(list->items.items, list->items.count, sizeof *list->items.items, compare_families);
    return true;
}

static void take_families(struct taking *taking)
{
    struct family_list   list = { 0 };
    struct rank_summary *summary = taking->summary;

    if (!intern_init(&list.names, &taking->scratch) || !sum_families(taking, &list)) {
        taking->is_full = true;
        return;
    }
    for (size_t i = 0; i < list.items.count && i < MOST_FAMILIES; i++) {
        const struct family *family = &list.items.items[i];

        taking_push(taking, &summary->family_name,
                    taking_name(taking, &taking->names, intern_str(&list.names, family->name)));
        taking_push(
            taking, &summary->family_part,
            taking_name(taking, &taking->names, str_from(part_name((enum part)family->part))));
        taking_push(taking, &summary->family_count, family->count);
        taking_push(taking, &summary->family_ns, family->ns);
        for (int bucket = 0; bucket < 64; bucket++) {
            if (!family->buckets[bucket])
                continue;
            taking_push(taking, &summary->bucket_family, (int64_t)i);
            taking_push(taking, &summary->bucket_log2, bucket);
            taking_push(taking, &summary->bucket_count, family->buckets[bucket]);
        }
    }
}

static const struct collective *args_of(const struct profile *profile, uint32_t event)
{
    int64_t row;

    return profile_stat(profile, STAT_COLLECTIVE, event, &row) && row >= 0 &&
                   (uint64_t)row < profile->collectives.count
               ? &profile->collectives.items[row]
               : NULL;
}

/* Lists of thousands of ranks are told apart by what they hash to. */
static int64_t group_name(struct taking *taking, struct str name)
{
    char short_name[LONGEST_GROUP + 32];

    if (name.len <= LONGEST_GROUP)
        return taking_name(taking, &taking->names, name);
    snprintf(short_name, sizeof short_name, "%.*s… %016llx", (int)LONGEST_GROUP, name.data,
             (unsigned long long)str_hash(name));
    return taking_name(taking, &taking->names, str_from(short_name));
}

struct part_of { /* what the host had of one collective */
    uint64_t key;
    uint32_t event;
    int64_t  come_ns, left_ns;
    bool     is_numbered;
};
struct part_list {
    VEC(struct part_of) items;
};

static int compare_parts(const void *a, const void *b)
{
    const struct part_of *left = a, *right = b;

    return IN_ORDER(COMPARE(left->come_ns, right->come_ns), COMPARE(left->event, right->event));
}

/* Its devices each have an instance, one behind the other: it has come when the last of them has.
 */
static bool join_instances(struct taking *taking, const struct collective_list *list,
                           struct part_list *parts)
{
    for (size_t i = 0; i < list->items.count; i++) {
        const struct collective_instance *item = &list->items.items[i];
        struct part_of                   *last =
            parts->items.count ? parts->items.items + parts->items.count - 1 : NULL;

        if (item->host != taking->host || step_at(taking->summary, item->start_ns) == SIZE_MAX)
            continue;
        if (last && last->key == item->key) {
            last->come_ns = item->start_ns > last->come_ns ? item->start_ns : last->come_ns;
            last->left_ns = item->end_ns < last->left_ns ? item->end_ns : last->left_ns;
        } else if (!vec_push(&parts->items, &taking->scratch,
                             (struct part_of) { item->key, item->event, item->start_ns,
                                                item->end_ns, item->by == MATCHED_BY_NUMBER })) {
            return false;
        }
    }
    if (parts->items.count > 1)
        qsort(parts->items.items, parts->items.count, sizeof *parts->items.items, compare_parts);
    return true;
}

/* Row of the group that meets in this collective: its members tell the same name and type. Without
 * sequence numbers the name of the group tells it, where it is recorded, else that of what ran. */
static int64_t group_of(struct taking *taking, struct id_map *rows, const struct part_of *part)
{
    const struct profile    *profile = taking->study->profile;
    const struct collective *args = args_of(profile, part->event);
    struct rank_summary     *summary = taking->summary;
    uint32_t name = args && (part->is_numbered || profile_str(profile, args->group).len)
                        ? args->group
                        : event_activity(profile, part->event)->name;
    int64_t  type =
        taking_name(taking, &taking->names, str_from(collective_type(profile, part->event)));
    uint64_t key = ((uint64_t)name << 20 ^ (uint64_t)type) << 1 | part->is_numbered;
    uint32_t row = id_map_get(rows, key);
    double   size = -1;

    if (row != NO_ID)
        return row;
    collective_payload(profile, part->event, &size);
    taking_push(taking, &summary->group_name, group_name(taking, profile_str(profile, name)));
    taking_push(taking, &summary->group_type, type);
    taking_push(taking, &summary->group_size, (int64_t)size);
    taking_push(taking, &summary->group_numbered, part->is_numbered);
    row = (uint32_t)summary->group_name.count - 1;
    taking->is_full |= !id_map_put(rows, key, row);
    return row;
}

/* Without numbers those of a group are counted within their step. */
static int64_t turn_of(struct taking *taking, struct id_map *turns, int64_t group, size_t step)
{
    uint64_t key = (uint64_t)step << 24 | (uint64_t)group;
    uint32_t turn = id_map_get(turns, key);

    turn = turn == NO_ID ? 0 : turn + 1;
    taking->is_full |= !id_map_put(turns, key, turn);
    return turn;
}

static void add_meetings(struct taking *taking, const struct part_list *parts)
{
    struct rank_summary *summary = taking->summary;
    struct id_map        rows = { .arena = &taking->scratch }, turns = rows;
    int64_t              stride = stride_of(parts->items.count, MOST_MEETINGS);

    for (size_t i = 0; i < parts->items.count && !taking->is_full; i++) {
        const struct part_of    *part = &parts->items.items[i];
        const struct collective *args = args_of(taking->study->profile, part->event);
        size_t                   step = step_at(summary, part->come_ns);
        double                   size;
        int64_t                  group;

        if (step == SIZE_MAX || summary->step_number.items[step] % stride != 0)
            continue;
        group = group_of(taking, &rows, part);
        taking_push(taking, &summary->meeting_group, group);
        taking_push(taking, &summary->meeting_sequence,
                    part->is_numbered && args ? args->sequence
                                              : turn_of(taking, &turns, group, step));
        taking_push(taking, &summary->meeting_start, part->come_ns);
        taking_push(taking, &summary->meeting_length, part->left_ns - part->come_ns);
        taking_push(taking, &summary->meeting_bytes,
                    (int64_t)collective_payload(taking->study->profile, part->event, &size));
    }
}

static void take_meetings(struct taking *taking)
{
    const struct study    *study = taking->study;
    struct collective_list list;
    struct part_list       parts = { 0 };
    double                 steps = (double)taking->windows.count;

    if (!collective_list_make(study, &taking->windows, &taking->scratch, &list) ||
        !join_instances(taking, &list, &parts)) {
        taking->is_full = true;
        return;
    }
    for (size_t i = 0; i < list.items.count; i++)
        if (list.items.items[i].host == taking->host)
            taking->summary->comm_ns +=
                (double)(list.items.items[i].end_ns - list.items.items[i].start_ns) / steps;
    taking->summary->compute_ns = rank_compute_ns(study, &taking->windows, taking->host) / steps;
    taking->summary->input_ns =
        rank_kind_ns(study, &taking->windows, taking->host, ACTIVITY_INPUT_WAIT) / steps;
    add_meetings(taking, &parts);
}

/* Names as the summary keeps them: texts of its own. */
static void take_names(struct taking *taking, const struct intern *from, struct names *to)
{
    for (uint32_t i = 0; i < from->count; i++)
        taking->is_full |= !vec_push(to, taking->arena, keep(taking, intern_str(from, i)));
}

bool rank_take(struct rank_summary *summary, const struct study *study, struct arena *arena,
               struct err *err)
{
    struct taking taking = { .summary = summary,
                             .study = study,
                             .arena = arena,
                             .scratch.budget_bytes = arena->budget_bytes,
                             .host = study->steps.host };

    *summary = (struct rank_summary) { .rank = -1 };
    taking.is_full = !intern_init(&taking.names, &taking.scratch) ||
                     !intern_init(&taking.detail_names, &taking.scratch) ||
                     !windows_make(study, &taking.scratch, &taking.windows);
    if (!taking.is_full && study->profile->hosts.count > 0) {
        take_place(&taking);
        take_steps(&taking);
        take_parts(&taking);
        take_weight(&taking);
        take_families(&taking);
        take_meetings(&taking);
        taking_details(&taking);
        take_names(&taking, &taking.names, &summary->names);
        take_names(&taking, &taking.detail_names, &summary->detail_names);
    }
    arena_free(&taking.scratch);
    return !taking.is_full || err_memory(err, "the summary");
}
