/* fields: reads Lua tables field by field. */
#include "rules/fields.h"

#include "base/option.h"
#include "rules/sandbox.h"

#include <lauxlib.h>

#include <math.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 64 << 10, MAX_LIST = 1000, MAX_FIELDS = 40 };

const char *field_copy(lua_State *lua, int index, const char *field, struct arena *arena)
{
    struct str text;

    if (lua_type(lua, index) != LUA_TSTRING) {
        luaL_error(lua, "%s must be a text, not a %s", field, luaL_typename(lua, index));
        return NULL;
    }
    text.data = lua_tolstring(lua, index, &text.len);
    if (text.len > MAX_TEXT_BYTES)
        luaL_error(lua, "%s is too long", field);
    char *copy = arena_new_array(arena, char, text.len + 1);
    if (!copy)
        luaL_error(lua, "not enough memory");
    for (size_t i = 0; i < text.len; i++) /* names in recordings may hold zero bytes */
        copy[i] = text.data[i] ? text.data[i] : '?';
    copy[text.len] = '\0';
    return copy;
}

const char *field_text(lua_State *lua, int index, const char *field, bool is_needed,
                       struct arena *arena)
{
    const char *text = NULL;

    if (lua_getfield(lua, index, field) != LUA_TNIL)
        text = field_copy(lua, -1, field, arena);
    else if (is_needed)
        luaL_error(lua, "%s is missing", field);
    lua_pop(lua, 1);
    return text;
}

double field_number(lua_State *lua, int index, const char *field, double otherwise)
{
    double value = otherwise;

    if (lua_getfield(lua, index, field) != LUA_TNIL) {
        if (lua_type(lua, -1) != LUA_TNUMBER)
            luaL_error(lua, "%s must be a number, not a %s", field, luaL_typename(lua, -1));
        value = lua_tonumber(lua, -1);
        if (!isfinite(value))
            luaL_error(lua, "%s is not finite", field);
    }
    lua_pop(lua, 1);
    return value;
}

void field_names(lua_State *lua, int index, const char *field, struct arena *arena,
                 struct names *names)
{
    switch (lua_getfield(lua, index, field)) {
    case LUA_TNIL:
        break;
    case LUA_TSTRING:
        if (!vec_push(&names->list, arena, field_copy(lua, -1, field, arena)))
            luaL_error(lua, "not enough memory");
        break;
    case LUA_TTABLE:
        for (lua_Integer i = 1; i <= MAX_LIST && lua_rawgeti(lua, -1, i) != LUA_TNIL; i++) {
            if (!vec_push(&names->list, arena, field_copy(lua, -1, field, arena)))
                luaL_error(lua, "not enough memory");
            lua_pop(lua, 1);
        }
        lua_pop(lua, 1);
        break;
    default:
        luaL_error(lua, "%s must be a list of texts", field);
    }
    lua_pop(lua, 1);
}

void field_check_known(lua_State *lua, int index, const char *what, const char *const *known,
                       size_t count)
{
    index = lua_absindex(lua, index);
    lua_pushnil(lua);
    while (lua_next(lua, index)) {
        lua_pop(lua, 1);
        if (lua_type(lua, -1) != LUA_TSTRING)
            continue;
        const char *name = lua_tostring(lua, -1);
        bool        is_known = false;
        for (size_t i = 0; i < count && !is_known; i++)
            is_known = strcmp(name, known[i]) == 0;
        if (is_known)
            continue;
        const char *nearest = option_nearest(name, known, count);
        luaL_error(lua,
                   nearest ? "%s has no field '%s'; did you mean '%s'?" : "%s has no field '%s'",
                   what, name, nearest);
    }
}

void field_check_class(lua_State *lua, int index, const char *what, enum api_class class,
                       enum api_class more)
{
    const char *known[MAX_FIELDS];
    size_t      count = 0;

    for (size_t i = 0; i < api_name_count && count < MAX_FIELDS; i++)
        if (api_names[i].class == class || api_names[i].class == more)
            known[count++] = api_names[i].name;
    field_check_known(lua, index, what, known, count);
}

bool field_is_tagged(lua_State *lua, int index, const char *kind)
{
    bool is_tagged = false;

    if (lua_type(lua, index) != LUA_TTABLE)
        return false;
    index = lua_absindex(lua, index);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, sandbox_of(lua)->host);
    lua_getfield(lua, -1, "tag");
    if (lua_rawget(lua, index) == LUA_TSTRING)
        is_tagged = strcmp(lua_tostring(lua, -1), kind) == 0;
    lua_pop(lua, 2);
    return is_tagged;
}
