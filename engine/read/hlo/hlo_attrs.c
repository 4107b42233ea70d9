#include "read/hlo/hlo_attrs.h"

#include "base/text.h"
#include "read/hlo/hlo_axes.h"
#include "read/proto/wire.h"

/* Field numbers of xla's hlo.proto and xla_data.proto. */
enum {
    MODULE_COMPUTATIONS = 3,
    MODULE_ENTRY_ID = 6,
    MODULE_ALIAS = 8,
    MODULE_SHARDINGS = 14,
    MODULE_DEVICES = 15,
    SHARDING_TYPE = 1,
    SHARDING_REPLICATED = 0, /* of the enum Type; 2 is a tuple of shardings */
    SHARDING_TUPLE = 2,
    SHARDING_PARTS = 5,
    DEVICES_PARTITIONS = 2,
    COMPUTATION_INSTRUCTIONS = 2,
    COMPUTATION_ID = 5,
    COMPUTATION_ROOT_ID = 6,
    INSTRUCTION_NAME = 1,
    INSTRUCTION_OPCODE = 2,
    INSTRUCTION_PARAMETER = 9,
    INSTRUCTION_ID = 35,
    INSTRUCTION_GROUPS = 49,
    INSTRUCTION_PAIRS = 52,
    PAIR_SOURCE = 1,
    PAIR_TARGET = 2,
    INSTRUCTION_DEVICE_LIST = 87,
    INSTRUCTION_MESH_AXES = 93,
    ALIAS_ENTRIES = 1,
    ENTRY_PARAMETER = 2,
    GROUP_IDS = 1,
    DEVICE_LIST_GROUPS = 1,
    DEVICE_LIST_IOTA = 2,
    IOTA_GROUP_SIZE = 2,
    MESH = 1,
    MESH_REFERENCES = 2,
    MESH_AXES = 1,
    AXIS_SIZE = 2,
    REFERENCE_AXIS = 1,
    MOST_IDS = 4096,
    MOST_SHOWN = 16,
    MOST_AXES = 16,
    MOST_PAIRS = 512,
};

struct entry_program {
    struct profile      *profile;
    const struct id_map *rows;
    uint32_t             key; /* in rows */
    uint64_t             entry_id;
    struct str           alias;
    uint64_t             partitions; /* devices that the program is divided over */
    bool                 is_divided; /* a parameter is; else all devices get all of everything */
};
struct groups { /* of a collective: those who take part, or only how many */
    uint64_t size;
    uint64_t ids[MOST_SHOWN]; /* the first group's first */
    size_t   shown;
};

/* Numbers of a repeated field, packed or not; those past the room are counted only. */
static size_t count_ids(const struct wire *field, struct groups *groups)
{
    struct str rest = wire_numbers(field);
    uint64_t   id;
    size_t     count = 0;

    for (; count < MOST_IDS && wire_take(&rest, &id); count++)
        if (groups->shown < MOST_SHOWN)
            groups->ids[groups->shown++] = id;
    return count;
}

static void read_group(struct str bytes, struct groups *groups)
{
    if (groups->size) /* groups are alike in size: the first stands for all */
        return;
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == GROUP_IDS && groups->size < MOST_IDS)
            groups->size += count_ids(&field, groups);
}

static void read_device_list(struct str bytes, struct groups *groups)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == DEVICE_LIST_GROUPS)
            read_group(field.bytes, groups);
        for (struct wire inner = wire_start(field.bytes);
             field.number == DEVICE_LIST_IOTA && wire_next(&inner);)
            if (inner.number == IOTA_GROUP_SIZE && inner.type == WIRE_VARINT)
                groups->size = inner.value;
    }
}

struct mesh {
    uint64_t sizes[MOST_AXES];
    size_t   axis_count;
};

static void read_mesh(struct str bytes, struct mesh *mesh)
{
    for (struct wire axis = wire_start(bytes); wire_next(&axis);) {
        if (axis.number != MESH_AXES || axis.type != WIRE_BYTES)
            continue;
        for (struct wire field = wire_start(axis.bytes); wire_next(&field);)
            if (field.number == AXIS_SIZE && field.type == WIRE_VARINT &&
                mesh->axis_count < MOST_AXES)
                mesh->sizes[mesh->axis_count++] = field.value;
    }
}

/* Which axis a reference names; the first one, if it says nothing. */
static uint64_t read_reference(struct str bytes)
{
    uint64_t axis = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == REFERENCE_AXIS && field.type == WIRE_VARINT)
            axis = field.value;
    return axis;
}

/* A group reaches over the axes of the mesh that are named. */
static void read_mesh_axes(struct str bytes, struct groups *groups)
{
    struct mesh mesh = { 0 };
    uint64_t    size = 1;
    size_t      used = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == MESH && field.type == WIRE_BYTES)
            read_mesh(field.bytes, &mesh);
    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        uint64_t axis;

        if (field.number != MESH_REFERENCES || field.type != WIRE_BYTES)
            continue;
        axis = read_reference(field.bytes);
        if (axis >= mesh.axis_count || __builtin_mul_overflow(size, mesh.sizes[axis], &size))
            return;
        used++;
    }
    if (used)
        groups->size = size;
}

bool hlo_attr_add(struct profile *profile, struct op *op, const char *name, struct str value)
{
    struct attr attr = { profile_intern(profile, str_from(name)), profile_intern(profile, value) };

    if (op->attr_count == 0)
        op->first_attr = (uint32_t)profile->attrs.count;
    op->attr_count++;
    return attr.name != NO_ID && attr.value != NO_ID &&
           vec_push(&profile->attrs, profile->arena, attr);
}

static bool add_count(struct profile *profile, struct op *op, const char *name, uint64_t number)
{
    struct arena scratch = { 0 };
    struct text  count = { .arena = &scratch };
    bool         is_added;

    text_print(&count, "%llu", (unsigned long long)number);
    is_added = hlo_attr_add(profile, op, name, text_str(&count));
    arena_free(&scratch);
    return is_added;
}

static bool add_groups(struct profile *profile, struct op *op, const struct groups *groups)
{
    struct arena scratch = { 0 };
    struct text  ids = { .arena = &scratch };
    bool         is_added;

    for (size_t i = 0; i < groups->shown; i++)
        text_print(&ids, "%s%llu", i ? "," : "", (unsigned long long)groups->ids[i]);
    if (groups->shown && groups->size > groups->shown)
        text_print(&ids, ",...");
    is_added = add_count(profile, op, "group_size", groups->size) &&
               (groups->shown == 0 || hlo_attr_add(profile, op, "group", text_str(&ids)));
    arena_free(&scratch);
    return is_added;
}

static bool is_donated(const struct entry_program *program, uint64_t parameter)
{
    for (struct wire field = wire_start(program->alias); wire_next(&field);) {
        uint64_t number = 0;

        if (field.number != ALIAS_ENTRIES || field.type != WIRE_BYTES)
            continue;
        for (struct wire inner = wire_start(field.bytes); wire_next(&inner);)
            if (inner.number == ENTRY_PARAMETER && inner.type == WIRE_VARINT)
                number = inner.value;
        if (number == parameter)
            return true;
    }
    return false;
}

struct pairs { /* of a collective-permute: who sends to whom */
    uint64_t source[MOST_PAIRS], target[MOST_PAIRS];
    size_t   count;
};
struct seen { /* an instruction */
    struct str    name, opcode;
    uint64_t      id, parameter;
    struct groups groups;
    uint64_t      ring; /* devices of a collective-permute that hand on to each other */
};

static void read_pair(struct str bytes, struct pairs *pairs)
{
    if (pairs->count == MOST_PAIRS)
        return;
    pairs->source[pairs->count] = pairs->target[pairs->count] = 0;
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.type == WIRE_VARINT && field.number == PAIR_SOURCE)
            pairs->source[pairs->count] = field.value;
        else if (field.type == WIRE_VARINT && field.number == PAIR_TARGET)
            pairs->target[pairs->count] = field.value;
    pairs->count++;
}

/* From the first pair on: around, or until one hands nothing on. */
static uint64_t ring_size(const struct pairs *pairs)
{
    uint64_t at = pairs->count ? pairs->target[0] : 0, size = 1;

    for (size_t steps = 0; steps < pairs->count && at != pairs->source[0]; steps++) {
        size_t next = 0;

        size++;
        while (next < pairs->count && pairs->source[next] != at)
            next++;
        if (next == pairs->count)
            break;
        at = pairs->target[next];
    }
    return pairs->count ? size : 0;
}

static struct seen read_instruction(struct str bytes)
{
    struct seen  seen = { 0 };
    struct pairs pairs;

    pairs.count = 0;
    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == INSTRUCTION_ID && field.type == WIRE_VARINT)
            seen.id = field.value;
        else if (field.number == INSTRUCTION_PARAMETER && field.type == WIRE_VARINT)
            seen.parameter = field.value;
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == INSTRUCTION_NAME)
            seen.name = field.bytes;
        else if (field.number == INSTRUCTION_OPCODE)
            seen.opcode = field.bytes;
        else if (field.number == INSTRUCTION_GROUPS)
            read_group(field.bytes, &seen.groups);
        else if (field.number == INSTRUCTION_DEVICE_LIST)
            read_device_list(field.bytes, &seen.groups);
        else if (field.number == INSTRUCTION_MESH_AXES)
            read_mesh_axes(field.bytes, &seen.groups);
        else if (field.number == INSTRUCTION_PAIRS)
            read_pair(field.bytes, &pairs);
    }
    seen.ring = ring_size(&pairs);
    return seen;
}

static struct op *find_op(const struct entry_program *program, struct str name)
{
    uint32_t id = intern_find(&program->profile->names, name);
    uint32_t row =
        id == NO_ID ? NO_ID : id_map_get(program->rows, (uint64_t)id << 32 | program->key);

    return row < program->profile->ops.count ? &program->profile->ops.items[row] : NULL;
}

/* "copies": on how many devices the program runs that all get the same. */
static bool add_copies(const struct entry_program *program, struct op *op)
{
    return program->partitions < 2 || program->is_divided ||
           add_count(program->profile, op, "copies", program->partitions);
}

static bool add_instruction(const struct entry_program *program, struct str bytes, bool is_entry,
                            uint64_t root)
{
    struct seen seen = read_instruction(bytes);
    bool        is_parameter = is_entry && str_equal(seen.opcode, STR("parameter"));
    bool        is_root = is_entry && seen.id == root, has_axes = hlo_has_axes(seen.opcode);
    struct op  *op;

    if (!is_parameter && !is_root && !has_axes && seen.groups.size == 0 && seen.ring == 0)
        return true;
    op = find_op(program, seen.name);
    if (!op || op->attr_count > 0)
        return true;
    if (is_parameter && (!hlo_attr_add(program->profile, op, "entry", STR("true")) ||
                         (is_donated(program, seen.parameter) &&
                          !hlo_attr_add(program->profile, op, "donated", STR("true")))))
        return false;
    if (is_root &&
        (!hlo_attr_add(program->profile, op, "root", STR("true")) || !add_copies(program, op)))
        return false;
    if (has_axes && !hlo_axes_add(bytes, program->profile, op))
        return false;
    if (seen.ring && !add_count(program->profile, op, "ring_size", seen.ring))
        return false;
    return seen.groups.size == 0 || add_groups(program->profile, op, &seen.groups);
}

static bool add_computation(const struct entry_program *program, struct str bytes)
{
    uint64_t id = 0, root = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number == COMPUTATION_ID && field.type == WIRE_VARINT)
            id = field.value;
        else if (field.number == COMPUTATION_ROOT_ID && field.type == WIRE_VARINT)
            root = field.value;
    }
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == COMPUTATION_INSTRUCTIONS && field.type == WIRE_BYTES &&
            !add_instruction(program, field.bytes, id == program->entry_id, root))
            return false;
    return true;
}

/* Whether a sharding gives devices different parts, or leaves that to the program. */
static bool divides(struct str sharding)
{
    uint64_t type = SHARDING_REPLICATED;
    bool     has_part = false;

    for (struct wire field = wire_start(sharding); wire_next(&field);) {
        if (field.number == SHARDING_TYPE && field.type == WIRE_VARINT)
            type = field.value;
        for (struct wire part = wire_start(field.bytes);
             field.number == SHARDING_PARTS && field.type == WIRE_BYTES && wire_next(&part);)
            has_part |= part.number == SHARDING_TYPE && part.type == WIRE_VARINT &&
                        part.value != SHARDING_REPLICATED;
    }
    return has_part || (type != SHARDING_REPLICATED && type != SHARDING_TUPLE);
}

static void read_devices(struct str devices, struct entry_program *program)
{
    for (struct wire field = wire_start(devices); wire_next(&field);)
        if (field.number == DEVICES_PARTITIONS && field.type == WIRE_VARINT)
            program->partitions = field.value;
}

bool hlo_attrs_add(struct str module, struct profile *profile, const struct id_map *rows,
                   uint32_t key)
{
    struct entry_program program = {
        .profile = profile, .rows = rows, .key = key, .entry_id = UINT64_MAX
    };

    for (struct wire field = wire_start(module); wire_next(&field);) {
        if (field.number == MODULE_ENTRY_ID && field.type == WIRE_VARINT)
            program.entry_id = field.value;
        else if (field.number == MODULE_ALIAS && field.type == WIRE_BYTES)
            program.alias = field.bytes;
        else if (field.number == MODULE_SHARDINGS && field.type == WIRE_BYTES)
            program.is_divided |= divides(field.bytes);
        else if (field.number == MODULE_DEVICES && field.type == WIRE_BYTES)
            read_devices(field.bytes, &program);
    }
    for (struct wire field = wire_start(module); wire_next(&field);)
        if (field.number == MODULE_COMPUTATIONS && field.type == WIRE_BYTES &&
            !add_computation(&program, field.bytes))
            return false;
    return true;
}
