/*
 * packed: a column of int64 in few bytes. Rows stand in blocks; a block holds its least value once
 * and each row's distance from it in as many bytes as the greatest distance needs. Neighbours in a
 * recording are alike, so that times, ids and rows take one to four bytes, not eight, and any
 * row is read without the others.
 */
#ifndef TFPROF_BASE_PACKED_H
#define TFPROF_BASE_PACKED_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { PACKED_ROWS = 128 }; /* in a block */

struct packed_block {
    int64_t  base;
    uint64_t place; /* offset in bytes << 8 | bytes a row, 0 to 8 */
};
struct packed {
    uint8_t             *bytes; /* PACKED_SLACK can be read behind the last */
    struct packed_block *blocks;
    size_t               count; /* rows */
    size_t               used, capacity, block_capacity;
};
enum { PACKED_SLACK = 8 };

extern const uint64_t packed_masks[9]; /* by bytes a row */

/* All false past the budget; the column is as before then. */
bool packed_append(struct packed *column, struct arena *arena, const int64_t *values, size_t count);
bool packed_write(struct packed *column, struct arena *arena, size_t first, const int64_t *values,
                  size_t count); /* over rows that are there */
bool packed_set(struct packed *column, struct arena *arena, size_t row, int64_t value);
void packed_read(const struct packed *column, size_t first, size_t count, int64_t *values);
void packed_fit(struct packed *column, struct arena *arena); /* gives unused room back */
/* The first row whose value is at least this, in an ascending column. */
size_t packed_find(const struct packed *column, int64_t value);

static inline int64_t packed_get(const struct packed *column, size_t row)
{
    const struct packed_block *block = &column->blocks[row / PACKED_ROWS];
    size_t                     width = block->place & 0xFF;
    uint64_t                   word;

    memcpy(&word, column->bytes + (block->place >> 8) + row % PACKED_ROWS * width, sizeof word);
    return (int64_t)((uint64_t)block->base + (word & packed_masks[width]));
}

#endif
