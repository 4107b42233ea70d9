/* bind_host: what the prelude builds the profile object from: facts, tables, replay, units. */
#include "rules/bind.h"
#include "rules/sandbox.h"

#include "analyze/analysis.h"
#include "model/names.h"
#include "model/op_class.h"

#include <lauxlib.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAMES = 2048 };

static const struct rule_view *check_view(lua_State *lua)
{
    const struct rule_view *view = sandbox_of(lua)->view;

    if (!view)
        luaL_error(lua, "there is no profile while a rule loads");
    return view;
}

static const char *nearest_fact(const char *name)
{
    const char *names[MAX_NAMES];
    size_t      count = 0;

    for (size_t i = 0; i < analysis_count; i++) {
        for (size_t j = 0; j < analyses[i]->produces_count && count < MAX_NAMES; j++)
            names[count++] = analyses[i]->produces[j].name;
        for (size_t j = 0; j < analyses[i]->table_count && count < MAX_NAMES; j++)
            names[count++] = analyses[i]->tables[j].name;
    }
    return option_nearest(name, names, count);
}

void bind_raise_unknown(lua_State *lua, const char *what, const char *name)
{
    const char *nearest = nearest_fact(name);

    luaL_error(lua,
               nearest ? "no analysis makes a %s '%s'; did you mean '%s'?"
                       : "no analysis makes a %s '%s'",
               what, name, nearest);
}

/* Raises unless `name` is a fact or a table that an analysis declares. */
static void bind_check_name(lua_State *lua, const char *name, bool is_table)
{
    if (is_table ? !analysis_table(name) : !analysis_fact(name))
        bind_raise_unknown(lua, is_table ? "table" : "fact", name);
}

static int host_fact(lua_State *lua)
{
    const struct facts *facts = check_view(lua)->facts;
    const char         *name = luaL_checkstring(lua, 1);
    const struct fact  *fact = facts_find(facts, name);

    if (!fact) {
        bind_check_name(lua, name, false);
        luaL_pushfail(lua);
    } else if (fact->spec->unit == UNIT_NAME) {
        struct str text = intern_str(facts->names, (uint32_t)fact->value);
        lua_pushlstring(lua, text.data ? text.data : "", text.len);
    } else if (fact->spec->unit == UNIT_BOOL) {
        lua_pushboolean(lua, fact->value != 0);
    } else {
        lua_pushnumber(lua, fact->value);
    }
    return 1;
}

static int host_has(lua_State *lua)
{
    const struct facts *facts = check_view(lua)->facts;
    const char         *name = luaL_checkstring(lua, 1);

    if (!analysis_fact(name) && !analysis_table(name))
        bind_raise_unknown(lua, "fact or table", name);
    lua_pushboolean(lua, facts_find(facts, name) || facts_find_table(facts, name));
    return 1;
}

/* The table, or nil where the profile has none. */
static int host_table(lua_State *lua)
{
    const struct facts *facts = check_view(lua)->facts;
    const char         *name = luaL_checkstring(lua, 1);
    const struct table *table = facts_find_table(facts, name);

    if (table) {
        bind_push_query(lua, facts, table);
        return 1;
    }
    bind_check_name(lua, name, true);
    luaL_pushfail(lua);
    return 1;
}

/* Of changed calls the graph of all events also tells that the host then runs ahead. */
static void ask_graph(const struct rule_view *view, const struct edit_list *list,
                      const struct replay_result *before, struct replay_result *after)
{
    struct graph_replay_result graph;

    if (edits_change_calls(list->edits.items, list->edits.count) && view->replay_graph &&
        view->replay_graph(view->replay_context, list->edits.items, list->edits.count, &graph))
        after->step_ns = before->step_ns - graph.saved_ns;
}

/* whatif{ edit, … } -> step_ns, saved_ns, selected_ns; nil and why where nothing can be replayed.
 */
static int host_whatif(lua_State *lua)
{
    const struct rule_view *view = check_view(lua);
    struct edit_list        list = { 0 };
    struct replay_result    before = { 0 }, after = { 0 };
    struct err              err = { 0 };

    bind_read_edits(lua, 1, &sandbox_of(lua)->scratch, &list);
    sandbox_check_time(lua);
    if (!view->replay(view->replay_context, NULL, 0, &before, &err) ||
        !view->replay(view->replay_context, list.edits.items, list.edits.count, &after, &err)) {
        if (err.code == ERR_USAGE)
            return luaL_error(lua, "whatif: %s", err.text);
        luaL_pushfail(lua);
        lua_pushstring(lua, err.text);
        return 2;
    }
    ask_graph(view, &list, &before, &after);
    lua_pushnumber(lua, after.step_ns);
    lua_pushnumber(lua, before.step_ns - after.step_ns);
    lua_pushnumber(lua, after.selected_ns);
    return 3;
}

static int host_format_unit(lua_State *lua)
{
    double       value = luaL_checknumber(lua, 1);
    struct arena scratch = { 0 };
    struct text  text = { .arena = &scratch };
    char         copy[128] = "";
    enum unit    unit;

    if (!unit_from_name(str_from(luaL_checkstring(lua, 2)), &unit) || unit == UNIT_NAME)
        return luaL_error(lua, "unknown unit %s", lua_tostring(lua, 2));
    if (!isfinite(value))
        return luaL_error(lua, "only finite numbers can be written");
    sandbox_check_time(lua);
    unit_print(&text, value, unit);
    snprintf(copy, sizeof copy, "%.*s", STR_ARG(text_str(&text)));
    arena_free(&scratch); /* before anything that may raise */
    lua_pushstring(lua, copy);
    return 1;
}

static int host_op_class(lua_State *lua)
{
    struct str name = { 0 };

    name.data = luaL_checklstring(lua, 1, &name.len);
    lua_pushstring(lua, op_class_name(op_class_of(name)));
    return 1;
}

static int host_names(lua_State *lua)
{
    char           pattern[8192];
    const char    *id = luaL_checkstring(lua, 1);
    enum name_list list = name_list_find(str_from(id));

    if (list == NAME_LIST_COUNT)
        return luaL_error(lua, "there is no list of names '%s'", id);
    sandbox_check_time(lua);
    if (name_list_pattern(list, pattern, sizeof pattern) >= sizeof pattern)
        return luaL_error(lua, "the list of names '%s' is too long for a pattern", id);
    lua_pushstring(lua, pattern);
    return 1;
}

void bind_host(lua_State *lua)
{
    static const luaL_Reg functions[] = {
        { "fact", host_fact },
        { "has", host_has },
        { "table", host_table },
        { "whatif", host_whatif },
        { "format_unit", host_format_unit },
        { "op_class", host_op_class },
        { "names", host_names },
        { NULL, NULL },
    };

    luaL_setfuncs(lua, functions, 0);
}
