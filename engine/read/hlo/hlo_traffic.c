#include "read/hlo/hlo_traffic.h"

enum { MOST_COUNTED = 16 }; /* operands whose bytes an op has (MAX_SHOWN of hlo.c) */

struct touched {    /* of what an instruction gives, by those that take it within its computation */
    int64_t  bytes; /* read by slices */
    uint32_t original; /* index + 1 of what a bitcast names anew; 0: itself */
    bool     is_whole; /* something reads all of it */
    bool     is_kept;  /* it is written over in part, in place */
};
struct settling {
    const struct hlo_module *module;
    struct touched          *touched; /* by instruction */
};

static int64_t bytes_of(const struct hlo_instruction *item)
{
    int64_t count = item->part_count > 1 ? -1 : tensor_count(&item->shape), bytes;
    int64_t bits = dtype_bits((enum dtype)item->shape.dtype);

    return count < 0 || bits == 0 || __builtin_mul_overflow(count, bits, &bytes) ? -1 : bytes / 8;
}

static size_t index_of(const struct settling *settling, const struct hlo_instruction *item)
{
    return (size_t)(item - settling->module->list.items);
}

/* What is named anew stands for what it names. */
static struct touched *find(const struct settling *settling, const struct hlo_instruction *item)
{
    struct touched *touched = &settling->touched[index_of(settling, item)];

    return touched->original ? &settling->touched[touched->original - 1] : touched;
}

static bool is_slice(struct str opcode)
{
    return str_fits(opcode, "slice|dynamic-slice|gather");
}

/* Operands stand before what takes them. */
static void touch(const struct settling *settling, const struct hlo_instruction *item)
{
    bool writes_part = str_equal(item->opcode, STR("dynamic-update-slice"));

    for (size_t n = 0; n < item->operand_count; n++) {
        const struct hlo_instruction *from = hlo_operand(settling->module, item, n);
        struct touched               *touched = from ? find(settling, from) : NULL;
        int64_t                       bytes = bytes_of(item);

        if (!touched)
            continue;
        if (str_equal(item->opcode, STR("bitcast")))
            settling->touched[index_of(settling, item)].original =
                (uint32_t)(touched - settling->touched) + 1;
        else if (n == 0 && is_slice(item->opcode) && bytes >= 0)
            touched->bytes += bytes;
        else if (n == 0 && writes_part)
            touched->is_kept = true;
        else
            touched->is_whole = true;
    }
}

static void spare(const struct settling *settling, const struct hlo_instruction *item, int64_t all,
                  int64_t part)
{
    struct op *op = &settling->module->profile->ops.items[item->op];

    if (op->bytes >= 0 && all > part && part >= 0 && op->bytes >= all - part)
        op->bytes -= all - part;
}

/* A parameter of a fusion that is not read as a whole. */
static void spare_parameter(const struct settling *settling, const struct hlo_instruction *item,
                            const struct hlo_instruction *fusion)
{
    const struct touched *touched = &settling->touched[index_of(settling, item)];

    if (item->parameter < MOST_COUNTED && !touched->is_whole &&
        (touched->bytes || touched->is_kept))
        spare(settling, fusion, bytes_of(item), touched->bytes);
}

/* What writes a part of its first operand in place gives the whole, and moves the part. */
static void spare_update(const struct settling *settling, const struct hlo_instruction *item,
                         const struct hlo_instruction *of)
{
    const struct hlo_instruction *into = hlo_operand(settling->module, item, 0);
    const struct hlo_instruction *update = hlo_operand(settling->module, item, 1);

    if (into && update && !find(settling, into)->is_whole)
        spare(settling, of, bytes_of(item), bytes_of(update));
}

static bool is_root(const struct settling *settling, const struct hlo_instruction *item)
{
    return id_map_get(&settling->module->root_of, item->computation) == index_of(settling, item);
}

/* Room that a library works in is told as the last of its results: bytes without a shape. */
static void spare_workspace(const struct settling *settling, const struct hlo_instruction *item)
{
    const struct tensor *last =
        item->part_count > 1
            ? &settling->module->parts.items[item->first_part + item->part_count - 1]
            : NULL;

    if (last && last->rank == 1 && (last->dtype == DTYPE_I8 || last->dtype == DTYPE_U8) &&
        str_starts(item->target, STR("__cu")))
        spare(settling, item, last->dims[0], 0);
}

static void settle(const struct settling *settling, const struct hlo_instruction *item)
{
    const struct hlo_instruction *outer = hlo_caller(settling->module, item);
    bool                          is_inside = outer && str_equal(outer->opcode, STR("fusion"));

    if (is_inside && str_equal(item->opcode, STR("parameter")))
        spare_parameter(settling, item, outer);
    else if (is_inside && str_equal(item->opcode, STR("dynamic-update-slice")) &&
             is_root(settling, item))
        spare_update(settling, item, outer);
    else if (!is_inside && is_slice(item->opcode) && hlo_operand(settling->module, item, 0))
        spare(settling, item, bytes_of(hlo_operand(settling->module, item, 0)), bytes_of(item));
    else if (!is_inside && str_equal(item->opcode, STR("custom-call")))
        spare_workspace(settling, item);
}

bool hlo_traffic_settle(const struct hlo_module *module)
{
    struct settling settling = { .module = module };

    settling.touched = arena_new_array(module->scratch, struct touched, module->list.count + 1);
    if (!settling.touched)
        return false;
    for (size_t i = 0; i < module->list.count; i++)
        touch(&settling, &module->list.items[i]);
    for (size_t i = 0; i < module->list.count; i++)
        settle(&settling, &module->list.items[i]);
    return true;
}
