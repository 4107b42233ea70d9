#include "base/sort.h"
#include "read/kineto/reader_kineto.h"

#include <stdlib.h>
#include <string.h>

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    return IN_ORDER(COMPARE(a->start_ns, b->start_ns), COMPARE(b->duration_ns, a->duration_ns),
                    COMPARE(a->raw, b->raw));
}

static bool is_sorted(const struct sort_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_items(&items[i - 1], &items[i]) > 0)
            return false;
    return true;
}

enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS, RADIX_WORTH = 512 };

/* One stable pass by the digit of the start at `shift`. */
static void radix_pass(const struct sort_item *from, struct sort_item *to, size_t count,
                       int64_t least_ns, unsigned shift)
{
    size_t first[RADIX_SIZE] = { 0 }, sum = 0;

    for (size_t i = 0; i < count; i++)
        first[(uint64_t)(from[i].start_ns - least_ns) >> shift & (RADIX_SIZE - 1)]++;
    for (size_t i = 0; i < RADIX_SIZE; i++) {
        size_t size = first[i];

        first[i] = sum;
        sum += size;
    }
    for (size_t i = 0; i < count; i++)
        to[first[(uint64_t)(from[i].start_ns - least_ns) >> shift & (RADIX_SIZE - 1)]++] = from[i];
}

/* Categories of one thread are written one after the other, so a thread's events are far from
 * sorted: radix passes over the starts, then equal starts by what compare_items says. */
void kineto_sort(struct sort_item *items, struct sort_item *spare, size_t count)
{
    int64_t least_ns = INT64_MAX, most_ns = INT64_MIN;
    size_t  first = 0;

    if (is_sorted(items, count))
        return;
    if (count < RADIX_WORTH) {
        qsort(items, count, sizeof *items, compare_items);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        least_ns = items[i].start_ns < least_ns ? items[i].start_ns : least_ns;
        most_ns = items[i].start_ns > most_ns ? items[i].start_ns : most_ns;
    }
    for (unsigned shift = 0; shift < 64 && (uint64_t)(most_ns - least_ns) >> shift;
         shift += RADIX_BITS) {
        radix_pass(items, spare, count, least_ns, shift);
        memcpy(items, spare, count * sizeof *items);
    }
    for (size_t i = 1; i <= count; i++) {
        if (i < count && items[i].start_ns == items[first].start_ns)
            continue;
        if (i - first > 1 && !is_sorted(items + first, i - first))
            qsort(items + first, i - first, sizeof *items, compare_items);
        first = i;
    }
}
