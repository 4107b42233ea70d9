/*
 * own_types: types that a user gives ops, from lines of text: TYPE = REGEX. An op whose whole name the
 * regex matches has the type beside its own, as if an op log had said so.
 */
#ifndef TFPROF_VIEW_OWN_TYPES_H
#define TFPROF_VIEW_OWN_TYPES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/pattern.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/classic.h"

struct own_type {
    struct str      name;
    struct pattern *pattern; /* of names of ops */
    uint32_t        line;
};
struct own_types {
    VEC(struct own_type) items; /* as written: a type may stand on several lines */
};

/* Reads the file at path. False: ERR_INPUT, or ERR_USAGE with the line. */
bool own_types_read(const char *path, struct arena *arena, struct own_types *types, struct err *err);
void own_types_free(struct own_types *types); /* accepts zeroed ones */
/* Whether row `at` gives this op its type. */
bool own_types_give(const struct own_types *types, size_t at, struct str op);
/* A line in complaints for each that gives no op its type: it is probably misspelt. */
void own_types_tell_unused(const struct own_types *types, const char *path,
                           const struct classic *classic, struct text *complaints);
/* False, ERR_USAGE: a regex cost too much for some name. */
bool own_types_settled(const struct own_types *types, struct err *err);

#endif
