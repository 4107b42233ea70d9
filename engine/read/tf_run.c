/*
 * RunMetadata: when the ops of one step ran, on which device, and the memory they took. Rows of
 * devices make op runs (what the classic tool sums) and events on timelines: one a thread for ops,
 * one a stream for their work on the device.
 * Upstream: tensorflow/core/framework/step_stats.proto
 */
#include "read/names_ahead.h"
#include "read/tf_classic.h"
#include "read/tf_model.h"

#include <string.h>

/* A row of "/device:GPU:0/stream:all" repeats what the single streams show. */
enum row_kind { ROW_OPS, ROW_STREAM, ROW_ALL_STREAMS, ROW_COPIES };

struct row {
    enum row_kind kind;
    uint32_t      name, device, step;
};
struct record { /* NodeExecStats */
    struct str       name;
    int64_t          start_micros, end_micros, start_nanos, end_nanos, scheduled_micros;
    uint32_t         thread;
    const char      *first_output; /* where the fields of outputs begin */
    uint32_t         output_count;
    bool             has_memory, has_allocations;
    struct op_memory memory;
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

static enum row_kind row_kind(struct str name)
{
    if (str_contains(name, STR("stream:all")))
        return ROW_ALL_STREAMS;
    if (str_contains(name, STR("stream:")))
        return ROW_STREAM;
    return str_ends(name, STR("/memcpy")) ? ROW_COPIES : ROW_OPS;
}

static bool read_allocator(struct message allocator, struct record *record, struct err *err)
{
    struct op_memory *memory = &record->memory;
    struct field      field;

    while (message_next(&allocator, &field, err)) {
        int64_t *sum = field_is_number(&field, 2)   ? &memory->requested_bytes
                       : field_is_number(&field, 3) ? &memory->peak_bytes
                       : field_is_number(&field, 4) ? &memory->residual_bytes
                                                    : NULL;

        record->has_allocations |= field_is_number(&field, 5) || field_is_bytes(&field, 6);
        if (sum && __builtin_add_overflow(*sum, field_int64(&field), sum))
            *sum = INT64_MAX;
    }
    return !allocator.is_damaged;
}

/* Old versions told a device's own memory apart: fields 2 and 4. */
static bool read_memory_stats(struct message stats, struct op_memory *memory, struct err *err)
{
    struct field field;

    while (message_next(&stats, &field, err)) {
        if (field_is_number(&field, 1) || field_is_number(&field, 2))
            tf_add(&memory->temporary_bytes, field_int64(&field));
        else if (field_is_number(&field, 3) || field_is_number(&field, 4))
            tf_add(&memory->persistent_bytes, field_int64(&field));
    }
    return !stats.is_damaged;
}

static bool read_output_bytes(struct message allocation, struct op_memory *memory, struct err *err)
{
    struct field field;
    int64_t      most = 0;

    while (message_next(&allocation, &field, err))
        if ((field_is_number(&field, 1) || field_is_number(&field, 2)) &&
            field_int64(&field) > most && tf_is_sane(field_int64(&field)))
            most = field_int64(&field);
    tf_add(&memory->output_bytes, most);
    return !allocation.is_damaged;
}

/* TensorDescription of one result; its shape counts where the graph does not tell it. */
static bool read_tensor(struct tf_model *model, struct message tensor, struct tf_output *output,
                        struct op_memory *memory, struct err *err)
{
    struct field field;
    bool         has_shape = false;

    while (message_next(&tensor, &field, err)) {
        struct message inner = message_inside(&tensor, field.bytes);

        if (field_is_number(&field, 1))
            output->dtype = tf_dtype(field.value);
        if (field_is_bytes(&field, 2)) {
            has_shape = true;
            output->shape = tf_shape_of(model, inner, err);
            if (output->shape == NO_ID)
                return err_in(err, "shape");
        }
        if (field_is_bytes(&field, 4) && !read_output_bytes(inner, memory, err))
            return err_in(err, "allocation_description");
    }
    if (tensor.is_damaged)
        return false;
    return !has_shape || output->op == NO_ID || output->slot > UINT16_MAX ||
           vec_push(&model->outputs, &model->scratch, *output) || tf_model_full(err);
}

static bool read_output(struct tf_model *model, uint32_t op, struct message node_output,
                        struct op_memory *memory, struct err *err)
{
    struct tf_output output = { .op = op };
    struct str       tensor = { 0 };
    struct field     field;

    while (message_next(&node_output, &field, err)) {
        if (field_is_number(&field, 1))
            output.slot = (uint32_t)field.value;
        else if (field_is_bytes(&field, 3))
            tensor = field.bytes;
    }
    if (node_output.is_damaged)
        return false;
    return !tensor.len ||
           read_tensor(model, message_inside(&node_output, tensor), &output, memory, err) ||
           err_in(err, "tensor_description");
}

static void read_scalar(struct record *record, const struct field *field)
{
    int64_t *const places[] = {
        [2] = &record->start_micros, [4] = &record->end_micros, [9] = &record->scheduled_micros,
        [13] = &record->start_nanos, [15] = &record->end_nanos,
    };

    if (field->number == 10)
        record->thread = (uint32_t)field->value;
    else if (field->number < ARRAY_COUNT(places) && places[field->number])
        *places[field->number] = field_int64(field);
}

/* Everything but outputs, whose op has to be known first. */
static bool read_record(struct message node, struct record *record, struct err *err)
{
    struct field field;

    for (const char *at = node.at; message_next(&node, &field, err); at = node.at) {
        struct message inner = message_inside(&node, field.bytes);

        if (field.type == WIRE_VARINT)
            read_scalar(record, &field);
        else if (field_is_bytes(&field, 1))
            record->name = field.bytes;
        else if (field_is_bytes(&field, 7) && record->output_count++ == 0)
            record->first_output = at;
        if (field_is_bytes(&field, 6) && !read_allocator(inner, record, err))
            return err_in(err, "memory");
        if (field_is_bytes(&field, 12) && !read_memory_stats(inner, &record->memory, err))
            return err_in(err, "memory_stats");
        record->has_memory |= field_is_bytes(&field, 6) || field_is_bytes(&field, 12);
    }
    return !node.is_damaged;
}

static bool read_outputs(struct tf_model *model, uint32_t op, const struct message *outer,
                         struct record *record, struct err *err)
{
    struct message node = { .at = record->first_output,
                            .end = outer->end,
                            .origin = outer->origin };
    struct field   field;
    bool           is_first = op != NO_ID && !model->states.items[op].is_measured;

    if (op != NO_ID)
        model->states.items[op].is_measured = true;
    while (record->output_count && message_next(&node, &field, err)) {
        if (!field_is_bytes(&field, 7))
            continue;
        record->output_count--;
        record->has_memory = true;
        if (!read_output(model, is_first ? op : NO_ID, message_inside(&node, field.bytes),
                         &record->memory, err))
            return err_in(err, "output");
    }
    return true;
}

static bool is_bookkeeping(struct str name)
{
    return str_equal(name, STR("RecvTensor")) || str_equal(name, STR("_SOURCE")) ||
           str_contains(name, STR("MEMCPY"));
}

/* The op a record is about; *op is NO_ID for rows that belong to none. */
static bool find_op(struct tf_model *model, const struct row *row, struct str name, uint32_t *op)
{
    struct profile *profile = model->profile;
    uint32_t        interned;
    bool            is_new = false;

    *op = NO_ID;
    name = str_slice(name, 0, str_find(name, ':'));
    if (is_bookkeeping(name) || !name.len)
        return true;
    interned = profile_intern(profile, name);
    *op = tf_model_op(model, 0, interned, &is_new);
    if (*op == NO_ID)
        return false;
    if (is_new)
        profile->ops.items[*op].type = interned;
    if (row->kind == ROW_OPS) /* where it ran, rather than where the graph wished it */
        profile->ops.items[*op].device = row->device;
    return true;
}

static bool add_memory(struct tf_model *model, const struct row *row, const struct record *record,
                       uint32_t op)
{
    struct op_memory memory = record->memory;

    memory.op = op;
    memory.step = row->step;
    if (!tf_is_sane(memory.requested_bytes) || !tf_is_sane(memory.peak_bytes))
        return true;
    memory.requested_bytes += memory.persistent_bytes + memory.temporary_bytes;
    memory.peak_bytes += memory.persistent_bytes + memory.temporary_bytes;
    memory.residual_bytes += memory.persistent_bytes;
    return tf_model_add_memory(model, &memory);
}

static bool add_run(struct tf_model *model, const struct row *row, const struct record *record,
                    uint32_t op)
{
    struct profile *profile = model->profile;
    int64_t         end_micros = record->end_micros ? record->end_micros : 1;
    bool is_scheduled = record->scheduled_micros > 0 && tf_is_sane(record->scheduled_micros);
    struct op_run run = {
        .op = op,
        .step = row->step,
        .device = row->device,
        .stream = row->kind == ROW_OPS ? 0 : row->name,
        .start_ns = record->start_micros * 1000,
        .duration_ns = end_micros * 1000,
        .scheduled_ns = is_scheduled ? record->scheduled_micros * 1000 : -1,
        .is_accelerator = row->kind != ROW_OPS,
    };

    model->states.items[op].last_step = row->step + 1;
    return vec_push(&profile->op_runs, profile->arena, run);
}

static uint8_t activity_kind(const struct row *row, struct str name)
{
    if (str_contains(name, STR("MEMCPY")) || str_contains(name, STR("emcpy")))
        return ACTIVITY_MEMCPY;
    if (str_contains(name, STR("emset")))
        return ACTIVITY_MEMSET;
    if (str_equal(name, STR("RecvTensor")))
        return ACTIVITY_TRANSFER;
    return row->kind == ROW_OPS ? ACTIVITY_OP : ACTIVITY_KERNEL;
}

static bool add_event(struct tf_model *model, const struct row *row, const struct record *record,
                      uint32_t op)
{
    bool has_nanos = record->start_nanos > 0 && tf_is_sane(record->start_nanos / 1000) &&
                     tf_is_sane(record->end_nanos / 1000);
    struct activity activity = {
        .name = profile_intern(model->profile, record->name),
        .op = op,
        .source = op == NO_ID ? NO_ID : model->profile->ops.items[op].source,
        .kind = activity_kind(row, record->name),
        .copy = str_contains(record->name, STR("HtoD"))   ? COPY_H2D
                : str_contains(record->name, STR("DtoH")) ? COPY_D2H
                : str_contains(record->name, STR("DtoD")) ? COPY_D2D
                                                          : COPY_NONE,
    };
    struct timeline timeline = {
        .name = row->name,
        .id = row->kind == ROW_OPS ? (int64_t)record->thread : 0,
        .host = model->host,
        .device = row->kind == ROW_OPS ? NO_ID : row->device,
        .kind = row->kind == ROW_OPS      ? TIMELINE_THREAD
                : row->kind == ROW_STREAM ? TIMELINE_STREAM
                                          : TIMELINE_DERIVED,
    };
    struct tf_event event = {
        .start_ns = has_nanos ? record->start_nanos : record->start_micros * 1000,
        .duration_ns =
            has_nanos && record->end_nanos ? record->end_nanos : record->end_micros * 1000,
    };

    return activity.name != NO_ID && tf_model_add_event(model, &timeline, &activity, event);
}

static bool read_allocations(struct tf_model *model, const struct tf_allocator *from,
                             struct message node, struct err *err)
{
    struct field field;

    while (message_next(&node, &field, err))
        if (field_is_bytes(&field, 6) &&
            !tf_allocator_read(model, from, message_inside(&node, field.bytes), err))
            return err_in(err, "memory");
    return true;
}

/* Bytes of the op in its step, and each allocation as far as it was recorded. */
static bool read_op_memory(struct tf_model *model, const struct row *row,
                           const struct record *record, uint32_t op, struct message node,
                           struct err *err)
{
    struct tf_allocator from = { .op = op,
                                 .device = row->device,
                                 .end_ns = (record->start_micros + record->end_micros) * 1000 };

    if (!record->has_memory)
        return true;
    if (!add_memory(model, row, record, op))
        return tf_model_full(err);
    return !record->has_allocations || read_allocations(model, &from, node, err);
}

static bool read_node_stats(struct tf_model *model, const struct row *row, struct message node,
                            struct err *err)
{
    struct record record = { 0 };
    uint32_t      op;

    if (!read_record(node, &record, err))
        return false;
    if (!find_op(model, row, record.name, &op))
        return tf_model_full(err);
    if (op != NO_ID &&
        !tf_classic_stats(model, op, profile_str(model->profile, row->name),
                          model->profile->recorded_steps.items[row->step].number, node, err))
        return false;
    if (!read_outputs(model, op, &node, &record, err))
        return false;
    if (record.start_micros <= 0 || !tf_is_sane(record.start_micros) ||
        !tf_is_sane(record.end_micros)) {
        profile_note(model->profile, NULL, 1, "records without a usable start or length left out");
        return true;
    }
    tf_model_step_extend(model, row->step, record.start_micros * 1000,
                         (record.start_micros + record.end_micros) * 1000);
    if (model->classic) /* views look at what tf_classic_stats kept */
        return true;
    if (!add_event(model, row, &record, op))
        return tf_model_full(err);
    if (op == NO_ID)
        return true;
    /* Single streams and copies repeat what "stream:all" sums. */
    if (row->kind == ROW_OPS || row->kind == ROW_ALL_STREAMS ||
        (row->kind == ROW_STREAM && !model->has_stream_all))
        if (!add_run(model, row, &record, op))
            return tf_model_full(err);
    return row->kind != ROW_OPS || read_op_memory(model, row, &record, op, node, err);
}

static bool is_gpu(struct str device)
{
    return str_contains(device, STR("GPU")) || str_contains(device, STR("gpu"));
}

static bool read_device_name(struct message device, struct str *name, struct err *err)
{
    struct field field;

    /* Writers put it first; what follows may be millions of records. */
    while (!name->len && message_next(&device, &field, err))
        if (field_is_bytes(&field, 1))
            *name = field.bytes;
    return !device.is_damaged;
}

/* Columns that grow record by record are moved again and again; room is no promise. */
static void expect_records(struct tf_model *model, struct message device)
{
    struct profile *profile = model->profile;
    size_t          count = message_guess(device, 2);

    (void)(vec_reserve(&model->events, &model->scratch, count) &&
           vec_reserve(&profile->op_runs, profile->arena, count) &&
           vec_reserve(&profile->op_memory, profile->arena, count) &&
           vec_reserve(&profile->activities, profile->arena, count));
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

static bool read_device(struct tf_model *model, struct message device, uint32_t step,
                        struct err *err)
{
    struct names_ahead ahead;
    struct field       field;
    struct message     thread_names = { 0 };
    struct str         name = { 0 };
    struct row         row = { .step = step };
    uint32_t           index = 0;

    if (!read_device_name(device, &name, err))
        return false;
    if (!model->classic)
        expect_records(model, device);
    row.kind = row_kind(name);
    row.name = profile_intern(model->profile, name);
    row.device = row_device(model, name);
    if (row.name == NO_ID || row.device == NO_ID)
        return tf_model_full(err);
    ahead = names_ahead_of(&model->profile->names, device, 2);
    for (struct message at = device; message_next(&device, &field, err); at = device) {
        if (field_is_bytes(&field, 3) && !thread_names.at)
            thread_names = at; /* timelines have to be there first */
        if (!field_is_bytes(&field, 2))
            continue;
        names_ahead_step(&ahead);
        if (!read_node_stats(model, &row, message_inside(&device, field.bytes), err))
            return err_in(err, "node_stats[%u]", index);
        index++;
    }
    if (device.is_damaged)
        return false;
    return row.kind != ROW_OPS || name_threads(model, &row, thread_names, err);
}

/* Streams come after the devices they belong to, so that they find them. */
static bool read_devices(struct tf_model *model, struct message stats, bool is_streams,
                         uint32_t step, struct err *err)
{
    struct field field;
    uint32_t     index = 0;

    for (; message_next(&stats, &field, err); index += field_is_bytes(&field, 1)) {
        struct message device = message_inside(&stats, field.bytes);
        struct str     name = { 0 };

        if (!field_is_bytes(&field, 1))
            continue;
        if (!read_device_name(device, &name, err))
            return err_in(err, "step_stats.dev_stats[%u]", index);
        if ((row_kind(name) != ROW_OPS) == is_streams && !read_device(model, device, step, err))
            return err_in(err, "step_stats.dev_stats[%u]", index);
    }
    return !stats.is_damaged || err_in(err, "step_stats");
}

/* What rows there are, before any is read. One step of a GPU without the row that sums its streams
 * is enough to warn of all. */
static void survey_devices(struct tf_model *model, struct message stats)
{
    struct field field;
    struct err   ignored = { 0 };
    bool         has_gpu = false, has_all_streams = false;

    while (message_next(&stats, &field, &ignored)) {
        struct str name = { 0 };

        if (!field_is_bytes(&field, 1) ||
            !read_device_name(message_inside(&stats, field.bytes), &name, &ignored))
            continue;
        has_gpu |= is_gpu(name);
        has_all_streams |= row_kind(name) == ROW_ALL_STREAMS;
    }
    model->has_gpu |= has_gpu;
    model->has_stream_all |= has_all_streams;
    if (has_gpu && !has_all_streams)
        tf_classic_misses_streams(model);
}

static bool read_stats(struct tf_model *model, struct message run, int64_t number, bool *has_any,
                       struct err *err)
{
    struct field field;

    while (message_next(&run, &field, err)) {
        struct message stats = message_inside(&run, field.bytes);
        uint32_t       step;

        if (!field_is_bytes(&field, 1))
            continue;
        step = tf_model_step(model, number);
        if (step == NO_ID || !tf_classic_step(model, number))
            return tf_model_full(err);
        *has_any = true;
        survey_devices(model, stats);
        if (!read_devices(model, stats, false, step, err) ||
            !read_devices(model, stats, true, step, err))
            return false;
    }
    return !run.is_damaged;
}

static bool read_costs(struct tf_model *model, struct message run, int64_t number, bool *has_any,
                       struct err *err)
{
    struct field field;

    while (message_next(&run, &field, err)) {
        if (!field_is_bytes(&field, 2))
            continue;
        *has_any = true;
        if (!tf_cost_read(model, message_inside(&run, field.bytes), number, err))
            return false;
    }
    return !run.is_damaged;
}

/* The classic tool looks at step_stats alone. */
bool tf_run_read(struct tf_model *model, struct message run, int64_t number, struct err *err)
{
    bool has_any = false, is_classic = model->classic != NULL;

    if ((!is_classic && !tf_partitions_read(model, run, err)) ||
        !read_stats(model, run, number, &has_any, err) ||
        (!is_classic && !read_costs(model, run, number, &has_any, err)))
        return false;
    return has_any || profile_note(model->profile, NULL, 1,
                                   "run metadata without step_stats: nothing was timed");
}
