/* Compiled programs inside of XSpace, and what their instructions hand on. */
#include "testing.h"
#include "xplane.pb-c.h"
#include "xspace_bytes.h"
#include <stdlib.h>
#include <string.h>

/* "jit_f(id)", whose one instruction is x of this opcode: HloProto in a stat of an event's
 * metadata. */
static size_t put_program(char *plane, size_t plane_len, char id, const char *opcode)
{
    char   instruction[64], computation[64], module[64], proto[64];
    char   stat[80] = "\x08\x01", metadata[112] = "", entry[120] = { '\x08', id };
    char   name[] = { 'j', 'i', 't', '_', 'f', '(', (char)('0' + id), ')' };
    size_t len = put(instruction, 0, 1, "x", 1);

    len = put(instruction, len, 2, opcode, strlen(opcode));
    len = put(computation, 0, 2, instruction, len);
    len = put(module, put(module, 0, 1, "jit_f", 5), 3, computation, len);
    len = put(proto, 0, 1, module, len);
    len = put(stat, 2, XSTAT_BYTES, proto, len);
    len = put(metadata, put(metadata, 0, 2, name, sizeof name), XEVENT_METADATA_STATS, stat, len);
    return put(plane, plane_len, XPLANE_EVENT_METADATA, entry, put(entry, 2, 2, metadata, len));
}

/* What cannot be read of a program is damage, and the other programs are used. */
TEST(tells_damaged_programs)
{
    for (int is_holed = 0; is_holed < 2; is_holed++) {
        char           plane[512], space[1024];
        size_t         plane_len = put(plane, 0, XPLANE_NAME, "/host:metadata", 14), len;
        struct arena   arena = { 0 };
        struct profile profile;
        struct err     err = { 0 };

        plane_len = put_stat_name(plane, plane_len, 1, "hlo_proto");
        plane_len = put_program(plane, plane_len, 1, "add");
        if (is_holed) /* the key of the opcode, before its length */
            plane[plane_len - strlen("add") - 2] = 0;
        plane_len = put_program(plane, plane_len, 2, "dot");
        len = put_long(space, 0, XSPACE_PLANES, plane, plane_len);
        assert_true(read_bytes((struct str) { space, len }, &profile, &arena, &err));
        assert_int_equal(profile.ops.count, 2);
        assert_int_equal(profile_first_damage(&profile) != NULL, is_holed);
        if (is_holed)
            assert_non_null(strstr(profile_first_damage(&profile)->what, "HLO"));
        arena_free(&arena);
    }
}

/* What a TPU's compiler made of an instruction stands beside programs, and is none. */
TEST(leaves_what_is_no_program)
{
    char           plane[512], space[1024];
    size_t         plane_len = put(plane, 0, XPLANE_NAME, "/host:metadata", 14), len;
    struct arena   arena = { 0 };
    struct profile profile;
    struct err     err = { 0 };

    plane_len = put_stat_name(plane, plane_len, 1, "llo_proto");
    plane_len = put_program(plane, plane_len, 1, "add");
    plane[plane_len - strlen("add") - 2] = 0; /* a hole, as before */
    len = put_long(space, 0, XSPACE_PLANES, plane, plane_len);
    (void)read_bytes((struct str) { space, len }, &profile, &arena, &err);
    assert_int_equal(profile.ops.count, 0);
    assert_null(profile_first_damage(&profile));
    arena_free(&arena);
}

/* An event of instruction x of jit_f, run as program `id`: stats 1 hlo_op, 2 hlo_module, 3
 * program_id. */
static size_t put_run(char *line, size_t line_len, char id)
{
    char   event[64] = { 8, 9, 16, (char)(id * 8) };
    char   program[] = { 8, 3, 4 << 3, id };
    size_t len = put(event, 4, XEVENT_STATS, "\x08\x01\x2A\x01x", 5);

    len = put(event, len, XEVENT_STATS, "\x08\x02\x2A\x05jit_f", 9);
    return put(line, line_len, XLINE_EVENTS, event,
               put(event, len, XEVENT_STATS, program, sizeof program));
}

/* Two programs of one name: what an instruction of that name is depends on
 * program_id, and that it is a collective is told by its opcode alone. */
TEST(tells_programs_of_one_name_apart)
{
    char           line[128], plane[512], space[1024];
    size_t         line_len = 0, plane_len, len;
    struct arena   arena = { 0 };
    struct profile profile;
    struct err     err = { 0 };

    plane_len = put(plane, 0, XPLANE_NAME, "/host:metadata", 14);
    plane_len = put_stat_name(plane, plane_len, 1, "hlo_proto");
    plane_len = put_program(plane, plane_len, 1, "add");
    plane_len = put_program(plane, plane_len, 2, "all-gather");
    len = put_long(space, 0, XSPACE_PLANES, plane, plane_len);
    line_len = put_run(line, line_len, 1);
    line_len = put_run(line, line_len, 2);
    plane_len = put(plane, 0, XPLANE_NAME, "/host:CPU", 9);
    plane_len = put(plane, plane_len, XPLANE_LINES, line, line_len);
    plane_len = put_stat_name(plane, plane_len, 1, "hlo_op");
    plane_len = put_stat_name(plane, plane_len, 2, "hlo_module");
    plane_len = put_stat_name(plane, plane_len, 3, "program_id");
    plane_len = put(plane, plane_len, XPLANE_EVENT_METADATA, "\x08\x09\x12\x03\x12\x01x", 7);
    len = put_long(space, len, XSPACE_PLANES, plane, plane_len);
    assert_true(read_bytes((struct str) { space, len }, &profile, &arena, &err));
    assert_int_equal(profile.event_count, 2);
    for (uint32_t event = 0; event < 2; event++) {
        uint32_t op = event_activity(&profile, event)->op;

        assert_int_not_equal(op, NO_ID);
        assert_string_equal(profile_str(&profile, profile.ops.items[op].type).data,
                            event ? "all-gather" : "add");
        assert_int_equal(event_activity(&profile, event)->kind,
                         event ? ACTIVITY_COLLECTIVE : ACTIVITY_OP);
    }
    arena_free(&arena);
}
