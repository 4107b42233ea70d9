/* repl_print: values of Lua for people. */
#ifndef TFPROF_RULES_REPL_PRINT_H
#define TFPROF_RULES_REPL_PRINT_H

#include "analyze/facts.h"
#include "rules/repl.h"

#include <lua.h>

/* A query and a list of rows become a table, other values their text; ends in a newline. Raises when
 * the time of the line is over. */
void repl_print(lua_State *lua, int index, const struct repl_shape *shape, struct text *text);
/* All facts, by name. */
void repl_print_facts(const struct facts *facts, struct text *text);

#endif
