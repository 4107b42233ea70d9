#include "read/kineto/reader_kineto.h"

#include <string.h>

static void reset_stretch(struct kineto *kineto)
{
    for (size_t key = 0; key < STAT_KEY_COUNT; key++)
        kineto->stats[key].count = 0;
    kineto->raws.count = kineto->flow_ends.count = kineto->links.count = 0;
    kineto->memory_tracks.count = kineto->items.count = 0;
    kineto->profile->memory_events.count = kineto->profile->collectives.count = 0;
    kineto->profile->unknown_stats = kineto->profile->unknown_fields = 0;
    kineto->profile->unknowns.count = 0;
    memset(kineto->trouble, 0, sizeof kineto->trouble);
    for (size_t i = 0; i < kineto->tracks.count; i++)
        kineto->tracks.items[i].count = 0;
}

/* Everything but the columns anew, with the memory of what was. */
bool kineto_prepare(struct kineto *kineto, const struct kineto_job *job)
{
    struct kineto_columns columns = kineto->columns;
    struct arena          scratch = kineto->scratch, brief = kineto->brief;
    struct arena          moulds = kineto->moulds.arena;

    arena_free(&scratch);
    arena_free(&brief);
    arena_free(&moulds);
    *kineto = (struct kineto) { .last_track = NO_ID,
                                .columns = columns,
                                .scratch = scratch,
                                .brief = brief,
                                .moulds.arena = moulds,
                                .thread = (uint32_t)(kineto - job->threads) };
    kineto->scratch.budget_bytes = job->scratch.budget_bytes;
    kineto->columns.arena.budget_bytes = job->scratch.budget_bytes;
    kineto->moulds.arena.budget_bytes = job->scratch.budget_bytes;
    kineto->key.arena = kineto->track_map.arena = kineto->configs.arena = &kineto->scratch;
    kineto->profile = &kineto->tables;
    kineto_prepare_fields(kineto);
    return profile_init(kineto->profile, &kineto->scratch) &&
           intern_init(&kineto->keys, &kineto->scratch);
}

void kineto_begin_stretch(struct kineto *kineto, uint32_t host)
{
    arena_free(&kineto->brief);
    reset_stretch(kineto);
    kineto->host = host;
    kineto->last_track = NO_ID;
}

/* Into items: by track, each track's by time. places: where each went. */
void kineto_sort_stretch(struct kineto *kineto)
{
    size_t    count = kineto->raws.count, first = 0;
    uint32_t *next = arena_new_array(&kineto->brief, uint32_t, kineto->tracks.count);

    kineto->items.count = kineto->spare.count = kineto->places.count = 0;
    if (!next || !vec_reserve(&kineto->items, &kineto->scratch, count) ||
        !vec_reserve(&kineto->spare, &kineto->scratch, count) ||
        !vec_reserve(&kineto->places, &kineto->scratch, count)) {
        kineto->is_full = true;
        return;
    }
    for (size_t t = 0; t < kineto->tracks.count; t++) {
        next[t] = (uint32_t)first;
        first += kineto->tracks.items[t].count;
    }
    for (size_t i = 0; i < count; i++) {
        const struct raw_event *raw = &kineto->raws.items[i];

        kineto->items.items[next[raw->track]++] =
            (struct sort_item) { raw->start_ns, raw->duration_ns, (uint32_t)i };
    }
    for (size_t t = 0; t < kineto->tracks.count; t++) {
        uint32_t some = kineto->tracks.items[t].count;

        if (some)
            kineto_sort(kineto->items.items + (next[t] - some), kineto->spare.items, some);
    }
    for (size_t i = 0; i < count; i++)
        kineto->places.items[kineto->items.items[i].raw] = (uint32_t)i;
    kineto->items.count = count;
}

/* A merged row, noted at the end of a list; NO_ID where there was no memory for it. */
#define note_row(job, kineto, list, row)                                                           \
    ((job)->is_full |= !vec_push(&(kineto)->rows.list, &(kineto)->scratch, (row)))

static void merge_names(struct kineto_job *job, struct kineto *kineto)
{
    const struct intern *names = &kineto->profile->names;

    for (size_t i = kineto->rows.names.count; i < names->count; i++) {
        uint32_t id = profile_intern(job->profile, intern_str(names, (uint32_t)i));

        job->is_full |= id == NO_ID;
        note_row(job, kineto, names, id == NO_ID ? 0 : id);
    }
}

static uint32_t name_row(const struct kineto *kineto, uint32_t name)
{
    return name < kineto->rows.names.count ? kineto->rows.names.items[name] : 0;
}

static uint32_t device_row(const struct kineto *kineto, uint32_t device)
{
    return device < kineto->rows.devices.count ? kineto->rows.devices.items[device] : NO_ID;
}

static void merge_devices(struct kineto_job *job, struct kineto *kineto)
{
    for (size_t i = kineto->rows.devices.count; i < kineto->profile->devices.count; i++) {
        const struct device *device = &kineto->profile->devices.items[i];

        uint32_t   row = kineto_device(job->profile, device->host, device->ordinal);
        struct str name = profile_str(kineto->profile, device->name);

        if (device->kind == DEVICE_OTHER)
            job->is_full |=
                !kineto_name_device(job->profile, row, str_slice(name, 0, str_find(name, ' ')));
        note_row(job, kineto, devices, row);
    }
}

static uint32_t config_row(struct kineto_job *job, const struct kernel_config *config)
{
    struct profile *profile = job->profile;
    uint64_t        hash = str_hash((struct str) { (const char *)config, sizeof *config });
    uint32_t        row;

    while ((row = id_map_get(&job->configs, hash)) != NO_ID &&
           memcmp(&profile->kernel_configs.items[row], config, sizeof *config) != 0)
        hash++;
    if (row != NO_ID)
        return row;
    row = (uint32_t)profile->kernel_configs.count;
    job->is_full |= !vec_push(&profile->kernel_configs, profile->arena, *config) ||
                    !id_map_put(&job->configs, hash, row);
    return row;
}

static void merge_configs(struct kineto_job *job, struct kineto *kineto)
{
    for (size_t i = kineto->rows.configs.count; i < kineto->profile->kernel_configs.count; i++)
        note_row(job, kineto, configs, config_row(job, &kineto->profile->kernel_configs.items[i]));
}

static uint32_t add_op(struct kineto_job *job, const struct kineto *kineto, const struct op *from)
{
    struct profile *profile = job->profile;
    struct op       op = *from;

    op.name = name_row(kineto, from->name);
    op.type = name_row(kineto, from->type);
    op.first_input = (uint32_t)profile->tensors.count;
    for (uint32_t i = 0; i < op.input_count; i++)
        job->is_full |= !vec_push(&profile->tensors, profile->arena,
                                  kineto->profile->tensors.items[from->first_input + i]);
    op.first_output = (uint32_t)profile->tensors.count;
    if (!vec_push(&profile->ops, profile->arena, op)) {
        job->is_full = true;
        return NO_ID;
    }
    return (uint32_t)profile->ops.count - 1;
}

static uint32_t add_source(struct kineto_job *job, const struct kineto *kineto,
                           const struct source_line *from)
{
    struct profile    *profile = job->profile;
    struct source_line line = *from;

    line.file = name_row(kineto, from->file);
    line.function = name_row(kineto, from->function);
    if (!vec_push(&profile->sources, profile->arena, line)) {
        job->is_full = true;
        return NO_ID;
    }
    return (uint32_t)profile->sources.count - 1;
}

static void add_activity(struct kineto_job *job, const struct kineto *kineto,
                         const struct activity *from)
{
    struct activity activity = *from;

    activity.name = name_row(kineto, from->name);
    activity.category = name_row(kineto, from->category);
    if (from->op != NO_ID)
        activity.op = add_op(job, kineto, &kineto->profile->ops.items[from->op]);
    if (from->source != NO_ID)
        activity.source = add_source(job, kineto, &kineto->profile->sources.items[from->source]);
    job->is_full |= !vec_push(&job->profile->activities, job->profile->arena, activity);
}

static void merge_activities(struct kineto_job *job, struct kineto *kineto)
{
    for (size_t i = kineto->rows.activities.count; i < kineto->profile->activities.count; i++) {
        uint32_t id = intern_add(&job->keys, intern_str(&kineto->keys, (uint32_t)i + 1));

        if (id == NO_ID) {
            job->is_full = true;
            return;
        }
        if (id > job->profile->activities.count)
            add_activity(job, kineto, &kineto->profile->activities.items[i]);
        note_row(job, kineto, activities, id - 1);
    }
}

static uint32_t track_row(struct kineto_job *job, const struct kineto *kineto,
                          const struct track *from)
{
    struct track track = *from;
    uint64_t     key;
    uint32_t     row;

    track.count = track.name = 0;
    track.device = device_row(kineto, from->device);
    if (track.is_process_name)
        track.process = (int64_t)UINT32_MAX + name_row(kineto, (uint32_t)from->process);
    if (track.is_thread_name)
        track.thread = (int64_t)UINT32_MAX + name_row(kineto, (uint32_t)from->thread);
    key = kineto_track_hash(&track);
    while ((row = id_map_get(&job->track_map, key)) != NO_ID &&
           !kineto_same_track(&job->tracks.items[row], &track))
        key++;
    if (row != NO_ID)
        return row;
    row = (uint32_t)job->tracks.count;
    job->is_full |=
        !vec_push(&job->tracks, &job->scratch, track) || !id_map_put(&job->track_map, key, row);
    return row;
}

/* Tracks, and a run of events for each that has some. */
static void merge_tracks(struct kineto_job *job, struct kineto *kineto)
{
    struct kineto_run run = { .thread = kineto->thread,
                              .source = (uint32_t)(job->source - job->sources.items),
                              .first = (uint32_t)kineto->columns.starts_ns.count };

    for (size_t i = kineto->rows.tracks.count; i < kineto->tracks.count && !job->is_full; i++)
        note_row(job, kineto, tracks, track_row(job, kineto, &kineto->tracks.items[i]));
    for (size_t i = 0; i < kineto->tracks.count && !job->is_full; i++) {
        struct track *track = &kineto->tracks.items[i];

        run.track = kineto->rows.tracks.items[i];
        run.count = track->count;
        if (track->name)
            job->tracks.items[run.track].name = name_row(kineto, track->name);
        track->name = 0; /* told; a later stretch of another thread may tell another one */
        if (!run.count)
            continue;
        job->tracks.items[run.track].count += run.count;
        job->is_full |= !vec_push(&job->runs, &job->scratch, run);
        run.first += run.count;
    }
}

static enum link_list list_of(const struct raw_link *link)
{
    return link->kind == LINK_CALL ? LINKS_CALLS : link->kind == LINK_OP ? LINKS_OPS : LINKS_WAITS;
}

static void add_stretch(struct kineto_job *job, const struct kineto *kineto)
{
    struct kineto_stretch stretch = { .thread = kineto->thread };

    for (int list = 0; list < LINK_LISTS; list++)
        stretch.first_link[list] = stretch.end_link[list] = kineto->columns.links[list].ids.count;
    for (size_t i = 0; i < kineto->links.count; i++)
        stretch.end_link[list_of(&kineto->links.items[i])]++;
    job->is_full |= !vec_push(&job->stretches, &job->scratch, stretch);
}

static void merge_flow_ends(struct kineto_job *job, const struct kineto *kineto)
{
    for (size_t i = 0; i < kineto->flow_ends.count && !job->is_full; i++) {
        struct flow_end end = kineto->flow_ends.items[i];

        end.track = kineto->rows.tracks.items[end.track];
        job->is_full |= !vec_push(&job->flow_ends, &job->scratch, end);
    }
}

static void merge_memory(struct kineto_job *job, const struct kineto *kineto)
{
    struct profile *profile = job->profile;

    for (size_t i = 0; i < kineto->profile->memory_events.count && !job->is_full; i++) {
        struct memory_event memory = kineto->profile->memory_events.items[i];

        memory.allocator = name_row(kineto, memory.allocator);
        memory.device = device_row(kineto, memory.device);
        job->is_full |= !vec_push(&job->memory_tracks, &job->scratch,
                                  kineto->rows.tracks.items[kineto->memory_tracks.items[i]]) ||
                        !vec_push(&profile->memory_events, profile->arena, memory);
    }
}

/* Values become rows and names of the profile. */
static void merge_collectives(struct kineto_job *job, struct kineto *kineto)
{
    struct profile *profile = job->profile;
    size_t          first = profile->collectives.count;

    for (size_t i = 0; i < kineto->profile->collectives.count; i++) {
        struct collective collective = kineto->profile->collectives.items[i];

        collective.type = name_row(kineto, collective.type);
        collective.group = name_row(kineto, collective.group);
        job->is_full |= !vec_push(&profile->collectives, profile->arena, collective);
    }
    for (size_t i = 0; i < kineto->stats[STAT_COLLECTIVE].count; i++)
        kineto->stats[STAT_COLLECTIVE].items[i].value += (int64_t)first;
}

static void merge_source(struct kineto_job *job, const struct kineto *kineto)
{
    struct kineto_source *source = job->source;
    struct profile       *profile = job->profile;

    if (kineto->raws.count && !source->event_count)
        source->first_ns = kineto->raws.items[0].start_ns;
    source->event_count += kineto->raws.count;
    for (size_t i = 0; i < kineto->raws.count; i++) {
        const struct raw_event *raw = &kineto->raws.items[i];
        int64_t                 end_ns = raw->start_ns + raw->duration_ns;

        source->least_ns = raw->start_ns < source->least_ns ? raw->start_ns : source->least_ns;
        source->most_ns = end_ns > source->most_ns ? end_ns : source->most_ns;
    }
    for (size_t i = 0; i < TROUBLE_COUNT; i++)
        source->trouble[i] += kineto->trouble[i];
    for (size_t i = 0; i < kineto->profile->unknowns.count; i++)
        job->is_full |= !profile_add_unknown(
            profile, (enum unknown_kind)kineto->profile->unknowns.items[i].kind,
            name_row(kineto, kineto->profile->unknowns.items[i].name),
            kineto->profile->unknowns.items[i].count);
    profile->has_python_frames |= kineto->profile->has_python_frames;
    profile->has_shapes |= kineto->profile->has_shapes;
    profile->has_stacks |= kineto->profile->has_stacks;
    profile->failed_allocations += kineto->profile->failed_allocations;
    if (kineto->profile->failed_bytes > profile->failed_bytes)
        profile->failed_bytes = kineto->profile->failed_bytes;
    job->has_fractions |= kineto->has_fractions;
}

void kineto_merge_stretch(struct kineto_job *job, struct kineto *kineto)
{
    uint64_t rows = kineto->columns.starts_ns.count + (uint64_t)kineto->raws.count;

    job->is_full |= kineto->is_full || rows >= UINT32_MAX - 1;
    if (job->is_full)
        return;
    merge_names(job, kineto);
    merge_devices(job, kineto);
    merge_configs(job, kineto);
    merge_activities(job, kineto);
    merge_tracks(job, kineto);
    add_stretch(job, kineto);
    merge_flow_ends(job, kineto);
    merge_memory(job, kineto);
    merge_collectives(job, kineto);
    merge_source(job, kineto);
}

enum { BATCH = 512 };

static bool pack_events(struct kineto *kineto)
{
    struct kineto_columns *columns = &kineto->columns;
    int64_t                starts_ns[BATCH], durations_ns[BATCH], activities[BATCH];
    size_t                 some;

    for (size_t first = 0; first < kineto->items.count; first += some) {
        some = kineto->items.count - first < BATCH ? kineto->items.count - first : BATCH;
        for (size_t i = 0; i < some; i++) {
            const struct sort_item *item = &kineto->items.items[first + i];
            uint32_t                row = kineto->raws.items[item->raw].activity;

            starts_ns[i] = item->start_ns;
            durations_ns[i] = item->duration_ns;
            activities[i] = kineto->rows.activities.items[row];
        }
        if (!packed_append(&columns->starts_ns, &columns->arena, starts_ns, some) ||
            !packed_append(&columns->durations_ns, &columns->arena, durations_ns, some) ||
            !packed_append(&columns->activities, &columns->arena, activities, some))
            return false;
    }
    return true;
}

static int64_t stat_row(const struct kineto *kineto, enum stat_key key, int64_t value)
{
    if (key == STAT_CONCRETE_INPUTS || key == STAT_STRIDES || key == STAT_COPY_KIND ||
        key == STAT_LAUNCHED)
        return name_row(kineto, (uint32_t)value);
    if (key == STAT_KERNEL_CONFIG)
        return kineto->rows.configs.items[value];
    return value;
}

static bool pack_stats(struct kineto *kineto, enum stat_key key, uint32_t first_row)
{
    struct kineto_columns *columns = &kineto->columns;
    size_t                 count = kineto->stats[key].count, some;
    int64_t                rows[BATCH], values[BATCH];

    for (size_t first = 0; first < count; first += some) {
        some = count - first < BATCH ? count - first : BATCH;
        for (size_t i = 0; i < some; i++) {
            const struct raw_stat *stat = &kineto->stats[key].items[first + i];

            rows[i] = (int64_t)first_row + kineto->places.items[stat->event];
            values[i] = stat_row(kineto, key, stat->value);
        }
        if (!packed_append(&columns->stats[key].events, &columns->arena, rows, some) ||
            !packed_append(&columns->stats[key].values, &columns->arena, values, some))
            return false;
    }
    return true;
}

struct link_batch {
    int64_t ids[BATCH], rows[BATCH], kinds[BATCH];
    size_t  count;
};

static bool flush_links(struct kineto_columns *columns, enum link_list list,
                        struct link_batch *batch)
{
    struct kineto_links *links = &columns->links[list];
    size_t               count = batch->count;

    batch->count = 0;
    return packed_append(&links->ids, &columns->arena, batch->ids, count) &&
           packed_append(&links->rows, &columns->arena, batch->rows, count) &&
           (list != LINKS_WAITS ||
            packed_append(&links->kinds, &columns->arena, batch->kinds, count));
}

static bool pack_links(struct kineto *kineto, uint32_t first_row)
{
    struct kineto_columns *columns = &kineto->columns;
    struct link_batch      batches[LINK_LISTS];

    for (int list = 0; list < LINK_LISTS; list++)
        batches[list].count = 0;
    for (size_t i = 0; i < kineto->links.count; i++) {
        const struct raw_link *link = &kineto->links.items[i];
        enum link_list         list = list_of(link);
        struct link_batch     *batch = &batches[list];

        batch->ids[batch->count] = (int64_t)link->id;
        batch->rows[batch->count] = (int64_t)first_row + kineto->places.items[link->event];
        batch->kinds[batch->count++] = link->kind;
        if (batch->count == BATCH && !flush_links(columns, list, batch))
            return false;
    }
    for (int list = 0; list < LINK_LISTS; list++)
        if (!flush_links(columns, (enum link_list)list, &batches[list]))
            return false;
    return true;
}

void kineto_pack_stretch(struct kineto *kineto)
{
    uint32_t first_row = (uint32_t)kineto->columns.starts_ns.count;
    bool     is_fine = !kineto->is_full && pack_events(kineto) && pack_links(kineto, first_row);

    for (int key = 0; key < STAT_KEY_COUNT && is_fine; key++)
        is_fine = pack_stats(kineto, (enum stat_key)key, first_row);
    kineto->is_full |= !is_fine;
}
