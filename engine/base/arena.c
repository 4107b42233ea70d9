#define _GNU_SOURCE /* mremap; madvise: posix_madvise knows no large pages */
#include "base/arena.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 16, FIRST_BLOCK_BYTES = 16 << 10, LARGEST_BLOCK_BYTES = 1 << 20 };
enum { HUGE_PAGE_BYTES = 2 << 20, HUGE_PAGES_FROM_BYTES = 8 << 20 };
/* From here blocks are mappings of their own: what is added to them is zero without being touched.
 * ASan sees the end of allocations and uses after their end only where malloc makes them and none
 * is used again, TSan does not see mremap. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAPPED_FROM_BYTES SIZE_MAX
enum { KEPT_A_ROW = 0 };
#else
#define MAPPED_FROM_BYTES ((size_t)ARENA_LARGE_BYTES)
enum { KEPT_A_ROW = 2 };
#endif

struct arena_block {
    struct arena_block *older, *newer;
    size_t              bytes;    /* all of it, this head too */
    size_t              capacity; /* bytes of memory that allocations may have */
    size_t              used;
    size_t              soiled;   /* bytes of memory that may hold what was there before */
    bool                is_large; /* holds one allocation that may move */
    _Alignas(ALIGNMENT) char memory[];
};

/* Blocks that were freed, to be used again, since the system takes longer to give a page than
 * filling it takes. A row for each power of two; without a lock, so that fork() leaves them whole.
 */
enum { KEPT_ROWS = 8 };
static _Atomic(struct arena_block *) kept[KEPT_ROWS][KEPT_A_ROW ? KEPT_A_ROW : 1];

_Noreturn void arena_out_of_memory(size_t bytes)
{
    char line[64];
    int  len = snprintf(line, sizeof line, "tfprof: out of memory (%zu bytes)\n", bytes);

    if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
        _exit(3); /* nobody hears it */
    _exit(3);
}

static void link_block(struct arena *arena, struct arena_block *block, bool as_newest)
{
    /* Large blocks go behind the current one, so that small allocations keep filling it. */
    struct arena_block *top = arena->block;

    if (as_newest || !top) {
        block->older = top;
        block->newer = NULL;
        if (top)
            top->newer = block;
        arena->block = block;
        return;
    }
    block->newer = top;
    block->older = top->older;
    if (top->older)
        top->older->newer = block;
    top->older = block;
}

/* Half of the time to fill a large array is the system's, page by page, and reading it in no order
 * it is spent on finding the page. Huge pages are advice: nothing depends on them. */
static void want_huge_pages(struct arena_block *block)
{
    if (block->bytes > HUGE_PAGES_FROM_BYTES)
        madvise(block, block->bytes, MADV_HUGEPAGE);
}

/* The least power of two that holds so much, or whole huge pages: what is not touched costs
 * nothing. */
static size_t block_bytes(size_t capacity)
{
    size_t needed = sizeof(struct arena_block) + capacity, bytes = FIRST_BLOCK_BYTES;

    if (needed > HUGE_PAGES_FROM_BYTES)
        return (needed + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    while (bytes < needed)
        bytes *= 2;
    return bytes;
}

static struct arena_block *map_block(size_t bytes)
{
    struct arena_block *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (block == MAP_FAILED)
        return NULL;
    block->bytes = bytes;
    want_huge_pages(block);
    return block;
}

/* The last row whose blocks all have so many bytes at least. */
static int row_of(size_t bytes)
{
    int row = 0;

    while (bytes >= (size_t)FIRST_BLOCK_BYTES << (row + 1))
        row++;
    return row;
}

static struct arena_block *take_from(int row)
{
    for (int i = 0; i < KEPT_A_ROW; i++) {
        struct arena_block *block = atomic_exchange(&kept[row][i], NULL);

        if (block)
            return block;
    }
    return NULL;
}

/* One that many allocations share may be larger than asked for: nothing of it is wasted. */
static struct arena_block *take_kept(size_t bytes, bool is_large)
{
    int first = row_of(bytes), last = is_large ? first : row_of(LARGEST_BLOCK_BYTES);

    for (int row = first; row <= last && row < KEPT_ROWS; row++) {
        struct arena_block *block = take_from(row);

        if (block)
            return block;
    }
    return NULL;
}

static bool keep(struct arena_block *block)
{
    int row = row_of(block->bytes);

    for (int i = 0; row < KEPT_ROWS && i < KEPT_A_ROW; i++) {
        struct arena_block *none = NULL;

        if (atomic_compare_exchange_strong(&kept[row][i], &none, block))
            return true;
    }
    return false;
}

static void free_block(struct arena_block *block)
{
    if (block->soiled < block->used)
        block->soiled = block->used;
    if (keep(block))
        return;
    if (block->bytes >= MAPPED_FROM_BYTES)
        munmap(block, block->bytes);
    else
        free(block);
}

/* Zeroes what earlier use left between two places of a block. */
static void clean(struct arena_block *block, size_t from, size_t to)
{
    if (to > block->soiled)
        to = block->soiled;
    if (from < to)
        memset(block->memory + from, 0, to - from);
}

static struct arena_block *new_block(struct arena *arena, size_t capacity, bool is_large)
{
    size_t bytes = MAPPED_FROM_BYTES == SIZE_MAX ? sizeof(struct arena_block) + capacity
                                                 : block_bytes(capacity);
    struct arena_block *block = take_kept(bytes, is_large);

    if (!block) {
        block = bytes >= MAPPED_FROM_BYTES ? map_block(bytes) : calloc(1, bytes);
        if (!block)
            arena_out_of_memory(capacity);
        block->bytes = bytes;
    }
    block->used = 0;
    block->capacity = is_large ? capacity : block->bytes - sizeof *block;
    block->is_large = is_large;
    link_block(arena, block, !is_large);
    return block;
}

static bool charge(struct arena *arena, size_t bytes)
{
    size_t budget = arena->budget_bytes ? arena->budget_bytes : ARENA_DEFAULT_BUDGET;

    if (bytes > budget || arena->used_bytes > budget - bytes) {
        arena->is_spent = true;
        return false;
    }
    arena->used_bytes += bytes;
    return true;
}

static size_t rounded_up(size_t bytes)
{
    return bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->block;
    size_t              rounded;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    rounded = rounded_up(bytes);
    if (!charge(arena, rounded))
        return NULL;
    if (rounded >= ARENA_LARGE_BYTES) {
        block = new_block(arena, rounded, true);
        block->used = rounded;
        clean(block, 0, rounded);
        return block->memory;
    }
    if (!block || block->is_large || block->capacity - block->used < rounded) {
        size_t next = block && !block->is_large ? block->bytes * 2 : FIRST_BLOCK_BYTES;

        if (next > LARGEST_BLOCK_BYTES)
            next = LARGEST_BLOCK_BYTES;
        while (next - sizeof *block < rounded)
            next *= 2;
        block = new_block(arena, next - sizeof *block, false);
    }
    void *memory = block->memory + block->used;

    clean(block, block->used, block->used + rounded);
    block->used += rounded;
    return memory;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t bytes)
{
    size_t total;

    if (__builtin_mul_overflow(count, bytes, &total))
        return NULL;
    return arena_alloc(arena, total);
}

static struct arena_block *block_of(void *memory)
{
    return (struct arena_block *)(void *)((char *)memory - offsetof(struct arena_block, memory));
}

/* Only the pages that are in use remain, and they end in zeros: the block may grow again. */
static struct arena_block *shrink_mapping(struct arena_block *block, size_t capacity)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), in_use = sizeof *block + capacity;
    size_t bytes = (in_use + page - 1) / page * page;

    memset((char *)block + in_use, 0, bytes - in_use);
    if (block->soiled > capacity)
        block->soiled = capacity;
    if (bytes < block->bytes) {
        munmap((char *)block + bytes, block->bytes - bytes);
        block->bytes = bytes;
    }
    return block;
}

static struct arena_block *grow_mapping(struct arena_block *block, size_t capacity)
{
    size_t bytes = block_bytes(capacity);

    if (bytes > block->bytes) {
        block = mremap(block, block->bytes, bytes, MREMAP_MAYMOVE);
        if (block == MAP_FAILED)
            return NULL;
        block->bytes = bytes;
        want_huge_pages(block);
    }
    clean(block, block->capacity, capacity);
    return block;
}

static struct arena_block *resize_block(struct arena_block *block, size_t capacity)
{
    size_t              before = block->capacity;
    struct arena_block *moved;

    if (block->bytes >= MAPPED_FROM_BYTES)
        return capacity > before ? grow_mapping(block, capacity) : shrink_mapping(block, capacity);
    moved = realloc(block, sizeof *block + capacity);
    if (moved)
        moved->bytes = sizeof *block + capacity;
    if (moved && capacity > before)
        memset(moved->memory + before, 0, capacity - before);
    return moved;
}

static void *resize_large(struct arena *arena, void *memory, size_t new_bytes)
{
    struct arena_block *block = block_of(memory), *moved;
    struct arena_block *older = block->older, *newer = block->newer;

    moved = resize_block(block, new_bytes);
    if (!moved)
        arena_out_of_memory(new_bytes);
    moved->capacity = moved->used = new_bytes;
    if (older)
        older->newer = moved;
    if (newer)
        newer->older = moved;
    else
        arena->block = moved;
    return moved->memory;
}

/* What was allocated last goes on where it is as long as its block has room: a vec that nothing
 * else interrupts is neither copied nor leaves anything behind. */
static bool grow_in_place(struct arena *arena, const char *memory, size_t old_bytes,
                          size_t new_bytes)
{
    struct arena_block *block = arena->block;
    size_t              before = rounded_up(old_bytes), after;

    if (!block || block->is_large || memory + before != block->memory + block->used ||
        new_bytes >= ARENA_LARGE_BYTES)
        return false;
    after = rounded_up(new_bytes);
    if (after - before > block->capacity - block->used || !charge(arena, after - before))
        return false;
    clean(block, block->used, block->used + after - before);
    block->used += after - before;
    return true;
}

void *arena_grow(struct arena *arena, void *memory, size_t old_bytes, size_t new_bytes)
{
    void *moved;

    if (memory && new_bytes <= old_bytes)
        return memory;
    if (memory && old_bytes >= ARENA_LARGE_BYTES && new_bytes < SIZE_MAX / 2) {
        size_t rounded = (new_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        size_t before = block_of(memory)->capacity;

        if (rounded > before && !charge(arena, rounded - before))
            return NULL;
        return rounded > before ? resize_large(arena, memory, rounded) : memory;
    }
    if (memory && grow_in_place(arena, memory, old_bytes, new_bytes))
        return memory;
    moved = arena_alloc(arena, new_bytes);
    if (moved && memory && old_bytes)
        memcpy(moved, memory, old_bytes);
    return moved;
}

void *arena_shrink(struct arena *arena, void *memory, size_t old_bytes, size_t new_bytes)
{
    size_t rounded = (new_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    /* A block that becomes small would no longer be recognised as large by its size. */
    if (!memory || old_bytes < ARENA_LARGE_BYTES || rounded < ARENA_LARGE_BYTES)
        return memory;
    size_t before = block_of(memory)->capacity;

    if (rounded >= before)
        return memory;
    arena->used_bytes -= before - rounded;
    return resize_large(arena, memory, rounded);
}

struct str arena_str(struct arena *arena, struct str s)
{
    char *copy = arena_alloc(arena, s.len + 1);

    if (!copy)
        return (struct str) { NULL, 0 };
    if (s.len)
        memcpy(copy, s.data, s.len);
    return (struct str) { copy, s.len };
}

char *arena_text(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    char   *text;
    int     len;

    va_start(arguments, format);
    len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)len + 1, format, arguments);
    va_end(arguments);
    return text;
}

void arena_join(struct arena *arena, struct arena *from)
{
    struct arena_block *oldest = arena->block;

    while (oldest && oldest->older)
        oldest = oldest->older;
    if (oldest && from->block) { /* behind the others: what has room goes on to be filled */
        oldest->older = from->block;
        from->block->newer = oldest;
    } else if (from->block) {
        arena->block = from->block;
    }
    arena->used_bytes += from->used_bytes;
    from->block = NULL;
    from->used_bytes = 0;
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->block;

    while (block) {
        struct arena_block *older = block->older;

        free_block(block);
        block = older;
    }
    *arena = (struct arena) { .budget_bytes = arena->budget_bytes };
}
