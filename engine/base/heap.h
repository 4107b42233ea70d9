/* heap: which of many sequences goes on next, when they are merged. Items are numbers, each in front
 * of those at twice its place and one, two. */
#ifndef TFPROF_BASE_HEAP_H
#define TFPROF_BASE_HEAP_H

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Moves the item at `place` behind those that are before it. For a heap of new items from the last
 * that has some behind it, count / 2 - 1, to the first. O(log count). */
static ALWAYS_INLINE void heap_sift_down(uint32_t *items, size_t count, size_t place,
                                         bool (*is_before)(const void *context, uint32_t left,
                                                           uint32_t right),
                                         const void *context)
{
    uint32_t moved = items[place];

    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && is_before(context, items[child + 1], items[child]))
            child++;
        if (!is_before(context, items[child], moved))
            break;
        items[place] = items[child];
    }
    items[place] = moved;
}

#endif
