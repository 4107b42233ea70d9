/* Compiled programs as wholes: which is which, what is donated, groups of devices, order, damage.
 */
#include "hlo_program.h"

/* Every prefix of a program is read without a crash. */
TEST(survives_cuts)
{
    struct out     small = shape(F32, (int[]) { 4 }, 1), module = { .len = 0 };
    struct out     computation = { .len = 0 }, program = { .len = 0 }, item;
    struct fixture fixture;

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
TEST(tells_holes)
{
    struct out small = shape(F32, (int[]) { 4 }, 1), module = { .len = 0 };
    struct out computation = { .len = 0 }, program = { .len = 0 }, item;

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
TEST(programs_of_one_name_are_told_apart)
{
    struct fixture fixture = { .rows.arena = &fixture.scratch };

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
TEST(tells_what_is_donated)
{
    struct out     small = shape(F32, (int[]) { 4 }, 1), computation = { .len = 0 };
    struct out     module = { .len = 0 }, program = { .len = 0 }, alias = { .len = 0 };
    struct out     entry = { .len = 0 }, list[3];
    struct fixture fixture = { .rows.arena = &fixture.scratch };

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
TEST(tells_devices_that_get_the_same)
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
TEST(reads_groups)
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

/* Every second of places 1, 3, 5 of eight is taken, and put back there: one number in front, two
 * behind, one between. */
TEST(slices_and_their_way_back_are_at_the_same_places)
{
    struct out     small = shape(F32, (int[]) { 3 }, 1), large = shape(F32, (int[]) { 8 }, 1);
    struct out     items[] = { instruction("x", "parameter", &large, 1, ""),
                               instruction("slice.1", "slice", &small, 2, "\x01"),
                               instruction("pad.1", "pad", &large, 3, "\x02") };
    struct fixture fixture;

    put_bytes(&items[1], 17, "\x08\x01\x10\x06\x18\x02", 6);
    put_bytes(&items[2], 21, "\x0a\x06\x08\x01\x10\x02\x18\x01", 8);
    read_program(&fixture, items, ARRAY_COUNT(items));
    assert_string_equal(attr_of(&fixture, 1, "places"), "1:2");
    assert_string_equal(attr_of(&fixture, 2, "places"), "1:2");
    release(&fixture);
}

/* Who sends to whom: around four devices, along three of them, and in pairs. */
TEST(reads_rings)
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

/* add.2 stands first in the file and last in the schedule. The loop goes round twice: its condition
 * (computation 9) before its body (8) each time. */
TEST(follows_the_schedule)
{
    static const char *const order[] = { "copy.1", "lt.6", "dot.5", "lt.6", "dot.5", "add.2" };
    static const char        config[] = "{\"known_trip_count\":{\"n\":\"2\"}}";
    struct out               small = shape(F32, (int[]) { 4 }, 1), items[3], body, condition;
    struct out               module = { .len = 0 }, schedule = { .len = 0 }, program = { .len = 0 };
    struct fixture           fixture = { .rows.arena = &fixture.scratch };

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
