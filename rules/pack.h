/*
 * pack: a folder of rules that says in pack.toml what it is. A folder without one is a pack too: its
 * path is its name, and its rules may have any id.
 */
#ifndef TFPROF_RULES_PACK_H
#define TFPROF_RULES_PACK_H

#include "base/arena.h"
#include "base/err.h"

struct pack_manifest {
    const char *name;        /* before the slash in the ids of its rules; NULL: there is no manifest */
    const char *version;
    const char *description; /* may be NULL */
    const char *file;        /* of the manifest */
};

/* Reads DIRECTORY/pack.toml if there is one. ERR_USAGE, with line and column, for keys that are wrong
 * or missing, and for a pack that needs a newer API or program than this one. */
bool pack_read(const char *directory, struct arena *arena, struct pack_manifest *manifest,
               struct err *err);

#endif
