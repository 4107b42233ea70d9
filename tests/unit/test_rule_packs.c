/* Packs and their manifests, presets, and what a project sets of rules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "base/file.h"
#include "rules/advise.h"
#include "rules/catalogue.h"
#include "rules/preset.h"
#include "rules/select.h"

static const char good[] = "name = \"acme\"\nversion = \"1.2.0\"\napi = 1\n";

/* A folder with a manifest (NULL: none) and a rule x.lua of this id. */
struct folder {
    char path[64], manifest[96], rule[96];
};

static void folder_make(struct folder *folder, const char *manifest, const char *fields)
{
    char       script[1024];
    struct err err = { 0 };

    snprintf(folder->path, sizeof folder->path, "/tmp/tfprof-pack-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    snprintf(folder->manifest, sizeof folder->manifest, "%s/pack.toml", folder->path);
    snprintf(folder->rule, sizeof folder->rule, "%s/x.lua", folder->path);
    snprintf(
        script, sizeof script,
        "-- Sees.\nreturn rule { %s, api = 1, version = '1', title = 't', category = 'input',\n"
        "  severity = 'info', check = function(p, cfg) return nil end }\n",
        fields);
    assert_true(file_write(folder->rule, str_from(script), &err));
    if (manifest)
        assert_true(file_write(folder->manifest, str_from(manifest), &err));
}

static void folder_remove(const struct folder *folder)
{
    unlink(folder->rule);
    unlink(folder->manifest);
    rmdir(folder->path);
}

static struct option_list list_of(struct arena *arena, const char *a, const char *b)
{
    struct option_list list = { 0 };

    if (a)
        assert_true(vec_push(&list.values, arena, a));
    if (b)
        assert_true(vec_push(&list.values, arena, b));
    return list;
}

TEST(manifests_are_checked)
{
    static const struct {
        const char *manifest, *said;
        uint32_t    line;
    } rows[] = {
        { "nam = \"acme\"\nversion = \"1.0\"\napi = 1\n", "did you mean name?", 1 },
        { "name = \"acme\"\nversion = \"1.0\"\n", "lacks api", 1 },
        { "name = \"acme\"\napi = 1\n", "lacks version", 1 },
        { "name = \"a/b\"\nversion = \"1.0\"\napi = 1\n", "cannot be the name", 1 },
        { "name = \"tfprof\"\nversion = \"1.0\"\napi = 1\n", "cannot be the name", 1 },
        { "name = \"acme\"\nversion = \"one\"\napi = 1\n", "version takes numbers", 2 },
        { "name = \"acme\"\nversion = \"1.\"\napi = 1\n", "version takes numbers", 2 },
        { "name = \"acme\"\nversion = \"1.0\"\napi = \"1\"\n", "api takes a number", 3 },
        { "name = \"acme\"\nversion = \"1.0\"\napi = 0\n", "whole number", 3 },
        { "name = \"acme\"\nversion = \"1.0\"\napi = 2\n",
          "the pack acme 1.0 needs rule API 2; this tfprof has API 1", 3 },
        { "name = \"acme\"\nversion = \"1.0\"\napi = 1\nrequires_engine = \">= 99.1\"\n",
          "needs tfprof 99.1 or newer", 4 },
        { "name = \"acme\"\nversion = \"1.0\"\napi = 1\n[tools]\nx = 1\n", "no table [tools]", 5 },
        { "name = acme\n", "expected a string in quotes", 1 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena     arena = { 0 };
        struct err       err = { 0 };
        struct folder    folder;
        struct rule_list list;
        char             text[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];

        folder_make(&folder, rows[i].manifest, "id = 'acme/x'");
        struct option_list folders = list_of(&arena, folder.path, NULL);
        assert_false(rules_list(&(struct advise_options) { .rule_directories = folders }, &arena,
                                &list, &err));
        assert_int_equal(err.code, ERR_USAGE);
        err_format(&err, text, sizeof text);
        if (!strstr(text, rows[i].said) || err.line != rows[i].line ||
            !strstr(text, folder.manifest))
            fail_msg("row %zu: %s", i, text);
        folder_remove(&folder);
        arena_free(&arena);
    }
}

/* What a pack's rules may be called; NULL: it loads. */
TEST(ids_carry_the_packs_name)
{
    static const struct {
        const char *manifest, *fields, *said;
    } rows[] = {
        { good, "id = 'acme/x'", NULL },
        { good, "id = \"x\"", "x.lua:2: id is 'x'; in the pack acme it is 'acme/x'" },
        { good, "id = \"other/x\"", "id is 'other/x'; in the pack acme it is 'acme/x'" },
        { NULL, "id = 'acme/x'", NULL },
        { NULL, "id = 'x'", NULL },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena     arena = { 0 };
        struct err       err = { 0 };
        struct folder    folder;
        struct rule_list list;

        folder_make(&folder, rows[i].manifest, rows[i].fields);
        struct option_list folders = list_of(&arena, folder.path, NULL);
        assert_true(rules_of_directories(&folders, &arena, &list, &err));
        assert_int_equal(list.rules.count, rows[i].said ? 0 : 1);
        if (rows[i].said)
            assert_non_null(strstr(list.failed.items[0].message, rows[i].said));
        else
            assert_string_equal(list.rules.items[0].pack, rows[i].manifest ? "acme" : folder.path);
        assert_string_equal(list.packs.items[0].version, rows[i].manifest ? "1.2.0" : "0");
        folder_remove(&folder);
        arena_free(&arena);
    }
}

TEST(names_are_taken_once)
{
    struct arena     arena = { 0 };
    struct err       err = { 0 };
    struct folder    one, two;
    struct rule_list list;

    folder_make(&one, good, "id = 'acme/x'");
    folder_make(&two, NULL, "id = 'acme/x'");
    struct option_list folders = list_of(&arena, one.path, two.path);
    assert_false(
        rules_list(&(struct advise_options) { .rule_directories = folders }, &arena, &list, &err));
    assert_non_null(strstr(err.text, "two rules are called 'acme/x'"));
    assert_non_null(strstr(err.text, one.rule));
    assert_non_null(strstr(err.text, two.rule));

    assert_true(file_write(two.manifest, str_from(good), &err));
    assert_false(
        rules_list(&(struct advise_options) { .rule_directories = folders }, &arena, &list, &err));
    assert_non_null(strstr(err.text, "two packs are called 'acme'"));
    assert_non_null(strstr(err.text, one.manifest));
    assert_non_null(strstr(err.text, two.manifest));

    folders = list_of(&arena, one.path, one.path); /* named twice is one folder */
    assert_true(
        rules_list(&(struct advise_options) { .rule_directories = folders }, &arena, &list, &err));
    folder_remove(&one);
    folder_remove(&two);
    arena_free(&arena);
}

/* min_share is halved by strict and divided by ten by all, within its range; `strict` goes before
 * that; other parameters stay. */
TEST(presets_lower_thresholds)
{
    static const char fields[] =
        "id = 'x', params = { min_share = { default = 0.4, min = 0.05, unit = 'share', doc = 'd' "
        "},\n"
        "min_given = { default = 0.4, strict = 0.3, unit = 'share', doc = 'd' },\n"
        "min_count = { default = 8, unit = 'count', doc = 'd' },\n"
        "min_known = { default = 0.4, unit = 'share', doc = 'd' } }";
    static const struct {
        const char *preset;
        double      values[4]; /* min_count min_given min_known min_share */
    } rows[] = {
        { NULL, { 8, 0.4, 0.4, 0.4 } },
        { "recommended", { 8, 0.4, 0.4, 0.4 } },
        { "strict", { 8, 0.3, 0.4, 0.2 } },
        { "all", { 8, 0.3, 0.4, 0.05 } },
    };
    struct folder folder;
    struct err    err = { 0 };

    folder_make(&folder, NULL, fields);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena    arena = { 0 };
        struct rule_set set = { 0 };

        assert_true(
            rule_set_add_directory(&set, folder.path, "p", &rule_default_limits, &arena, &err));
        assert_null(set.rules.items[0].error);
        assert_true(preset_apply(&set, rows[i].preset, &err));
        for (size_t j = 0; j < 4; j++)
            assert_float_equal(set.rules.items[0].info.params.items[j].number, rows[i].values[j],
                               1e-12);
        rule_set_free(&set);
        arena_free(&arena);
    }
    folder_remove(&folder);
}

/* Whether a rule of preset `own` runs under `preset`; naming it or setting its severity asks for
 * it. */
TEST(presets_choose_rules)
{
    static const struct {
        const char *own, *preset, *only, *set;
        bool        runs;
    } rows[] = {
        { "recommended", NULL, NULL, NULL, true },
        { "strict", NULL, NULL, NULL, false },
        { "strict", "strict", NULL, NULL, true },
        { "all", "strict", NULL, NULL, false },
        { "all", "all", NULL, NULL, true },
        { "all", NULL, "x", NULL, true },
        { "all", NULL, "input", NULL, false },
        { "all", NULL, NULL, "x.severity=error", true },
        { "recommended", NULL, NULL, "x.severity=off", false },
    };
    struct err err = { 0 };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena          arena = { 0 };
        struct rule_set       set = { 0 };
        struct folder         folder;
        char                  fields[64];
        struct advise_options options = { .preset = rows[i].preset };

        options.only = list_of(&arena, rows[i].only, NULL);
        options.set = list_of(&arena, rows[i].set, NULL);
        snprintf(fields, sizeof fields, "id = 'x', preset = '%s'", rows[i].own);
        folder_make(&folder, NULL, fields);
        assert_true(
            rule_set_add_directory(&set, folder.path, "p", &rule_default_limits, &arena, &err));
        assert_true(select_settings(&set, &options, &arena, &err));
        assert_true(select_rules(&set, &options.only, &options.skip, &arena, &err));
        if (set.rules.count != rows[i].runs)
            fail_msg("row %zu", i);
        folder_remove(&folder);
        rule_set_free(&set);
        arena_free(&arena);
    }
}
