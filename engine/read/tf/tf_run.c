/*
 * The second stage of reading RunMetadata: what a scan found gets the model's ids, record by record
 * in the order of the file, and its columns become the profile's.
 */
#include "read/tf/tf_run.h"
#include "read/tf/tf_classic.h"

#include <string.h>

/* A row with the model's ids. */
struct row {
    const struct tf_run_row *scanned;
    uint32_t                 name, device, step;
};

/* Rows before each were brought to the model's ids, in place and without those left out (kept). */
struct cursor {
    size_t next, kept;
};
struct join {
    struct tf_model    *model;
    struct tf_run_scan *scan;
    int64_t             number; /* of the step */
    struct row          row;
    uint32_t           *timelines; /* by thread of the scan */
    size_t              next_thread;
    uint32_t           *allocators;   /* by id of the scan */
    uint32_t           *shapes;       /* by row of the scan */
    size_t              first_memory; /* rows of op_memory that the profile has already */
    struct cursor       outputs, events, op_runs, op_memory, memory_events;
};

/* "/gpu:0/stream:all" and "/device:GPU:0/memcpy" name rows of a device, not devices. */
static uint32_t row_device(struct tf_model *model, struct str name)
{
    const struct profile *profile = model->profile;
    size_t                cut = str_search(name, STR("/stream:"));
    uint32_t              device;

    if (cut == name.len)
        cut = str_search(name, STR(":stream:"));
    if (cut == name.len)
        cut = str_search(name, STR("/memcpy"));
    if (cut < name.len)
        for (device = 0; device < profile->devices.count; device++) {
            const struct device *known = &profile->devices.items[device];
            struct str           tail = str_slice(name, cut > 2 ? cut - 2 : 0, cut);

            if (known->kind == DEVICE_GPU && str_ends(profile_str(profile, known->name), tail))
                return device;
        }
    return tf_model_device(model, str_slice(name, 0, cut));
}

static uint32_t *new_ids(struct join *join, size_t count)
{
    return arena_new_array(&join->scan->scratch, uint32_t, count);
}

/* The timelines of row `index` of the scan, whose threads follow each other. */
static bool join_threads(struct join *join, uint32_t index)
{
    const struct tf_run_scan *scan = join->scan;
    enum tf_row_kind          kind = join->row.scanned->kind;
    struct timeline           timeline = {
                  .name = join->row.name,
                  .host = join->model->host,
                  .device = kind == TF_ROW_OPS ? NO_ID : join->row.device,
                  .kind = kind == TF_ROW_OPS      ? TIMELINE_THREAD
                          : kind == TF_ROW_STREAM ? TIMELINE_STREAM
                                                  : TIMELINE_DERIVED,
    };

    for (; join->next_thread < scan->threads.count &&
           scan->threads.items[join->next_thread].row == index;
         join->next_thread++) {
        uint32_t *row = &join->timelines[join->next_thread];

        timeline.id = scan->threads.items[join->next_thread].id;
        *row = tf_model_add_timeline(join->model, &timeline);
        if (*row == NO_ID)
            return false;
    }
    return true;
}

static bool join_row(struct join *join, const struct tf_run_row *row, uint32_t step)
{
    join->row = (struct row) { .scanned = row,
                               .name = profile_intern(join->model->profile, row->name),
                               .device = row_device(join->model, row->name),
                               .step = step };
    return join->row.name != NO_ID && join->row.device != NO_ID;
}

/* The op a record is about; NO_ID in *op for those that belong to none. */
static bool find_op(struct join *join, const struct tf_run_record *record, struct message node,
                    uint32_t *op)
{
    struct tf_model *model = join->model;
    struct profile  *profile = model->profile;
    struct str       name = { record->node + record->name_at, record->op_name_len };
    uint32_t         interned;
    bool             is_new = false;

    *op = NO_ID;
    if (!name.len)
        return true;
    interned = intern_add_hashed(&profile->names, name, record->op_hash);
    *op = tf_model_op(model, 0, interned, &is_new);
    if (*op == NO_ID)
        return false;
    if (is_new)
        profile->ops.items[*op].type = interned;
    if (is_new && !model->classic && !tf_run_define(model, *op, node))
        return false;
    if (join->row.scanned->kind == TF_ROW_OPS) /* where it ran, rather than where it was wished */
        profile->ops.items[*op].device = join->row.device;
    return true;
}

/* Results of the first run of an op. */
static void join_outputs(struct join *join, uint32_t record, uint32_t op)
{
    struct tf_run_scan *scan = join->scan;
    struct tf_op_state *state = op == NO_ID ? NULL : &join->model->states.items[op];
    bool                is_first = state && !state->is_measured;

    for (; join->outputs.next < scan->outputs.count &&
           scan->outputs.items[join->outputs.next].op == record;
         join->outputs.next++) {
        struct tf_output output = scan->outputs.items[join->outputs.next];

        output.op = op;
        output.shape = join->shapes[output.shape];
        if (is_first)
            scan->outputs.items[join->outputs.kept++] = output;
    }
    if (state)
        state->is_measured = true;
}

static uint8_t activity_kind(bool is_thread, struct str name)
{
    if (str_fits(name, "*MEMCPY*|*emcpy*"))
        return ACTIVITY_MEMCPY;
    if (str_contains(name, STR("emset")))
        return ACTIVITY_MEMSET;
    if (str_equal(name, STR("RecvTensor")))
        return ACTIVITY_COLLECTIVE; /* recorded of what another task sends */
    return is_thread ? ACTIVITY_OP : ACTIVITY_KERNEL;
}

static struct activity make_activity(const struct tf_model *model, struct str name, uint32_t op,
                                     bool is_thread)
{
    return (struct activity) {
        .op = op,
        .source = op == NO_ID ? NO_ID : model->profile->ops.items[op].source,
        .kind = activity_kind(is_thread, name),
        .copy = str_contains(name, STR("HtoD"))   ? COPY_H2D
                : str_contains(name, STR("DtoH")) ? COPY_D2H
                : str_contains(name, STR("DtoD")) ? COPY_D2D
                                                  : COPY_NONE,
    };
}

uint32_t tf_run_activity(struct tf_model *model, struct str name, uint32_t interned, uint32_t op,
                         bool is_thread)
{
    struct profile *profile = model->profile;
    struct tf_seen *seen = tf_model_seen(model, interned);
    struct activity activity;

    if (!seen)
        return NO_ID;
    if (!seen->activity[is_thread]) {
        activity = make_activity(model, name, op, is_thread);
        activity.name = interned;
        if (!vec_push(&profile->activities, profile->arena, activity))
            return NO_ID;
        seen->activity[is_thread] = (uint32_t)profile->activities.count;
    }
    return seen->activity[is_thread] - 1;
}

static uint32_t activity_of(struct join *join, const struct tf_run_record *record, uint32_t op)
{
    struct tf_model *model = join->model;
    struct profile  *profile = model->profile;
    struct str       name = { record->node + record->name_at, record->name_len };
    bool             is_thread = join->row.scanned->kind == TF_ROW_OPS;
    uint32_t         interned = record->op_name_len == record->name_len && op != NO_ID
                                    ? profile->ops.items[op].name
                                    : profile_intern(profile, name);

    return tf_run_activity(model, name, interned, op, is_thread);
}

static bool join_event(struct join *join, uint32_t record, uint32_t op)
{
    struct tf_run_scan *scan = join->scan;
    struct tf_event    *event = &scan->events.items[join->events.next];

    if (join->events.next == scan->events.count || event->activity != record)
        return true;
    event->activity = activity_of(join, &scan->records.items[record], op);
    event->timeline = join->timelines[event->timeline];
    event->sequence = (uint32_t)(join->model->events.count + join->events.next++);
    return event->activity != NO_ID;
}

static void join_run(struct join *join, uint32_t record, uint32_t op)
{
    struct tf_run_scan *scan = join->scan;
    struct op_run       run;
    bool                is_stream = join->row.scanned->kind != TF_ROW_OPS;

    if (join->op_runs.next == scan->op_runs.count ||
        scan->op_runs.items[join->op_runs.next].op != record)
        return;
    run = scan->op_runs.items[join->op_runs.next++];
    /* Another file has the row that sums the streams. */
    if (join->row.scanned->kind == TF_ROW_STREAM && join->model->has_stream_all)
        return;
    run.op = op;
    run.step = join->row.step;
    run.device = join->row.device;
    run.stream = is_stream ? join->row.name : 0;
    join->model->states.items[op].last_step = join->row.step + 1;
    scan->op_runs.items[join->op_runs.kept++] = run;
}

/* Runs of an op in the same step are one row. */
static void join_op_memory(struct join *join, uint32_t record, uint32_t op)
{
    struct tf_run_scan *scan = join->scan;
    struct profile     *profile = join->model->profile;
    struct tf_op_state *state;
    struct op_memory    memory, *sum;

    if (join->op_memory.next == scan->op_memory.count ||
        scan->op_memory.items[join->op_memory.next].op != record)
        return;
    memory = scan->op_memory.items[join->op_memory.next++];
    memory.op = op;
    memory.step = join->row.step;
    state = &join->model->states.items[op];
    sum = !state->memory_row ? NULL
          : state->memory_row <= join->first_memory
              ? &profile->op_memory.items[state->memory_row - 1]
              : &scan->op_memory.items[state->memory_row - 1 - join->first_memory];
    if (sum && sum->step == memory.step) {
        tf_memory_add(sum, &memory);
        return;
    }
    scan->op_memory.items[join->op_memory.kept++] = memory;
    state->memory_row = (uint32_t)(join->first_memory + join->op_memory.kept);
}

static void join_memory_events(struct join *join, uint32_t record, uint32_t op)
{
    struct tf_run_scan *scan = join->scan;

    for (; join->memory_events.next < scan->memory_events.count &&
           scan->memory_events.items[join->memory_events.next].op_name == record;
         join->memory_events.next++) {
        struct memory_event *event = &scan->memory_events.items[join->memory_events.next];

        if (event->address)
            event->address += join->model->block_count;
        event->op_name = join->model->profile->ops.items[op].name;
        event->allocator = join->allocators[event->allocator];
        event->device = event->device == NO_ID ? NO_ID : join->row.device;
    }
}

static bool join_record(struct join *join, uint32_t index, struct err *err)
{
    const struct tf_run_record *record = &join->scan->records.items[index];
    struct message              node = { .at = record->node,
                                         .end = record->node + record->node_len,
                                         .origin = join->scan->origin };
    struct tf_model            *model = join->model;
    uint32_t                    op;

    if (!find_op(join, record, node, &op))
        return tf_model_full(err);
    if (op != NO_ID &&
        !tf_classic_stats(model, op, join->row.scanned->name, join->number, node, err))
        return false;
    join_outputs(join, index, op);
    if (!join_event(join, index, op))
        return tf_model_full(err);
    if (op == NO_ID)
        return true;
    join_run(join, index, op);
    join_op_memory(join, index, op);
    join_memory_events(join, index, op);
    return true;
}

/* Threads have the name of their device until the file tells theirs: "tf_Compute/1234". */
static bool name_thread(struct tf_model *model, const struct row *row, struct message entry,
                        struct err *err)
{
    struct field field;
    struct str   name = { 0 };
    uint64_t     id = 0;
    int64_t      named_id;
    uint32_t     timeline;
    size_t       slash;

    while (message_next(&entry, &field, err)) {
        if (field_is_number(&field, 1))
            id = field.value;
        else if (field_is_bytes(&field, 2))
            name = field.bytes;
    }
    if (entry.is_damaged)
        return err_in(err, "thread_names");
    slash = str_find_last(name, '/');
    if (slash < name.len && str_to_int64(str_slice(name, slash + 1, name.len), &named_id) &&
        (uint64_t)named_id == id)
        name = str_slice(name, 0, slash);
    timeline = tf_model_timeline(model, row->name, (int64_t)(uint32_t)id);
    if (timeline == NO_ID || !name.len)
        return true;
    model->profile->timelines.items[timeline].name = profile_intern(model->profile, name);
    return model->profile->timelines.items[timeline].name != NO_ID || tf_model_full(err);
}

static bool name_threads(struct tf_model *model, const struct row *row, struct message device,
                         struct err *err)
{
    struct field field;

    while (message_next(&device, &field, err))
        if (field_is_bytes(&field, 3) &&
            !name_thread(model, row, message_inside(&device, field.bytes), err))
            return false;
    return !device.is_damaged;
}

/* Names are looked up in a table that is too big for the cache. */
enum { SLOT_AHEAD = 16, RECORD_AHEAD = 10, TEXT_AHEAD = 5 };

static void fetch_ahead(const struct join *join, uint32_t index)
{
    const struct tf_run_record *records = join->scan->records.items;
    const struct intern        *names = &join->model->profile->names;

    if (join->scan->records.count - index <= SLOT_AHEAD)
        return;
    intern_fetch_slot(names, records[index + SLOT_AHEAD].op_hash);
    intern_fetch_record(names, records[index + RECORD_AHEAD].op_hash);
    intern_fetch_text(names, records[index + TEXT_AHEAD].op_hash);
}

static bool join_rows(struct join *join, struct err *err)
{
    struct tf_run_scan *scan = join->scan;
    uint32_t            step = tf_model_step(join->model, join->number), index = 0;

    if (step == NO_ID || !tf_classic_step(join->model, join->number))
        return tf_model_full(err);
    for (size_t i = 0; i < scan->rows.count; i++) {
        const struct tf_run_row *row = &scan->rows.items[i];

        if (!join_row(join, row, step) || !join_threads(join, (uint32_t)i))
            return tf_model_full(err);
        for (; index < row->record_end; index++) {
            fetch_ahead(join, index);
            if (!join_record(join, index, err))
                return false;
        }
        if (row->start_ns != INT64_MAX)
            tf_model_step_extend(join->model, step, row->start_ns, row->end_ns);
        if (!name_threads(join->model, &join->row, row->thread_names, err))
            return false;
    }
    return true;
}

static bool join_names(struct join *join)
{
    struct tf_run_scan *scan = join->scan;
    struct tf_model    *model = join->model;

    join->timelines = new_ids(join, scan->threads.count);
    join->allocators = new_ids(join, scan->allocators.count);
    join->shapes = new_ids(join, scan->shapes.rows.count);
    if (!join->timelines || !join->allocators || !join->shapes)
        return false;
    for (uint32_t i = 0; i < scan->allocators.count; i++) {
        join->allocators[i] = profile_intern(model->profile, intern_str(&scan->allocators, i));
        if (join->allocators[i] == NO_ID)
            return false;
    }
    for (size_t i = 0; i < scan->shapes.rows.count; i++) {
        join->shapes[i] = tf_shape_add(&model->shapes, &scan->shapes.rows.items[i]);
        if (join->shapes[i] == NO_ID)
            return false;
    }
    return true;
}

static bool take_columns(struct join *join)
{
    struct tf_run_scan *scan = join->scan;
    struct tf_model    *model = join->model;
    struct profile     *profile = model->profile;

    scan->outputs.count = join->outputs.kept;
    scan->events.count = join->events.next;
    scan->op_runs.count = join->op_runs.kept;
    scan->op_memory.count = join->op_memory.kept;
    scan->memory_events.count = join->memory_events.next;
    arena_join(profile->arena, &scan->kept);
    arena_join(&model->scratch, &scan->scratch);
    return vec_append(&model->outputs, &model->scratch, &scan->outputs) &&
           vec_append(&model->events, &model->scratch, &scan->events) &&
           vec_append(&profile->op_runs, profile->arena, &scan->op_runs) &&
           vec_append(&profile->op_memory, profile->arena, &scan->op_memory) &&
           vec_append(&profile->memory_events, profile->arena, &scan->memory_events);
}

bool tf_run_join(struct tf_model *model, struct tf_run_scan *scan, int64_t number, struct err *err)
{
    struct join join = { .model = model,
                         .scan = scan,
                         .number = number,
                         .first_memory = model->profile->op_memory.count };
    bool        is_joined;

    /* One step of a GPU without the row that sums its streams is enough to warn of all. */
    model->has_gpu |= scan->has_gpu;
    model->has_stream_all |= scan->has_all_streams;
    if (scan->misses_streams)
        tf_classic_misses_streams(model);
    if (scan->unusable)
        profile_damage(model->profile, NULL, scan->unusable,
                       "records without a usable start or length left out");
    is_joined = join_names(&join) || tf_model_full(err);
    is_joined = is_joined && (!scan->has_stats || join_rows(&join, err));
    model->block_count += scan->block_count;
    if (!take_columns(&join))
        return tf_model_full(err);
    if (is_joined && !scan->is_whole)
        *err = scan->err;
    return is_joined && scan->is_whole;
}
