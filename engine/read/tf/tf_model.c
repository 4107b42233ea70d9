/* Names, ops, devices and steps of a TensorFlow profile; tf_finish.c puts them in order. */
#include "read/tf/tf_model.h"

#include <string.h>

bool tf_model_full(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the profile does not fit into the memory budget");
}

void tf_add(int64_t *sum, int64_t number)
{
    const int64_t limit = (int64_t)1 << TF_SANE_BITS;

    if (number >= limit || number <= -limit)
        return;
    *sum += number;
    if (*sum > limit)
        *sum = limit;
    else if (*sum < -limit)
        *sum = -limit;
}

bool tf_model_init(struct tf_model *model, struct profile *profile, const char *host_name)
{
    struct host host = { .rank = -1 };

    *model = (struct tf_model) { .profile = profile };
    model->scratch.budget_bytes = profile->arena->budget_bytes;
    model->op_of_name.arena = model->timeline_of_row.arena = &model->scratch;
    model->strings.arena = model->step_rows.arena = &model->scratch;
    host.name = profile_intern(profile, str_from(host_name ? host_name : "localhost"));
    profile->framework = profile_intern(profile, STR("tensorflow"));
    profile->resolution_ns = 1000;
    model->host = (uint32_t)profile->hosts.count;
    return vec_push(&profile->hosts, profile->arena, host) &&
           intern_init(&model->frames, &model->scratch) &&
           tf_shapes_init(&model->shapes, &model->scratch);
}

void tf_model_free(struct tf_model *model)
{
    arena_free(&model->scratch);
}

struct tf_seen *tf_model_seen(struct tf_model *model, uint32_t name)
{
    if (name == NO_ID || (name >= model->seen.count && !vec_reserve(&model->seen, &model->scratch,
                                                                    name - model->seen.count + 1)))
        return NULL;
    if (name >= model->seen.count)
        model->seen.count = (size_t)name + 1;
    return &model->seen.items[name];
}

uint32_t tf_model_find(const struct tf_model *model, uint32_t function, uint32_t name)
{
    if (!function)
        return name < model->seen.count ? model->seen.items[name].op - 1 : NO_ID;
    return id_map_get(&model->op_of_name, (uint64_t)function << 32 | name);
}

uint32_t tf_model_op(struct tf_model *model, uint32_t function, uint32_t name, bool *is_new)
{
    struct profile *profile = model->profile;
    uint32_t        row = tf_model_find(model, function, name);
    struct op       op = OP_UNKNOWN;
    struct tf_seen *seen;

    *is_new = row == NO_ID;
    if (!*is_new)
        return row;
    row = (uint32_t)profile->ops.count;
    op.name = name;
    op.module = function;
    seen = tf_model_seen(model, name);
    if (!seen || function == NO_ID || profile->ops.count >= NO_ID - 1 ||
        (function && !id_map_put(&model->op_of_name, (uint64_t)function << 32 | name, row)) ||
        !vec_push(&profile->ops, profile->arena, op) ||
        !vec_push(&model->states, &model->scratch, (struct tf_op_state) { 0 }))
        return NO_ID;
    if (!function)
        seen->op = row + 1;
    return row;
}

void tf_model_expect_ops(struct tf_model *model, size_t count)
{
    struct profile *profile = model->profile;

    (void)(intern_reserve(&profile->names, count) &&
           vec_reserve(&model->seen, &model->scratch,
                       profile->names.count + count - model->seen.count) &&
           vec_reserve(&profile->ops, profile->arena, count) &&
           vec_reserve(&model->states, &model->scratch, count) &&
           vec_reserve(&model->inputs, &model->scratch, count));
}

static struct str lower(struct str name, char *room, size_t bytes)
{
    size_t len = name.len < bytes ? name.len : bytes;

    for (size_t i = 0; i < len; i++)
        room[i] =
            (char)(name.data[i] >= 'A' && name.data[i] <= 'Z' ? name.data[i] + 32 : name.data[i]);
    return (struct str) { .data = room, .len = len };
}

enum device_kind tf_device_kind(struct str name)
{
    static const struct {
        struct str       part;
        enum device_kind kind;
    } kinds[] = { { STR_INIT("tpu"), DEVICE_TPU },
                  { STR_INIT("gpu"), DEVICE_GPU },
                  { STR_INIT("cpu"), DEVICE_CPU } };
    char       room[256];
    struct str lowered = lower(name, room, sizeof room);

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (str_contains(lowered, kinds[i].part))
            return kinds[i].kind;
    /* A place that only says which task is no device of another kind: a host, unless more is said.
     */
    lowered = str_slice(lowered, str_find_last(lowered, '/') + 1, lowered.len);
    return str_starts(lowered, STR("task:")) || str_starts(lowered, STR("job:")) ||
                   str_starts(lowered, STR("replica:"))
               ? DEVICE_CPU
               : DEVICE_OTHER;
}

uint32_t tf_model_device(struct tf_model *model, struct str name)
{
    struct profile *profile = model->profile;
    uint32_t        interned = profile_intern(profile, name);
    struct device   device = {
          .name = interned, .host = model->host, .kind = tf_device_kind(name), .ordinal = 0
    };
    size_t  colon = str_find_last(name, ':');
    int64_t ordinal;

    for (size_t i = 0; i < profile->devices.count; i++)
        if (profile->devices.items[i].name == interned)
            return (uint32_t)i;
    if (str_to_int64(str_slice(name, colon + 1, name.len), &ordinal) && ordinal >= 0 &&
        ordinal < INT32_MAX)
        device.ordinal = (int32_t)ordinal;
    if (interned == NO_ID || !vec_push(&profile->devices, profile->arena, device))
        return NO_ID;
    return (uint32_t)profile->devices.count - 1;
}

bool tf_model_add_attr(struct tf_model *model, uint32_t op, struct str name, struct str value)
{
    struct tf_attr attr = {
        .op = op,
        .attr = { .name = profile_intern(model->profile, name),
                  .value = profile_intern(model->profile, value) },
    };

    return attr.attr.name != NO_ID && attr.attr.value != NO_ID &&
           vec_push(&model->attrs, &model->scratch, attr);
}

bool tf_model_push_input(struct tf_model *model, struct tf_input input)
{
    enum { MASK = (1U << TF_INPUT_INDEX_BITS) - 1 };
    size_t count = model->inputs.count;

    if (count && model->inputs.items[count - 1].op == input.op)
        input.index = (model->inputs.items[count - 1].index + 1) & MASK;
    return vec_push(&model->inputs, &model->scratch, input);
}

bool tf_model_add_input(struct tf_model *model, uint32_t op, struct str input)
{
    struct tf_input added = { .op = op };
    size_t          colon;
    int64_t         slot;

    if (input.len && input.data[0] == '^') {
        added.is_control = true;
        input = str_slice(input, 1, input.len);
    }
    /* Inside functions "node:output:2"; in graphs "node:2". */
    colon = str_find_last(input, ':');
    if (colon < input.len && str_to_int64(str_slice(input, colon + 1, input.len), &slot) &&
        slot >= 0 && slot < UINT32_MAX)
        added.slot = (uint32_t)slot;
    added.from = profile_intern(model->profile, str_slice(input, 0, str_find(input, ':')));
    return added.from != NO_ID && tf_model_push_input(model, added);
}

bool tf_model_add_wish(struct tf_model *model, uint32_t op, struct str device_name)
{
    struct tf_wish wish = { .op = op, .device_name = profile_intern(model->profile, device_name) };

    return wish.device_name != NO_ID && vec_push(&model->wishes, &model->scratch, wish);
}

uint32_t tf_model_step(struct tf_model *model, int64_t number)
{
    struct profile      *profile = model->profile;
    uint32_t             row = id_map_get(&model->step_rows, (uint64_t)number);
    struct recorded_step step = { .number = number, .start_ns = INT64_MAX };

    if (row != NO_ID)
        return row;
    row = (uint32_t)profile->recorded_steps.count;
    return id_map_put(&model->step_rows, (uint64_t)number, row) &&
                   vec_push(&profile->recorded_steps, profile->arena, step)
               ? row
               : NO_ID;
}

void tf_model_step_extend(struct tf_model *model, uint32_t step, int64_t start_ns, int64_t end_ns)
{
    struct recorded_step *recorded = &model->profile->recorded_steps.items[step];
    int64_t               old_end_ns =
        recorded->start_ns == INT64_MAX ? end_ns : recorded->start_ns + recorded->duration_ns;

    if (start_ns < recorded->start_ns)
        recorded->start_ns = start_ns;
    recorded->duration_ns = (old_end_ns > end_ns ? old_end_ns : end_ns) - recorded->start_ns;
}

void tf_memory_add(struct op_memory *sum, const struct op_memory *memory)
{
    tf_add(&sum->requested_bytes, memory->requested_bytes);
    tf_add(&sum->peak_bytes, memory->peak_bytes);
    tf_add(&sum->residual_bytes, memory->residual_bytes);
    tf_add(&sum->output_bytes, memory->output_bytes);
    tf_add(&sum->temporary_bytes, memory->temporary_bytes);
    tf_add(&sum->persistent_bytes, memory->persistent_bytes);
}

bool tf_model_add_memory(struct tf_model *model, const struct op_memory *memory)
{
    struct profile     *profile = model->profile;
    struct tf_op_state *state = &model->states.items[memory->op];

    /* Steps are read one after the other. */
    if (state->memory_row && profile->op_memory.items[state->memory_row - 1].step == memory->step) {
        tf_memory_add(&profile->op_memory.items[state->memory_row - 1], memory);
        return true;
    }
    state->memory_row = (uint32_t)profile->op_memory.count + 1;
    return vec_push(&profile->op_memory, profile->arena, *memory);
}

uint32_t tf_model_timeline(const struct tf_model *model, uint32_t name, int64_t id)
{
    return id_map_get(&model->timeline_of_row, (uint64_t)name << 32 | (uint32_t)id);
}

uint32_t tf_model_add_timeline(struct tf_model *model, const struct timeline *timeline)
{
    struct profile *profile = model->profile;
    uint64_t        key = (uint64_t)timeline->name << 32 | (uint32_t)timeline->id;
    uint32_t        row = id_map_get(&model->timeline_of_row, key);

    if (row != NO_ID)
        return row;
    row = (uint32_t)profile->timelines.count;
    return id_map_put(&model->timeline_of_row, key, row) &&
                   vec_push(&profile->timelines, profile->arena, *timeline)
               ? row
               : NO_ID;
}
