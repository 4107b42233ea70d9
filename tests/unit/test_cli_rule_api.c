/*
 * The rule API stays: what tests/api1 uses works, what names.txt and facts.txt list is there, and
 * each name that a rule can reach is documented and annotated.
 */
#include <stdio.h>
#include <string.h>

#include "testing.h"
#include <lauxlib.h>

#include "analyze/analysis.h"
#include "analyze/path/path.h"
#include "analyze/replay/edit_text.h"
#include "base/file.h"
#include "base/unit.h"
#include "cli/generate.h"
#include "model/profile.h"
#include "rules/api.h"
#include "rules/bind.h"
#include "rules/catalogue.h"
#include "rules/sandbox.h"

#define API1 TESTS_DIR "/api1"

struct names {
    struct arena arena;
    VEC(const char *) list; /* "query where" */
};

static void add(struct names *names, const char *class, const char *name)
{
    const char *line = arena_text(&names->arena, "%s %s", class, name);

    assert_non_null(line);
    assert_true(vec_push(&names->list, &names->arena, line));
}

static bool holds(const struct names *names, const char *line)
{
    for (size_t i = 0; i < names->list.count; i++)
        if (strcmp(names->list.items[i], line) == 0)
            return true;
    return false;
}

/* The names in the table on top of the Lua stack. */
static void add_table(lua_State *lua, struct names *names, const char *class)
{
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        if (lua_type(lua, -2) == LUA_TSTRING)
            add(names, class, lua_tostring(lua, -2));
        lua_pop(lua, 1);
    }
}

static void add_libraries(lua_State *lua, struct names *names)
{
    static const char *const libraries[] = { "impact", "fmt", "string", "table", "math" };

    for (size_t i = 0; i < ARRAY_COUNT(libraries); i++) {
        lua_getfield(lua, -1, libraries[i]);
        add_table(lua, names, libraries[i]);
        lua_pop(lua, 1);
    }
}

/* What a rule finds around it, as its state holds it. */
static int walk(lua_State *lua)
{
    struct names       *names = lua_touserdata(lua, 1);
    static struct facts no_facts;
    struct table        table = { .spec = analysis_table("ops") };

    lua_pushglobaltable(lua);
    add_table(lua, names, "global");
    add_libraries(lua, names);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, sandbox_of(lua)->host);
    lua_getfield(lua, -1, "profile");
    lua_pushstring(lua, "xspace");
    lua_pushstring(lua, "jax");
    lua_call(lua, 2, 1);
    add_table(lua, names, "profile");
    bind_push_query(lua, &no_facts, &table);
    luaL_getmetatable(lua, "tfprof.query");
    lua_getfield(lua, -1, "__index");
    add_table(lua, names, "query");
    return 0;
}

static void reachable_names(struct names *names)
{
    struct err      err = { 0 };
    struct sandbox *sandbox = sandbox_new(&rule_default_limits, &names->arena, &err);

    assert_non_null(sandbox);
    assert_null(sandbox_call(sandbox, walk, names, &names->arena));
    sandbox_free(sandbox);
}

/* Words that stand in rules as texts. */
static void add_words(struct names *names)
{
    for (int unit = UNIT_NONE; unit <= UNIT_BOOL; unit++)
        if (unit != UNIT_NAME)
            add(names, "unit", unit_name((enum unit)unit));
    for (int part = 0; part < PART_COUNT; part++)
        add(names, "part", part_name((enum part)part));
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++)
        add(names, "activity", activity_kind_name((enum activity_kind)kind));
    for (size_t i = 0; i < EDIT_KIND_COUNT; i++)
        add(names, "edit_kind", edit_words[i]);
}

/* The API of today: what is reachable, the fields that are understood, the words. */
static void todays_names(struct names *names)
{
    reachable_names(names);
    for (size_t i = 0; i < api_name_count; i++)
        if (api_classes[api_names[i].class].is_fields)
            add(names, api_classes[api_names[i].class].name, api_names[i].name);
    add_words(names);
}

static void kept_names(struct names *names, const char *path)
{
    struct file file = { 0 };
    struct err  err = { 0 };
    struct str  rest;

    assert_true(file_open(&file, path, 0, &err));
    for (rest = file.bytes; rest.len > 0;) {
        struct str line = str_cut(&rest, '\n');

        assert_true(vec_push(&names->list, &names->arena, arena_str(&names->arena, line).data));
    }
    file_close(&file);
}

TEST(nothing_is_taken_away)
{
    struct names today = { 0 }, kept = { 0 };
    int          faults = 0;

    todays_names(&today);
    kept_names(&kept, API1 "/names.txt");
    for (size_t i = 0; i < kept.list.count; i++)
        if (!holds(&today, kept.list.items[i])) {
            print_error("API 1 has lost '%s'\n", kept.list.items[i]);
            faults++;
        }
    for (size_t i = 0; i < today.list.count; i++)
        if (!holds(&kept, today.list.items[i])) {
            print_error("new in the API, for tests/api1/names.txt: %s\n", today.list.items[i]);
            faults++;
        }
    assert_int_equal(faults, 0);
    arena_free(&today.arena);
    arena_free(&kept.arena);
}

static void add_unit(struct names *names, const char *class, const char *name, enum unit unit)
{
    add(names, class, arena_text(&names->arena, "%s %s", name, unit_name(unit)));
}

/* What docs/facts.md is made of: "fact NAME UNIT", "table NAME", "column TABLE.NAME UNIT". */
static void todays_facts(struct names *names)
{
    for (size_t i = 0; i < analysis_count; i++) {
        const struct analysis *analysis = analyses[i];

        for (size_t j = 0; j < analysis->produces_count; j++)
            add_unit(names, "fact", analysis->produces[j].name, analysis->produces[j].unit);
        for (size_t j = 0; j < analysis->table_count; j++) {
            const struct table_spec *table = &analysis->tables[j];

            add(names, "table", table->name);
            for (size_t k = 0; k < table->column_count; k++)
                add_unit(names, "column",
                         arena_text(&names->arena, "%s.%s", table->name, table->columns[k].name),
                         table->columns[k].unit);
        }
    }
}

/* What rules of others may name stays, with its unit. More is welcome. */
TEST(no_fact_is_taken_away)
{
    struct names today = { 0 }, kept = { 0 };
    int          faults = 0;

    todays_facts(&today);
    kept_names(&kept, API1 "/facts.txt");
    assert_true(kept.list.count > 500);
    for (size_t i = 0; i < kept.list.count; i++)
        if (!holds(&today, kept.list.items[i])) {
            print_error("rules of API 1 may use '%s', which is no more\n", kept.list.items[i]);
            faults++;
        }
    for (size_t i = 0; i < today.list.count; i++)
        if (!holds(&kept, today.list.items[i]))
            print_message("new; a line of tests/api1/facts.txt keeps it: %s\n",
                          today.list.items[i]);
    assert_int_equal(faults, 0);
    arena_free(&today.arena);
    arena_free(&kept.arena);
}

TEST(each_name_is_documented)
{
    struct names today = { 0 }, documented = { 0 };
    int          faults = 0;

    reachable_names(&today);
    for (size_t i = 0; i < api_name_count; i++)
        if (!api_classes[api_names[i].class].is_fields)
            add(&documented, api_classes[api_names[i].class].name, api_names[i].name);
    for (size_t i = 0; i < today.list.count; i++)
        if (!holds(&documented, today.list.items[i])) {
            print_error("not in rules/api.def: %s\n", today.list.items[i]);
            faults++;
        }
    for (size_t i = 0; i < documented.list.count; i++)
        if (!holds(&today, documented.list.items[i])) {
            print_error("rules/api.def has what is not there: %s\n", documented.list.items[i]);
            faults++;
        }
    assert_int_equal(faults, 0);
    arena_free(&today.arena);
    arena_free(&documented.arena);
}

/* The pack is as it was written for API 1; it is not to be changed, only added to. */
TEST(rules_of_old_work)
{
    struct arena         arena = { 0 };
    struct text          report = { .arena = &arena };
    struct rules_checked checked = { 0 };
    struct err           err = { 0 };

    assert_true(rules_check(API1, NULL, &arena, &report, &checked, &err));
    if (checked.fault_count > 0)
        fail_msg("%s", report.data);
    assert_int_equal(checked.rule_count, 8);
    arena_free(&arena);
}

static void add_script(struct text *text, const char *path)
{
    struct file file = { 0 };
    struct err  err = { 0 };

    assert_true(file_open(&file, path, 0, &err));
    text_add(text, file.bytes);
    file_close(&file);
}

TEST(rules_of_old_use_all_names)
{
    static const char *const scripts[] = { "language", "queries", "places", "findings",
                                           "edits",    "shared",  "limits", "kernels" };
    struct names             kept = { 0 };
    struct text              text = { .arena = &kept.arena };
    int                      faults = 0;

    kept_names(&kept, API1 "/names.txt");
    for (size_t i = 0; i < ARRAY_COUNT(scripts); i++)
        add_script(&text, arena_text(&kept.arena, API1 "/%s.lua", scripts[i]));
    for (size_t i = 0; i < kept.list.count; i++) {
        const char *word = strchr(kept.list.items[i], ' ') + 1;

        if (word[0] != '[' && !str_contains(text_str(&text), str_from(word))) {
            print_error("no rule of tests/api1 uses %s\n", kept.list.items[i]);
            faults++;
        }
    }
    assert_int_equal(faults, 0);
    arena_free(&kept.arena);
}

/* How the annotations declare a name of the API. */
static const char *declaration(struct arena *arena, const struct api_name *name)
{
    const char *class = api_classes[name->class].name;

    if (name->class == API_GLOBAL && name->type)
        return arena_text(arena, "\n%s = {}", name->name);
    if (name->type)
        return arena_text(arena, "\n---@field %s", name->name);
    if (name->class == API_GLOBAL)
        return arena_text(arena, "\nfunction %s(", name->name);
    return arena_text(arena, "\nfunction %s%c%s(", class,
                      name->class == API_PROFILE || name->class == API_QUERY ? ':' : '.',
                      name->name);
}

TEST(annotations_have_all_names)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };
    lua_State   *lua = luaL_newstate();

    generate_annotations(&text);
    assert_int_equal(luaL_loadbufferx(lua, text.data, text.len, "tfprof.lua", "t"), LUA_OK);
    lua_close(lua);
    for (size_t i = 0; i < api_name_count; i++)
        if (!str_contains(text_str(&text), str_from(declaration(&arena, &api_names[i]))))
            fail_msg("no%s", declaration(&arena, &api_names[i]));
    for (size_t i = 0; i < analysis_count; i++) {
        for (size_t j = 0; j < analyses[i]->produces_count; j++)
            assert_true(
                str_contains(text_str(&text), str_from(arena_text(&arena, "\n---@field [\"%s\"] ",
                                                                  analyses[i]->produces[j].name))));
        for (size_t j = 0; j < analyses[i]->table_count; j++)
            assert_true(str_contains(text_str(&text),
                                     str_from(arena_text(&arena, "\n---@class tfprof.query.%s:",
                                                         analyses[i]->tables[j].name))));
    }
    arena_free(&arena);
}

static bool is_type_byte(char byte)
{
    return byte == '.' || byte == '_' || (byte >= 'a' && byte <= 'z') ||
           (byte >= '0' && byte <= '9');
}

static bool declares(const struct text *text, const char *kind, struct str name,
                     struct arena *arena)
{
    static const char *const ends[] = { " ", "\n", ":" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_contains(text_str(text), str_from(arena_text(arena, "---@%s %.*s%s", kind,
                                                             STR_ARG(name), ends[i]))))
            return true;
    return false;
}

/* A type that is mentioned but nowhere declared is a warning in every editor, and so is one that is
 * built on a name for another. */
TEST(annotations_declare_the_types_they_use)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };
    struct str   rest;
    size_t       count = 0;
    bool         is_class_line = false; /* the type before was that of a class */

    generate_annotations(&text);
    rest = text_str(&text);
    while (str_contains(rest, STR("tfprof."))) {
        size_t     from = str_search(rest, STR("tfprof.")), end = from;
        bool       is_parent = is_class_line && str_starts(rest, STR(": "));
        struct str name;

        while (end < rest.len && is_type_byte(rest.data[end]))
            end++;
        name = str_slice(rest, from, end);
        is_class_line = str_ends(str_slice(rest, 0, from), STR("---@class "));
        if (!declares(&text, "class", name, &arena) &&
            (is_parent || !declares(&text, "alias", name, &arena)))
            fail_msg("%.*s is not declared", STR_ARG(name));
        count++;
        rest = str_slice(rest, end, rest.len);
    }
    assert_true(count > 100);
    /* What a function gives keeps its "nil"; it is not the field that may be absent. */
    assert_true(str_contains(text_str(&text), STR("tfprof.skip|nil)")));
    arena_free(&arena);
}
