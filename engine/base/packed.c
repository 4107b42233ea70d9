#include "base/packed.h"

#include "base/macros.h"

enum { FIRST_BLOCKS = 8, MOST_BLOCK_BYTES = PACKED_ROWS * sizeof(int64_t) };
#define MASK(bytes) (~UINT64_C(0) >> (64 - 8 * (bytes)))

const uint64_t packed_masks[9] = { 0,       MASK(1), MASK(2), MASK(3), MASK(4),
                                   MASK(5), MASK(6), MASK(7), MASK(8) };

/* Room for one more block of any width. Columns that have become large move without copying, so
 * doubling costs nothing; what is not written stays unused. */
static bool reserve(struct packed *column, struct arena *arena, size_t block_count)
{
    size_t wanted = column->used + MOST_BLOCK_BYTES + PACKED_SLACK;

    if (block_count > column->block_capacity) {
        size_t capacity = column->block_capacity ? column->block_capacity * 2 : FIRST_BLOCKS;
        struct packed_block *blocks =
            arena_grow(arena, column->blocks, column->block_capacity * sizeof *blocks,
                       capacity * sizeof *blocks);

        if (!blocks)
            return false;
        column->blocks = blocks;
        column->block_capacity = capacity;
    }
    if (wanted > column->capacity) {
        size_t   capacity = 2 * wanted;
        uint8_t *bytes = arena_grow(arena, column->bytes, column->capacity, capacity);

        if (!bytes)
            return false;
        column->bytes = bytes;
        column->capacity = capacity;
    }
    return true;
}

/* Bytes a row of these values; *least gets the base. */
static size_t width_of(const int64_t *values, size_t count, int64_t *least)
{
    int64_t  low = values[0], high = values[0];
    uint64_t range;

    for (size_t i = 1; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    range = (uint64_t)high - (uint64_t)low;
    *least = low;
    return range ? (size_t)(71 - __builtin_clzll(range)) / 8 : 0;
}

/* Stores overlap towards the next row; behind the last there is slack. */
static void store(uint8_t *at, const int64_t *values, size_t count, int64_t base, size_t width)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t distance = (uint64_t)values[i] - (uint64_t)base;

        memcpy(at, &distance, sizeof distance);
        at += width;
    }
}

/* Bytes that the rows of a block take. */
static size_t bytes_of(const struct packed *column, size_t block)
{
    size_t rows = column->count - block * PACKED_ROWS;

    return (rows < PACKED_ROWS ? rows : PACKED_ROWS) * (column->blocks[block].place & 0xFF);
}

/* A block's rows anew, at the end of the bytes. */
static void put_block(struct packed *column, size_t block, const int64_t *values, size_t count)
{
    int64_t base;
    size_t  width = width_of(values, count, &base);

    store(column->bytes + column->used, values, count, base, width);
    column->blocks[block] = (struct packed_block) { base, (uint64_t)column->used << 8 | width };
    column->used += count * width;
}

static bool append_some(struct packed *column, struct arena *arena, const int64_t *values,
                        size_t count)
{
    size_t  block = column->count / PACKED_ROWS, there = column->count % PACKED_ROWS;
    int64_t rows[PACKED_ROWS];

    if (!reserve(column, arena, block + 1))
        return false;
    if (there) { /* the block that has begun is the last, and its bytes mostly too: taken back */
        size_t bytes = bytes_of(column, block);

        packed_read(column, block * PACKED_ROWS, there, rows);
        memcpy(rows + there, values, count * sizeof *rows);
        if ((column->blocks[block].place >> 8) + bytes == column->used)
            column->used -= bytes;
        values = rows;
    }
    put_block(column, block, values, there + count);
    column->count += count;
    return true;
}

bool packed_append(struct packed *column, struct arena *arena, const int64_t *values, size_t count)
{
    while (count > 0) {
        size_t room = PACKED_ROWS - column->count % PACKED_ROWS;
        size_t some = count < room ? count : room;

        if (!append_some(column, arena, values, some))
            return false;
        values += some;
        count -= some;
    }
    return true;
}

/* In place where the new values fit the block, else at the end. */
static bool write_block(struct packed *column, struct arena *arena, size_t block,
                        const int64_t *values, size_t count)
{
    size_t  width = column->blocks[block].place & 0xFF, wanted;
    int64_t base;

    wanted = width_of(values, count, &base);
    if (wanted <= width) { /* the store's slack is another block's: kept */
        uint8_t *end = column->bytes + (column->blocks[block].place >> 8) + count * width;
        uint64_t behind;

        memcpy(&behind, end, sizeof behind);
        store(end - count * width, values, count, base, width);
        memcpy(end, &behind, sizeof behind);
        column->blocks[block].base = base;
        return true;
    }
    if (!reserve(column, arena, block + 1))
        return false;
    put_block(column, block, values, count);
    return true;
}

bool packed_write(struct packed *column, struct arena *arena, size_t first, const int64_t *values,
                  size_t count)
{
    while (count > 0) {
        size_t  block = first / PACKED_ROWS, begin = block * PACKED_ROWS, in = first - begin;
        size_t  there = column->count - begin < PACKED_ROWS ? column->count - begin : PACKED_ROWS;
        size_t  some = count < there - in ? count : there - in;
        int64_t rows[PACKED_ROWS];

        packed_read(column, begin, there, rows);
        memcpy(rows + in, values, some * sizeof *rows);
        if (!write_block(column, arena, block, rows, there))
            return false;
        first += some;
        values += some;
        count -= some;
    }
    return true;
}

bool packed_set(struct packed *column, struct arena *arena, size_t row, int64_t value)
{
    const struct packed_block *block = &column->blocks[row / PACKED_ROWS];
    size_t                     width = block->place & 0xFF;
    uint8_t                   *at = column->bytes + (block->place >> 8) + row % PACKED_ROWS * width;
    uint64_t                   distance = (uint64_t)value - (uint64_t)block->base, word;

    if (value < block->base || distance > packed_masks[width])
        return packed_write(column, arena, row, &value, 1);
    memcpy(&word, at, sizeof word);
    word = (word & ~packed_masks[width]) | distance;
    memcpy(at, &word, sizeof word);
    return true;
}

void packed_read(const struct packed *column, size_t first, size_t count, int64_t *values)
{
    while (count > 0) {
        const struct packed_block *block = &column->blocks[first / PACKED_ROWS];
        size_t                     width = block->place & 0xFF, in = first % PACKED_ROWS;
        size_t                     some = count < PACKED_ROWS - in ? count : PACKED_ROWS - in;
        const uint8_t             *at = column->bytes + (block->place >> 8) + in * width;
        uint64_t                   base = (uint64_t)block->base, mask = packed_masks[width], word;

        for (size_t i = 0; i < some; i++) {
            memcpy(&word, at, sizeof word);
            values[i] = (int64_t)(base + (word & mask));
            at += width;
        }
        first += some;
        values += some;
        count -= some;
    }
}

void packed_fit(struct packed *column, struct arena *arena)
{
    size_t block_count = (column->count + PACKED_ROWS - 1) / PACKED_ROWS;

    if (!column->count)
        return;
    column->bytes =
        arena_shrink(arena, column->bytes, column->capacity, column->used + PACKED_SLACK);
    column->blocks =
        arena_shrink(arena, column->blocks, column->block_capacity * sizeof *column->blocks,
                     block_count * sizeof *column->blocks);
    /* Below a large allocation nothing is given back: the room is the arena's to count. */
    if (column->capacity >= ARENA_LARGE_BYTES && column->used + PACKED_SLACK >= ARENA_LARGE_BYTES)
        column->capacity = column->used + PACKED_SLACK;
    if (column->block_capacity * sizeof *column->blocks >= ARENA_LARGE_BYTES &&
        block_count * sizeof *column->blocks >= ARENA_LARGE_BYTES)
        column->block_capacity = block_count;
}

size_t packed_find(const struct packed *column, int64_t value)
{
    /* Blocks whose first row, their least, is below the value: it is in the last of them. */
    size_t blocks = LOWER_BOUND((column->count + PACKED_ROWS - 1) / PACKED_ROWS, i,
                                column->blocks[i].base < value);
    size_t row, left;

    if (blocks == 0)
        return 0;
    row = (blocks - 1) * PACKED_ROWS + 1;
    left = column->count - row;
    return row + LOWER_BOUND(left < PACKED_ROWS - 1 ? left : PACKED_ROWS - 1, i,
                             packed_get(column, row + i) < value);
}
