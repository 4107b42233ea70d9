/*
 * OpLogProto (tfprof_log): what the Python side knew of ops: flops, types, the code that made them.
 * Upstream: tensorflow/core/profiler/tfprof_log.proto
 */
#include "read/tf/tf_classic.h"
#include "read/tf/tf_model.h"

#include <string.h>

static bool read_string_entry(struct tf_model *model, struct message entry, struct err *err)
{
    struct field field;
    uint64_t     id = 0;
    struct str   text = { 0 };

    while (message_next(&entry, &field, err)) {
        if (field_is_number(&field, 1))
            id = field.value;
        else if (field_is_bytes(&field, 2))
            text = field.bytes;
    }
    if (entry.is_damaged)
        return err_in(err, "id_to_string");
    return id_map_put(&model->strings, id, profile_intern(model->profile, text)) ||
           tf_model_full(err);
}

bool tf_strings_read(struct tf_model *model, struct message outer, uint32_t number, struct err *err)
{
    struct field field;

    model->last_trace.count = 0; /* of another file, whose ids mean other strings */
    while (message_next(&outer, &field, err))
        if (field_is_bytes(&field, number) &&
            !read_string_entry(model, message_inside(&outer, field.bytes), err))
            return false;
    return true; /* damage is told by whoever reads the rest */
}

static uint32_t string_of(const struct tf_model *model, uint64_t id)
{
    uint32_t name = id_map_get(&model->strings, id);

    return name == NO_ID ? 0 : name;
}

static bool read_trace(struct tf_model *model, struct message trace, uint32_t *source,
                       struct err *err)
{
    struct source_line line = { .caller = *source };
    struct profile    *profile = model->profile;
    struct field       field;
    uint32_t           known = model->frames.count, id;

    while (message_next(&trace, &field, err)) {
        if (field_is_bytes(&field, 1) && field.bytes.len)
            line.file = profile_intern(profile, field.bytes);
        else if (field_is_bytes(&field, 3) && field.bytes.len)
            line.function = profile_intern(profile, field.bytes);
        else if (field_is_number(&field, 2))
            line.line = field_int64(&field) > 0 ? (uint32_t)field.value : 0;
        else if (field_is_number(&field, 6) && !line.file)
            line.file = string_of(model, field.value);
        else if (field_is_number(&field, 5))
            line.first_line = (int32_t)field_int64(&field);
        else if (field_is_number(&field, 7) && !line.function)
            line.function = string_of(model, field.value);
        else if (field_is_bytes(&field, 4) && field.bytes.len)
            line.text = profile_intern(profile, field.bytes);
        else if (field_is_number(&field, 8) && !line.text)
            line.text = string_of(model, field.value);
    }
    if (trace.is_damaged)
        return false;
    /* Equal frames with equal callers are one row: the names' index of the frame's bytes. */
    id = intern_add(&model->frames, (struct str) { .data = (char *)&line, .len = sizeof line });
    if (id == NO_ID || (id == known && !vec_push(&profile->sources, profile->arena, line)))
        return tf_model_full(err);
    *source = id - 1;
    return true;
}

/* Ops that are logged one behind the other mostly were made by the same outer calls: what is the
 * same as in the trace before needs no look. */
static bool read_frame(struct tf_model *model, struct message trace, uint32_t depth,
                       uint32_t *source, struct err *err)
{
    struct tf_trace *last = &model->last_trace;
    struct str       bytes = { trace.at, (size_t)(trace.end - trace.at) };

    if (depth < last->count && str_equal(last->frames[depth].bytes, bytes)) {
        *source = last->frames[depth].source;
        return true;
    }
    if (!read_trace(model, trace, source, err))
        return false;
    if (depth < TF_TRACE_FRAMES) {
        last->frames[depth].bytes = bytes;
        last->frames[depth].source = *source;
        last->count = depth + 1;
    }
    return true;
}

bool tf_code_read(struct tf_model *model, uint32_t op, struct message code, struct err *err)
{
    struct field field;
    uint32_t     source = NO_ID, index = 0;

    while (message_next(&code, &field, err)) {
        if (!field_is_bytes(&field, 1))
            continue;
        if (!read_frame(model, message_inside(&code, field.bytes), index, &source, err))
            return err_in(err, "traces[%u]", index);
        index++;
    }
    if (model->profile->ops.items[op].source == NO_ID)
        model->profile->ops.items[op].source = source;
    model->profile->has_stacks = true;
    if (!tf_classic_code(model, op, source))
        return tf_model_full(err);
    return !code.is_damaged;
}

/* guess: the op that it probably is. */
static uint32_t find_op(const struct tf_model *model, struct str name, uint32_t guess)
{
    const struct profile *profile = model->profile;

    if (guess < profile->ops.count && profile->ops.items[guess].module == 0 &&
        str_equal(profile_str(profile, profile->ops.items[guess].name), name))
        return guess;
    return tf_model_find(model, 0, intern_find(&profile->names, name));
}

/* next: the op that the entry probably is about, and then the one behind it: logs tell of ops in
 * the order of their graph. */
static bool read_entry(struct tf_model *model, struct message entry, uint32_t *next,
                       struct err *err)
{
    struct message again = entry;
    struct field   field;
    uint32_t       op = NO_ID;

    while (message_next(&again, &field, err))
        if (field_is_bytes(&field, 1))
            op = find_op(model, field.bytes, *next);
    if (again.is_damaged || op == NO_ID) /* entries of unknown ops say nothing */
        return !again.is_damaged;
    *next = op + 1;
    while (message_next(&entry, &field, err)) {
        if (field_is_number(&field, 2) && field_int64(&field) > 0)
            model->profile->ops.items[op].flops = field_int64(&field);
        if (field_is_number(&field, 2) && !tf_classic_float_ops(model, op, field_int64(&field)))
            return tf_model_full(err);
        if (field_is_bytes(&field, 3) && !tf_model_add_attr(model, op, STR("op_type"), field.bytes))
            return tf_model_full(err);
        if (field_is_bytes(&field, 4) &&
            !tf_code_read(model, op, message_inside(&entry, field.bytes), err))
            return err_in(err, "code_def");
    }
    return true;
}

bool tf_log_read(struct tf_model *model, struct message log, struct err *err)
{
    struct field field;
    uint32_t     index = 0, next = 0;

    if (!tf_strings_read(model, log, 2, err))
        return false;
    while (message_next(&log, &field, err)) {
        if (!field_is_bytes(&field, 1))
            continue;
        if (!read_entry(model, message_inside(&log, field.bytes), &next, err))
            return err_in(err, "log_entries[%u]", index);
        index++;
    }
    return !log.is_damaged;
}
