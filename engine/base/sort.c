#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOVES_AN_ITEM = 8 }; /* past which qsort is faster */

/* false: too far out of order; the items are some order of themselves. */
static bool insert_all(char *items, size_t count, size_t bytes,
                       int (*compare)(const void *, const void *))
{
    char   item[SORT_ITEM_BYTES];
    size_t moves = 0;

    for (size_t i = 1; i < count; i++) {
        size_t to = i;

        if (compare(items + (i - 1) * bytes, items + i * bytes) <= 0)
            continue;
        memcpy(item, items + i * bytes, bytes);
        while (to > 0 && i - to < MOVES_AN_ITEM * count - moves &&
               compare(items + (to - 1) * bytes, item) > 0)
            to--;
        memmove(items + (to + 1) * bytes, items + to * bytes, (i - to) * bytes);
        memcpy(items + to * bytes, item, bytes);
        moves += i - to;
        if (moves >= MOVES_AN_ITEM * count)
            return false;
    }
    return true;
}

void sort_nearly_sorted(void *items, size_t count, size_t item_bytes,
                        int (*compare)(const void *, const void *))
{
    if (count > 1 && !insert_all(items, count, item_bytes, compare))
        qsort(items, count, item_bytes, compare);
}

int sort_by_int64(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

int sort_by_text(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;

    return strcmp(*left, *right);
}

int64_t int64_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t int64_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
