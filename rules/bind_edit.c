/*
 * bind_edit: edits as rules write them, one to one struct edit of analyze/replay/replay.h:
 *     { "scale", parts = { "host" }, kinds = { "dispatch" }, name = ".*Foo", factor = 0 }
 *     { "stage_parallel", stage = "Iterator.*Map", factor = 2 }    { "step", ns = 3e6 }
 */
#include "rules/api.h"
#include "rules/bind.h"
#include "rules/fields.h"
#include "rules/sandbox.h"

#include "analyze/path/path.h"
#include "analyze/replay/edit_text.h"
#include "base/pattern.h"
#include "model/profile.h"

#include <lauxlib.h>

#include <math.h>
#include <string.h>

/* Each costs a walk over the steps, some of them outside of the rule's limits. */
enum { MAX_EDITS = 200 };

static uint32_t part_bit(lua_State *lua, const char *name)
{
    for (int part = 0; part < PART_COUNT; part++)
        if (strcmp(part_name((enum part)part), name) == 0)
            return 1u << part;
    return (uint32_t)luaL_error(lua, "no part of a step is called '%s'", name);
}

static uint32_t kind_bit(lua_State *lua, const char *name)
{
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++)
        if (strcmp(activity_kind_name((enum activity_kind)kind), name) == 0)
            return 1u << kind;
    return (uint32_t)luaL_error(lua, "no kind of activity is called '%s'", name);
}

/* A list of names, or one, in a field. */
static uint32_t mask_field(lua_State *lua, int index, const char *field,
                           uint32_t (*bit)(lua_State *, const char *))
{
    uint32_t mask = 0;

    switch (lua_getfield(lua, index, field)) {
    case LUA_TNIL:
        break;
    case LUA_TSTRING:
        mask = bit(lua, lua_tostring(lua, -1));
        break;
    case LUA_TTABLE:
        for (lua_Integer i = 1; lua_rawgeti(lua, -1, i) != LUA_TNIL; i++) {
            mask |= bit(lua, luaL_checkstring(lua, -1));
            lua_pop(lua, 1);
        }
        lua_pop(lua, 1);
        break;
    default:
        luaL_error(lua, "%s is a list of names", field);
    }
    lua_pop(lua, 1);
    return mask;
}

/* A pattern, compiled once here so that a bad one is the rule's fault with its line. */
static const char *pattern_field(lua_State *lua, int index, const char *field, struct arena *arena)
{
    struct str text;

    if (lua_getfield(lua, index, field) == LUA_TNIL) {
        lua_pop(lua, 1);
        return NULL;
    }
    text.data = luaL_checklstring(lua, -1, &text.len);
    bind_pattern(lua, -1);
    text = arena_str(arena, text);
    if (!text.data)
        luaL_error(lua, "not enough memory");
    lua_pop(lua, 1);
    return text.data;
}

static double number_field(lua_State *lua, int index, const char *field, double otherwise)
{
    double value = otherwise;

    if (lua_getfield(lua, index, field) != LUA_TNIL)
        value = luaL_checknumber(lua, -1);
    lua_pop(lua, 1);
    if (!isfinite(value) || value < 0)
        luaL_error(lua, "%s must be a number of 0 or more", field);
    return value;
}

static struct edit_select read_select(lua_State *lua, int index, struct arena *arena)
{
    field_check_class(lua, index, "an edit", API_SELECT, API_EDIT);
    struct edit_select select = {
        .part_mask = mask_field(lua, index, "parts", part_bit),
        .kind_mask = mask_field(lua, index, "kinds", kind_bit),
        .name = pattern_field(lua, index, "name", arena),
        .op_type = pattern_field(lua, index, "op_type", arena),
        .stage = pattern_field(lua, index, "stage", arena),
        .host = NO_ID,
        .cell = (uint32_t)number_field(lua, index, "cell", 0),
    };

    if (lua_getfield(lua, index, "host") != LUA_TNIL)
        select.host = (uint32_t)luaL_checkinteger(lua, -1);
    lua_pop(lua, 1);
    return select;
}

static enum edit_kind read_kind(lua_State *lua, int index)
{
    if (lua_rawgeti(lua, index, 1) != LUA_TSTRING)
        luaL_error(lua, "an edit begins with its kind: { \"scale\", … }");
    const char *name = lua_tostring(lua, -1);
    for (size_t kind = 0; kind < EDIT_KIND_COUNT; kind++)
        if (strcmp(edit_words[kind], name) == 0) {
            lua_pop(lua, 1);
            return (enum edit_kind)kind;
        }
    const char *nearest = option_nearest(name, edit_words, EDIT_KIND_COUNT);
    luaL_error(lua, "no edit is called '%s'; did you mean '%s'?", name,
               nearest ? nearest : edit_words[0]);
    return EDIT_STEP;
}

static void add_edit(lua_State *lua, struct arena *arena, struct edit_list *list, struct edit edit)
{
    if (!vec_push(&list->edits, arena, edit))
        luaL_error(lua, "not enough memory");
}

static void read_edit(lua_State *lua, int index, struct arena *arena, struct edit_list *list)
{
    struct edit edit = { .kind = read_kind(lua, index),
                         .select = read_select(lua, index, arena),
                         .factor = number_field(lua, index, "factor", 0),
                         .ns = number_field(lua, index, "ns", 0) };

    add_edit(lua, arena, list, edit);
}

void bind_read_edits(lua_State *lua, int index, struct arena *arena, struct edit_list *list)
{
    luaL_checktype(lua, index, LUA_TTABLE);
    index = lua_absindex(lua, index);
    for (lua_Integer i = 1; lua_rawgeti(lua, index, i) != LUA_TNIL; i++) {
        luaL_checktype(lua, -1, LUA_TTABLE);
        if (list->edits.count == MAX_EDITS)
            luaL_error(lua, "more than %d edits", MAX_EDITS);
        read_edit(lua, lua_gettop(lua), arena, list);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    if (list->edits.count == 0)
        luaL_error(lua, "a list of edits is empty");
}

/* A factor: what is claimed becomes faster, and is still launched. */
static void read_claim(lua_State *lua, int index, struct arena *arena, struct edit_list *list)
{
    struct edit edit = { .kind = EDIT_SCALE,
                         .select = read_select(lua, index, arena),
                         .factor = number_field(lua, index, "factor", 0) };

    add_edit(lua, arena, list, edit);
}

void bind_read_claims(lua_State *lua, int index, struct arena *arena, struct edit_list *list)
{
    luaL_checktype(lua, index, LUA_TTABLE);
    index = lua_absindex(lua, index);
    if (lua_rawgeti(lua, index, 1) == LUA_TNIL) { /* one select */
        lua_pop(lua, 1);
        read_claim(lua, index, arena, list);
        return;
    }
    lua_pop(lua, 1);
    for (lua_Integer i = 1; lua_rawgeti(lua, index, i) != LUA_TNIL; i++) {
        luaL_checktype(lua, -1, LUA_TTABLE);
        int top = lua_gettop(lua);
        if (list->edits.count == MAX_EDITS)
            luaL_error(lua, "more than %d claims", MAX_EDITS);
        read_claim(lua, top, arena, list);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}
