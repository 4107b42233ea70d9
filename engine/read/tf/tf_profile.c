/*
 * ProfileProto (profile_<step> of a ProfileContext): ops with their inputs, code, runs and memory
 * by step. Nodes name their inputs by id, so all of them are made before any is read. Upstream:
 * tensorflow/core/profiler/tfprof_log.proto
 */
#include "read/tf/tf_classic.h"
#include "read/tf/tf_model.h"

#include <inttypes.h>

enum { TIMES_LIMIT_BITS = 52, OUTPUT_MEMORY = 11 /* of ExecMemory */ };

struct entry { /* a map's entry */
    uint64_t   key;
    struct str text, value; /* text: a key that is a string */
};

static bool read_entry(struct message entry, struct entry *read, struct err *err)
{
    struct field field;

    *read = (struct entry) { 0 };
    while (message_next(&entry, &field, err)) {
        if (field.number == 1 && field.type == WIRE_BYTES)
            read->text = field.bytes;
        else if (field.number == 1)
            read->key = field.value;
        else if (field.number == 2 && field.type == WIRE_BYTES)
            read->value = field.bytes;
        else if (field.number == 2)
            read->value = (struct str) { 0 };
    }
    return !entry.is_damaged;
}

static bool make_op(struct tf_model *model, const struct entry *entry, struct message node,
                    struct err *err)
{
    struct profile *profile = model->profile;
    struct str      name = { 0 }, type = { 0 };
    struct field    field;
    uint32_t        op;
    bool            is_new;

    while (message_next(&node, &field, err)) {
        if (field_is_bytes(&field, 1))
            name = field.bytes;
        else if (field_is_bytes(&field, 9))
            type = field.bytes;
    }
    if (node.is_damaged)
        return false;
    op = tf_model_op(model, 0, profile_intern(profile, name), &is_new);
    if (op == NO_ID || !id_map_put(&model->op_of_id, entry->key, op))
        return tf_model_full(err);
    if (is_new)
        profile->ops.items[op].type = profile_intern(profile, type);
    return profile->ops.items[op].type != NO_ID || tf_model_full(err);
}

/* The classic views have rows of their own (tf_classic_exec), and look at none of these. */
static bool add_run(struct tf_model *model, const struct op_run *run)
{
    return model->classic || vec_push(&model->profile->op_runs, model->profile->arena, *run);
}

static bool read_times(struct tf_model *model, struct message times, struct op_run run,
                       struct err *err)
{
    struct profile *profile = model->profile;
    struct field    field, inner;

    while (message_next(&times, &field, err)) {
        struct message tuple = message_inside(&times, field.bytes);
        int64_t        values[2] = { 0 };
        size_t         count = 0;

        if (!field_is_bytes(&field, 1))
            continue;
        while (message_next(&tuple, &inner, err))
            if (inner.number == 1)
                count = field_numbers(&inner, values, count, 2);
        if (tuple.is_damaged)
            return err_in(err, "times");
        if (count != 2 || values[0] < 0 || values[1] < 0 || values[0] >> TIMES_LIMIT_BITS ||
            values[1] >> TIMES_LIMIT_BITS) {
            profile_damage(profile, NULL, 1, "times that are no start and length left out");
            continue;
        }
        run.start_ns = values[0] * 1000;
        run.duration_ns = values[1] * 1000;
        tf_model_step_extend(model, run.step, run.start_ns, run.start_ns + run.duration_ns);
        if (!add_run(model, &run))
            return tf_model_full(err);
    }
    return !times.is_damaged;
}

static bool read_device_times(struct tf_model *model, struct message execs, bool is_accelerator,
                              struct op_run run, struct err *err)
{
    struct entry entry;
    struct str   name;
    size_t       cut;

    if (!read_entry(execs, &entry, err))
        return false;
    name = entry.text;
    cut = str_search(name, STR("/stream:"));
    if (cut == name.len)
        cut = str_search(name, STR(":stream:"));
    run.is_accelerator = is_accelerator;
    run.stream = cut < name.len ? profile_intern(model->profile, name) : 0;
    run.device = cut < name.len && model->profile->ops.items[run.op].device != NO_ID
                     ? model->profile->ops.items[run.op].device
                     : tf_model_device(model, str_slice(name, 0, cut));
    if (run.device == NO_ID || run.stream == NO_ID)
        return tf_model_full(err);
    return read_times(model, message_inside(&execs, entry.value), run, err);
}

/* An entry of output_memory: bytes of the result of a slot. */
static int64_t result_bytes(struct message bytes, uint64_t *slot)
{
    struct err     ignored = { 0 };
    struct entry   entry;
    struct message memory;
    struct field   field;
    int64_t        size = 0;

    if (!read_entry(bytes, &entry, &ignored))
        return 0;
    memory = message_inside(&bytes, entry.value);
    *slot = entry.key;
    while (entry.value.len && message_next(&memory, &field, &ignored))
        if (field_is_number(&field, 1) && tf_is_sane(field_int64(&field)))
            size = field_int64(&field);
    return size;
}

/* Where an op asked for no more memory than its results have, they tell their sizes. */
static bool read_results(struct tf_model *model, struct message memory, const struct op_memory *row)
{
    struct message again = memory;
    struct field   field;
    struct err     ignored = { 0 };
    uint64_t       slot = 0;
    int64_t        sum = 0, bytes;

    while (message_next(&memory, &field, &ignored))
        if (field_is_bytes(&field, OUTPUT_MEMORY))
            tf_add(&sum, result_bytes(message_inside(&memory, field.bytes), &slot));
    if (sum != row->requested_bytes)
        return true;
    while (message_next(&again, &field, &ignored)) {
        if (!field_is_bytes(&field, OUTPUT_MEMORY))
            continue;
        bytes = result_bytes(message_inside(&again, field.bytes), &slot);
        if (!tf_told_add(model, row->op, slot, bytes))
            return false;
    }
    return true;
}

static bool read_memory(struct tf_model *model, struct message memory, struct op_memory row,
                        struct err *err)
{
    struct message again = memory;
    struct field   field;
    int64_t        values[10] = { 0 };

    while (message_next(&memory, &field, err))
        if (field.type == WIRE_VARINT && field.number < ARRAY_COUNT(values) &&
            field_int64(&field) >> TIMES_LIMIT_BITS == 0)
            values[field.number] = field_int64(&field);
    row.temporary_bytes = values[2] + values[4];
    row.persistent_bytes = values[3] + values[5];
    row.requested_bytes = values[6];
    row.peak_bytes = values[7];
    row.residual_bytes = values[8];
    row.output_bytes = values[9];
    return !memory.is_damaged && (((model->classic || tf_model_add_memory(model, &row)) &&
                                   read_results(model, again, &row)) ||
                                  tf_model_full(err));
}

static bool read_exec(struct tf_model *model, uint32_t op, uint32_t step, struct message exec,
                      struct err *err)
{
    struct field  field;
    struct op_run run = { .op = op, .step = step, .device = NO_ID, .scheduled_ns = -1 };

    while (message_next(&exec, &field, err)) {
        struct message inner = message_inside(&exec, field.bytes);
        bool           is_accelerator = field_is_bytes(&field, 4);

        if ((is_accelerator || field_is_bytes(&field, 5)) &&
            !read_device_times(model, inner, is_accelerator, run, err))
            return err_in(err, is_accelerator ? "accelerator_execs" : "cpu_execs");
        if (field_is_bytes(&field, 7) &&
            !read_memory(model, inner, (struct op_memory) { .op = op, .step = step }, err))
            return err_in(err, "memory_execs");
    }
    return !exec.is_damaged;
}

/* When an op began in a step, of which the earliest is kept. */
static bool read_start(struct tf_model *model, uint32_t step, struct message exec)
{
    struct field field;
    struct err   ignored = { 0 };
    int64_t      micros = 0, *kept;

    while (message_next(&exec, &field, &ignored))
        if (field_is_number(&field, 2) && tf_is_sane(field_int64(&field)))
            micros = field_int64(&field);
    while (model->step_starts.count <= step)
        if (!vec_push(&model->step_starts, &model->scratch, (struct tf_step_start) { 0 }))
            return false;
    kept = step < model->first_new_step ? &model->step_starts.items[step].again_micros
                                        : &model->step_starts.items[step].first_micros;
    if (micros && (!*kept || micros < *kept))
        *kept = micros;
    return true;
}

static bool read_output_shape(struct tf_model *model, uint32_t op, const struct entry *entry,
                              struct message tuple, struct err *err)
{
    struct tf_output output = { .op = op, .slot = (uint32_t)entry->key };
    struct tensor    shape = { 0 };
    struct field     field;
    size_t           count = 0;

    while (message_next(&tuple, &field, err))
        if (field.number == 1)
            count = field_numbers(&field, shape.dims, count, TENSOR_MAX_RANK);
    if (tuple.is_damaged)
        return false;
    /* An empty tuple is an unknown shape, and a scalar is written as [1]. */
    shape.rank = (int8_t)(count == 0 || count > TENSOR_MAX_RANK ? -1 : (int)count);
    output.shape = tf_shape_add(&model->shapes, &shape);
    return entry->key > UINT16_MAX ||
           (output.shape != NO_ID && vec_push(&model->outputs, &model->scratch, output) &&
            tf_classic_output(model, &output)) ||
           tf_model_full(err);
}

static bool read_input(struct tf_model *model, uint32_t op, struct message bytes, struct err *err)
{
    struct field    field;
    struct tf_input input = { .op = op, .is_resolved = true };
    uint64_t        producer = 0;

    while (message_next(&bytes, &field, err)) {
        if (field_is_number(&field, 1))
            input.index = field.value & ((1U << TF_INPUT_INDEX_BITS) - 1);
        else if (field_is_number(&field, 2))
            producer = field.value;
    }
    if (bytes.is_damaged)
        return false;
    input.from = id_map_get(&model->op_of_id, producer);
    if (input.from == NO_ID)
        return profile_note(model->profile, NULL, 1, "inputs that name no node left out");
    return vec_push(&model->inputs, &model->scratch, input) || tf_model_full(err);
}

/* Fields that are maps. */
static bool read_map(struct tf_model *model, uint32_t op, const struct field *field,
                     struct message bytes, struct err *err)
{
    struct entry   entry;
    struct message value;
    uint32_t       step;

    if (!read_entry(bytes, &entry, err))
        return false;
    value = message_inside(&bytes, entry.value);
    switch (field->number) {
    case 2:
        return read_input(model, op, bytes, err) || err_in(err, "inputs");
    case 11:
        return !entry.value.len || tf_attr_read(model, op, entry.text, value, err) ||
               err_in(err, "attrs");
    case 12:
        step = tf_model_step(model, (int64_t)entry.key);
        if (step == NO_ID || !read_start(model, step, value))
            return tf_model_full(err);
        if (step < model->first_new_step) /* profiles of one program repeat the steps so far */
            return true;
        if (!tf_classic_exec(model, op, (int64_t)entry.key, value, err))
            return err_in(err, "execs");
        return !entry.value.len || read_exec(model, op, step, value, err) || err_in(err, "execs");
    case 15:
        return read_output_shape(model, op, &entry, value, err) || err_in(err, "output_shapes");
    default:
        return true;
    }
}

/* Fields of one value: device, type, flops. */
static bool read_value(struct tf_model *model, uint32_t op, const struct field *field)
{
    uint32_t device;

    if (field_is_number(field, 8)) {
        if (field_int64(field) > 0)
            model->profile->ops.items[op].flops = field_int64(field);
        return tf_classic_float_ops(model, op, field_int64(field));
    }
    if (field_is_bytes(field, 5))
        return op < model->first_new_op ||
               tf_model_add_attr(model, op, STR("op_type"), field->bytes);
    if (!field_is_bytes(field, 6) || !field->bytes.len)
        return true;
    device = tf_model_device(model, field->bytes);
    if (device == NO_ID)
        return false;
    model->profile->ops.items[op].device = device;
    return tf_classic_device(model, op, field->bytes);
}

/* Profiles of one program repeat its graph; only what it ran is new. */
static bool is_new_map(const struct tf_model *model, uint32_t op, const struct field *field)
{
    return field_is_bytes(field, 12) ||
           (op >= model->first_new_op &&
            (field_is_bytes(field, 2) || field_is_bytes(field, 11) || field_is_bytes(field, 15)));
}

static bool read_node(struct tf_model *model, uint32_t op, struct message node, struct err *err)
{
    struct field  field;
    struct tensor shape = { 0 };
    size_t        count = 0;

    while (message_next(&node, &field, err)) {
        struct message inner = message_inside(&node, field.bytes);

        if (field_is_bytes(&field, 4) || field_is_number(&field, 4))
            count = field_numbers(&field, shape.dims, count, TENSOR_MAX_RANK);
        else if (!read_value(model, op, &field))
            return tf_model_full(err);
        if (field_is_bytes(&field, 10) && !tf_code_read(model, op, inner, err))
            return err_in(err, "trace");
        if (is_new_map(model, op, &field) && !read_map(model, op, &field, inner, err))
            return false;
    }
    shape.rank = (int8_t)(count > TENSOR_MAX_RANK ? -1 : (int)count);
    return !node.is_damaged &&
           (count == 0 || tf_classic_shape(model, op, &shape) || tf_model_full(err));
}

/* Which steps were run; of some no op may be recorded. */
static bool read_steps(struct tf_model *model, const struct field *field)
{
    size_t   count = field_numbers(field, NULL, 0, 0);
    int64_t *steps = arena_new_array(&model->scratch, int64_t, count + 1);

    if (!steps)
        return false;
    field_numbers(field, steps, 0, count);
    for (size_t i = 0; i < count; i++)
        if (tf_model_step(model, steps[i]) == NO_ID || !tf_classic_step(model, steps[i]))
            return false;
    return true;
}

/* Fields of the whole profile. */
static bool read_global(struct tf_model *model, const struct field *field, bool is_making)
{
    if (field_is_number(field, 5) && field->value) {
        tf_classic_misses_streams(model);
        return !is_making ||
               profile_note(model->profile, NULL, 1,
                            "ops ran on an accelerator, but its streams were not recorded: "
                            "accelerator times are missing");
    }
    return field->number != 3 || read_steps(model, field);
}

/* *count: how many there are. */
static bool read_nodes(struct tf_model *model, struct message profile, bool is_making,
                       uint32_t *count, struct err *err)
{
    struct field field;
    uint32_t     index = 0;

    while (message_next(&profile, &field, err)) {
        struct message bytes = message_inside(&profile, field.bytes), node;
        struct entry   entry;
        bool           is_read;

        if (!read_global(model, &field, is_making))
            return tf_model_full(err);
        if (!field_is_bytes(&field, 1))
            continue;
        if (!read_entry(bytes, &entry, err))
            return err_in(err, "nodes[%u]", index);
        node = message_inside(&bytes, entry.value);
        is_read =
            !entry.value.len ||
            (is_making ? make_op(model, &entry, node, err)
                       : read_node(model, id_map_get(&model->op_of_id, entry.key), node, err));
        if (!is_read)
            return err_in(err, "nodes[%u]", index);
        *count = ++index;
    }
    return !profile.is_damaged;
}

/* Profiles of one program have mostly the same nodes; times of two programs make no sum. */
static bool is_same_program(const struct tf_model *model, uint32_t count, struct err *err)
{
    uint32_t before = model->first_new_op;
    uint32_t added = (uint32_t)model->profile->ops.count - before;
    uint32_t shared = count > added ? count - added : 0, fewer = before < count ? before : count;

    if (fewer == 0 || shared >= fewer - fewer / 2)
        return true;
    err_set(err, ERR_USAGE, "is of another program: it has %u nodes, %u of them are new", count,
            added);
    return err_advise(err, "--against and tfprof diff set two programs side by side");
}

/* Later profiles of a run repeat its steps; of two runs with such numbers one would be dropped. */
static bool is_same_run(struct tf_model *model, struct err *err)
{
    for (size_t i = 0; i < model->first_new_step && i < model->step_starts.count; i++) {
        struct tf_step_start *start = &model->step_starts.items[i];

        if (start->first_micros && start->again_micros &&
            start->first_micros != start->again_micros) {
            err_set(err, ERR_USAGE, "is of another run: its step %" PRId64 " began at another time",
                    model->profile->recorded_steps.items[i].number);
            return err_advise(err, "--against and tfprof diff set two runs side by side");
        }
        start->again_micros = 0;
    }
    return true;
}

bool tf_profile_read(struct tf_model *model, struct message profile, struct err *err)
{
    uint32_t count = 0;

    model->graph_source = TF_GRAPH_GIVEN;
    model->first_new_op = (uint32_t)model->profile->ops.count;
    model->first_new_step = (uint32_t)model->profile->recorded_steps.count;
    model->op_of_id = (struct id_map) { .arena = &model->scratch };
    return tf_strings_read(model, profile, 4, err) &&
           read_nodes(model, profile, true, &count, err) && is_same_program(model, count, err) &&
           read_nodes(model, profile, false, &count, err) && is_same_run(model, err);
}
