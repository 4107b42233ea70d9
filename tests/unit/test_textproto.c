/* textproto: bytes that protoc would write, places of errors, and every cut of a good text. */
#include "read/proto/textproto.h"

#include "base/macros.h"
#include "testing.h"

#include <graph.pb-c.h>
#include <string.h>

static const char whole[] = "# a graph\n"
                            "node {\n"
                            "  name: \"a\\n\\x41\\101\" 'b'\n"
                            "  op: \"Const\"\n"
                            "  input: [\"x\", \"^y\"]\n"
                            "  attr { key: \"T\" value { type: DT_FLOAT } }\n"
                            "}\n"
                            "versions { producer: 27 }\n"
                            "novelty { deep { deeper: 1 } } other: 2\n";

struct counted {
    struct textproto_unknown heard;
    uint64_t                 count;
};

static void count(struct textproto_unknown *heard, struct str name)
{
    assert_true(name.len > 0);
    ((struct counted *)heard)->count++;
}

static bool convert(struct str text, struct arena *arena, struct str *bytes, uint64_t *unknown,
                    struct err *err)
{
    struct counted counted = { .heard.tell = count };
    bool           is_fine;

    *bytes = (struct str) { 0 };
    is_fine = textproto_to_bytes(&tfprof__tf__graph_def__descriptor, text, arena, bytes,
                                 &counted.heard, err);
    *unknown = counted.count;
    return is_fine;
}

TEST(says_the_same_as_bytes)
{
    struct arena               arena = { 0 };
    struct err                 err = { 0 };
    struct str                 bytes;
    uint64_t                   unknown;
    Tfprof__Tf__GraphDef      *graph;
    const Tfprof__Tf__NodeDef *node;

    assert_true(convert((struct str) { whole, sizeof whole - 1 }, &arena, &bytes, &unknown, &err));
    assert_int_equal(unknown, 2); /* novelty, other */
    graph = tfprof__tf__graph_def__unpack(NULL, bytes.len, (const uint8_t *)bytes.data);
    assert_non_null(graph);
    assert_int_equal(graph->n_node, 1);
    node = graph->node[0];
    assert_string_equal(node->name, "a\nAAb"); /* hex, octal; strings side by side are one */
    assert_string_equal(node->op, "Const");
    assert_int_equal(node->n_input, 2);
    assert_string_equal(node->input[0], "x");
    assert_string_equal(node->input[1], "^y");
    assert_int_equal(node->n_attr, 1);
    assert_string_equal(node->attr[0]->key, "T");
    tfprof__tf__graph_def__free_unpacked(graph, NULL);
    arena_free(&arena);
}

TEST(errors_have_places)
{
    static const struct {
        struct str text;
        uint32_t   line, column;
    } rows[] = {
        { STR_INIT("node {\n  name: 5x\n}\n"), 2, 9 },
        { STR_INIT("node {\n  name: \"a\n\"\n}\n"), 2, 11 },
        { STR_INIT("node {\n"), 2, 1 },
        { STR_INIT("}\n"), 1, 1 },
        { STR_INIT("versions { producer: \"x\" }"), 1, 22 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct err   err = { 0 };
        struct str   bytes;
        uint64_t     unknown;

        assert_false(convert(rows[i].text, &arena, &bytes, &unknown, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        assert_int_equal(err.line, rows[i].line);
        arena_free(&arena);
    }
}

TEST(depth_is_bounded)
{
    static char  text[4096];
    struct arena arena = { 0 };
    struct err   err = { 0 };
    struct str   bytes;
    uint64_t     unknown;
    size_t       used = 0;

    for (int i = 0; i < 2 * TEXTPROTO_MAX_DEPTH; i++, used += 2)
        memcpy(text + used, "a{", 2);
    for (int i = 0; i < 2 * TEXTPROTO_MAX_DEPTH; i++)
        text[used++] = '}';
    assert_false(convert((struct str) { text, used }, &arena, &bytes, &unknown, &err));
    assert_true(err.code == ERR_FORMAT || err.code == ERR_LIMIT);
    arena_free(&arena);
}

TEST(every_cut_and_every_budget)
{
    for (size_t length = 0; length < sizeof whole; length++) {
        struct arena arena = { 0 }, tight = { .budget_bytes = 16 * length };
        struct err   err = { 0 };
        struct str   bytes;
        uint64_t     unknown;

        if (!convert((struct str) { whole, length }, &arena, &bytes, &unknown, &err))
            assert_int_equal(err.code, ERR_FORMAT);
        err = (struct err) { 0 };
        if (!convert((struct str) { whole, sizeof whole - 1 }, &tight, &bytes, &unknown, &err))
            assert_int_equal(err.code, ERR_LIMIT);
        arena_free(&arena);
        arena_free(&tight);
    }
}
