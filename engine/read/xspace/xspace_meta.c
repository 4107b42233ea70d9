#include "read/xspace/xspace_meta.h"

#include "read/hlo/hlo_text.h"

#define MOST_COUNT ((int64_t)1 << 60) /* of operations or bytes of one instruction */

/* Later recorders write doubles. */
static int64_t count_of(const struct xstat *stat)
{
    double number = xstat_number(stat);

    if (stat->field == XSTAT_DOUBLE)
        return number >= 0 && number < MOST_COUNT ? (int64_t)number : -1;
    return (int64_t)stat->number;
}

/* MemoryAccessBreakdown { repeated MemoryAccessed memory_accessed = 1 }, MemoryAccessed {
 * operation_type = 1; memory_space = 2; bytes_accessed = 3 }; space 1 is the memory beside the
 * chip. */
static int64_t bytes_on_chip(struct str breakdown)
{
    int64_t sum = 0;

    for (struct wire field = wire_start(breakdown); wire_next(&field);) {
        uint64_t space = 0, bytes = 0;

        if (field.number != 1 || field.type != WIRE_BYTES)
            continue;
        for (struct wire part = wire_start(field.bytes); wire_next(&part);) {
            if (part.number == 2 && part.type == WIRE_VARINT)
                space = part.value;
            if (part.number == 3 && part.type == WIRE_VARINT)
                bytes = part.value;
        }
        if (space > 1 && bytes <= MOST_COUNT / 2 && sum <= MOST_COUNT / 2)
            sum += (int64_t)bytes;
    }
    return sum;
}

struct xspace_meta xspace_meta_read(const struct xplane *plane, const struct xevent_type *type)
{
    struct xspace_meta meta = { .flops = -1, .bytes = -1 };

    for (struct wire field = wire_start(type->bytes); wire_next(&field);) {
        struct xstat stat;
        struct str   name;

        if (field.number == XEVENT_METADATA_NAME && field.type == WIRE_BYTES &&
            str_starts(field.bytes, STR("%")))
            meta.text = field.bytes;
        if (field.number != XEVENT_METADATA_STATS || field.type != WIRE_BYTES)
            continue;
        stat = xstat_read(field.bytes);
        name = xplane_stat_name(plane, stat.type_id);
        if (str_equal(name, STR("hlo_category"))) {
            meta.category = xstat_text(plane, &stat);
        } else if (str_equal(name, STR("tf_op"))) {
            meta.origin = xstat_text(plane, &stat);
        } else if (str_equal(name, STR("source"))) {
            meta.source = xstat_text(plane, &stat);
        } else if (str_equal(name, STR("program_id"))) {
            meta.program = stat.number;
            meta.has_program = stat.field == XSTAT_UINT64 || stat.field == XSTAT_INT64;
        } else if (str_equal(name, STR("flops"))) {
            meta.flops = count_of(&stat);
        } else if (str_equal(name, STR("bytes_accessed"))) {
            meta.bytes = count_of(&stat);
        } else if (str_equal(name, STR("memory_access_breakdown"))) {
            meta.on_chip_bytes = bytes_on_chip(xstat_text(plane, &stat));
        }
    }
    return meta;
}

bool xspace_program(struct str name, struct str *module, uint64_t *number)
{
    size_t open = str_find_last(name, '(');

    if (open == 0 || open >= name.len || name.data[name.len - 1] != ')' ||
        !str_to_uint64(str_slice(name, open + 1, name.len - 1), number))
        return false;
    *module = str_slice(name, 0, open);
    return true;
}

/* "train.py:29". */
static bool fill_source(struct profile *profile, struct str source, struct op *op)
{
    size_t             colon = str_find_last(source, ':');
    struct source_line line = { .caller = NO_ID };
    uint64_t           number;

    if (!str_to_uint64(str_slice(source, colon + 1, source.len), &number) || number > UINT32_MAX)
        return true;
    line.file = profile_intern(profile, str_slice(source, 0, colon));
    line.line = (uint32_t)number;
    op->source = (uint32_t)profile->sources.count;
    return line.file != NO_ID && vec_push(&profile->sources, profile->arena, line);
}

static bool add_tensors(struct profile *profile, const struct hlo_text_tensor *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!vec_push(&profile->tensors, profile->arena, from[i].tensor))
            return false;
    return true;
}

/* Of an instruction whose program is not in the file. */
static bool fill_from_text(struct profile *profile, struct str text, struct op *op)
{
    struct hlo_text hlo;

    if (!hlo_text_read(text, &hlo))
        return true;
    if (hlo.opcode.len)
        op->type = profile_intern(profile, hlo.opcode);
    op->first_input = (uint32_t)profile->tensors.count;
    op->input_count = (uint32_t)hlo.operand_count;
    op->first_output = op->first_input + op->input_count;
    op->output_count = (uint32_t)hlo.result_count;
    return op->type != NO_ID && add_tensors(profile, hlo.operands, hlo.operand_count) &&
           add_tensors(profile, hlo.results, hlo.result_count);
}

bool xspace_meta_fill(const struct xspace_meta *meta, struct profile *profile, uint32_t row)
{
    struct op op = profile->ops.items[row];
    size_t    colon = str_find_last(meta->origin, ':');

    op.category = meta->category.len ? profile_intern(profile, meta->category) : op.category;
    if (op.origin == 0)
        op.origin = profile_intern(profile, str_slice(meta->origin, 0, colon));
    op.flops = meta->flops > 0 || (meta->flops == 0 && op.flops < 0) ? meta->flops : op.flops;
    if (meta->bytes >= 0) { /* what stays inside of the chip takes nothing of the memory's rate */
        op.on_chip_bytes = meta->on_chip_bytes < meta->bytes ? meta->on_chip_bytes : meta->bytes;
        op.bytes = meta->bytes - op.on_chip_bytes;
    }
    if (op.category == NO_ID || op.origin == NO_ID ||
        (op.input_count + op.output_count == 0 && !fill_from_text(profile, meta->text, &op)) ||
        (op.source == NO_ID && !fill_source(profile, meta->source, &op)))
        return false;
    profile->ops.items[row] = op;
    return true;
}
