/*
 * sandbox_text: the string library of rules. Lua's own where it is bounded; find, match, gmatch and
 * gsub take PCRE2 patterns with limits instead of Lua's, which backtrack without any.
 */
#include "rules/bind.h"
#include "rules/sandbox.h"

#include "base/pattern.h"

#include <lauxlib.h>
#include <lualib.h>

#include <string.h>

enum { MAX_GROUPS = 10, MAX_SUBJECT_BYTES = 1 << 20, MAX_REPEAT_BYTES = 1 << 20 };

struct match {
    size_t spans[2 * MAX_GROUPS];
    size_t count;
};

static int free_pattern(lua_State *lua)
{
    struct pattern **pattern = lua_touserdata(lua, 1);

    pattern_free(*pattern);
    *pattern = NULL;
    return 0;
}

static const char cache_key = 0;

/* Pushes the cache of compiled patterns of this state. */
static void push_cache(lua_State *lua)
{
    if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &cache_key) == LUA_TTABLE)
        return;
    lua_pop(lua, 1);
    lua_newtable(lua);
    lua_pushvalue(lua, -1);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &cache_key);
}

const struct pattern *bind_pattern(lua_State *lua, int index)
{
    size_t      len;
    const char *text = luaL_checklstring(lua, index, &len);
    struct err  err = { 0 };

    index = lua_absindex(lua, index);
    push_cache(lua); /* cache */
    lua_pushvalue(lua, index);
    if (lua_rawget(lua, -2) == LUA_TUSERDATA) { /* cache pattern */
        struct pattern **known = lua_touserdata(lua, -1);
        lua_pop(lua, 2);
        return *known;
    }
    lua_pop(lua, 1);
    struct pattern **pattern = lua_newuserdatauv(lua, sizeof(struct pattern *), 0);
    *pattern = NULL;
    if (luaL_newmetatable(lua, "tfprof.pattern")) {
        lua_pushcfunction(lua, free_pattern);
        lua_setfield(lua, -2, "__gc");
    }
    lua_setmetatable(lua, -2); /* cache pattern */
    *pattern = pattern_new((struct str) { text, len }, PATTERN_OF_ONE, false, &err);
    if (!*pattern)
        luaL_error(lua, "pattern '%s': %s", text, err.text);
    lua_pushvalue(lua, index);
    lua_insert(lua, -2); /* cache text pattern */
    lua_rawset(lua, -3);
    lua_pop(lua, 1);
    return *pattern;
}

static bool find_from(lua_State *lua, const struct pattern *pattern, struct str subject,
                      size_t from, struct match *match)
{
    sandbox_check_time(lua);
    if (subject.len > MAX_SUBJECT_BYTES)
        luaL_error(lua, "text of %d bytes is too long to match", (int)subject.len);
    switch (pattern_find(pattern, subject, from, match->spans, MAX_GROUPS, &match->count)) {
    case PATTERN_NO:
        return false;
    case PATTERN_YES:
        return true;
    case PATTERN_TOO_COSTLY:
        break;
    }
    return luaL_error(lua, "pattern is too costly") != 0;
}

static void push_group(lua_State *lua, struct str subject, const struct match *match, size_t group)
{
    size_t from = match->spans[2 * group], to = match->spans[2 * group + 1];

    if (group >= match->count || from == SIZE_MAX)
        luaL_pushfail(lua);
    else
        lua_pushlstring(lua, subject.data + from, to - from);
}

/* The groups, or the whole match when there is none. */
static int push_groups(lua_State *lua, struct str subject, const struct match *match)
{
    if (match->count <= 1) {
        push_group(lua, subject, match, 0);
        return 1;
    }
    for (size_t group = 1; group < match->count; group++)
        push_group(lua, subject, match, group);
    return (int)match->count - 1;
}

static struct str check_subject(lua_State *lua, int index)
{
    struct str subject;

    subject.data = luaL_checklstring(lua, index, &subject.len);
    return subject;
}

static size_t check_start(lua_State *lua, int index, size_t len)
{
    lua_Integer start = luaL_optinteger(lua, index, 1);

    if (start < 0)
        start = start < -(lua_Integer)len ? 1 : (lua_Integer)len + start + 1;
    if (start < 1)
        start = 1;
    return (size_t)start - 1;
}

static int text_find(lua_State *lua)
{
    struct str   subject = check_subject(lua, 1);
    size_t       from = check_start(lua, 3, subject.len);
    struct match match = { 0 };

    sandbox_check_time(lua);
    if (from > subject.len) {
        luaL_pushfail(lua);
        return 1;
    }
    if (lua_toboolean(lua, 4)) {
        struct str part = check_subject(lua, 2);
        struct str rest = str_slice(subject, from, subject.len);
        size_t     at = str_search(rest, part);

        if (at == rest.len && part.len > 0) {
            luaL_pushfail(lua);
            return 1;
        }
        lua_pushinteger(lua, (lua_Integer)(from + at + 1));
        lua_pushinteger(lua, (lua_Integer)(from + at + part.len));
        return 2;
    }
    if (!find_from(lua, bind_pattern(lua, 2), subject, from, &match)) {
        luaL_pushfail(lua);
        return 1;
    }
    lua_pushinteger(lua, (lua_Integer)match.spans[0] + 1);
    lua_pushinteger(lua, (lua_Integer)match.spans[1]);
    return match.count > 1 ? 2 + push_groups(lua, subject, &match) : 2;
}

static int text_match(lua_State *lua)
{
    struct str   subject = check_subject(lua, 1);
    size_t       from = check_start(lua, 3, subject.len);
    struct match match = { 0 };

    if (from > subject.len || !find_from(lua, bind_pattern(lua, 2), subject, from, &match)) {
        luaL_pushfail(lua);
        return 1;
    }
    return push_groups(lua, subject, &match);
}

static int next_match(lua_State *lua)
{
    struct str   subject = check_subject(lua, lua_upvalueindex(1));
    size_t       from = (size_t)lua_tointeger(lua, lua_upvalueindex(3));
    struct match match = { 0 };

    lua_pushvalue(lua, lua_upvalueindex(2));
    const struct pattern *pattern = bind_pattern(lua, -1);
    if (from > subject.len || !find_from(lua, pattern, subject, from, &match))
        return 0;
    from = match.spans[1] > match.spans[0] ? match.spans[1] : match.spans[1] + 1;
    lua_pushinteger(lua, (lua_Integer)from);
    lua_replace(lua, lua_upvalueindex(3));
    return push_groups(lua, subject, &match);
}

static int text_gmatch(lua_State *lua)
{
    check_subject(lua, 1);
    bind_pattern(lua, 2);
    lua_settop(lua, 2);
    lua_pushinteger(lua, 0);
    lua_pushcclosure(lua, next_match, 3);
    return 1;
}

/* "%0" to "%9" stand for the match and its groups. */
static void add_replacement(luaL_Buffer *out, struct str with, struct str subject,
                            const struct match *match)
{
    for (size_t i = 0; i < with.len; i++) {
        if (with.data[i] != '%' || i + 1 == with.len) {
            luaL_addchar(out, with.data[i]);
            continue;
        }
        char   next = with.data[++i];
        size_t group = (size_t)(next - '0');
        if (next < '0' || next > '9') {
            luaL_addchar(out, next);
        } else if (group < match->count && match->spans[2 * group] != SIZE_MAX) {
            size_t from = match->spans[2 * group], to = match->spans[2 * group + 1];
            luaL_addlstring(out, subject.data + from, to - from);
        }
    }
}

/* gsub(text, pattern, text): no functions or tables as replacements. */
static int text_gsub(lua_State *lua)
{
    struct str            subject = check_subject(lua, 1), with = check_subject(lua, 3);
    const struct pattern *pattern = bind_pattern(lua, 2);
    size_t                from = 0, copied = 0;
    lua_Integer           count = 0;
    struct match          match = { 0 };
    luaL_Buffer           out;

    luaL_buffinit(lua, &out);
    while (from <= subject.len && find_from(lua, pattern, subject, from, &match)) {
        luaL_addlstring(&out, subject.data + copied, match.spans[0] - copied);
        add_replacement(&out, with, subject, &match);
        copied = match.spans[1];
        from = match.spans[1] > match.spans[0] ? match.spans[1] : match.spans[1] + 1;
        count++;
    }
    luaL_addlstring(&out, subject.data + copied, subject.len - copied);
    luaL_pushresult(&out);
    lua_pushinteger(lua, count);
    return 2;
}

static int text_rep(lua_State *lua)
{
    struct str  text = check_subject(lua, 1);
    lua_Integer count = luaL_checkinteger(lua, 2);
    luaL_Buffer out;

    if (count > 0 && text.len > 0 && (size_t)count > MAX_REPEAT_BYTES / text.len)
        return luaL_error(lua, "rep makes at most %d bytes", (int)MAX_REPEAT_BYTES);
    luaL_buffinit(lua, &out);
    for (lua_Integer i = 0; text.len > 0 && i < count; i++)
        luaL_addlstring(&out, text.data, text.len);
    luaL_pushresult(&out);
    return 1;
}

/* Lua's format, for texts and numbers only: other values would show addresses. */
static int text_format(lua_State *lua)
{
    int         count = lua_gettop(lua);
    const char *format = luaL_checkstring(lua, 1);

    for (int i = 2; i <= count; i++)
        if (!lua_isstring(lua, i) && !lua_isboolean(lua, i) && !lua_isnil(lua, i))
            return luaL_argerror(lua, i, "format takes texts and numbers");
    for (const char *at = strchr(format, '%'); at; at = strchr(at + 1, '%')) {
        at += 1 + strspn(at + 1, "-+ #0123456789.");
        if (*at == 'p')
            return luaL_argerror(lua, 1, "%p is not allowed in rules");
        if (!*at)
            break;
    }
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, count, 1);
    return 1;
}

void sandbox_push_strings(lua_State *lua)
{
    static const char *const own[] = { "byte", "char", "len", "lower", "reverse", "sub", "upper" };
    static const luaL_Reg    ours[] = {
           { "find", text_find }, { "match", text_match }, { "gmatch", text_gmatch },
           { "gsub", text_gsub }, { "rep", text_rep },     { NULL, NULL },
    };

    luaL_newlib(lua, ours); /* string */
    lua_pushcfunction(lua, luaopen_string);
    lua_pushliteral(lua, "string");
    lua_call(lua, 1, 1); /* string old */
    for (size_t i = 0; i < ARRAY_COUNT(own); i++) {
        lua_getfield(lua, -1, own[i]);
        lua_setfield(lua, -3, own[i]);
    }
    lua_getfield(lua, -1, "format");
    lua_pushcclosure(lua, text_format, 1);
    lua_setfield(lua, -3, "format");
    lua_pop(lua, 1);
}
