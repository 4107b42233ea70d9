#include "read/hlo/hlo_module.h"

#include "read/proto/wire.h"

/* Field numbers of xla's hlo.proto and xla_data.proto. */
enum {
    COMPUTATION_INSTRUCTIONS = 2,
    COMPUTATION_ID = 5,
    COMPUTATION_ROOT = 6,
    INSTRUCTION_NAME = 1,
    INSTRUCTION_OPCODE = 2,
    INSTRUCTION_SHAPE = 3,
    INSTRUCTION_METADATA = 7,
    INSTRUCTION_PARAMETER = 9,
    INSTRUCTION_WINDOW = 15,
    INSTRUCTION_CONVOLUTION = 16,
    INSTRUCTION_TARGET = 28,
    INSTRUCTION_DOT = 30,
    INSTRUCTION_ID = 35,
    INSTRUCTION_OPERANDS = 36,
    INSTRUCTION_CALLED = 38,
    INSTRUCTION_CONFIG = 43,
    SHAPE_TYPE = 2,
    SHAPE_DIMENSIONS = 3,
    SHAPE_TUPLE = 4,
    METADATA_NAME = 2,
    METADATA_FILE = 3,
    METADATA_LINE = 4,
    METADATA_FRAME = 15,
    DOT_LHS_CONTRACTING = 1,
    CONVOLUTION_KERNEL_OUTPUT = 4,
    MAX_CALLED = 8,
    MAX_PARTS = 64,
    MAX_TUPLE_DEPTH = 8,
};

static enum dtype dtype_of(uint64_t type)
{
    static const uint8_t types[] = {
        DTYPE_UNKNOWN, DTYPE_BOOL,  DTYPE_I8,    DTYPE_I16,   DTYPE_I32,  DTYPE_I64,   DTYPE_U8,
        DTYPE_U16,     DTYPE_U32,   DTYPE_U64,   DTYPE_F16,   DTYPE_F32,  DTYPE_F64,   DTYPE_OTHER,
        DTYPE_OTHER,   DTYPE_C64,   DTYPE_BF16,  DTYPE_OTHER, DTYPE_C128, DTYPE_F8,    DTYPE_F8,
        DTYPE_I4,      DTYPE_OTHER, DTYPE_F8,    DTYPE_F8,    DTYPE_F8,   DTYPE_OTHER, DTYPE_OTHER,
        DTYPE_F8,      DTYPE_F8,    DTYPE_OTHER, DTYPE_OTHER, DTYPE_F4,   DTYPE_F8,
    };

    return type < sizeof types ? (enum dtype)types[type] : DTYPE_OTHER;
}

/* A repeated number, packed or not. */
static size_t numbers(const struct wire *field, uint64_t *values, size_t count, size_t room)
{
    struct str rest = wire_numbers(field);

    while (count < room && wire_take(&rest, &values[count]))
        count++;
    return count;
}

static bool add_operands(struct hlo_module *module, struct hlo_instruction *item,
                         const struct wire *field)
{
    struct str rest = wire_numbers(field);
    uint64_t   id;

    for (; wire_take(&rest, &id); item->operand_count++)
        if (!vec_push(&module->operands, module->scratch, id))
            return false;
    return true;
}

static struct tensor read_shape(struct str bytes)
{
    struct tensor tensor = { .rank = 0 };
    uint64_t      dims[TENSOR_MAX_RANK + 1];
    size_t        rank = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == SHAPE_TYPE && field.type == WIRE_VARINT)
            tensor.dtype = (uint8_t)dtype_of(field.value);
        else if (field.number == SHAPE_DIMENSIONS)
            rank = numbers(&field, dims, rank, TENSOR_MAX_RANK + 1);
    }
    tensor.rank = rank <= TENSOR_MAX_RANK ? (int8_t)rank : -1;
    for (size_t i = 0; i < rank && i < TENSOR_MAX_RANK; i++)
        tensor.dims[i] = dims[i] <= INT64_MAX ? (int64_t)dims[i] : -1;
    return tensor;
}

/* The arrays a tuple is made of, tuples inside it too. Recursion ends at MAX_TUPLE_DEPTH. */
static bool read_parts(struct hlo_module *module, struct hlo_instruction *item, struct str bytes,
                       unsigned depth)
{
    bool is_tuple = false;

    for (struct wire field = wire_start(bytes); depth < MAX_TUPLE_DEPTH && wire_next(&field);) {
        if (field.number != SHAPE_TUPLE || field.type != WIRE_BYTES)
            continue;
        is_tuple = true;
        if (!read_parts(module, item, field.bytes, depth + 1))
            return false;
    }
    if (is_tuple || depth == 0 || item->part_count == MAX_PARTS)
        return true;
    item->part_count++;
    return vec_push(&module->parts, module->scratch, read_shape(bytes));
}

static void read_bytes_field(struct hlo_instruction *item, const struct wire *field)
{
    switch (field->number) {
    case INSTRUCTION_NAME:
        item->name = field->bytes;
        break;
    case INSTRUCTION_OPCODE:
        item->opcode = field->bytes;
        break;
    case INSTRUCTION_SHAPE:
        item->shape = read_shape(field->bytes);
        break;
    case INSTRUCTION_TARGET:
        item->target = field->bytes;
        break;
    case INSTRUCTION_CONFIG:
        item->config = field->bytes;
        break;
    case INSTRUCTION_METADATA:
        for (struct wire inner = wire_start(field->bytes); wire_next(&inner);) {
            if (inner.number == METADATA_NAME && inner.type == WIRE_BYTES)
                item->origin = inner.bytes;
            else if (inner.number == METADATA_FILE && inner.type == WIRE_BYTES)
                item->file = inner.bytes;
            else if (inner.number == METADATA_LINE && inner.type == WIRE_VARINT)
                item->line = inner.value;
            else if (inner.number == METADATA_FRAME && inner.type == WIRE_VARINT)
                item->frame = inner.value;
        }
        break;
    case INSTRUCTION_DOT:
        for (struct wire inner = wire_start(field->bytes); wire_next(&inner);)
            if (inner.number == DOT_LHS_CONTRACTING)
                item->contracting_count =
                    numbers(&inner, item->contracting, item->contracting_count, TENSOR_MAX_RANK);
        break;
    case INSTRUCTION_WINDOW:
        item->window = field->bytes;
        break;
    case INSTRUCTION_CONVOLUTION:
        item->dimensions = field->bytes;
        for (struct wire inner = wire_start(field->bytes); wire_next(&inner);)
            if (inner.number == CONVOLUTION_KERNEL_OUTPUT && inner.type == WIRE_VARINT)
                item->kernel_output = inner.value;
        break;
    default:
        break;
    }
}

/* Whether a computation is another one, or calls it, by whatever way. What is called must not hold
 * its caller in turn: who follows callers would never get out. */
static bool is_around(const struct hlo_module *module, uint64_t outer, uint64_t inner)
{
    enum { DEEPEST = 1000 };

    for (int depth = 0; depth < DEEPEST; depth++) {
        uint32_t caller = id_map_get(&module->caller_of, inner);

        if (inner == outer || caller == NO_ID)
            return inner == outer;
        inner = module->list.items[caller].computation;
    }
    return true;
}

static bool add_instruction(struct hlo_module *module, struct str bytes, uint64_t computation)
{
    struct hlo_instruction item = { .computation = computation,
                                    .first_part = module->parts.count,
                                    .first_operand = module->operands.count,
                                    .first_called = module->called.count,
                                    .op = NO_ID };
    uint32_t               index = (uint32_t)module->list.count;
    uint64_t               called[MAX_CALLED];
    size_t                 called_count = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == INSTRUCTION_ID && field.type == WIRE_VARINT)
            item.id = field.value;
        else if (field.number == INSTRUCTION_OPERANDS) {
            if (!add_operands(module, &item, &field))
                return false;
        } else if (field.number == INSTRUCTION_CALLED)
            called_count = numbers(&field, called, called_count, MAX_CALLED);
        else if (field.number == INSTRUCTION_PARAMETER && field.type == WIRE_VARINT)
            item.parameter = field.value;
        else if (field.type == WIRE_BYTES)
            read_bytes_field(&item, &field);
        if (field.number == INSTRUCTION_SHAPE && field.type == WIRE_BYTES &&
            !read_parts(module, &item, field.bytes, 0))
            return false;
    }
    item.called_count = called_count;
    for (size_t i = 0; i < called_count; i++)
        if (!vec_push(&module->called, module->scratch, called[i]) ||
            (id_map_get(&module->caller_of, called[i]) == NO_ID &&
             !is_around(module, called[i], item.computation) &&
             !id_map_put(&module->caller_of, called[i], index)))
            return false;
    return vec_push(&module->list, module->scratch, item) &&
           id_map_put(&module->by_id, item.id, index);
}

bool hlo_module_add(struct hlo_module *module, struct str bytes)
{
    uint64_t id = 0, root = 0;
    uint32_t index;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == COMPUTATION_ID && field.type == WIRE_VARINT)
            id = field.value;
        if (field.number == COMPUTATION_ROOT && field.type == WIRE_VARINT)
            root = field.value;
    }
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == COMPUTATION_INSTRUCTIONS && field.type == WIRE_BYTES &&
            !add_instruction(module, field.bytes, id))
            return false;
    index = id_map_get(&module->by_id, root);
    return index == NO_ID || id_map_put(&module->root_of, id, index);
}

const struct hlo_instruction *hlo_caller(const struct hlo_module      *module,
                                         const struct hlo_instruction *item)
{
    uint32_t index = id_map_get(&module->caller_of, item->computation);

    return index == NO_ID ? NULL : &module->list.items[index];
}

const struct hlo_instruction *hlo_operand(const struct hlo_module      *module,
                                          const struct hlo_instruction *item, size_t n)
{
    uint32_t index =
        n < item->operand_count
            ? id_map_get(&module->by_id, module->operands.items[item->first_operand + n])
            : NO_ID;

    return index == NO_ID ? NULL : &module->list.items[index];
}
