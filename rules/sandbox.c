/*
 * sandbox: makes the state of a rule and keeps it within its limits. Finalizers run with hooks off,
 * so scripts get no __gc; a hook that fired once fires at every instruction from then on, or the
 * script's own pcall would go on; what C loops over is bounded by memory or asks for the time.
 */
#include "rules/sandbox.h"

#include "base/trace.h"
#include "rules/bind.h"
#include "rules/builtin.h"

#include <lauxlib.h>
#include <lualib.h>

#include <stdlib.h>
#include <string.h>

enum { HOOK_INSTRUCTIONS = 100 };

const struct rule_limits rule_default_limits = { (size_t)64 << 20, 50000000, 2000000000 };

/* Small blocks come from the arena of the sandbox, and go back to a list of their size: rules make
 * and drop very many. */
static size_t size_class(size_t bytes)
{
    return (bytes + SANDBOX_STEP - 1) / SANDBOX_STEP;
}

static bool is_small(size_t bytes)
{
    return bytes <= (SANDBOX_CLASSES - 1) * SANDBOX_STEP;
}

static void *take_block(struct sandbox *sandbox, size_t bytes)
{
    struct sandbox_free **list = &sandbox->free[is_small(bytes) ? size_class(bytes) : 0], *block;

    if (!is_small(bytes))
        return malloc(bytes);
    block = *list;
    if (!block)
        return arena_alloc(&sandbox->heap, size_class(bytes) * SANDBOX_STEP);
    *list = block->next;
    return block;
}

static void give_block(struct sandbox *sandbox, void *block, size_t bytes)
{
    if (is_small(bytes)) {
        struct sandbox_free *given = block;

        given->next = sandbox->free[size_class(bytes)];
        sandbox->free[size_class(bytes)] = given;
    } else {
        free(block);
    }
}

static void *resize_block(struct sandbox *sandbox, void *block, size_t had, size_t bytes)
{
    void *moved;

    if (!is_small(had) && !is_small(bytes))
        return realloc(block, bytes);
    if (is_small(had) && is_small(bytes) && size_class(had) == size_class(bytes))
        return block;
    moved = take_block(sandbox, bytes);
    if (moved) {
        memcpy(moved, block, had < bytes ? had : bytes);
        give_block(sandbox, block, had);
    }
    return moved;
}

static void *allocate(void *context, void *block, size_t old_bytes, size_t new_bytes)
{
    struct sandbox *sandbox = context;
    size_t          had = block ? old_bytes : 0; /* for a new block Lua passes a type tag */
    void           *got;

    if (new_bytes == 0) {
        if (block)
            give_block(sandbox, block, had);
        sandbox->heap_bytes -= had;
        return NULL;
    }
    if (new_bytes > had && new_bytes - had > sandbox->limits.memory_bytes - sandbox->heap_bytes)
        return NULL;
    got = block ? resize_block(sandbox, block, had, new_bytes) : take_block(sandbox, new_bytes);
    if (got)
        sandbox->heap_bytes += new_bytes - had;
    return got;
}

struct sandbox *sandbox_of(lua_State *lua)
{
    return *(struct sandbox **)lua_getextraspace(lua);
}

static int raise_spent(lua_State *lua)
{
    return luaL_error(lua, "rule ran for too long");
}

/* Asking for the time of the clock costs a tenth of asking for that of the thread, which is less.
 */
static bool has_time(const struct sandbox *sandbox)
{
    return trace_now_ns() - sandbox->start_ns < sandbox->limits.cpu_ns ||
           trace_cpu_ns() - sandbox->start_cpu_ns < sandbox->limits.cpu_ns;
}

static void count_steps(lua_State *lua, lua_Debug *where)
{
    struct sandbox *sandbox = sandbox_of(lua);

    (void)where;
    if (!sandbox->is_spent && --sandbox->steps_left > 0 && has_time(sandbox))
        return;
    sandbox->is_spent = true;
    lua_sethook(lua, count_steps, LUA_MASKCOUNT, 1);
    raise_spent(lua);
}

void sandbox_check_time(lua_State *lua)
{
    struct sandbox *sandbox = sandbox_of(lua);

    if (!sandbox->is_spent && has_time(sandbox))
        return;
    sandbox->is_spent = true;
    lua_sethook(lua, count_steps, LUA_MASKCOUNT, 1);
    raise_spent(lua);
}

/* setmetatable without what would run behind the limits. */
static int set_metatable(lua_State *lua)
{
    static const char *const refused[] = { "__gc", "__close", "__mode" };

    luaL_checktype(lua, 1, LUA_TTABLE);
    if (!lua_isnil(lua, 2))
        luaL_checktype(lua, 2, LUA_TTABLE);
    lua_settop(lua, 2);
    if (luaL_getmetafield(lua, 1, "__metatable") != LUA_TNIL)
        return luaL_error(lua, "cannot change a protected metatable");
    for (size_t i = 0; i < ARRAY_COUNT(refused) && lua_istable(lua, 2); i++) {
        lua_pushstring(lua, refused[i]);
        if (lua_rawget(lua, 2) != LUA_TNIL)
            return luaL_error(lua, "%s is not allowed in rules", refused[i]);
        lua_pop(lua, 1);
    }
    lua_setmetatable(lua, 1);
    return 1;
}

/* tostring that shows no addresses, which differ from run to run. */
static int to_string(lua_State *lua)
{
    luaL_checkany(lua, 1);
    switch (lua_type(lua, 1)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING:
        luaL_tolstring(lua, 1, NULL);
        return 1;
    default:
        if (luaL_callmeta(lua, 1, "__tostring"))
            return 1;
        lua_pushstring(lua, luaL_typename(lua, 1));
        return 1;
    }
}

static int less(lua_State *lua)
{
    sandbox_check_time(lua);
    lua_pushboolean(lua, lua_compare(lua, 1, 2, LUA_OPLT));
    return 1;
}

/* Copies fields of the library on top of the stack into the table below it and pops the library. */
static void take_fields(lua_State *lua, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lua_getfield(lua, -1, names[i]);
        lua_setfield(lua, -3, names[i]);
    }
    lua_pop(lua, 1);
}

static void open_library(lua_State *lua, lua_CFunction open, const char *name)
{
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 1);
}

/* The globals table holds only what is listed here and what the prelude adds. */
static void set_globals(lua_State *lua)
{
    static const char *const base[] = { "assert", "error",    "getmetatable", "ipairs",
                                        "pcall",  "rawequal", "rawget",       "rawlen",
                                        "rawset", "select",   "tonumber",     "type" };
    static const char *const math[] = { "abs",       "ceil", "exp",        "floor",
                                        "fmod",      "huge", "log",        "max",
                                        "min",       "modf", "pi",         "sqrt",
                                        "tointeger", "type", "maxinteger", "mininteger" };

    open_library(lua, luaopen_base, "_G"); /* lua: old */
    lua_newtable(lua);                     /* old new */
    lua_insert(lua, -2);                   /* new old */
    take_fields(lua, base, ARRAY_COUNT(base));
    lua_newtable(lua); /* new math */
    open_library(lua, luaopen_math, "math");
    take_fields(lua, math, ARRAY_COUNT(math));
    lua_setfield(lua, -2, "math");
    lua_newtable(lua); /* new table */
    open_library(lua, luaopen_table, "table");
    take_fields(lua, (const char *const[]) { "unpack", "pack" }, 2);
    lua_setfield(lua, -2, "table");
    sandbox_push_strings(lua); /* new string */
    lua_pushliteral(lua, "");
    lua_newtable(lua); /* new string "" meta */
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_pushboolean(lua, false);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
    lua_pop(lua, 1);
    lua_setfield(lua, -2, "string");
    lua_pushcfunction(lua, set_metatable);
    lua_setfield(lua, -2, "setmetatable");
    lua_pushcfunction(lua, to_string);
    lua_setfield(lua, -2, "tostring");
    lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

/* The C side that the prelude hands out; the bindings add to it. */
static void push_host(lua_State *lua)
{
    static const struct {
        const char *library, *name, *as;
    } taken[] = {
        { "_G", "next", "next" },
        { "table", "sort", "sort" },
        { "table", "concat", "concat" },
    };

    lua_newtable(lua);
    for (size_t i = 0; i < ARRAY_COUNT(taken); i++) {
        bool is_table = strcmp(taken[i].library, "table") == 0;

        open_library(lua, is_table ? luaopen_table : luaopen_base, taken[i].library);
        lua_getfield(lua, -1, taken[i].name);
        lua_setfield(lua, -3, taken[i].as);
        lua_pop(lua, 1);
    }
    lua_pushcfunction(lua, less);
    lua_setfield(lua, -2, "less");
}

static const char prelude_name[] = "prelude.lua", prelude_chunk[] = "=prelude.lua";

static int prepare(lua_State *lua)
{
    struct sandbox *sandbox = sandbox_of(lua);
    struct str      prelude = builtin_prelude();

    push_host(lua); /* host; opening base fills the first globals, which go next */
    set_globals(lua);
    bind_host(lua);
    lua_pushvalue(lua, -1);
    sandbox->host = luaL_ref(lua, LUA_REGISTRYINDEX);
    if (luaL_loadbufferx(lua, prelude.data, prelude.len, prelude_chunk, NULL) != LUA_OK)
        return lua_error(lua);
    lua_insert(lua, -2);
    lua_call(lua, 1, 0);
    return 0;
}

struct sandbox *sandbox_new(const struct rule_limits *limits, struct arena *arena, struct err *err)
{
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);

    if (!sandbox) {
        err_set(err, ERR_LIMIT, "no memory for a rule");
        return NULL;
    }
    sandbox->limits = *limits;
    sandbox->scratch.budget_bytes = limits->memory_bytes / 4 + 1;
    sandbox->lua = lua_newstate(allocate, sandbox);
    if (!sandbox->lua) {
        arena_free(&sandbox->heap);
        free(sandbox);
        err_set(err, ERR_LIMIT, "%zu bytes are not enough for a rule", limits->memory_bytes);
        return NULL;
    }
    *(struct sandbox **)lua_getextraspace(sandbox->lua) = sandbox;
    /* Mostly a state ends before this much is garbage; at the limit Lua collects all the same. */
    lua_gc(sandbox->lua, LUA_GCINC, 400, 0, 0);
    const char *fault = sandbox_call(sandbox, prepare, NULL, arena);
    if (fault) {
        err_set(err, ERR_LIMIT, "a rule's state: %s", fault);
        sandbox_free(sandbox);
        return NULL;
    }
    return sandbox;
}

void sandbox_free(struct sandbox *sandbox)
{
    if (!sandbox)
        return;
    lua_close(sandbox->lua);
    arena_free(&sandbox->scratch);
    arena_free(&sandbox->heap);
    free(sandbox);
}

/* Where the script is: the innermost function that is neither C nor of the prelude. */
static bool find_script(lua_State *lua, lua_Debug *place)
{
    enum { MOST_LEVELS = 50 };

    for (int level = 0; level < MOST_LEVELS && lua_getstack(lua, level, place); level++) {
        lua_getinfo(lua, "Sl", place);
        if (place->currentline > 0 && strcmp(place->short_src, prelude_name) != 0)
            return true;
    }
    return false;
}

/* Messages are texts; what else a script raises is named by its type. What functions of the prelude
 * complain about is the script's to mend. */
static int message_of(lua_State *lua)
{
    struct str message;
    lua_Debug  place;

    if (lua_type(lua, 1) != LUA_TSTRING) {
        lua_pushfstring(lua, "raised a %s", luaL_typename(lua, 1));
        return 1;
    }
    message = str_from(lua_tostring(lua, 1));
    if (!str_starts(message, str_from(prelude_name)) || !find_script(lua, &place))
        return 1;
    (void)str_cut(&message, ':');
    (void)str_cut(&message, ':');
    lua_pushfstring(lua, "%s:%d:%s", place.short_src, place.currentline, message.data);
    return 1;
}

const char *sandbox_call(struct sandbox *sandbox, lua_CFunction function, void *argument,
                         struct arena *arena)
{
    lua_State  *lua = sandbox->lua;
    const char *message = NULL;

    sandbox->is_spent = false;
    sandbox->steps_left = sandbox->limits.instructions / HOOK_INSTRUCTIONS + 1;
    sandbox->start_ns = trace_now_ns();
    sandbox->start_cpu_ns = trace_cpu_ns();
    sandbox->arena = arena;
    lua_settop(lua, 0);
    lua_sethook(lua, count_steps, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    if (!lua_checkstack(lua, 3))
        return "not enough memory";
    lua_pushcfunction(lua, message_of);
    lua_pushcfunction(lua, function);
    lua_pushlightuserdata(lua, argument);
    if (lua_pcall(lua, 1, 0, 1) != LUA_OK) {
        const char *text = lua_tostring(lua, -1);

        message = arena_text(arena, "%s", text ? text : "failed without a message");
        if (!message)
            message = "out of memory";
    } else if (sandbox->is_spent) {
        message = "rule ran for too long"; /* it caught the error and had nothing left to do */
    }
    lua_settop(lua, 0);
    return message;
}
