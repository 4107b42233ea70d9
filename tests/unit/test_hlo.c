/* HloProto made by hand: shapes, operations, bytes and edges as worked out beside each. */
#include "base/macros.h"
#include "read/hlo/hlo.h"
#include "testing.h"
#include <string.h>

/* A message being written; lengths here stay below 16384. */
struct out {
    char   bytes[4096];
    size_t len;
};

static void put_number(struct out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out->bytes[out->len++] = (char)(value | 0x80);
    out->bytes[out->len++] = (char)value;
}

static void put_varint(struct out *out, unsigned field, uint64_t value)
{
    put_number(out, field << 3);
    put_number(out, value);
}

static void put_bytes(struct out *out, unsigned field, const void *bytes, size_t len)
{
    put_number(out, field << 3 | 2);
    put_number(out, len);
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
}

static void put_message(struct out *out, unsigned field, const struct out *inner)
{
    put_bytes(out, field, inner->bytes, inner->len);
}

enum { S8 = 2, F32 = 11, TUPLE = 13 };

/* ShapeProto: element_type 2, dimensions 3 (packed). */
static struct out shape(unsigned type, const int *dims, size_t rank)
{
    struct out out = { .len = 0 }, packed = { .len = 0 };

    put_varint(&out, 2, type);
    for (size_t i = 0; i < rank; i++)
        put_number(&packed, (uint64_t)dims[i]);
    if (rank)
        put_message(&out, 3, &packed);
    return out;
}

/* HloInstructionProto: name 1, opcode 2, shape 3, id 35, operand_ids 36. */
static struct out instruction(const char *name, const char *opcode, const struct out *result,
                              unsigned id, const char *operands)
{
    struct out out = { .len = 0 };

    put_bytes(&out, 1, name, strlen(name));
    put_bytes(&out, 2, opcode, strlen(opcode));
    put_message(&out, 3, result);
    put_varint(&out, 35, id);
    if (operands[0])
        put_bytes(&out, 36, operands, strlen(operands));
    return out;
}

struct fixture {
    struct arena     arena, scratch;
    struct profile   profile;
    struct id_map    rows;
    struct hlo_edges edges;
};

/* HloProto: hlo_module 1; module: name 1, computations 3; computation: id 5, instructions 2. */
static void read_program(struct fixture *fixture, const struct out *instructions, size_t count)
{
    struct out computation = { .len = 0 }, module = { .len = 0 }, program = { .len = 0 };

    *fixture = (struct fixture) { .rows.arena = &fixture->scratch };
    put_varint(&computation, 5, 7);
    for (size_t i = 0; i < count; i++)
        put_message(&computation, 2, &instructions[i]);
    put_bytes(&module, 1, "jit_f", 5);
    put_message(&module, 3, &computation);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture->profile, &fixture->arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture->profile, &fixture->scratch, &fixture->rows, &fixture->edges));
    assert_int_equal(fixture->profile.ops.count, count);
}

static void release(struct fixture *fixture)
{
    arena_free(&fixture->arena);
    arena_free(&fixture->scratch);
}

/* f32[4,5,8] . f32[5,8,6] over both shared dimensions gives f32[4,6]: 2 * 24 * 40 = 1920
 * operations; (160 + 240 + 24) * 4 = 1696 bytes. */
static void counts_dots(void **state)
{
    struct out     left = shape(F32, (int[]) { 4, 5, 8 }, 3);
    struct out     right = shape(F32, (int[]) { 5, 8, 6 }, 3);
    struct out     result = shape(F32, (int[]) { 4, 6 }, 2), dims = { .len = 0 };
    struct out     list[3];
    struct fixture fixture;
    struct op     *dot;

    (void)state;
    list[0] = instruction("x", "parameter", &left, 1, "");
    list[1] = instruction("y", "parameter", &right, 2, "");
    list[2] = instruction("dot.3", "dot", &result, 3, "\x01\x02");
    put_bytes(&dims, 1, "\x01\x02", 2); /* lhs_contracting_dimensions */
    put_message(&list[2], 30, &dims);
    read_program(&fixture, list, 3);
    dot = &fixture.profile.ops.items[2];
    assert_int_equal(dot->flops, 1920);
    assert_int_equal(dot->bytes, 1696);
    assert_int_equal(dot->input_count, 2);
    assert_int_equal(dot->output_count, 1);
    assert_int_equal(fixture.edges.list.count, 2);
    assert_string_equal(profile_str(&fixture.profile, dot->module).data, "jit_f");
    release(&fixture);
}

/* f32[2,8,8,3] with a kernel f32[3,3,3,16] (height, width, in, out) gives f32[2,8,8,16]:
 * 2 * 2048 * 27 = 110592. */
static void counts_convolutions(void **state)
{
    struct out     image = shape(F32, (int[]) { 2, 8, 8, 3 }, 4);
    struct out     kernel = shape(F32, (int[]) { 3, 3, 3, 16 }, 4);
    struct out     result = shape(F32, (int[]) { 2, 8, 8, 16 }, 4), dims = { .len = 0 };
    struct out     list[3];
    struct fixture fixture;

    (void)state;
    list[0] = instruction("x", "parameter", &image, 1, "");
    list[1] = instruction("k", "parameter", &kernel, 2, "");
    list[2] = instruction("convolution.3", "convolution", &result, 3, "\x01\x02");
    put_varint(&dims, 3, 2); /* kernel_input_feature_dimension */
    put_varint(&dims, 4, 3); /* kernel_output_feature_dimension */
    put_message(&list[2], 16, &dims);
    read_program(&fixture, list, 3);
    assert_int_equal(fixture.profile.ops.items[2].flops, 110592);
    release(&fixture);
}

/* f32[4] with a kernel of 3, padded by one on each side: 3 * 4 - 2 pairs meet an element, so that
 * 2 * 10 operations are left of 24. */
static void padding_costs_nothing(void **state)
{
    struct out     row = shape(F32, (int[]) { 1, 1, 4 }, 3);
    struct out     kernel = shape(F32, (int[]) { 1, 1, 3 }, 3);
    struct out     dims = { .len = 0 }, window = { .len = 0 }, list[3];
    struct fixture fixture;

    (void)state;
    list[0] = instruction("x", "parameter", &row, 1, "");
    list[1] = instruction("k", "parameter", &kernel, 2, "");
    list[2] = instruction("convolution.3", "convolution", &row, 3, "\x01\x02");
    put_varint(&dims, 3, 1); /* kernel_input_feature_dimension; output: 0 */
    put_bytes(&dims, 6, "\x02", 1);
    put_bytes(&dims, 11, "\x02", 1);
    put_bytes(&dims, 12, "\x02", 1);
    put_bytes(&window, 1, "\x08\x03\x10\x01\x18\x01\x20\x01\x28\x01\x30\x01", 12);
    put_message(&list[2], 15, &window);
    put_message(&list[2], 16, &dims);
    read_program(&fixture, list, 3);
    assert_int_equal(fixture.profile.ops.items[2].flops, 20);
    release(&fixture);
}

/* What a call of a library with these operands and first result counts; a second result is its own.
 */
static int64_t call_flops(const struct out *first, const struct out *second,
                          const struct out *result, const char *target, const char *config)
{
    struct out     scratch = shape(F32, (int[]) { 999 }, 1), both = shape(TUPLE, NULL, 0);
    struct out     dims = { .len = 0 }, list[3];
    struct fixture fixture;
    int64_t        flops;

    put_message(&both, 4, result);
    put_message(&both, 4, &scratch);
    list[0] = instruction("x", "parameter", first, 1, "");
    list[1] = instruction("y", "parameter", second, 2, "");
    list[2] = instruction("call.3", "custom-call", &both, 3, "\x01\x02");
    put_varint(&dims, 3, 2); /* kernel_input_feature_dimension */
    put_varint(&dims, 4, 3); /* kernel_output_feature_dimension */
    put_message(&list[2], 16, &dims);
    put_bytes(&list[2], 28, target, strlen(target));
    put_bytes(&list[2], 43, config, strlen(config));
    read_program(&fixture, list, 3);
    flops = fixture.profile.ops.items[2].flops;
    release(&fixture);
    return flops;
}

/* The convolution above and its gradients are as many operations each. f32[2,4,8] . f32[2,8,6] by
 * batch gives f32[2,4,6]: 2 * 48 * 8 = 768. */
static void counts_calls_of_libraries(void **state)
{
    struct out image = shape(F32, (int[]) { 2, 8, 8, 3 }, 4);
    struct out kernel = shape(F32, (int[]) { 3, 3, 3, 16 }, 4);
    struct out result = shape(F32, (int[]) { 2, 8, 8, 16 }, 4);
    struct out left = shape(F32, (int[]) { 2, 4, 8 }, 3),
               right = shape(F32, (int[]) { 2, 8, 6 }, 3);
    struct out product = shape(F32, (int[]) { 2, 4, 6 }, 3);

    (void)state;
    assert_int_equal(call_flops(&image, &kernel, &result, "__cudnn$convForward", ""), 110592);
    assert_int_equal(call_flops(&result, &kernel, &image, "__cudnn$convBackwardInput", ""), 110592);
    assert_int_equal(call_flops(&image, &result, &kernel, "__cudnn$convBackwardFilter", ""),
                     110592);
    assert_int_equal(call_flops(&left, &right, &product, "__cublas$gemm",
                                "{\"gemm_backend_config\":{\"dot_dimension_numbers\":"
                                "{\"lhs_contracting_dimensions\":[\"2\"],"
                                "\"rhs_contracting_dimensions\":[\"1\"]}}}"),
                     768);
    assert_int_equal(call_flops(&left, &right, &product, "__cublas$lt$matmul", "{}"), -1);
    assert_int_equal(call_flops(&left, &right, &product, "Sharding", ""), -1);
}

/* (f32[10], (f32[2,3])) of an f32[]: 40 + 24 + 4 = 68 bytes, two results. */
static void takes_tuples_apart(void **state)
{
    struct out     ten = shape(F32, (int[]) { 10 }, 1), six = shape(F32, (int[]) { 2, 3 }, 2);
    struct out     scalar = shape(F32, NULL, 0), inner = shape(TUPLE, NULL, 0);
    struct out     outer = shape(TUPLE, NULL, 0), list[2];
    struct fixture fixture;
    struct op     *op;

    (void)state;
    put_message(&inner, 4, &six);
    put_message(&outer, 4, &ten);
    put_message(&outer, 4, &inner);
    list[0] = instruction("x", "parameter", &scalar, 1, "");
    list[1] = instruction("fusion.2", "fusion", &outer, 2, "\x01");
    read_program(&fixture, list, 2);
    op = &fixture.profile.ops.items[1];
    assert_int_equal(op->bytes, 68);
    assert_int_equal(op->output_count, 2);
    assert_int_equal(fixture.profile.tensors.items[op->first_output + 1].dims[1], 3);
    release(&fixture);
}

/* y = fusion(x) with p -> exp inside: x goes to p, exp comes out as y, and x to y as ever. */
static void leads_into_fusions(void **state)
{
    static const struct op_edge wanted[] = {
        { 3, 0, false, 0 }, { 0, 1, false, 0 }, { 1, 2, false, 0 }, { 3, 2, false, 0 }
    };
    struct out     four = shape(F32, (int[]) { 4 }, 1), inner = { .len = 0 }, outer = { .len = 0 };
    struct out     module = { .len = 0 }, program = { .len = 0 }, item;
    struct fixture fixture = { .rows.arena = &fixture.scratch };
    size_t         found = 0;

    (void)state;
    item = instruction("p", "parameter", &four, 1, "");
    put_varint(&inner, 5, 7); /* id 7, root 2 */
    put_varint(&inner, 6, 2);
    put_message(&inner, 2, &item);
    item = instruction("exp", "exponential", &four, 2, "\x01");
    put_message(&inner, 2, &item);
    item = instruction("y", "fusion", &four, 3, "\x04");
    put_varint(&item, 38, 7);
    put_message(&outer, 2, &item);
    item = instruction("x", "parameter", &four, 4, "");
    put_message(&outer, 2, &item);
    put_varint(&outer, 5, 8);
    put_bytes(&module, 1, "jit_f", 5);
    put_message(&module, 3, &inner);
    put_message(&module, 3, &outer);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
    assert_int_equal(fixture.profile.ops.items[0].caller, 2 + 1);
    assert_int_equal(fixture.profile.ops.items[3].caller, 0);
    assert_true(fixture.profile.ops.items[1].is_fused);
    assert_int_equal(fixture.edges.list.count, ARRAY_COUNT(wanted));
    for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
        for (size_t e = 0; e < fixture.edges.list.count; e++)
            found += fixture.edges.list.items[e].from == wanted[i].from &&
                     fixture.edges.list.items[e].to == wanted[i].to;
    assert_int_equal(found, ARRAY_COUNT(wanted));
    release(&fixture);
}

/* Every prefix of a program is read without a crash. */
static void survives_cuts(void **state)
{
    struct out     small = shape(F32, (int[]) { 4 }, 1), module = { .len = 0 };
    struct out     computation = { .len = 0 }, program = { .len = 0 }, item;
    struct fixture fixture;

    (void)state;
    item = instruction("add.1", "add", &small, 1, "\x01\x01");
    put_message(&computation, 2, &item);
    put_message(&module, 3, &computation);
    put_message(&program, 1, &module);
    for (size_t len = 0; len <= program.len; len++) {
        fixture = (struct fixture) { .rows.arena = &fixture.scratch };
        assert_true(profile_init(&fixture.profile, &fixture.arena));
        assert_true(hlo_add((struct str) { program.bytes, len }, STR(""), &fixture.profile,
                            &fixture.scratch, &fixture.rows, &fixture.edges));
        release(&fixture);
    }
}

/* Zeros are no field: where a hole begins at a field of a level, what follows cannot be read. */
static void tells_holes(void **state)
{
    struct out small = shape(F32, (int[]) { 4 }, 1), module = { .len = 0 };
    struct out computation = { .len = 0 }, program = { .len = 0 }, item;

    (void)state;
    item = instruction("add.1", "add", &small, 1, "\x01\x01");
    put_message(&computation, 2, &item);
    put_message(&module, 3, &computation);
    put_message(&program, 1, &module);
    assert_true(hlo_is_whole((struct str) { program.bytes, program.len }));
    assert_true(hlo_is_whole(STR("")));
    for (size_t len = 1; len < program.len; len++) /* program has one field, cut anywhere */
        assert_false(hlo_is_whole((struct str) { program.bytes, len }));
    /* The keys of module, computation, instruction, its name and its opcode behind it. */
    for (size_t at = 0; at <= 8; at += 2) {
        struct out holed = program;

        if (at == 8)
            at += strlen("add.1");
        memset(holed.bytes + at, 0, 2);
        assert_false(hlo_is_whole((struct str) { holed.bytes, holed.len }));
    }
}

static const char *attr_of(const struct fixture *fixture, uint32_t op, const char *name)
{
    const struct op *row = &fixture->profile.ops.items[op];

    for (uint32_t i = 0; i < row->attr_count; i++) {
        const struct attr *attr = &fixture->profile.attrs.items[row->first_attr + i];

        if (str_equal(profile_str(&fixture->profile, attr->name), str_from(name)))
            return profile_str(&fixture->profile, attr->value).data;
    }
    return "";
}

/* jit_f of one instruction over that many floats. */
static void add_size(struct fixture *fixture, int size, const char *name)
{
    struct out small = shape(F32, (int[]) { size }, 1), module = { .len = 0 };
    struct out computation = { .len = 0 }, program = { .len = 0 }, item;

    item = instruction("add.1", "add", &small, 1, "\x01\x01");
    put_varint(&computation, 5, 7);
    put_varint(&computation, 6, 1); /* root_id */
    put_message(&computation, 2, &item);
    put_bytes(&module, 1, "jit_f", 5);
    put_message(&module, 3, &computation);
    put_varint(&module, 6, 7); /* entry_computation_id */
    put_message(&program, 1, &module);
    assert_true(hlo_add((struct str) { program.bytes, program.len }, str_from(name),
                        &fixture->profile, &fixture->scratch, &fixture->rows, &fixture->edges));
}

static int64_t size_in(const struct fixture *fixture, uint64_t number)
{
    const struct profile *profile = &fixture->profile;
    uint32_t              module = intern_find(&profile->names, STR("jit_f"));
    uint32_t              key = hlo_key(profile, &fixture->rows, module, number);
    uint64_t              name = intern_find(&profile->names, STR("add.1"));
    uint32_t              op = id_map_get(&fixture->rows, name << 32 | key);

    assert_int_equal(profile->ops.items[op].module, module);
    return profile->tensors.items[profile->ops.items[op].first_output].dims[0];
}

/* A function compiled for 4 and for 8 elements: programs of one name. The second host of a job
 * brings the same programs once more, under other numbers. */
static void programs_of_one_name_are_told_apart(void **state)
{
    struct fixture fixture = { .rows.arena = &fixture.scratch };

    (void)state;
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    add_size(&fixture, 4, "jit_f(3)");
    add_size(&fixture, 8, "jit_f(5)");
    add_size(&fixture, 4, "jit_f(9)");
    add_size(&fixture, 8, "jit_f(5)");
    assert_int_equal(fixture.profile.ops.count, 2);
    assert_int_equal(size_in(&fixture, 3), 4);
    assert_int_equal(size_in(&fixture, 5), 8);
    assert_int_equal(size_in(&fixture, 9), 4);
    assert_int_equal(size_in(&fixture, 77), 4); /* not among them: the first of the name */
    assert_string_equal(attr_of(&fixture, 1, "root"), "true");
    release(&fixture);
}

/* Two parameters and a sum in the entry (computation 7, root id 3); the first is given away. */
static void tells_what_is_donated(void **state)
{
    struct out     small = shape(F32, (int[]) { 4 }, 1), computation = { .len = 0 };
    struct out     module = { .len = 0 }, program = { .len = 0 }, alias = { .len = 0 };
    struct out     entry = { .len = 0 }, list[3];
    struct fixture fixture = { .rows.arena = &fixture.scratch };

    (void)state;
    list[0] = instruction("x", "parameter", &small, 1, "");
    list[1] = instruction("y", "parameter", &small, 2, "");
    put_varint(&list[1], 9, 1); /* parameter_number */
    list[2] = instruction("add.3", "add", &small, 3, "\x01\x02");
    put_varint(&computation, 5, 7);
    put_varint(&computation, 6, 3); /* root_id */
    for (size_t i = 0; i < 3; i++)
        put_message(&computation, 2, &list[i]);
    put_varint(&entry, 2, 0); /* parameter_number of an entry */
    put_message(&alias, 1, &entry);
    put_bytes(&module, 1, "jit_f", 5);
    put_message(&module, 3, &computation);
    put_varint(&module, 6, 7); /* entry_computation_id */
    put_message(&module, 8, &alias);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
    assert_string_equal(attr_of(&fixture, 0, "entry"), "true");
    assert_string_equal(attr_of(&fixture, 0, "donated"), "true");
    assert_string_equal(attr_of(&fixture, 1, "entry"), "true");
    assert_string_equal(attr_of(&fixture, 1, "donated"), "");
    assert_string_equal(attr_of(&fixture, 2, "root"), "true");
    release(&fixture);
}

/* A program for four devices (DeviceAssignmentProto: computation_count 2) of two arguments: where
 * no sharding divides one, all devices get the same. OpSharding: type 1, parts of a tuple 5. */
static void tells_devices_that_get_the_same(void **state)
{
    static const struct {
        const char *sharding, *copies;
        size_t      len;
    } cases[] = {
        { "", "4", 0 },                        /* REPLICATED is 0, which is not written */
        { "\x08\x03", "", 2 },                 /* OTHER: tiles */
        { "\x08\x04", "", 2 },                 /* MANUAL: the program divides it */
        { "\x08\x02\x2a\x00", "4", 4 },        /* a tuple of one that is not divided */
        { "\x08\x02\x2a\x02\x08\x03", "", 6 }, /* and of one that is */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct out     small = shape(F32, (int[]) { 4 }, 1), computation = { .len = 0 };
        struct out     module = { .len = 0 }, program = { .len = 0 }, devices = { .len = 0 }, root;
        struct fixture fixture = { .rows.arena = &fixture.scratch };

        root = instruction("negate.1", "negate", &small, 3, "");
        put_varint(&computation, 5, 7);
        put_varint(&computation, 6, 3); /* root_id */
        put_message(&computation, 2, &root);
        put_varint(&devices, 1, 1);
        put_varint(&devices, 2, 4);
        put_bytes(&module, 1, "jit_f", 5);
        put_message(&module, 3, &computation);
        put_varint(&module, 6, 7); /* entry_computation_id */
        put_bytes(&module, 14, "", 0);
        put_bytes(&module, 14, cases[i].sharding, cases[i].len);
        put_message(&module, 15, &devices);
        put_message(&program, 1, &module);
        assert_true(profile_init(&fixture.profile, &fixture.arena));
        assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                            &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
        assert_string_equal(attr_of(&fixture, 0, "copies"), cases[i].copies);
        release(&fixture);
    }
}

/* The three ways in which groups are written: lists of ids, a regular list of 4 groups of 2, and
 * axes of a mesh of 2 x 3 (the second one: 3 in a group). */
static void reads_groups(void **state)
{
    static const struct {
        unsigned    field;
        const char *bytes;
        size_t      len;
        const char *size, *ids;
    } cases[] = {
        { 49, "\x0a\x03\x00\x02\x04", 5, "3", "0,2,4" },
        { 87, "\x12\x04\x08\x04\x10\x02", 6, "2", "" },
        { 93, "\x0a\x08\x0a\x02\x10\x02\x0a\x02\x10\x03\x12\x02\x08\x01", 14, "3", "" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct out     small = shape(F32, (int[]) { 4 }, 1), item;
        struct fixture fixture;

        item = instruction("all-reduce.1", "all-reduce", &small, 1, "");
        put_bytes(&item, cases[i].field, cases[i].bytes, cases[i].len);
        read_program(&fixture, &item, 1);
        assert_string_equal(attr_of(&fixture, 0, "group_size"), cases[i].size);
        assert_string_equal(attr_of(&fixture, 0, "group"), cases[i].ids);
        release(&fixture);
    }
}

/* Who sends to whom: around four devices, along three of them, and in pairs. */
static void reads_rings(void **state)
{
    static const struct {
        size_t      count;
        char        pairs[4][4]; /* source and target with their keys, as protobuf writes them */
        const char *size;
    } cases[] = {
        { 4,
          { "\x08\x00\x10\x01", "\x08\x01\x10\x02", "\x08\x02\x10\x03", "\x08\x03\x10\x00" },
          "4" },
        { 2, { "\x08\x00\x10\x01", "\x08\x01\x10\x02" }, "3" },
        { 4,
          { "\x08\x00\x10\x01", "\x08\x01\x10\x00", "\x08\x02\x10\x03", "\x08\x03\x10\x02" },
          "2" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct out     small = shape(F32, (int[]) { 4 }, 1), item;
        struct fixture fixture;

        item = instruction("collective-permute.1", "collective-permute", &small, 1, "");
        for (size_t p = 0; p < cases[i].count; p++)
            put_bytes(&item, 52, cases[i].pairs[p], 4);
        read_program(&fixture, &item, 1);
        assert_string_equal(attr_of(&fixture, 0, "ring_size"), cases[i].size);
        release(&fixture);
    }
}

/* A computation of the instructions with these ids. */
static void put_rooted(struct out *module, unsigned id, const struct out *items, size_t count,
                       unsigned root)
{
    struct out computation = { .len = 0 };

    put_varint(&computation, 5, id);
    if (root)
        put_varint(&computation, 6, root);
    for (size_t i = 0; i < count; i++)
        put_message(&computation, 2, &items[i]);
    put_message(module, 3, &computation);
}

static void put_computation(struct out *module, unsigned id, const struct out *items, size_t count)
{
    put_rooted(module, id, items, count, 0);
}

/* HloScheduleProto: sequences 1, a map of computation 1 to a sequence 2 of instruction_ids 1. */
static void put_sequence(struct out *schedule, unsigned computation, const char *ids)
{
    struct out sequence = { .len = 0 }, entry = { .len = 0 };

    put_bytes(&sequence, 1, ids, strlen(ids));
    put_varint(&entry, 1, computation);
    put_message(&entry, 2, &sequence);
    put_message(schedule, 1, &entry);
}

static int64_t bytes_of(const struct fixture *fixture, const char *name)
{
    for (size_t i = 0; i < fixture->profile.ops.count; i++)
        if (str_equal(profile_str(&fixture->profile, fixture->profile.ops.items[i].name),
                      str_from(name)))
            return fixture->profile.ops.items[i].bytes;
    return -2;
}

/* Of f32[64,8], 2048 bytes, a fusion reads one row of 32 and gives it: 64 bytes. Another fusion
 * writes such a row into it in place: it reads the row, 32 bytes, and writes it; the array goes in
 * and comes out by name. A product of 32 and 32 bytes into 32 has a workspace of 4096: 96 bytes. */
static void counts_what_is_touched(void **state)
{
    struct out     big = shape(F32, (int[]) { 64, 8 }, 2), row = shape(F32, (int[]) { 1, 8 }, 2);
    struct out     space = shape(S8, (int[]) { 4096 }, 1), both = { .len = 0 };
    struct out     items[5], inner[2], writer[3], module = { .len = 0 }, program = { .len = 0 };
    struct fixture fixture = { .rows.arena = &fixture.scratch };

    (void)state;
    put_varint(&both, 2, TUPLE);
    put_message(&both, 4, &row);
    put_message(&both, 4, &space);
    inner[0] = instruction("p.10", "parameter", &big, 10, "");
    inner[1] = instruction("slice.11", "slice", &row, 11, "\x0a");
    writer[0] = instruction("p.20", "parameter", &big, 20, "");
    writer[1] = instruction("p.21", "parameter", &row, 21, "");
    put_varint(&writer[1], 9, 1); /* parameter_number */
    writer[2] = instruction("update.22", "dynamic-update-slice", &big, 22, "\x14\x15");
    items[0] = instruction("x", "parameter", &big, 1, "");
    items[1] = instruction("fusion.2", "fusion", &row, 2, "\x01");
    put_bytes(&items[1], 38, "\x08", 1); /* called_computation_ids */
    items[2] = instruction("fusion.3", "fusion", &big, 3, "\x01\x02");
    put_bytes(&items[2], 38, "\x09", 1);
    items[3] = instruction("call.4", "custom-call", &both, 4, "\x02\x02");
    put_bytes(&items[3], 28, "__cublas$gemm", 13); /* custom_call_target */
    items[4] = instruction("slice.5", "slice", &row, 5, "\x01");
    put_bytes(&module, 1, "jit_f", 5);
    put_rooted(&module, 8, inner, 2, 11);
    put_rooted(&module, 9, writer, 3, 22);
    put_rooted(&module, 7, items, 5, 5);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
    assert_int_equal(bytes_of(&fixture, "fusion.2"), 64);
    assert_int_equal(bytes_of(&fixture, "fusion.3"), 64);
    assert_int_equal(bytes_of(&fixture, "call.4"), 96);
    assert_int_equal(bytes_of(&fixture, "slice.5"), 64);
    release(&fixture);
}

/* add.2 stands first in the file and last in the schedule. The loop goes round twice: its condition
 * (computation 9) before its body (8) each time. */
static void follows_the_schedule(void **state)
{
    static const char *const order[] = { "copy.1", "lt.6", "dot.5", "lt.6", "dot.5", "add.2" };
    static const char        config[] = "{\"known_trip_count\":{\"n\":\"2\"}}";
    struct out               small = shape(F32, (int[]) { 4 }, 1), items[3], body, condition;
    struct out               module = { .len = 0 }, schedule = { .len = 0 }, program = { .len = 0 };
    struct fixture           fixture = { .rows.arena = &fixture.scratch };

    (void)state;
    items[0] = instruction("add.2", "add", &small, 2, "\x01\x03");
    items[1] = instruction("copy.1", "copy", &small, 1, "");
    items[2] = instruction("while.3", "while", &small, 3, "\x01");
    put_bytes(&items[2], 38, "\x08\x09", 2); /* called_computation_ids */
    put_bytes(&items[2], 43, config, strlen(config));
    body = instruction("dot.5", "dot", &small, 5, "");
    condition = instruction("lt.6", "compare", &small, 6, "");
    put_bytes(&module, 1, "jit_f", 5);
    put_computation(&module, 7, items, 3);
    put_computation(&module, 8, &body, 1);
    put_computation(&module, 9, &condition, 1);
    put_varint(&module, 6, 7);
    put_sequence(&schedule, 7, "\x01\x03\x02");
    put_sequence(&schedule, 8, "\x05");
    put_sequence(&schedule, 9, "\x06");
    put_message(&module, 7, &schedule);
    put_message(&program, 1, &module);
    assert_true(profile_init(&fixture.profile, &fixture.arena));
    assert_true(hlo_add((struct str) { program.bytes, program.len }, STR("jit_f(1)"),
                        &fixture.profile, &fixture.scratch, &fixture.rows, &fixture.edges));
    assert_int_equal(fixture.edges.orders.count, 1);
    assert_int_equal(fixture.edges.orders.items[0].count, ARRAY_COUNT(order));
    for (size_t i = 0; i < ARRAY_COUNT(order); i++) {
        const struct op *op = &fixture.profile.ops.items[fixture.edges.steps.items[i].op];

        assert_string_equal(profile_str(&fixture.profile, op->name).data, order[i]);
    }
    release(&fixture);
}

RUN_TESTS(cmocka_unit_test(counts_dots), cmocka_unit_test(counts_convolutions),
          cmocka_unit_test(padding_costs_nothing), cmocka_unit_test(counts_calls_of_libraries),
          cmocka_unit_test(takes_tuples_apart), cmocka_unit_test(leads_into_fusions),
          cmocka_unit_test(survives_cuts), cmocka_unit_test(tells_holes),
          cmocka_unit_test(programs_of_one_name_are_told_apart),
          cmocka_unit_test(tells_what_is_donated),
          cmocka_unit_test(tells_devices_that_get_the_same), cmocka_unit_test(reads_groups),
          cmocka_unit_test(reads_rings), cmocka_unit_test(follows_the_schedule),
          cmocka_unit_test(counts_what_is_touched))
