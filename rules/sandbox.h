/*
 * sandbox: a Lua state that a script cannot get out of: no input, output, clock, chance or code
 * loading, a cap on its heap, a budget of instructions that pcall does not survive, a wall budget,
 * and patterns through PCRE2 with limits. Everything that may raise runs through sandbox_call.
 */
#ifndef TFPROF_RULES_SANDBOX_H
#define TFPROF_RULES_SANDBOX_H

#include "base/arena.h"
#include "base/err.h"
#include "rules/rule.h"

#include <lua.h>

enum { SANDBOX_STEP = 16, SANDBOX_CLASSES = 33 }; /* blocks of up to 512 bytes */
struct sandbox_free {
    struct sandbox_free *next;
};

struct sandbox {
    lua_State         *lua;
    struct rule_limits limits;
    size_t             heap_bytes;
    int64_t            steps_left; /* hook calls until the budget is spent */
    int64_t            start_ns, start_cpu_ns; /* of the call */
    bool               is_spent;
    int                host;       /* reference in the registry: the C side */
    struct arena       heap;       /* small blocks of the state, with those that are free by size */
    struct sandbox_free *free[SANDBOX_CLASSES];
    struct arena       scratch;    /* what rules make C remember; bounded, freed with the state */
    const struct rule_view *view;  /* while a rule runs */
    struct arena           *arena;
};

struct sandbox *sandbox_new(const struct rule_limits *limits, struct arena *arena, struct err *err);
void            sandbox_free(struct sandbox *sandbox); /* accepts NULL */
/* Calls `function` with `argument` (a light userdata) under the limits, with fresh budgets. NULL:
 * it returned; else the message "file:line: …", in the arena. */
const char *sandbox_call(struct sandbox *sandbox, lua_CFunction function, void *argument,
                         struct arena *arena);
/* The sandbox a C function was called in; raises when its time is over. */
struct sandbox *sandbox_of(lua_State *lua);
void            sandbox_check_time(lua_State *lua);
/* string functions with the limits (sandbox_text.c); pushes the library. */
void sandbox_push_strings(lua_State *lua);

#endif
