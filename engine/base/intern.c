#include "base/intern.h"

#include <string.h>

enum { FIRST_NAMES = 256 };

bool intern_init(struct intern *names, struct arena *arena)
{
    *names = (struct intern) { .arena = arena };
    return intern_add(names, (struct str) { "", 0 }) == 0;
}

/* A slot holds what decides almost always without a look at the name: the hash over the id. */
static uint32_t slot_hash(uint64_t slot)
{
    return (uint32_t)(slot >> 32);
}

/* Eight bytes at a time, the last ones together with some before them: a multiplication a byte, one
 * waiting for the other, would take longer than all the rest. */
uint32_t intern_hash(struct str name)
{
    const uint64_t factor = UINT64_C(0xff51afd7ed558ccd);
    uint64_t       hash = UINT64_C(0x9e3779b97f4a7c15) ^ name.len, word = 0;

    for (size_t i = 8; i < name.len; i += 8) {
        memcpy(&word, name.data + i - 8, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    if (name.len >= 8) {
        memcpy(&word, name.data + name.len - 8, 8);
    } else if (name.len >= 4) {
        uint32_t low, high;

        memcpy(&low, name.data, 4);
        memcpy(&high, name.data + name.len - 4, 4);
        word = (uint64_t)high << 32 | low;
    } else if (name.len > 0) {
        word = (uint64_t)(uint8_t)name.data[0] << 16 |
               (uint64_t)(uint8_t)name.data[name.len / 2] << 8 | (uint8_t)name.data[name.len - 1];
    }
    hash = (hash ^ word) * factor;
    hash = (hash ^ hash >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(hash >> 32);
}

/* Slot of `name`, or the free one where it belongs. slot_count is a power of two and never full. */
static uint32_t find_slot(const struct intern *names, struct str name, uint32_t hash)
{
    uint32_t mask = names->slot_count - 1;
    uint32_t place = hash & mask;

    while (names->slots[place]) {
        uint64_t slot = names->slots[place];

        if (slot_hash(slot) == hash && str_equal(names->names[(uint32_t)slot - 1], name))
            break;
        place = (place + 1) & mask;
    }
    return place;
}

static bool grow_slots(struct intern *names, uint32_t slot_count)
{
    uint64_t *slots = arena_new_array(names->arena, uint64_t, slot_count);

    if (!slots)
        return false;
    for (uint32_t old = 0; old < names->slot_count; old++) {
        uint32_t place = slot_hash(names->slots[old]) & (slot_count - 1);

        if (!names->slots[old])
            continue;
        while (slots[place])
            place = (place + 1) & (slot_count - 1);
        slots[place] = names->slots[old];
    }
    names->slots = slots;
    names->slot_count = slot_count;
    return true;
}

static bool grow(struct intern *names, uint32_t capacity)
{
    struct str *all = arena_grow(names->arena, names->names, names->capacity * sizeof *all,
                                 capacity * sizeof *all);

    if (!all)
        return false;
    names->names = all;
    if (!grow_slots(names, capacity * 2))
        return false;
    names->capacity = capacity;
    return true;
}

bool intern_reserve(struct intern *names, size_t more)
{
    uint64_t capacity = names->capacity ? names->capacity : FIRST_NAMES;

    while (capacity - names->count < more && capacity <= UINT32_MAX / 8)
        capacity *= 2;
    return capacity <= UINT32_MAX / 4 &&
           (capacity == names->capacity || grow(names, (uint32_t)capacity));
}

bool intern_copy(struct intern *names, const struct intern *from, struct arena *arena)
{
    *names = *from;
    names->arena = arena;
    names->names = arena_new_array(arena, struct str, from->capacity);
    names->slots = arena_new_array(arena, uint64_t, from->slot_count);
    if (!names->names || !names->slots)
        return false;
    memcpy(names->names, from->names, from->count * sizeof *names->names);
    memcpy(names->slots, from->slots, from->slot_count * sizeof *names->slots);
    return true;
}

void intern_stack(struct intern *names, const struct intern *below, struct arena *arena)
{
    *names =
        (struct intern) { .arena = arena, .below = below, .first = below->first + below->count };
}

static uint32_t find_hashed(const struct intern *names, struct str name, uint32_t hash)
{
    for (; names; names = names->below) {
        uint32_t place = names->slot_count ? find_slot(names, name, hash) : 0;

        if (names->slot_count && names->slots[place])
            return names->first + (uint32_t)names->slots[place] - 1;
    }
    return NO_ID;
}

uint32_t intern_add(struct intern *names, struct str name)
{
    return intern_add_hashed(names, name, intern_hash(name));
}

uint32_t intern_add_hashed(struct intern *names, struct str name, uint32_t hash)
{
    uint32_t   place;
    struct str copy;

    if (names->below) {
        uint32_t id = find_hashed(names->below, name, hash);

        if (id != NO_ID)
            return id;
    }
    if (names->count == names->capacity && !intern_reserve(names, 1))
        return NO_ID;
    place = find_slot(names, name, hash);
    if (names->slots[place])
        return names->first + (uint32_t)names->slots[place] - 1;
    copy = arena_str(names->arena, name);
    if (!copy.data)
        return NO_ID;
    names->names[names->count] = copy;
    names->slots[place] = (uint64_t)hash << 32 | ++names->count;
    return names->first + names->count - 1;
}

uint32_t intern_find(const struct intern *names, struct str name)
{
    return find_hashed(names, name, intern_hash(name));
}

void intern_fetch_slot(const struct intern *names, uint32_t hash)
{
    if (names->slot_count)
        __builtin_prefetch(&names->slots[hash & (names->slot_count - 1)]);
}

/* The record that the first slot tells, which mostly is the one that will be asked for; NULL: none
 * is there. */
static const struct str *likely_record(const struct intern *names, uint32_t hash)
{
    uint64_t slot = names->slot_count ? names->slots[hash & (names->slot_count - 1)] : 0;

    return slot && slot_hash(slot) == hash ? &names->names[(uint32_t)slot - 1] : NULL;
}

void intern_fetch_record(const struct intern *names, uint32_t hash)
{
    const struct str *record = likely_record(names, hash);

    if (record)
        __builtin_prefetch(record);
}

void intern_fetch_text(const struct intern *names, uint32_t hash)
{
    const struct str *record = likely_record(names, hash);

    if (record)
        __builtin_prefetch(record->data);
}

struct str intern_str(const struct intern *names, uint32_t id)
{
    while (names->below && id < names->first)
        names = names->below;
    id -= names->first;
    return id < names->count ? names->names[id] : (struct str) { "", 0 };
}

/* Files count ids up: neighbours share a run of slots, so that walking them in order stays in the
 * cache. */
enum { RUN_SLOTS = 64 };

static uint32_t map_slot(const struct id_map *map, uint64_t key)
{
    uint32_t mask = map->slot_count - 1;
    uint64_t hash = (key / RUN_SLOTS) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t inside = (key + (hash >> 58)) % RUN_SLOTS; /* bits that all of the key's reach */
    uint32_t slot = ((uint32_t)(hash >> 32) / RUN_SLOTS * RUN_SLOTS + (uint32_t)inside) & mask;

    while (map->values[slot] && map->keys[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

static bool map_grow(struct id_map *map)
{
    struct id_map bigger = { .arena = map->arena,
                             .slot_count = map->slot_count ? map->slot_count * 2 : RUN_SLOTS };

    if (map->slot_count > UINT32_MAX / 4)
        return false;
    bigger.keys = arena_new_array(map->arena, uint64_t, bigger.slot_count);
    bigger.values = arena_new_array(map->arena, uint32_t, bigger.slot_count);
    if (!bigger.keys || !bigger.values)
        return false;
    for (uint32_t i = 0; i < map->slot_count; i++) {
        if (!map->values[i])
            continue;
        uint32_t slot = map_slot(&bigger, map->keys[i]);

        bigger.keys[slot] = map->keys[i];
        bigger.values[slot] = map->values[i];
        bigger.count++;
    }
    *map = bigger;
    return true;
}

bool id_map_put(struct id_map *map, uint64_t key, uint32_t value)
{
    uint32_t slot;

    if (map->count * 2 >= map->slot_count && !map_grow(map))
        return false;
    slot = map_slot(map, key);
    if (!map->values[slot])
        map->count++;
    map->keys[slot] = key;
    map->values[slot] = value + 1;
    return true;
}

uint32_t id_map_get(const struct id_map *map, uint64_t key)
{
    uint32_t slot;

    if (!map->slot_count)
        return NO_ID;
    slot = map_slot(map, key);
    return map->values[slot] ? map->values[slot] - 1 : NO_ID;
}
