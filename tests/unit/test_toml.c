#include "base/toml.h"

#include "base/macros.h"
#include "testing.h"

#include <string.h>

TEST(values_are_flattened)
{
    static const char text[] = "# comment\n"
                               "top = 1 # behind\r\n"
                               "[gate]\n"
                               "max-regression = \"5%\"\n"
                               "budgets = [ \"a <= 1\", # first\n"
                               "  'b <= \\2', ]\n"
                               "params.\"acme/x.y\".limit = 0.5\n"
                               "inner = { on = true, deep = { off = false } }\n"
                               "[[suppress]]\nuntil = 2026-12-31\n"
                               "[[suppress]]\nrule = \"a\\tb\"\n";
    static const struct {
        const char    *table, *key, *text;
        uint32_t       index, line;
        enum toml_kind kind;
    } rows[] = {
        { "", "top", "1", 0, 2, TOML_NUMBER },
        { "gate", "max-regression", "5%", 0, 4, TOML_TEXT },
        { "gate", "budgets", NULL, 0, 5, TOML_ARRAY },
        { "gate.params.acme/x.y", "limit", "0.5", 0, 7, TOML_NUMBER },
        { "gate.inner", "on", "true", 0, 8, TOML_BOOL },
        { "gate.inner.deep", "off", "false", 0, 8, TOML_BOOL },
        { "suppress", "until", "2026-12-31", 0, 10, TOML_DATE },
        { "suppress", "rule", "a\tb", 1, 12, TOML_TEXT },
    };
    struct arena arena = { 0 };
    struct toml  toml;
    struct err   err = { 0 };

    assert_true(toml_parse(STR(text), &arena, &toml, &err));
    assert_int_equal(toml.entries.count, ARRAY_COUNT(rows));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct toml_entry *entry = &toml.entries.items[i];

        assert_string_equal(entry->table, rows[i].table);
        assert_string_equal(entry->key, rows[i].key);
        assert_int_equal(entry->kind, rows[i].kind);
        assert_int_equal(entry->index, rows[i].index);
        assert_int_equal(entry->line, rows[i].line);
        if (rows[i].text)
            assert_string_equal(entry->text, rows[i].text);
    }
    assert_int_equal(toml.entries.items[2].items.count, 2);
    assert_string_equal(toml.entries.items[2].items.items[1], "b <= \\2");
    assert_true(toml.entries.items[3].number == 0.5);
    arena_free(&arena);
}

TEST(faults_have_a_place)
{
    static const struct {
        const char *text;
        uint32_t    line, column;
    } rows[] = {
        { "a = 1\nb = \"x\n", 2, 7 },
        { "a 1\n", 1, 3 },
        { "a = nope\n", 1, 5 },
        { "a = [1, [2]]\n", 1, 9 },
        { "[gate\na = 1\n", 1, 6 },
        { "a = 1 b = 2\n", 1, 7 },
        { "a = 1\na = 2\n", 2, 5 },
        { "a = \"\\u0041\"\n", 1, 7 },
        { "a = { b = 1\n", 1, 12 },
        { "= 1\n", 1, 1 },
        { "a = \"\"\"x\"\"\"\n", 1, 7 },
        { "a = 12:30:00\n", 1, 5 },
        { "a={a={a={a={a={a={a={a={a={}}}}}}}}}", 1, 27 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct toml  toml;
        struct err   err = { 0 };

        assert_false(toml_parse(str_from(rows[i].text), &arena, &toml, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_int_equal(err.line, rows[i].line);
        assert_int_equal(err.column, rows[i].column);
        arena_free(&arena);
    }
}

/* Any prefix ends in an answer. */
TEST(cut_files_are_answered)
{
    static const char text[] = "[a.\"b\"]\nc = [ 'x', 1e3 ] # d\ne = { f = 2020-01-01 }\n";

    for (size_t len = 0; len < sizeof text; len++) {
        struct arena arena = { 0 };
        struct toml  toml;
        struct err   err = { 0 };
        bool         is_fine = toml_parse((struct str) { text, len }, &arena, &toml, &err);

        assert_true(is_fine || err.line > 0);
        arena_free(&arena);
    }
}
