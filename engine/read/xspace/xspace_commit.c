#include "read/xspace/xspace_commit.h"

#include "read/xspace/xspace_memory.h"
#include "read/xspace/xspace_planes.h"

struct commit {
    struct xspace_tasks *tasks;
    struct line_task    *task;
    const struct chunk  *chunk;
    struct sink         *sink;
    struct profile      *profile;
    struct arena        *scratch;
    enum xline_class     line_class;
};

bool xspace_commit_start(struct xspace_tasks *tasks, struct arena *scratch)
{
    size_t count = ((size_t)tasks->type_count + 1) * XLINE_CLASS_COUNT;

    tasks->type_labels = arena_new_array(scratch, uint32_t, count);
    tasks->seen = arena_new_array(scratch, uint16_t, tasks->type_count);
    tasks->config_rows.arena = tasks->stat_rows.arena = scratch;
    return tasks->type_labels && tasks->seen;
}

/* The name's id in the profile; NO_ID past the budget. */
static uint32_t global_name(struct commit *commit, uint32_t name)
{
    struct sink *sink = commit->sink;
    uint32_t     local = name & ~LOCAL_NAME;

    if (!(name & LOCAL_NAME))
        return name;
    while (sink->name_ids.count <= local)
        if (!vec_push(&sink->name_ids, &sink->arena, 0))
            return NO_ID;
    if (sink->name_ids.items[local] == 0) {
        uint32_t id = profile_intern(commit->profile, intern_str(&sink->names, local));

        if (id == NO_ID)
            return NO_ID;
        sink->name_ids.items[local] = id + 1;
    }
    return sink->name_ids.items[local] - 1;
}

static bool add_label(struct commit *commit, const struct variant *variant, uint32_t *label)
{
    struct label row = { .variant = *variant, .line_class = (uint8_t)commit->line_class };

    *label = (uint32_t)commit->tasks->labels.count + 1;
    return vec_push(&commit->tasks->labels, commit->scratch, row);
}

/* Rows are label + 1; 0 past the budget. */
static uint32_t type_label(struct commit *commit, uint32_t type)
{
    uint32_t  index = type == NO_TYPE ? commit->tasks->type_count : type;
    uint32_t *label =
        &commit->tasks->type_labels[(size_t)index * XLINE_CLASS_COUNT + commit->line_class];

    if (UNLIKELY(*label == 0) && !add_label(commit, &(struct variant) { .type = type }, label))
        return 0;
    return *label;
}

/* Stats tell ops and programs on host threads and on lines of device work only. */
static uint32_t variant_label(struct commit *commit, uint32_t row)
{
    struct sink   *sink = commit->sink;
    struct variant variant = sink->variants.items[row];
    size_t         place = (size_t)row * XLINE_CLASS_COUNT + commit->line_class;

    if (commit->line_class > XLINE_CLASS_DEVICE)
        return type_label(commit, variant.type);
    while (sink->variant_labels.count <= place)
        if (!vec_push(&sink->variant_labels, &sink->arena, 0))
            return 0;
    if (sink->variant_labels.items[place] == 0) {
        variant.module = global_name(commit, variant.module);
        variant.hlo_op = global_name(commit, variant.hlo_op);
        variant.tf_op = global_name(commit, variant.tf_op);
        variant.shape = global_name(commit, variant.shape);
        variant.kernel = global_name(commit, variant.kernel);
        if (variant.module == NO_ID || variant.hlo_op == NO_ID || variant.tf_op == NO_ID ||
            variant.shape == NO_ID || variant.kernel == NO_ID ||
            !add_label(commit, &variant, &sink->variant_labels.items[place]))
            return 0;
    }
    return sink->variant_labels.items[place];
}

static bool settle_labels(struct commit *commit)
{
    int64_t  *labels = commit->sink->labels;
    uint32_t *known = commit->tasks->type_labels + commit->line_class;

    for (uint32_t i = 0; i < commit->chunk->count; i++) {
        uint32_t label = (uint32_t)labels[i], row = 0;

        if (LIKELY(label < VARIANT_BIT))
            row = known[(size_t)label * XLINE_CLASS_COUNT];
        if (UNLIKELY(row == 0))
            row = label < VARIANT_BIT || label == NO_TYPE
                      ? type_label(commit, label)
                      : variant_label(commit, label & ~VARIANT_BIT);
        if (row == 0)
            return false;
        labels[i] = row - 1;
    }
    return true;
}

/* Equal texts share a row. */
static bool settle_config(struct commit *commit, int64_t *value)
{
    struct sink    *sink = commit->sink;
    struct profile *profile = commit->profile;
    size_t          local = (size_t)*value;
    uint32_t        text, row;

    while (sink->config_rows.count <= local)
        if (!vec_push(&sink->config_rows, &sink->arena, 0))
            return false;
    if (sink->config_rows.items[local] == 0) {
        text = global_name(commit, sink->config_texts.items[local]);
        row = id_map_get(&commit->tasks->config_rows, text);
        if (row == NO_ID) {
            row = (uint32_t)profile->kernel_configs.count;
            if (text == NO_ID ||
                !vec_push(&profile->kernel_configs, profile->arena, sink->configs.items[local]) ||
                !id_map_put(&commit->tasks->config_rows, text, row))
                return false;
        }
        sink->config_rows.items[local] = row + 1;
    }
    *value = sink->config_rows.items[local] - 1;
    return true;
}

static bool add_column(struct commit *commit, enum stat_key key)
{
    struct stat_buffer *column = &commit->sink->columns[key];
    uint32_t            first = commit->profile->event_count;

    for (size_t i = 0; i < column->count; i++)
        column->events[i] += first;
    if (commit->sink->has_local_names && xspace_stat_is_name(key))
        for (size_t i = 0; i < column->count; i++) {
            column->values[i] = global_name(commit, (uint32_t)column->values[i]);
            if (column->values[i] == NO_ID)
                return false;
        }
    for (size_t i = 0; key == STAT_KERNEL_CONFIG && i < column->count; i++)
        if (!settle_config(commit, &column->values[i]))
            return false;
    return profile_add_stats(commit->profile, key, column->events, column->values, column->count);
}

/* The profiler prints an owner or a region that it does not know as C prints a null pointer. */
static uint32_t told_name(struct commit *commit, uint32_t local)
{
    uint32_t name = global_name(commit, local);

    return name != NO_ID && str_equal(profile_str(commit->profile, name), STR("(null)")) ? 0 : name;
}

static bool add_memory_events(struct commit *commit)
{
    struct profile *profile = commit->profile;

    for (size_t i = 0; i < commit->sink->memory_events.count; i++) {
        struct memory_event event = commit->sink->memory_events.items[i];

        event.event += profile->event_count;
        event.allocator = global_name(commit, event.allocator);
        event.region = told_name(commit, event.region);
        event.op_name = told_name(commit, event.op_name);
        event.shape = told_name(commit, event.shape);
        if (event.allocator == NO_ID || event.region == NO_ID || event.op_name == NO_ID ||
            event.shape == NO_ID ||
            !xspace_memory_place(profile, commit->task->host->host, &event) ||
            !vec_push(&profile->memory_events, profile->arena, event))
            return false;
    }
    return true;
}

static bool add_aggregates(struct commit *commit)
{
    struct profile *profile = commit->profile;

    for (size_t i = 0; i < commit->sink->aggregates.count; i++) {
        struct aggregate row = commit->sink->aggregates.items[i];

        row.timeline = commit->task->timeline;
        row.label = type_label(commit, row.label);
        if (row.label-- == 0 || !vec_push(&profile->aggregates, profile->arena, row))
            return false;
    }
    return true;
}

static bool sum_stat(struct commit *commit, const struct loose_stat *loose)
{
    struct profile            *profile = commit->profile;
    const struct timeline     *timeline = &profile->timelines.items[commit->task->timeline];
    const struct plane_tables *tables = commit->task->tables;
    uint64_t                   key = (uint64_t)loose->type << 32 | loose->name;
    uint32_t                   row = id_map_get(&commit->tasks->stat_rows, key);
    struct event_stat          fresh = { .host = timeline->host,
                                         .device = timeline->device,
                                         .stat = loose->name,
                                         .least = loose->least,
                                         .most = loose->most };
    struct event_stat         *sum;

    if (row == NO_ID) {
        row = (uint32_t)profile->event_stats.count;
        fresh.event = profile_intern(
            profile, tables->plane->event_types.items[loose->type - tables->first_type].name);
        fresh.text = global_name(commit, loose->text);
        if (fresh.event == NO_ID || fresh.text == NO_ID ||
            !vec_push(&profile->event_stats, profile->arena, fresh) ||
            !id_map_put(&commit->tasks->stat_rows, key, row))
            return false;
    }
    sum = &profile->event_stats.items[row];
    sum->count += loose->count;
    sum->sum += loose->sum;
    sum->least = loose->least < sum->least ? loose->least : sum->least;
    sum->most = loose->most > sum->most ? loose->most : sum->most;
    return true;
}

static bool sum_stats(struct commit *commit)
{
    for (size_t i = 0; i < commit->sink->loose.count; i++) {
        struct loose_stat *loose = &commit->sink->loose.items[i];

        if ((loose->is_unknown && loose->count &&
             !profile_add_unknown(commit->profile, UNKNOWN_STAT, loose->name, loose->count)) ||
            (loose->type != NO_TYPE && loose->count && !sum_stat(commit, loose)))
            return false;
        loose->count = 0;
    }
    return true;
}

static bool add_rows(struct commit *commit)
{
    struct sink *sink = commit->sink;

    if (commit->chunk->count >= NO_ID - commit->profile->event_count || !settle_labels(commit) ||
        !add_memory_events(commit) || !add_aggregates(commit) || !sum_stats(commit))
        return false;
    for (unsigned key = 0; key < STAT_KEY_COUNT; key++)
        if (sink->columns[key].count && !add_column(commit, (enum stat_key)key))
            return false;
    return profile_add_events(
        commit->profile, &(struct event_rows) { sink->starts_ns, sink->durations_ns, sink->labels },
        commit->chunk->count);
}

static void follow_line(struct line_task *task, const struct chunk *chunk, bool is_first)
{
    task->aggregate_count += chunk->aggregate_count;
    task->nameless_count += chunk->nameless_count;
    task->negative_count += chunk->negative_count;
    task->overflow_count += chunk->overflow_count;
    task->is_cut = chunk->is_cut;
    if (chunk->count == 0)
        return;
    task->is_unsorted |= chunk->is_unsorted;
    if (is_first) {
        task->start_ns = chunk->start_ns;
        task->end_ns = chunk->end_ns;
    } else if (chunk->first_start_ns < task->last_start_ns ||
               (chunk->first_start_ns == task->last_start_ns &&
                chunk->first_duration_ns > task->last_duration_ns)) {
        task->is_unsorted = true;
    }
    task->start_ns = chunk->start_ns < task->start_ns ? chunk->start_ns : task->start_ns;
    task->end_ns = chunk->end_ns > task->end_ns ? chunk->end_ns : task->end_ns;
    task->last_start_ns = chunk->last_start_ns;
    task->last_duration_ns = chunk->last_duration_ns;
}

static void take_head(struct line_task *task, const struct xline *head)
{
    task->has_head = true;
    if (head->id)
        task->line.id = head->id;
    if (head->display_id)
        task->line.display_id = head->display_id;
    if (head->timestamp_ns)
        task->line.timestamp_ns = head->timestamp_ns;
    if (head->name.len)
        task->line.name = head->name;
    if (head->display_name.len)
        task->line.display_name = head->display_name;
}

/* Fields behind the events are rare but for the name to show; a late clock or kind of line moves
 * the rows, once all are there. */
static bool settle_head(struct commit *commit)
{
    struct line_task *task = commit->task;
    struct profile   *profile = commit->profile;
    struct timeline  *timeline = &profile->timelines.items[task->timeline];
    int64_t           before_ns = task->base_ns, moved_ns;

    if (!xspace_settle_line(task, profile))
        return false;
    moved_ns = (int64_t)((uint64_t)task->base_ns - (uint64_t)before_ns);
    commit->line_class = xspace_line_class(timeline);
    task->start_ns += moved_ns;
    task->end_ns += moved_ns;
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t     event = timeline->first_event + i, row;
        uint32_t     label = (uint32_t)packed_get(&profile->event_labels, event);
        struct label now = commit->tasks->labels.items[label];

        if (moved_ns && !packed_set(&profile->event_starts_ns, profile->arena, event,
                                    event_start_ns(profile, event) + moved_ns))
            return false;
        if (now.line_class == commit->line_class)
            continue;
        now.line_class = (uint8_t)commit->line_class;
        row = (uint32_t)commit->tasks->labels.count;
        if (!vec_push(&commit->tasks->labels, commit->scratch, now) ||
            !packed_set(&profile->event_labels, profile->arena, event, row))
            return false;
    }
    return true;
}

bool xspace_commit(struct xspace_tasks *tasks, const struct chunk *chunk, struct sink *sink,
                   struct profile *profile, struct arena *scratch)
{
    struct timeline *timeline = &profile->timelines.items[chunk->task->timeline];
    struct commit    commit = { .tasks = tasks,
                                .task = chunk->task,
                                .chunk = chunk,
                                .sink = sink,
                                .profile = profile,
                                .scratch = scratch,
                                .line_class = xspace_line_class(timeline) };

    if (chunk->task->is_cut) /* what follows damage is not looked at */
        return true;
    if (timeline->event_count == 0)
        timeline->first_event = profile->event_count;
    follow_line(chunk->task, chunk, timeline->event_count == 0);
    if (!add_rows(&commit))
        return false;
    timeline->event_count += chunk->count;
    if (chunk->has_head)
        take_head(chunk->task, &chunk->head);
    return !chunk->is_last || !chunk->task->has_head || settle_head(&commit);
}
