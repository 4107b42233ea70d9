/*
 * table: a sorted file of keys and values (LevelDB's table), as TensorFlow's checkpoints are.
 * Blocks are checked and unpacked when they are looked at; no offset or length in the file is
 * believed. Keys are valid until the next one; values as long as the bytes and the arena.
 */
#ifndef TFPROF_READ_TABLE_H
#define TFPROF_READ_TABLE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct table {
    struct str    bytes, index; /* index: the block that says where the others are */
    struct arena *arena;        /* of unpacked blocks */
    bool          is_unchecked; /* checksums are not looked at: for fuzzing */
};

bool table_open(struct table *table, struct str bytes, struct arena *arena, struct err *err);
/* Every entry in order until `take` says false; *stop tells whether to stop without an error. */
typedef bool table_take(void *context, struct str key, struct str value, bool *stop,
                        struct err *err);
bool table_each(const struct table *table, table_take *take, void *context, struct err *err);
/* value.data NULL: the key is not there. */
bool table_find(const struct table *table, struct str key, struct str *value, struct err *err);

#endif
