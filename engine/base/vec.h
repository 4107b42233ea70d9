/*
 * vec: a typed growable array in an arena.
 *     VEC(struct op) ops = { 0 };
 *     if (!vec_push(&ops, arena, op)) return err_set(err, ERR_LIMIT, ...);
 *     ops.items[i], ops.count
 * Items move when the array grows: keep indices, not pointers.
 */
#ifndef TFPROF_BASE_VEC_H
#define TFPROF_BASE_VEC_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type  *items;                                                                              \
        size_t count, capacity;                                                                    \
    }

/* Room for `more` items behind count; false past the budget. */
#define vec_reserve(vec, arena, more)                                                              \
    ((size_t)(more) <= (vec)->capacity - (vec)->count || __extension__({                           \
        void *moved_ = vec_grow_((vec)->items, &(vec)->capacity, (vec)->count, (size_t)(more),     \
                                 sizeof *(vec)->items, (arena));                                   \
        if (moved_)                                                                                \
            (vec)->items = moved_;                                                                 \
        moved_ != NULL;                                                                            \
    }))
#define vec_push(vec, arena, ...)                                                                  \
    (vec_reserve((vec), (arena), 1) && ((vec)->items[(vec)->count++] = (__VA_ARGS__), true))
/* The items of another vec behind those of this one; an empty one takes them as they are, so that
 * `arena` has to outlive them or have taken what holds them. */
#define vec_append(vec, arena, from)                                                               \
    (((vec)->count == 0 && ((vec)->items = (from)->items, (vec)->count = (from)->count,            \
                            (vec)->capacity = (from)->capacity, true)) ||                          \
     (vec_reserve((vec), (arena), (from)->count) &&                                                \
      ((from)->count == 0 || memcpy((vec)->items + (vec)->count, (from)->items,                    \
                                    (from)->count * sizeof *(vec)->items) != NULL) &&              \
      ((vec)->count += (from)->count, true)))
/* Returns unused capacity; items may move. */
#define vec_fit(vec, arena)                                                                        \
    ((vec)->items = arena_shrink((arena), (vec)->items, (vec)->capacity * sizeof *(vec)->items,    \
                                 (vec)->count * sizeof *(vec)->items),                             \
     (vec)->capacity = (vec)->count)

/* Items with room for more, or NULL. It does not set them itself: a pointer to void is another type than
 * one to items, which compilers may take for other memory. */
void *vec_grow_(void *items, size_t *capacity, size_t count, size_t more, size_t item_bytes,
                struct arena *arena);

#endif
