/*
 * The first stage of reading RunMetadata: bytes into columns, without a look at the model. Rows of
 * devices make op runs (what the classic tool sums) and events on timelines: one a thread for ops,
 * one a stream for their work on the device.
 * Upstream: tensorflow/core/framework/step_stats.proto
 */
#include "read/tf/tf_run.h"

#include <string.h>

struct record { /* NodeExecStats */
    struct str       name;
    int64_t          start_micros, end_micros, start_nanos, end_nanos, scheduled_micros;
    uint32_t         thread;
    const char      *first_output; /* where the fields of outputs begin */
    uint32_t         output_count;
    bool             has_memory, has_allocations;
    struct op_memory memory;
};

static enum tf_row_kind row_kind(struct str name)
{
    if (str_contains(name, STR("stream:all")))
        return TF_ROW_ALL_STREAMS;
    if (str_contains(name, STR("stream:")))
        return TF_ROW_STREAM;
    return str_ends(name, STR("/memcpy")) ? TF_ROW_COPIES : TF_ROW_OPS;
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
static bool read_tensor(struct tf_run_scan *scan, struct message tensor, struct tf_output *output,
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
            output->shape = tf_shape_of(&scan->shapes, inner, err);
            if (output->shape == NO_ID)
                return err_in(err, "shape");
        }
        if (field_is_bytes(&field, 4) && !read_output_bytes(inner, memory, err))
            return err_in(err, "allocation_description");
    }
    if (tensor.is_damaged)
        return false;
    return !has_shape || output->slot > UINT16_MAX ||
           vec_push(&scan->outputs, &scan->scratch, *output) || tf_model_full(err);
}

static bool read_output(struct tf_run_scan *scan, struct message node_output,
                        struct op_memory *memory, struct err *err)
{
    struct tf_output output = { .op = (uint32_t)scan->records.count };
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
           read_tensor(scan, message_inside(&node_output, tensor), &output, memory, err) ||
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

static bool read_record(struct tf_run_scan *scan, struct message node, struct record *record,
                        struct err *err)
{
    struct field field;

    while (message_next(&node, &field, err)) {
        struct message inner = message_inside(&node, field.bytes);

        if (field.type == WIRE_VARINT)
            read_scalar(record, &field);
        else if (field_is_bytes(&field, 1))
            record->name = field.bytes;
        if (field_is_bytes(&field, 6) && !read_allocator(inner, record, err))
            return err_in(err, "memory");
        if (field_is_bytes(&field, 7) && !read_output(scan, inner, &record->memory, err))
            return err_in(err, "output");
        if (field_is_bytes(&field, 12) && !read_memory_stats(inner, &record->memory, err))
            return err_in(err, "memory_stats");
        record->has_memory |=
            field_is_bytes(&field, 6) || field_is_bytes(&field, 7) || field_is_bytes(&field, 12);
    }
    return !node.is_damaged;
}

static bool is_bookkeeping(struct str name)
{
    return str_fits(name, "RecvTensor|_SOURCE|*MEMCPY*");
}

/* Names of ops end at a colon; what does bookkeeping belongs to none. */
static bool add_record(struct tf_run_scan *scan, struct message node, struct str name)
{
    struct str           op_name = str_slice(name, 0, str_find(name, ':'));
    struct tf_run_record record = { .node = node.at,
                                    .node_len = (uint32_t)(node.end - node.at),
                                    .name_at = name.len ? (uint32_t)(name.data - node.at) : 0,
                                    .name_len = (uint32_t)name.len };

    if (!is_bookkeeping(op_name))
        record.op_name_len = (uint32_t)op_name.len;
    record.op_hash = intern_hash(op_name);
    return node.end - node.at < UINT32_MAX && vec_push(&scan->records, &scan->scratch, record);
}

static bool add_memory(struct tf_run_scan *scan, const struct record *record, uint32_t row)
{
    struct op_memory memory = record->memory;

    memory.op = row;
    if (!tf_is_sane(memory.requested_bytes) || !tf_is_sane(memory.peak_bytes))
        return true;
    memory.requested_bytes += memory.persistent_bytes + memory.temporary_bytes;
    memory.peak_bytes += memory.persistent_bytes + memory.temporary_bytes;
    memory.residual_bytes += memory.persistent_bytes;
    return vec_push(&scan->op_memory, &scan->kept, memory);
}

static bool add_run(struct tf_run_scan *scan, const struct record *record, uint32_t row)
{
    uint32_t device = (uint32_t)scan->rows.count - 1;
    int64_t  end_micros = record->end_micros ? record->end_micros : 1;
    bool     is_scheduled = record->scheduled_micros > 0 && tf_is_sane(record->scheduled_micros);
    struct op_run run = {
        .op = row,
        .device = device,
        .start_ns = record->start_micros * 1000,
        .duration_ns = end_micros * 1000,
        .scheduled_ns = is_scheduled ? record->scheduled_micros * 1000 : -1,
        .is_accelerator = scan->rows.items[device].kind != TF_ROW_OPS,
    };

    return vec_push(&scan->op_runs, &scan->kept, run);
}

/* Row of the thread, made where it is new; one a stream. NO_ID: full. */
static uint32_t thread_of(struct tf_run_scan *scan, uint32_t id)
{
    uint32_t             row = (uint32_t)scan->rows.count - 1, known;
    uint64_t             key;
    struct tf_run_thread thread = { row, id };

    if (scan->rows.items[row].kind != TF_ROW_OPS)
        thread.id = 0;
    key = (uint64_t)row << 32 | thread.id;
    known = id_map_get(&scan->thread_rows, key);
    if (known != NO_ID)
        return known;
    known = (uint32_t)scan->threads.count;
    return id_map_put(&scan->thread_rows, key, known) &&
                   vec_push(&scan->threads, &scan->scratch, thread)
               ? known
               : NO_ID;
}

static bool add_event(struct tf_run_scan *scan, const struct record *record, uint32_t row)
{
    bool has_nanos = record->start_nanos > 0 && tf_is_sane(record->start_nanos / 1000) &&
                     tf_is_sane(record->end_nanos / 1000);
    struct tf_event event = {
        .timeline = thread_of(scan, record->thread),
        .activity = row,
        .start_ns = has_nanos ? record->start_nanos : record->start_micros * 1000,
        .duration_ns =
            has_nanos && record->end_nanos ? record->end_nanos : record->end_micros * 1000,
    };

    return event.timeline != NO_ID && vec_push(&scan->events, &scan->scratch, event);
}

static bool read_allocations(struct tf_run_scan *scan, const struct tf_allocator *from,
                             struct message node, struct err *err)
{
    struct field field;

    while (message_next(&node, &field, err))
        if (field_is_bytes(&field, 6) &&
            !tf_allocator_read(scan, from, message_inside(&node, field.bytes), err))
            return err_in(err, "memory");
    return true;
}

/* Bytes of the op in its step, and each allocation as far as it was recorded. */
static bool read_op_memory(struct tf_run_scan *scan, const struct record *record, uint32_t row,
                           struct message node, struct err *err)
{
    uint32_t            device = (uint32_t)scan->rows.count - 1;
    struct tf_allocator from = {
        .record = row,
        .row = device,
        .end_ns = (record->start_micros + record->end_micros) * 1000,
        .is_host = tf_device_kind(scan->rows.items[device].name) == DEVICE_CPU,
    };

    if (!record->has_memory)
        return true;
    if (!add_memory(scan, record, row))
        return tf_model_full(err);
    return !record->has_allocations || read_allocations(scan, &from, node, err);
}

static bool has_usable_time(const struct record *record)
{
    return record->start_micros > 0 && tf_is_sane(record->start_micros) &&
           tf_is_sane(record->end_micros);
}

static void extend_row(struct tf_run_row *row, const struct record *record)
{
    int64_t start_ns = record->start_micros * 1000;
    int64_t end_ns = (record->start_micros + record->end_micros) * 1000;

    if (start_ns < row->start_ns)
        row->start_ns = start_ns;
    if (end_ns > row->end_ns)
        row->end_ns = end_ns;
}

static bool read_node_stats(struct tf_run_scan *scan, struct message node, struct err *err)
{
    struct record      record = { 0 };
    struct tf_run_row *row = &scan->rows.items[scan->rows.count - 1];
    uint32_t           index = (uint32_t)scan->records.count;

    if (!read_record(scan, node, &record, err))
        return false;
    if (index >= NO_ID - 1 || !add_record(scan, node, record.name))
        return tf_model_full(err);
    row->record_end = index + 1;
    if (!has_usable_time(&record)) {
        scan->unusable++;
        return true;
    }
    extend_row(row, &record);
    if (scan->is_classic) /* views look at the bytes of the record */
        return true;
    if (!add_event(scan, &record, index))
        return tf_model_full(err);
    if (!scan->records.items[index].op_name_len)
        return true;
    /* Single streams and copies repeat what "stream:all" sums. */
    if (row->kind == TF_ROW_OPS || row->kind == TF_ROW_ALL_STREAMS ||
        (row->kind == TF_ROW_STREAM && !scan->has_all_streams))
        if (!add_run(scan, &record, index))
            return tf_model_full(err);
    return row->kind != TF_ROW_OPS || read_op_memory(scan, &record, index, node, err);
}

static bool is_gpu(struct str device)
{
    return str_fits(device, "*GPU*|*gpu*");
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
static void expect_records(struct tf_run_scan *scan, struct message device)
{
    size_t count = message_guess(device, 2);

    (void)vec_reserve(&scan->records, &scan->scratch, count);
    if (!scan->is_classic)
        (void)(vec_reserve(&scan->events, &scan->scratch, count) &&
               vec_reserve(&scan->op_runs, &scan->kept, count) &&
               vec_reserve(&scan->op_memory, &scan->kept, count));
}

static bool read_device(struct tf_run_scan *scan, struct message device, struct str name,
                        struct err *err)
{
    struct tf_run_row row = { .name = name,
                              .kind = row_kind(name),
                              .record_end = (uint32_t)scan->records.count,
                              .start_ns = INT64_MAX,
                              .end_ns = INT64_MIN };
    struct field      field;
    uint32_t          index = 0;

    expect_records(scan, device);
    if (scan->rows.count >= NO_ID - 1 || !vec_push(&scan->rows, &scan->scratch, row))
        return tf_model_full(err);
    for (struct message at = device; message_next(&device, &field, err); at = device) {
        if (field_is_bytes(&field, 3) && !row.thread_names.at)
            row.thread_names = at;
        if (!field_is_bytes(&field, 2))
            continue;
        if (!read_node_stats(scan, message_inside(&device, field.bytes), err))
            return err_in(err, "node_stats[%u]", index);
        index++;
    }
    if (device.is_damaged)
        return false;
    if (row.kind == TF_ROW_OPS)
        scan->rows.items[scan->rows.count - 1].thread_names = row.thread_names;
    return true;
}

/* Streams come after the devices they belong to, so that they find them. */
static bool read_devices(struct tf_run_scan *scan, struct message stats, bool is_streams,
                         struct err *err)
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
        if ((row_kind(name) != TF_ROW_OPS) == is_streams && !read_device(scan, device, name, err))
            return err_in(err, "step_stats.dev_stats[%u]", index);
    }
    return !stats.is_damaged || err_in(err, "step_stats");
}

/* What rows there are, before any is read. */
static void survey_devices(struct tf_run_scan *scan, struct message stats)
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
        has_all_streams |= row_kind(name) == TF_ROW_ALL_STREAMS;
    }
    scan->has_gpu |= has_gpu;
    scan->has_all_streams |= has_all_streams;
    scan->misses_streams |= has_gpu && !has_all_streams;
}

static bool scan_stats(struct tf_run_scan *scan, struct message run, struct err *err)
{
    struct field field;

    while (message_next(&run, &field, err)) {
        struct message stats = message_inside(&run, field.bytes);

        if (!field_is_bytes(&field, 1))
            continue;
        scan->has_stats = true;
        survey_devices(scan, stats);
        if (!read_devices(scan, stats, false, err) || !read_devices(scan, stats, true, err))
            return false;
    }
    return !run.is_damaged;
}

void tf_run_scan(struct tf_run_scan *scan, struct message run)
{
    scan->origin = run.origin;
    scan->thread_rows.arena = &scan->scratch;
    scan->is_whole = (tf_shapes_init(&scan->shapes, &scan->scratch) &&
                      intern_init(&scan->allocators, &scan->scratch)) ||
                     tf_model_full(&scan->err);
    scan->is_whole = scan->is_whole && scan_stats(scan, run, &scan->err);
}

void tf_run_free(struct tf_run_scan *scan)
{
    arena_free(&scan->scratch);
    arena_free(&scan->kept);
}
