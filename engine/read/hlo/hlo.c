#include "read/hlo/hlo.h"

#include "read/hlo/hlo_attrs.h"
#include "read/hlo/hlo_buffers.h"
#include "read/hlo/hlo_module.h"
#include "read/hlo/hlo_order.h"
#include "read/hlo/hlo_traffic.h"
#include "read/proto/wire.h"

#include <inttypes.h>
#include <stdio.h>

/* Field numbers of xla's hlo.proto and xla_data.proto. */
enum {
    PROTO_MODULE = 1,
    PROTO_BUFFERS = 3,
    MODULE_NAME = 1,
    MODULE_COMPUTATIONS = 3,
    MODULE_FRAMES = 17,
    COMPUTATION_INSTRUCTIONS = 2,
    INSTRUCTION_SHAPE = 3,
    SHAPE_TUPLE = 4,
    MAX_SHOWN = 16, /* operands whose shapes an op has */
};

static int64_t bytes_of(const struct tensor *tensor)
{
    int64_t count = tensor_count(tensor), bytes;
    int64_t bits = dtype_bits((enum dtype)tensor->dtype);

    if (count < 0 || bits == 0 || __builtin_mul_overflow(count, bits, &bytes))
        return -1;
    return bytes / 8;
}

static const struct tensor *parts_of(const struct hlo_module      *module,
                                     const struct hlo_instruction *item, size_t *count)
{
    *count = item->part_count ? item->part_count : 1;
    return item->part_count ? &module->parts.items[item->first_part] : &item->shape;
}

/* Adds what an instruction gives to the op's operands or results, and to its bytes. */
static bool add_tensors(const struct hlo_module *module, const struct hlo_instruction *from,
                        struct op *op, uint32_t *count)
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
static bool fill_source(struct hlo_module *module, const struct hlo_instruction *item,
                        struct op *op)
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

static bool fill_op(struct hlo_module *module, const struct hlo_instruction *item, struct op *op)
{
    struct profile *profile = module->profile;
    bool            is_whole = true;

    op->first_input = (uint32_t)profile->tensors.count;
    for (size_t i = 0; i < item->operand_count && i < MAX_SHOWN; i++) {
        const struct hlo_instruction *from = hlo_operand(module, item, i);

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

static bool add_op(struct hlo_module *module, struct hlo_instruction *item, struct id_map *rows)
{
    struct profile               *profile = module->profile;
    const struct hlo_instruction *outer = hlo_caller(module, item);
    struct op                     op = { .name = profile_intern(profile, item->name),
                                         .type = profile_intern(profile, item->opcode),
                                         .origin = profile_intern(profile, item->origin),
                                         .module = module->name,
                                         .program = module->key,
                                         .device = NO_ID,
                                         .source = NO_ID,
                                         .flops = hlo_flops(module, item),
                                         .parameters = -1,
                                         .is_fused = outer && str_equal(outer->opcode, STR("fusion")),
                                         .graph_node = NO_ID };

    item->op = (uint32_t)profile->ops.count;
    return op.name != NO_ID && op.type != NO_ID && fill_op(module, item, &op) &&
           vec_push(&profile->ops, profile->arena, op) &&
           id_map_put(rows, (uint64_t)op.name << 32 | module->key, item->op);
}

/* A fusion does what its instructions do. */
static void sum_fusions(const struct hlo_module *module)
{
    for (size_t i = 0; i < module->list.count; i++) {
        const struct hlo_instruction *item = &module->list.items[i];
        const struct hlo_instruction *fusion = hlo_caller(module, item);
        const struct op              *inner = &module->profile->ops.items[item->op];
        struct op                    *outer;

        if (!inner->is_fused || inner->flops <= 0)
            continue;
        outer = &module->profile->ops.items[fusion->op];
        if (outer != inner && __builtin_add_overflow(outer->flops > 0 ? outer->flops : 0,
                                                     inner->flops, &outer->flops))
            outer->flops = INT64_MAX;
    }
}

enum { ROOT_PLACE = UINT16_MAX }; /* of what a computation gives to what calls it */

static struct op_edge edge_between(uint32_t from, uint32_t to, uint64_t place)
{
    return (struct op_edge) { .from = from,
                              .to = to,
                              .place = place < ROOT_PLACE ? (uint16_t)place : ROOT_PLACE };
}

/* Fusions and calls run their computation once: what goes in goes to its parameters, and what its
 * root gives comes out. */
static bool add_edges_within(const struct hlo_module *module, struct hlo_instruction *item,
                             struct hlo_edges *edges)
{
    const struct hlo_instruction *outer = hlo_caller(module, item), *from = item, *to = outer;
    uint64_t                      place = 0;
    bool                          is_root;

    if (!outer)
        return true;
    module->profile->ops.items[item->op].caller = outer->op + 1;
    if (!str_equal(outer->opcode, STR("fusion")) && !str_equal(outer->opcode, STR("call")))
        return true;
    is_root =
        id_map_get(&module->root_of, item->computation) == (uint32_t)(item - module->list.items);
    if (str_equal(item->opcode, STR("parameter")))
        from = hlo_operand(module, outer, item->parameter), to = item;
    else if (is_root)
        place = ROOT_PLACE;
    else
        return true;
    return !from || vec_push(&edges->list, module->scratch, edge_between(from->op, to->op, place));
}

static bool add_edges(const struct hlo_module *module, struct hlo_edges *edges)
{
    for (size_t i = 0; i < module->list.count; i++) {
        struct hlo_instruction *item = &module->list.items[i];

        if (!add_edges_within(module, item, edges))
            return false;
        for (size_t n = 0; n < item->operand_count; n++) {
            const struct hlo_instruction *from = hlo_operand(module, item, n);

            if (from && from->op != item->op &&
                !vec_push(&edges->list, module->scratch, edge_between(from->op, item->op, n)))
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
static uint32_t new_key(const struct hlo_module *module, struct str bytes, struct str program,
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

static bool add_module(struct str bytes, struct str program, struct hlo_module *module,
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
            !hlo_module_add(module, field.bytes))
            return false;
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == MODULE_FRAMES && field.type == WIRE_BYTES &&
            !hlo_frames_read(&module->frames, field.bytes, module->scratch))
            return false;
    for (size_t i = 0; i < module->list.count; i++)
        if (!add_op(module, &module->list.items[i], rows))
            return false;
    sum_fusions(module);
    return hlo_traffic_settle(module) && add_edges(module, edges) &&
           hlo_order_add(bytes, module, edges) &&
           hlo_attrs_add(bytes, module->profile, rows, module->key);
}

/* Of a module that was added: one whose ops were there has its buffers there, too. */
static bool add_buffers(struct str bytes, const struct hlo_module *module)
{
    for (struct wire field = wire_start(bytes); module->key != NO_ID && wire_next(&field);)
        if (field.number == PROTO_BUFFERS && field.type == WIRE_BYTES &&
            !hlo_buffers_add(field.bytes, module))
            return false;
    return true;
}

bool hlo_add(struct str bytes, struct str program, struct profile *profile, struct arena *scratch,
             struct id_map *rows, struct hlo_edges *edges)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        struct hlo_module module = { .profile = profile,
                                     .scratch = scratch,
                                     .by_id.arena = scratch,
                                     .caller_of.arena = scratch,
                                     .root_of.arena = scratch };

        if (field.number == PROTO_MODULE && field.type == WIRE_BYTES &&
            !(add_module(field.bytes, program, &module, rows, edges) &&
              add_buffers(bytes, &module)))
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
