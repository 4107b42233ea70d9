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

/* Ends of the stretches that are in order, as many as there are; 0: more than are worth merging. */
static size_t find_runs(const char *items, size_t count, size_t bytes, size_t *ends, size_t most,
                        int (*compare)(const void *, const void *))
{
    size_t runs = 0;

    for (size_t i = 1; i <= count; i++) {
        if (i < count && compare(items + (i - 1) * bytes, items + i * bytes) <= 0)
            continue;
        if (runs == most)
            return 0;
        ends[runs++] = i;
    }
    return runs;
}

/* Of two neighbouring runs one, elsewhere. */
static void merge_two(const char *left, const char *middle, const char *end, size_t bytes,
                      char *into, int (*compare)(const void *, const void *))
{
    const char *right = middle;

    while (left < middle && right < end) {
        const char **least = compare(left, right) <= 0 ? &left : &right;

        memcpy(into, *least, bytes);
        *least += bytes;
        into += bytes;
    }
    memcpy(into, left, (size_t)(middle - left));
    memcpy(into + (middle - left), right, (size_t)(end - right));
}

/* Pairs of runs from one place to the other. Returns how many there are then. */
static size_t merge_pairs(const char *from, char *into, size_t bytes, size_t *ends, size_t runs,
                          int (*compare)(const void *, const void *))
{
    size_t start = 0, merged = 0;

    for (size_t run = 0; run < runs; run += 2) {
        size_t middle = ends[run], end = run + 1 < runs ? ends[run + 1] : middle;

        merge_two(from + start * bytes, from + middle * bytes, from + end * bytes, bytes,
                  into + start * bytes, compare);
        ends[merged++] = start = end;
    }
    return merged;
}

void sort_stretches(void *items, size_t count, size_t item_bytes,
                    int (*compare)(const void *, const void *))
{
    enum { MOST_RUNS = 256 };
    size_t ends[MOST_RUNS], runs = 0;
    char  *from = items, *into = NULL;

    if (count > 1)
        runs = find_runs(items, count, item_bytes, ends, MOST_RUNS, compare);
    if (runs > 1)
        into = malloc(count * item_bytes);
    if (count > 1 && !into) {
        if (runs != 1)
            qsort(items, count, item_bytes, compare);
        return;
    }
    while (runs > 1) {
        char *merged = into;

        runs = merge_pairs(from, into, item_bytes, ends, runs, compare);
        into = from;
        from = merged;
    }
    if (from != items) {
        memcpy(items, from, count * item_bytes);
        into = from;
    }
    free(into);
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
