/* fields: reading a Lua table into C, with errors that say which field is wrong. All raise. */
#ifndef TFPROF_RULES_FIELDS_H
#define TFPROF_RULES_FIELDS_H

#include "base/arena.h"
#include "base/vec.h"
#include "rules/api.h"

#include <lua.h>
#include <stdbool.h>

struct names {
    VEC(const char *) list;
};

/* A text in the arena; NULL when the field is absent and optional. */
const char *field_text(lua_State *lua, int index, const char *field, bool is_needed,
                       struct arena *arena);
double      field_number(lua_State *lua, int index, const char *field, double otherwise);
/* A list of texts (or one) to the end of `names`; absent: nothing. */
void field_names(lua_State *lua, int index, const char *field, struct arena *arena,
                 struct names *names);
/* Raises for a field that is not in `known`, naming the nearest. Other keys than texts are skipped.
 */
void field_check_known(lua_State *lua, int index, const char *what, const char *const *known,
                       size_t count);
/* The same for the fields that api.h has for these classes (API_CLASS_COUNT: only the first). */
void field_check_class(lua_State *lua, int index, const char *what, enum api_class class,
                       enum api_class more);
/* Was the table at the index made by the prelude's builder `kind`? */
bool field_is_tagged(lua_State *lua, int index, const char *kind);
/* A text that may be worn by `index`'th stack value, copied into the arena. */
const char *field_copy(lua_State *lua, int index, const char *field, struct arena *arena);

#endif
