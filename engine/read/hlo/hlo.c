#include "read/hlo/hlo.h"

#include "read/hlo/hlo_attrs.h"
#include "read/hlo/hlo_conv.h"
#include "read/hlo/hlo_frames.h"
#include "read/proto/wire.h"

#include <inttypes.h>
#include <stdio.h>

/* Field numbers of xla's hlo.proto and xla_data.proto. */
enum {
    PROTO_MODULE = 1,
    MODULE_NAME = 1,
    MODULE_COMPUTATIONS = 3,
    MODULE_FRAMES = 17,
    COMPUTATION_INSTRUCTIONS = 2,
    COMPUTATION_ID = 5,
    INSTRUCTION_NAME = 1,
    INSTRUCTION_OPCODE = 2,
    INSTRUCTION_SHAPE = 3,
    INSTRUCTION_METADATA = 7,
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
    MAX_OPERANDS = 16,
    MAX_PARTS = 64,
    MAX_TUPLE_DEPTH = 8,
};

static enum dtype dtype_of(uint64_t type)
{
    static const uint8_t types[] = {
        DTYPE_UNKNOWN, DTYPE_BOOL,  DTYPE_I8,    DTYPE_I16,   DTYPE_I32,   DTYPE_I64,
        DTYPE_U8,      DTYPE_U16,   DTYPE_U32,   DTYPE_U64,   DTYPE_F16,   DTYPE_F32,
        DTYPE_F64,     DTYPE_OTHER, DTYPE_OTHER, DTYPE_C64,   DTYPE_BF16,  DTYPE_OTHER,
        DTYPE_C128,    DTYPE_F8,    DTYPE_F8,    DTYPE_I4,    DTYPE_OTHER, DTYPE_F8,
        DTYPE_F8,      DTYPE_F8,    DTYPE_OTHER, DTYPE_OTHER, DTYPE_F8,    DTYPE_F8,
    };

    return type < sizeof types ? (enum dtype)types[type] : DTYPE_OTHER;
}

struct instruction {
    struct str    name, opcode, origin, file;
    struct str    window, dimensions; /* of a convolution */
    struct str    target, config;     /* of a custom-call: what is called, with which settings */
    uint64_t      id, line, computation;
    uint64_t      frame; /* of the module's frames; 0 none */
    struct tensor shape;
    size_t        first_part, part_count; /* of a tuple; part_count 0: `shape` is all */
    uint64_t      operands[MAX_OPERANDS];
    size_t        operand_count;
    uint64_t      called;                       /* first computation called; 0 none */
    uint64_t      contracting[TENSOR_MAX_RANK]; /* lhs dimensions of a dot */
    size_t        contracting_count;
    uint64_t      kernel_output; /* dimension of a convolution's kernel */
    uint32_t      op;
};

struct module {
    struct profile *profile;
    struct arena   *scratch;
    VEC(struct instruction) list;
    VEC(struct tensor) parts; /* of tuples */
    struct hlo_frames frames;
    uint32_t          name, key;        /* key: in rows */
    struct id_map     by_id, fusion_of; /* computation id -> index of the fusion that calls it */
};

/* A repeated number, packed or not; `take` gets each. */
static size_t numbers(const struct wire *field, uint64_t *values, size_t count, size_t room)
{
    const uint8_t *at = (const uint8_t *)field->bytes.data, *end = at ? at + field->bytes.len : at;

    if (field->type == WIRE_VARINT) {
        if (count < room)
            values[count++] = field->value;
        return count;
    }
    while (field->type == WIRE_BYTES && at && at < end && count < room) {
        at = wire_varint(at, end, &values[count]);
        count += at != NULL;
    }
    return count;
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
static bool read_parts(struct module *module, struct instruction *item, struct str bytes,
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

static void read_bytes_field(struct instruction *item, const struct wire *field)
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

static bool add_instruction(struct module *module, struct str bytes, uint64_t computation)
{
    struct instruction item = { .computation = computation,
                                .first_part = module->parts.count,
                                .op = NO_ID };
    uint32_t           index = (uint32_t)module->list.count;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == INSTRUCTION_ID && field.type == WIRE_VARINT)
            item.id = field.value;
        else if (field.number == INSTRUCTION_OPERANDS)
            item.operand_count = numbers(&field, item.operands, item.operand_count, MAX_OPERANDS);
        else if (field.number == INSTRUCTION_CALLED)
            (void)numbers(&field, &item.called, 0, 1);
        else if (field.type == WIRE_BYTES)
            read_bytes_field(&item, &field);
        if (field.number == INSTRUCTION_SHAPE && field.type == WIRE_BYTES &&
            !read_parts(module, &item, field.bytes, 0))
            return false;
    }
    if (str_equal(item.opcode, STR("fusion")) && item.called &&
        !id_map_put(&module->fusion_of, item.called, index))
        return false;
    return vec_push(&module->list, module->scratch, item) &&
           id_map_put(&module->by_id, item.id, index);
}

static bool add_computation(struct module *module, struct str bytes)
{
    uint64_t id = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == COMPUTATION_ID && field.type == WIRE_VARINT)
            id = field.value;
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == COMPUTATION_INSTRUCTIONS && field.type == WIRE_BYTES &&
            !add_instruction(module, field.bytes, id))
            return false;
    return true;
}

/* Elements; -1 when a dimension is unknown or there are too many. */
static int64_t elements(const struct tensor *tensor)
{
    int64_t count = 1;

    if (tensor->rank < 0)
        return -1;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(count, tensor->dims[i], &count))
            return -1;
    return count;
}

static const struct instruction *operand(const struct module      *module,
                                         const struct instruction *item, size_t n)
{
    uint32_t index =
        n < item->operand_count ? id_map_get(&module->by_id, item->operands[n]) : NO_ID;

    return index == NO_ID ? NULL : &module->list.items[index];
}

/* One operation an element: additions, comparisons and the transcendental ones alike. */
static bool is_elementwise(struct str opcode)
{
    static const char *const codes[] = {
        "add",          "subtract",    "multiply", "divide",  "maximum",
        "minimum",      "exponential", "log",      "tanh",    "sqrt",
        "rsqrt",        "power",       "negate",   "abs",     "logistic",
        "sine",         "cosine",      "erf",      "compare", "exponential-minus-one",
        "log-plus-one",
    };

    for (size_t i = 0; i < ARRAY_COUNT(codes); i++)
        if (str_equal(opcode, str_from(codes[i])))
            return true;
    return false;
}

/* Two operations for each element that goes into each element that comes out. */
static int64_t product_flops(int64_t out, int64_t in)
{
    int64_t flops;

    return out < 0 || in < 0 || __builtin_mul_overflow(out, in, &flops) ||
                   __builtin_mul_overflow(flops, 2, &flops)
               ? -1
               : flops;
}

static int64_t dot_flops(const struct instruction *item, const struct tensor *left)
{
    int64_t in = 1;

    for (size_t i = 0; i < item->contracting_count; i++)
        if (left->rank < 0 || item->contracting[i] >= (uint64_t)left->rank ||
            left->dims[item->contracting[i]] < 0 ||
            __builtin_mul_overflow(in, left->dims[item->contracting[i]], &in))
            return -1;
    return product_flops(elements(&item->shape), item->contracting_count ? in : -1);
}

/* A kernel has as many elements an output feature as go into one result; its input features count
 * a group's already. Places where it reaches into the padding do not count. */
static int64_t convolution_flops(const struct instruction *item, const struct tensor *input,
                                 const struct tensor *kernel)
{
    int64_t in = elements(kernel), flops;

    if (in < 0 || item->kernel_output >= (uint64_t)kernel->rank ||
        kernel->dims[item->kernel_output] <= 0)
        return -1;
    flops = product_flops(elements(&item->shape), in / kernel->dims[item->kernel_output]);
    return flops < 0 ? -1
                     : (int64_t)((double)flops * hlo_conv_share(item->window, item->dimensions,
                                                                input, &item->shape));
}

/* The dimensions in "lhs_contracting_dimensions":["1"] of a library call's settings. */
static void read_contracting(struct instruction *item)
{
    static const struct str key = STR_INIT("\"lhs_contracting_dimensions\":[");
    size_t                  at = str_search(item->config, key);
    struct str              rest = str_slice(item->config, at + key.len, item->config.len);

    rest = str_slice(rest, 0, str_find(rest, ']'));
    item->contracting_count = 0;
    while (rest.len && item->contracting_count < TENSOR_MAX_RANK) {
        struct str digits = str_trim(str_cut(&rest, ','));
        uint64_t   dimension;

        if (digits.len > 2 && digits.data[0] == '"')
            digits = str_slice(digits, 1, digits.len - 1);
        if (str_to_uint64(digits, &dimension))
            item->contracting[item->contracting_count++] = dimension;
    }
}

/* A call of a library for a product or a convolution does what the plain instruction would. The
 * first of its results is the array, others are for its own use. */
static int64_t call_flops(const struct module *module, const struct instruction *item)
{
    const struct instruction *first = operand(module, item, 0), *second = operand(module, item, 1);
    struct instruction        plain = *item;
    struct tensor             result = item->shape, kernel, input;

    if (!first || !second)
        return -1;
    if (item->part_count)
        result = module->parts.items[item->first_part];
    plain.shape = result;
    kernel = second->shape;
    input = first->shape;
    if (str_starts(item->target, STR("__cublas$"))) {
        read_contracting(&plain);
        return dot_flops(&plain, &first->shape);
    }
    if (!str_starts(item->target, STR("__cudnn$conv")))
        return -1;
    if (str_ends(item->target, STR("BackwardInput"))) {
        plain.shape = first->shape;
        input = result;
    } else if (str_ends(item->target, STR("BackwardFilter"))) {
        plain.shape = second->shape;
        kernel = result;
    }
    return convolution_flops(&plain, &input, &kernel);
}

static int64_t flops_of(const struct module *module, const struct instruction *item)
{
    const struct instruction *first = operand(module, item, 0), *second = operand(module, item, 1);

    if (is_elementwise(item->opcode))
        return elements(&item->shape);
    if (str_equal(item->opcode, STR("reduce")))
        return first ? elements(&first->shape) : -1;
    if (str_equal(item->opcode, STR("dot")))
        return first ? dot_flops(item, &first->shape) : -1;
    if (str_equal(item->opcode, STR("convolution")))
        return first && second ? convolution_flops(item, &first->shape, &second->shape) : -1;
    if (str_equal(item->opcode, STR("custom-call")))
        return call_flops(module, item);
    return -1;
}

static int64_t bytes_of(const struct tensor *tensor)
{
    int64_t count = elements(tensor), bytes;
    int64_t bits = dtype_bits((enum dtype)tensor->dtype);

    if (count < 0 || bits == 0 || __builtin_mul_overflow(count, bits, &bytes))
        return -1;
    return bytes / 8;
}

static const struct tensor *parts_of(const struct module *module, const struct instruction *item,
                                     size_t *count)
{
    *count = item->part_count ? item->part_count : 1;
    return item->part_count ? &module->parts.items[item->first_part] : &item->shape;
}

/* Adds what an instruction gives to the op's operands or results, and to its bytes. */
static bool add_tensors(const struct module *module, const struct instruction *from, struct op *op,
                        uint32_t *count)
{
    size_t               part_count;
    const struct tensor *parts = parts_of(module, from, &part_count);

    for (size_t i = 0; i < part_count; i++) {
        int64_t bytes = bytes_of(&parts[i]);

        if (op->bytes >= 0 && (bytes < 0 || __builtin_add_overflow(op->bytes, bytes, &op->bytes)))
            op->bytes = -1;
        if (!vec_push(&module->profile->tensors, module->profile->arena, parts[i]))
            return false;
    }
    *count += (uint32_t)part_count;
    return true;
}

/* False: past the budget. */
static bool fill_source(struct module *module, const struct instruction *item, struct op *op)
{
    struct profile    *profile = module->profile;
    struct source_line line = { .file = profile_intern(profile, item->file),
                                .line = item->line <= UINT32_MAX ? (uint32_t)item->line : 0,
                                .caller = NO_ID };
    bool               is_full = false;

    op->source =
        hlo_frames_source(&module->frames, item->frame, profile, module->scratch, &is_full);
    if (op->source != NO_ID || !item->file.len)
        return !is_full;
    op->source = (uint32_t)profile->sources.count;
    return vec_push(&profile->sources, profile->arena, line);
}

static bool fill_op(struct module *module, const struct instruction *item, struct op *op)
{
    struct profile *profile = module->profile;
    bool            is_whole = true;

    op->first_input = (uint32_t)profile->tensors.count;
    for (size_t i = 0; i < item->operand_count; i++) {
        const struct instruction *from = operand(module, item, i);

        is_whole &= from != NULL;
        if (from && !add_tensors(module, from, op, &op->input_count))
            return false;
    }
    op->first_output = (uint32_t)profile->tensors.count;
    if (!add_tensors(module, item, op, &op->output_count))
        return false;
    if (!is_whole)
        op->bytes = -1;
    return fill_source(module, item, op);
}

static bool add_op(struct module *module, struct instruction *item, struct id_map *rows)
{
    struct profile *profile = module->profile;
    struct op       op = { .name = profile_intern(profile, item->name),
                           .type = profile_intern(profile, item->opcode),
                           .origin = profile_intern(profile, item->origin),
                           .module = module->name,
                           .device = NO_ID,
                           .source = NO_ID,
                           .flops = flops_of(module, item),
                           .parameters = -1,
                           .is_fused = id_map_get(&module->fusion_of, item->computation) != NO_ID,
                           .graph_node = NO_ID };

    item->op = (uint32_t)profile->ops.count;
    return op.name != NO_ID && op.type != NO_ID && fill_op(module, item, &op) &&
           vec_push(&profile->ops, profile->arena, op) &&
           id_map_put(rows, (uint64_t)op.name << 32 | module->key, item->op);
}

/* A fusion does what its instructions do. */
static void sum_fusions(const struct module *module)
{
    for (size_t i = 0; i < module->list.count; i++) {
        const struct instruction *item = &module->list.items[i];
        uint32_t                  fusion = id_map_get(&module->fusion_of, item->computation);
        const struct op          *inner = &module->profile->ops.items[item->op];
        struct op                *outer;

        if (fusion == NO_ID || inner->flops <= 0)
            continue;
        outer = &module->profile->ops.items[module->list.items[fusion].op];
        if (outer != inner && __builtin_add_overflow(outer->flops > 0 ? outer->flops : 0,
                                                     inner->flops, &outer->flops))
            outer->flops = INT64_MAX;
    }
}

static bool add_edges(const struct module *module, struct hlo_edges *edges)
{
    for (size_t i = 0; i < module->list.count; i++) {
        const struct instruction *item = &module->list.items[i];

        for (size_t n = 0; n < item->operand_count; n++) {
            const struct instruction *from = operand(module, item, n);

            if (from && from->op != item->op &&
                !vec_push(&edges->list, module->scratch,
                          (struct op_edge) { .from = from->op, .to = item->op }))
                return false;
        }
    }
    return true;
}

uint32_t hlo_key(const struct profile *profile, const struct id_map *rows, uint32_t module,
                 uint64_t number)
{
    struct str name = profile_str(profile, module);
    char       text[256];
    int        len = snprintf(text, sizeof text, "%.*s(%" PRIu64 ")", STR_ARG(name), number);
    uint32_t   key;

    if (len < 0 || (size_t)len >= sizeof text)
        return module;
    key = intern_find(&profile->names, (struct str) { .data = text, .len = (size_t)len });
    return key != NO_ID && id_map_get(rows, key) != NO_ID ? key : module;
}

/* The module's key; NO_ID: its ops are there already, or past the budget. In rows, under the empty
 * name, stands what tells its bytes from those of others. */
static uint32_t new_key(const struct module *module, struct str bytes, struct str program,
                        struct id_map *rows, bool *is_full)
{
    uint32_t print = (uint32_t)str_hash(bytes) >> 1, key = module->name;
    uint32_t known = id_map_get(rows, key);

    if (known != NO_ID) {
        if (known == print || !program.len)
            return NO_ID;
        key = profile_intern(module->profile, program);
        if (key != NO_ID && id_map_get(rows, key) != NO_ID)
            return NO_ID;
    }
    *is_full = key == NO_ID || !id_map_put(rows, key, print);
    return *is_full ? NO_ID : key;
}

static bool add_module(struct str bytes, struct str program, struct module *module,
                       struct id_map *rows, struct hlo_edges *edges)
{
    bool is_full = false;

    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == MODULE_NAME && field.type == WIRE_BYTES)
            module->name = profile_intern(module->profile, field.bytes);
    if (module->name == NO_ID)
        return false;
    module->key = new_key(module, bytes, program, rows, &is_full);
    if (module->key == NO_ID)
        return !is_full;
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == MODULE_COMPUTATIONS && field.type == WIRE_BYTES &&
            !add_computation(module, field.bytes))
            return false;
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == MODULE_FRAMES && field.type == WIRE_BYTES &&
            !hlo_frames_read(&module->frames, field.bytes, module->scratch))
            return false;
    for (size_t i = 0; i < module->list.count; i++)
        if (!add_op(module, &module->list.items[i], rows))
            return false;
    sum_fusions(module);
    return add_edges(module, edges) && hlo_attrs_add(bytes, module->profile, rows, module->key);
}

bool hlo_add(struct str bytes, struct str program, struct profile *profile, struct arena *scratch,
             struct id_map *rows, struct hlo_edges *edges)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        struct module module = { .profile = profile,
                                 .scratch = scratch,
                                 .by_id.arena = scratch,
                                 .fusion_of.arena = scratch };

        if (field.number == PROTO_MODULE && field.type == WIRE_BYTES &&
            !add_module(field.bytes, program, &module, rows, edges))
            return false;
    }
    return true;
}

/* Fields that lead from a HloProto down to the shape of an instruction, and tuples inside it. */
static const uint32_t way_down[] = { PROTO_MODULE, MODULE_COMPUTATIONS, COMPUTATION_INSTRUCTIONS,
                                     INSTRUCTION_SHAPE, SHAPE_TUPLE };

/* Recursion ends with way_down. */
static bool is_whole(struct str bytes, size_t depth)
{
    struct wire field = wire_start(bytes);

    while (wire_next(&field))
        if (depth < ARRAY_COUNT(way_down) && field.number == way_down[depth] &&
            field.type == WIRE_BYTES && !is_whole(field.bytes, depth + 1))
            return false;
    return !field.is_broken;
}

bool hlo_is_whole(struct str bytes)
{
    return is_whole(bytes, 0);
}
