/* sort: what qsort does not know: recordings are mostly in order; and how things compare. */
#ifndef TFPROF_BASE_SORT_H
#define TFPROF_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

enum { SORT_ITEM_BYTES = 64 };

/* As qsort, for items of at most SORT_ITEM_BYTES. In order: one pass. Few and near moves:
 * insertion. Else qsort. `compare` tells all items apart, so that the result is one. */
void sort_nearly_sorted(void *items, size_t count, size_t item_bytes,
                        int (*compare)(const void *, const void *));

/* As qsort, for items that are some stretches in order one behind the other, as what was taken from
 * timelines is. `compare` tells all items apart that are not the same. */
void sort_stretches(void *items, size_t count, size_t item_bytes,
                    int (*compare)(const void *, const void *));

/* For qsort: whole numbers of 64 bits and texts (const char *), smaller ones first. */
int sort_by_int64(const void *a, const void *b);
int sort_by_text(const void *a, const void *b);

/* For comparisons: the lesser first; and several, of which the first that tells them apart decides:
 *     return IN_ORDER(COMPARE(right->ns, left->ns), COMPARE(left->name, right->name)); */
#define COMPARE(left, right) (((left) > (right)) - ((left) < (right)))
#define IN_ORDER(...)                                                                              \
    sort_first((const int[]) { __VA_ARGS__ }, sizeof((const int[]) { __VA_ARGS__ }) / sizeof(int))
static inline int sort_first(const int *orders, size_t count)
{
    size_t at = 0;

    while (at + 1 < count && !orders[at])
        at++;
    return orders[at];
}

int64_t int64_least(int64_t a, int64_t b);
int64_t int64_most(int64_t a, int64_t b);

#endif
