/* bind: what rules call in C, one file a bound type. */
#ifndef TFPROF_RULES_BIND_H
#define TFPROF_RULES_BIND_H

#include "analyze/facts.h"
#include "rules/rule.h"

#include <lua.h>

/* Adds fact, has, table, whatif and format_unit to the table on top of the stack. */
void bind_host(lua_State *lua);
/* Raises that no analysis makes `name`, with the nearest name. */
void bind_raise_unknown(lua_State *lua, const char *what, const char *name);
/* Pushes a query over all rows of a table. */
void bind_push_query(lua_State *lua, const struct facts *facts, const struct table *table);
/* The rows of the query at the stack index; false: it is none. */
struct query_rows {
    const struct facts *facts;
    const struct table *table;
    const uint32_t     *rows;
    size_t              count;
};
bool bind_query_rows(lua_State *lua, int index, struct query_rows *rows);
/* Reads what the rule in the table at the index says of itself; raises when it is wrong. */
void bind_read_rule(lua_State *lua, int index, struct rule *rule, struct arena *arena);
/* Pushes what the rule's file returned; raises where that does not load. */
void bind_push_rule(lua_State *lua, const struct rule *rule);
/* Reads the list of edits at the stack index; raises when it is none. */
void bind_read_edits(lua_State *lua, int index, struct arena *arena, struct edit_list *list);
/* Reads one select (or a list of them) as edits of scale 0. */
void bind_read_claims(lua_State *lua, int index, struct arena *arena, struct edit_list *list);

/* Compiles a pattern that is freed with the state, or finds it again; raises for a bad one. */
struct pattern;
const struct pattern *bind_pattern(lua_State *lua, int index);

#endif
