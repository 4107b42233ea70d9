/*
 * arena: bump memory with a budget; everything in it is freed at once. A zeroed struct with a
 * budget is ready for use. Memory is zeroed. Past the budget allocation gives NULL and the caller
 * says ERR_LIMIT; out of real memory ends the program (arena.c), the one place that does.
 * Blocks of ARENA_LARGE_BYTES and more stand alone, so that arena_grow can move them without
 * copying (mremap) and nothing is wasted on growing columns: what was not written is not used.
 * What was allocated last grows in place. Some blocks that were freed are used again.
 */
#ifndef TFPROF_BASE_ARENA_H
#define TFPROF_BASE_ARENA_H

#include "base/macros.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *block;       /* newest first */
    size_t              used_bytes;  /* asked for so far */
    size_t              budget_bytes; /* 0: ARENA_DEFAULT_BUDGET */
    bool                is_spent;     /* something did not fit */
};

#define ARENA_DEFAULT_BUDGET ((size_t)64 << 30)
enum { ARENA_LARGE_BYTES = 256 << 10 };

void *arena_alloc(struct arena *arena, size_t bytes) MUST_USE; /* aligned to 16; 0 bytes: valid */
void *arena_alloc_array(struct arena *arena, size_t count, size_t bytes) MUST_USE; /* checked */
/* Makes an allocation bigger, moving it if needed; new bytes are zero. NULL input: a new one. */
void *arena_grow(struct arena *arena, void *memory, size_t old_bytes, size_t new_bytes) MUST_USE;
/* Gives the tail of a large allocation back to the system. */
void *arena_shrink(struct arena *arena, void *memory, size_t old_bytes, size_t new_bytes) MUST_USE;
struct str arena_str(struct arena *arena, struct str s);   /* a copy, terminated; {NULL,0} if full */
char      *arena_text(struct arena *arena, const char *format, ...) CHECK_PRINTF(2, 3);
/* Takes over all that is in another, which is empty then. */
void       arena_join(struct arena *arena, struct arena *from);
void       arena_free(struct arena *arena);                /* accepts a zeroed arena; zeroes it */

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_new_array(arena, type, count) ((type *)arena_alloc_array((arena), (count), sizeof(type)))

/* Ends the program: the machine has no more memory. Status 3, and a line that says so. */
_Noreturn void arena_out_of_memory(size_t bytes);

#endif
