#include "base/vec.h"

#include <stdint.h>

void *vec_grow_(void *items, size_t *capacity, size_t count, size_t more, size_t item_bytes,
                struct arena *arena)
{
    size_t wanted, bytes;
    void  *moved;

    if (__builtin_add_overflow(count, more, &wanted))
        return NULL;
    if (wanted < 2 * *capacity)
        wanted = 2 * *capacity;
    if (wanted < 8)
        wanted = 8;
    if (__builtin_mul_overflow(wanted, item_bytes, &bytes))
        return NULL;
    moved = arena_grow(arena, items, *capacity * item_bytes, bytes);
    if (moved)
        *capacity = wanted;
    return moved;
}
