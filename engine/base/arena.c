#define _GNU_SOURCE /* mremap; madvise: posix_madvise knows no large pages */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 16, FIRST_BLOCK_BYTES = 16 << 10, LARGEST_BLOCK_BYTES = 1 << 20 };
enum { HUGE_PAGE_BYTES = 2 << 20, HUGE_PAGES_FROM_BYTES = 8 << 20 };
/* From here blocks are mappings of their own: what is added to them is zero without being touched.
 * ASan sees the end of allocations only where malloc makes them, TSan does not see mremap. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAPPED_FROM_BYTES SIZE_MAX
#else
#define MAPPED_FROM_BYTES ((size_t)1 << 20)
#endif

struct arena_block {
    struct arena_block *older, *newer;
    size_t              capacity, used;
    size_t              mapped;   /* bytes of its own mapping; 0: of malloc */
    bool                is_large; /* holds one allocation that may move */
    _Alignas(ALIGNMENT) char memory[];
};

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
    if (block->mapped >= HUGE_PAGES_FROM_BYTES)
        madvise(block, block->mapped, MADV_HUGEPAGE);
}

/* Of a mapping that holds so much and may fill: whole pages, huge ones where they save time. */
static size_t mapping_bytes(size_t capacity)
{
    size_t page =
        capacity >= HUGE_PAGES_FROM_BYTES ? HUGE_PAGE_BYTES : (size_t)sysconf(_SC_PAGESIZE);

    return (sizeof(struct arena_block) + capacity + page - 1) / page * page;
}

static struct arena_block *map_block(size_t capacity)
{
    size_t              bytes = mapping_bytes(capacity);
    struct arena_block *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (block == MAP_FAILED)
        return NULL;
    block->mapped = bytes;
    want_huge_pages(block);
    return block;
}

static void free_block(struct arena_block *block)
{
    if (block->mapped)
        munmap(block, block->mapped);
    else
        free(block);
}

static struct arena_block *new_block(struct arena *arena, size_t capacity, bool is_large)
{
    struct arena_block *block = is_large && capacity >= MAPPED_FROM_BYTES
                                    ? map_block(capacity)
                                    : calloc(1, sizeof *block + capacity);

    if (!block)
        arena_out_of_memory(capacity);
    block->capacity = capacity;
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

void *arena_alloc(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->block;
    size_t              rounded;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded == 0)
        rounded = ALIGNMENT;
    if (!charge(arena, rounded))
        return NULL;
    if (rounded >= ARENA_LARGE_BYTES) {
        block = new_block(arena, rounded, true);
        block->used = rounded;
        return block->memory;
    }
    if (!block || block->is_large || block->capacity - block->used < rounded) {
        size_t capacity = block && !block->is_large ? block->capacity * 2 : FIRST_BLOCK_BYTES;

        if (capacity > LARGEST_BLOCK_BYTES)
            capacity = LARGEST_BLOCK_BYTES;
        while (capacity < rounded)
            capacity *= 2;
        block = new_block(arena, capacity, false);
    }
    void *memory = block->memory + block->used;

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
    if (bytes < block->mapped) {
        munmap((char *)block + bytes, block->mapped - bytes);
        block->mapped = bytes;
    }
    return block;
}

static struct arena_block *grow_mapping(struct arena_block *block, size_t capacity)
{
    size_t bytes = mapping_bytes(capacity);

    if (bytes > block->mapped) {
        block = mremap(block, block->mapped, bytes, MREMAP_MAYMOVE);
        if (block == MAP_FAILED)
            return NULL;
        block->mapped = bytes;
        want_huge_pages(block);
    }
    return block;
}

static struct arena_block *grow_allocation(struct arena_block *block, size_t capacity)
{
    size_t              before = block->capacity;
    struct arena_block *moved;

    if (capacity < MAPPED_FROM_BYTES) {
        moved = realloc(block, sizeof *block + capacity);
        if (moved)
            memset(moved->memory + before, 0, capacity - before);
        return moved;
    }
    moved = map_block(capacity);
    if (moved) {
        size_t mapped = moved->mapped;

        memcpy(moved, block, sizeof *block + before);
        moved->mapped = mapped;
        free(block);
    }
    return moved;
}

static struct arena_block *resize_block(struct arena_block *block, size_t capacity)
{
    if (!block->mapped)
        return capacity > block->capacity ? grow_allocation(block, capacity)
                                          : realloc(block, sizeof *block + capacity);
    return capacity > block->capacity ? grow_mapping(block, capacity)
                                      : shrink_mapping(block, capacity);
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
