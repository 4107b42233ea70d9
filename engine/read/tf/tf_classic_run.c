/*
 * Runs of nodes by the classic tool's rules: which device a node is on, which rows give time and
 * memory. Upstream: tensorflow/core/framework/step_stats.proto, core/profiler/tfprof_log.proto
 */
#include "read/tf/tf_classic.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICE_NAME_BYTES = 512, MICROS_LIMIT_BITS = 52 };

static struct str lower(struct str name, char *room)
{
    size_t len = name.len < DEVICE_NAME_BYTES ? name.len : DEVICE_NAME_BYTES;

    for (size_t i = 0; i < len; i++)
        room[i] =
            (char)(name.data[i] >= 'A' && name.data[i] <= 'Z' ? name.data[i] + 32 : name.data[i]);
    return (struct str) { .data = room, .len = len };
}

static int64_t sane(int64_t value)
{
    int64_t limit = (int64_t)1 << MICROS_LIMIT_BITS;

    return value > limit ? limit : value < -limit ? -limit : value;
}

static void add(int64_t *sum, int64_t value)
{
    *sum = sane(*sum + sane(value));
}

struct stats { /* NodeExecStats as far as the classic tool looks */
    int64_t start_micros, end_micros;
    int64_t total_bytes, peak_bytes, live_bytes, output_bytes, temporary_bytes, persistent_bytes;
    int64_t in_use_bytes;
};

static bool read_allocation(struct tf_model *model, uint32_t op, struct message record,
                            struct err *err)
{
    struct field         field;
    struct tf_allocation allocation = { .op = op };

    while (message_next(&record, &field, err)) {
        if (field_is_number(&field, 1))
            allocation.allocation.time_micros = sane(field_int64(&field));
        else if (field_is_number(&field, 2))
            allocation.allocation.bytes = sane(field_int64(&field));
    }
    return !record.is_damaged &&
           (vec_push(&model->classic->allocations, &model->scratch, allocation) ||
            tf_model_full(err));
}

static bool read_allocator(struct tf_model *model, uint32_t op, struct message memory,
                           struct stats *stats, struct err *err)
{
    struct message again = memory;
    struct field   field;
    bool           is_gpu = false;

    while (message_next(&again, &field, err))
        if (field_is_bytes(&field, 1))
            is_gpu = str_contains(field.bytes, STR("GPU"));
    while (message_next(&memory, &field, err)) {
        int64_t value = field_int64(&field);

        if (field_is_number(&field, 2))
            add(&stats->total_bytes, value);
        else if (field_is_number(&field, 3))
            add(&stats->peak_bytes, value);
        else if (field_is_number(&field, 4))
            add(&stats->live_bytes, value);
        else if (field_is_number(&field, 5) && is_gpu && value > stats->in_use_bytes)
            stats->in_use_bytes = sane(value);
        else if (field_is_bytes(&field, 6) && is_gpu && model->classic->has_times &&
                 !read_allocation(model, op, message_inside(&memory, field.bytes), err))
            return false;
    }
    return !memory.is_damaged;
}

/* NodeOutput: the bytes of its allocation, which stands two messages further inside. */
static bool read_output(struct message output, struct stats *stats, struct err *err)
{
    static const uint32_t path[] = { 3, 4 };
    struct field          field;
    int64_t               most = 0;

    for (size_t level = 0; level < ARRAY_COUNT(path); level++) {
        struct str inside = { 0 };

        while (message_next(&output, &field, err))
            if (field_is_bytes(&field, path[level]))
                inside = field.bytes;
        if (output.is_damaged || !inside.data)
            return !output.is_damaged;
        output = message_inside(&output, inside);
    }
    while (message_next(&output, &field, err))
        if ((field_is_number(&field, 1) || field_is_number(&field, 2)) &&
            field_int64(&field) > most)
            most = field_int64(&field);
    add(&stats->output_bytes, most);
    return !output.is_damaged;
}

static bool read_memory_stats(struct message memory, struct stats *stats, struct err *err)
{
    struct field field;

    while (message_next(&memory, &field, err)) {
        if (field_is_number(&field, 1))
            stats->temporary_bytes = sane(field_int64(&field));
        else if (field_is_number(&field, 3))
            stats->persistent_bytes = sane(field_int64(&field));
    }
    return !memory.is_damaged;
}

static bool read_memory(struct tf_model *model, uint32_t op, struct message message,
                        struct stats *stats, struct err *err)
{
    struct field field;

    while (message_next(&message, &field, err)) {
        struct message inner = message_inside(&message, field.bytes);

        if ((field_is_bytes(&field, 6) && !read_allocator(model, op, inner, stats, err)) ||
            (field_is_bytes(&field, 7) && !read_output(inner, stats, err)) ||
            (field_is_bytes(&field, 12) && !read_memory_stats(inner, stats, err)))
            return false;
    }
    return !message.is_damaged;
}

static bool add_memory_point(struct tf_model *model, uint32_t row, struct classic_memory memory)
{
    struct tf_exec_memory point = { .exec = row, .memory = memory };

    return !model->classic->has_times || vec_push(&model->classic->memory, &model->scratch, point);
}

static bool add_memory(struct tf_model *model, uint32_t row, struct str device,
                       const struct stats *stats)
{
    struct classic_exec  *exec = &model->classic->classic->execs.items[row];
    struct classic_memory memory = { sane(stats->start_micros + stats->end_micros),
                                     stats->in_use_bytes };

    add(&exec->sums[MEASURE_REQUESTED_BYTES],
        stats->total_bytes + stats->persistent_bytes + stats->temporary_bytes);
    add(&exec->sums[MEASURE_PEAK_BYTES],
        stats->peak_bytes + stats->persistent_bytes + stats->temporary_bytes);
    add(&exec->sums[MEASURE_RESIDUAL_BYTES], stats->live_bytes + stats->persistent_bytes);
    add(&exec->sums[MEASURE_OUTPUT_BYTES], stats->output_bytes);
    if (!str_contains(device, STR("cpu")))
        add(&exec->accelerator_persistent_bytes, stats->persistent_bytes);
    return add_memory_point(model, row, memory);
}

static bool add_time(struct tf_model *model, uint32_t row, struct classic_time time)
{
    struct classic_exec *exec = &model->classic->classic->execs.items[row];
    struct tf_exec_time  added = { .exec = row, .time = time };

    add(&exec->sums[time.is_accelerator ? MEASURE_ACCELERATOR_MICROS : MEASURE_CPU_MICROS],
        time.duration_micros);
    add(&exec->sums[MEASURE_EXEC_MICROS], time.duration_micros);
    return !model->classic->has_times || vec_push(&model->classic->times, &model->scratch, added);
}

/* Every row tells when a node ran; only its device and "stream:all" tell for how long. */
static bool add_times(struct tf_model *model, uint32_t row, struct str device,
                      const struct stats *stats)
{
    struct classic_exec *exec = &model->classic->classic->execs.items[row];
    struct classic_time  time = { .device = profile_intern(model->profile, device),
                                  .is_accelerator = str_contains(device, STR("stream:all")),
                                  .start_micros = stats->start_micros,
                                  .duration_micros = stats->end_micros ? stats->end_micros : 1 };

    if (stats->start_micros <= 0)
        return true;
    if (exec->start_micros == 0 || stats->start_micros < exec->start_micros)
        exec->start_micros = stats->start_micros;
    if (time.start_micros + time.duration_micros > exec->end_micros)
        exec->end_micros = time.start_micros + time.duration_micros;
    if (!time.is_accelerator && !classic_is_canonical(device))
        return true;
    exec->sums[MEASURE_RUNS] += !time.is_accelerator;
    return time.device != NO_ID && add_time(model, row, time);
}

bool tf_classic_stats(struct tf_model *model, uint32_t op, struct str device, int64_t step,
                      struct message message, struct err *err)
{
    struct message again = message;
    struct stats   stats = { 0 };
    struct field   field;
    char           room[DEVICE_NAME_BYTES];
    uint32_t       row, known, name;

    if (!model->classic)
        return true;
    device = lower(device, room);
    known = op < model->classic->ops.count ? model->classic->ops.items[op].device : 0;
    name = profile_intern(model->profile, device);
    if (classic_is_canonical(device)) {
        if (known && known != name) /* a node is on one device, the first */
            return true;
        if (!known && !tf_classic_device(model, op, device))
            return tf_model_full(err);
    }
    while (message_next(&again, &field, err)) {
        if (field_is_number(&field, 2))
            stats.start_micros = sane(field_int64(&field));
        else if (field_is_number(&field, 4))
            stats.end_micros = sane(field_int64(&field));
    }
    row = tf_classic_exec_row(model, op, step);
    if (row == NO_ID || !add_times(model, row, device, &stats))
        return tf_model_full(err);
    if (!classic_is_canonical(device) || stats.start_micros == 0)
        return true;
    return read_memory(model, op, message, &stats, err) &&
           (add_memory(model, row, device, &stats) || tf_model_full(err));
}

static bool read_exec_times(struct tf_model *model, uint32_t row, struct message entry,
                            bool is_accelerator, struct err *err)
{
    struct classic_time time = { .is_accelerator = is_accelerator };
    struct str          value = { 0 };
    struct message      execs;
    struct field        field;

    while (message_next(&entry, &field, err)) {
        if (field_is_bytes(&field, 1))
            time.device = profile_intern(model->profile, field.bytes);
        else if (field_is_bytes(&field, 2))
            value = field.bytes;
    }
    execs = message_inside(&entry, value);
    while (value.len && message_next(&execs, &field, err)) {
        struct message tuple = message_inside(&execs, field.bytes);
        int64_t        values[2] = { 0 };
        size_t         count = 0;

        if (!field_is_bytes(&field, 1))
            continue;
        while (message_next(&tuple, &field, err))
            if (field.number == 1)
                count = field_numbers(&field, values, count, 2);
        time.start_micros = sane(values[0]);
        time.duration_micros = sane(values[1]);
        if (count == 2 && !add_time(model, row, time))
            return tf_model_full(err);
    }
    return !entry.is_damaged && time.device != NO_ID;
}

static bool read_exec_memory(struct tf_model *model, uint32_t row, struct message memory,
                             struct err *err)
{
    struct classic_exec  *exec = &model->classic->classic->execs.items[row];
    struct classic_memory point = { 0 };
    struct field          field;
    int64_t              *places[] = {
                     [1] = &point.time_micros,
                     [5] = &exec->accelerator_persistent_bytes,
                     [6] = &exec->sums[MEASURE_REQUESTED_BYTES],
                     [7] = &exec->sums[MEASURE_PEAK_BYTES],
                     [8] = &exec->sums[MEASURE_RESIDUAL_BYTES],
                     [9] = &exec->sums[MEASURE_OUTPUT_BYTES],
                     [10] = &point.in_use_bytes,
    };

    while (message_next(&memory, &field, err))
        if (field.type == WIRE_VARINT && field.number < ARRAY_COUNT(places) && places[field.number])
            add(places[field.number], field_int64(&field));
    return !memory.is_damaged && (add_memory_point(model, row, point) || tf_model_full(err));
}

bool tf_classic_exec(struct tf_model *model, uint32_t op, int64_t step, struct message message,
                     struct err *err)
{
    struct field field;
    uint32_t     row;

    if (!model->classic)
        return true;
    row = tf_classic_exec_row(model, op, step);
    if (row == NO_ID)
        return tf_model_full(err);
    while (message_next(&message, &field, err)) {
        struct classic_exec *exec = &model->classic->classic->execs.items[row];
        struct message       inner = message_inside(&message, field.bytes);
        bool                 is_accelerator = field_is_bytes(&field, 4);

        if (field_is_number(&field, 1))
            exec->sums[MEASURE_RUNS] = sane(field_int64(&field));
        else if (field_is_number(&field, 2))
            exec->start_micros = sane(field_int64(&field));
        else if (field_is_number(&field, 3))
            exec->end_micros = sane(field_int64(&field));
        else if ((is_accelerator || field_is_bytes(&field, 5)) &&
                 !read_exec_times(model, row, inner, is_accelerator, err))
            return false;
        else if ((field_is_bytes(&field, 7) && !read_exec_memory(model, row, inner, err)) ||
                 (field_is_bytes(&field, 11) && model->classic->has_times &&
                  !read_allocation(model, op, inner, err)))
            return false;
    }
    return !message.is_damaged;
}
