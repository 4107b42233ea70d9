#include "read/hlo/hlo_buffers.h"

#include "read/proto/wire.h"

/* Field numbers of xla's hlo.proto. */
enum {
    ASSIGNMENT_BUFFERS = 1,
    ASSIGNMENT_ALLOCATIONS = 3,
    ASSIGNMENT_TRACES = 4,
    BUFFER_ID = 1,
    BUFFER_SIZE = 2,
    BUFFER_DEFINED_AT = 3,
    LOCATION_SHAPE_INDEX = 3,
    LOCATION_INSTRUCTION = 4,
    ALLOCATION_INDEX = 1,
    ALLOCATION_SIZE = 2,
    ALLOCATION_IS_THREAD_LOCAL = 3,
    ALLOCATION_IS_PARAMETER = 5,
    ALLOCATION_LIVES_ON = 7,
    ALLOCATION_COLOR = 8,
    ALLOCATION_ASSIGNED = 9,
    ALLOCATION_IS_CONSTANT = 12,
    ASSIGNED_BUFFER = 1,
    ASSIGNED_OFFSET = 2,
    TRACE_EVENTS = 1,
    EVENT_KIND = 1,
    EVENT_BUFFER = 2,
    EVENT_SHARES_WITH = 5,
};

struct reading {
    const struct hlo_module *module;
    struct profile          *profile;
    struct id_map            row_of; /* id of a buffer -> row of profile->program_buffers */
};

static int64_t size_of(uint64_t value)
{
    return value <= INT64_MAX ? (int64_t)value : 0;
}

/* Of a value that is no part of a tuple, from its shape; -1 unknown. */
static int64_t plain_bytes(const struct hlo_instruction *item)
{
    int64_t count = item->part_count ? -1 : tensor_count(&item->shape), bits;

    if (count < 0 || dtype_bits((enum dtype)item->shape.dtype) == 0 ||
        __builtin_mul_overflow(count, (int64_t)dtype_bits((enum dtype)item->shape.dtype), &bits))
        return -1;
    return bits / 8 + (bits % 8 != 0);
}

static void read_place(struct reading *reading, struct str bytes, struct program_buffer *buffer)
{
    uint32_t index = NO_ID;
    bool     is_part = false;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == LOCATION_SHAPE_INDEX)
            is_part = true;
        else if (field.number == LOCATION_INSTRUCTION && field.type == WIRE_VARINT)
            index = id_map_get(&reading->module->by_id, field.value);
    }
    if (index == NO_ID)
        return;
    buffer->op = reading->module->list.items[index].op;
    if (!is_part)
        buffer->value_bytes = plain_bytes(&reading->module->list.items[index]);
}

static bool read_buffer(struct reading *reading, struct str bytes)
{
    struct program_buffer buffer = { .op = NO_ID, .allocation = NO_ID, .value_bytes = -1 };
    uint64_t              id = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == BUFFER_ID && field.type == WIRE_VARINT)
            id = field.value;
        else if (field.number == BUFFER_SIZE && field.type == WIRE_VARINT)
            buffer.bytes = size_of(field.value);
        else if (field.number == BUFFER_DEFINED_AT && field.type == WIRE_BYTES)
            read_place(reading, field.bytes, &buffer);
    }
    return id_map_put(&reading->row_of, id, (uint32_t)reading->profile->program_buffers.count) &&
           vec_push(&reading->profile->program_buffers, reading->profile->arena, buffer);
}

static void assign(struct reading *reading, struct str bytes, uint32_t allocation)
{
    uint32_t row = NO_ID;
    int64_t  offset = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == ASSIGNED_BUFFER && field.type == WIRE_VARINT)
            row = id_map_get(&reading->row_of, field.value);
        else if (field.number == ASSIGNED_OFFSET && field.type == WIRE_VARINT)
            offset = size_of(field.value);
    }
    if (row == NO_ID)
        return;
    reading->profile->program_buffers.items[row].allocation = allocation;
    reading->profile->program_buffers.items[row].offset = offset;
}

static enum program_memory_kind kind_of(const bool is[])
{
    static const struct {
        uint32_t                 field;
        enum program_memory_kind kind;
    } order[] = {
        { ALLOCATION_IS_THREAD_LOCAL, PROGRAM_THREAD },
        { ALLOCATION_IS_PARAMETER, PROGRAM_PARAMETER },
        { ALLOCATION_IS_CONSTANT, PROGRAM_CONSTANT },
        { ALLOCATION_LIVES_ON, PROGRAM_OUTPUT },
    };

    for (size_t i = 0; i < ARRAY_COUNT(order); i++)
        if (is[order[i].field])
            return order[i].kind;
    return PROGRAM_TEMPORARY;
}

static bool read_allocation(struct reading *reading, struct str bytes)
{
    struct profile           *profile = reading->profile;
    struct program_allocation made = { .module = reading->module->key };
    uint32_t                  row = (uint32_t)profile->program_allocations.count;
    bool                      is[ALLOCATION_IS_CONSTANT + 1] = { 0 };

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.type == WIRE_BYTES && field.number == ALLOCATION_ASSIGNED)
            assign(reading, field.bytes, row);
        if (field.type != WIRE_VARINT || field.number > ALLOCATION_IS_CONSTANT)
            continue;
        is[field.number] = field.value != 0;
        if (field.number == ALLOCATION_INDEX)
            made.number = (uint32_t)field.value;
        else if (field.number == ALLOCATION_SIZE)
            made.bytes = size_of(field.value);
        else if (field.number == ALLOCATION_COLOR)
            made.space = (uint32_t)field.value;
    }
    made.kind = (uint8_t)kind_of(is);
    return vec_push(&profile->program_allocations, profile->arena, made);
}

static bool read_event(struct reading *reading, struct str bytes)
{
    struct program_event event = { .buffer = NO_ID, .shares_with = NO_ID };

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.type != WIRE_VARINT)
            continue;
        if (field.number == EVENT_KIND)
            event.kind = field.value <= PROGRAM_SHARE ? (uint8_t)field.value : PROGRAM_SHARE;
        else if (field.number == EVENT_BUFFER)
            event.buffer = id_map_get(&reading->row_of, field.value);
        else if (field.number == EVENT_SHARES_WITH)
            event.shares_with = id_map_get(&reading->row_of, field.value);
    }
    return event.buffer == NO_ID ||
           vec_push(&reading->profile->program_events, reading->profile->arena, event);
}

static bool read_trace(struct reading *reading, struct str bytes)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == TRACE_EVENTS && field.type == WIRE_BYTES &&
            !read_event(reading, field.bytes))
            return false;
    return true;
}

static bool read_each(struct reading *reading, struct str bytes, uint32_t number,
                      bool read(struct reading *reading, struct str bytes))
{
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == number && field.type == WIRE_BYTES && !read(reading, field.bytes))
            return false;
    return true;
}

bool hlo_buffers_add(struct str bytes, const struct hlo_module *module)
{
    struct reading reading = { .module = module,
                               .profile = module->profile,
                               .row_of.arena = module->scratch };

    return read_each(&reading, bytes, ASSIGNMENT_BUFFERS, read_buffer) &&
           read_each(&reading, bytes, ASSIGNMENT_ALLOCATIONS, read_allocation) &&
           read_each(&reading, bytes, ASSIGNMENT_TRACES, read_trace);
}
