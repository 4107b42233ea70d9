/*
 * intern: name -> small id and back. Ids count up from 0 in the order of first sight; id 0 is the
 * empty name. Open addressing rather than a library's hash: it is on the decoders' hot path.
 */
#ifndef TFPROF_BASE_INTERN_H
#define TFPROF_BASE_INTERN_H

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

#define NO_ID UINT32_MAX

struct intern {
    struct arena *arena;
    const struct intern *below; /* whose names stand under the first ids, or NULL */
    uint32_t      first;        /* own ids begin here */
    struct str   *names; /* by id */
    uint64_t     *slots; /* hash << 32 | id + 1, 0 free */
    uint32_t      count, capacity, slot_count; /* own ones */
};

bool intern_init(struct intern *names, struct arena *arena);
/* The same names under the same ids, and room for more of its own; `from` must outlive it. */
bool       intern_copy(struct intern *names, const struct intern *from, struct arena *arena);
/* Names of its own above those of another, which must not change meanwhile. */
void       intern_stack(struct intern *names, const struct intern *below, struct arena *arena);
uint32_t   intern_add(struct intern *names, struct str name); /* NO_ID past the budget */
uint32_t   intern_add_hashed(struct intern *names, struct str name, uint32_t hash);
bool       intern_reserve(struct intern *names, size_t more); /* room for that many new names */
uint32_t   intern_find(const struct intern *names, struct str name); /* NO_ID when unknown */
struct str intern_str(const struct intern *names, uint32_t id);      /* terminated; NO_ID: empty */

/* A look-up waits three times for memory: for the slot, the record that it names and its text. For
 * names known ahead of time each can be fetched early, in this order and some names apart. Hints:
 * any hash may be given. */
uint32_t intern_hash(struct str name);
void     intern_fetch_slot(const struct intern *names, uint32_t hash);
void     intern_fetch_record(const struct intern *names, uint32_t hash);
void     intern_fetch_text(const struct intern *names, uint32_t hash);

/* Sparse 64-bit keys -> uint32 values, for ids that files choose. */
struct id_map {
    struct arena *arena;
    uint64_t     *keys;
    uint32_t     *values; /* value + 1, 0 free */
    uint32_t      count, slot_count;
};
bool     id_map_put(struct id_map *map, uint64_t key, uint32_t value); /* replaces; false: budget */
uint32_t id_map_get(const struct id_map *map, uint64_t key);           /* NO_ID when absent */

#endif
