/*
 * library: shared libraries that few commands need, loaded when one first does, so that the others
 * do not pay for finding and relocating them.
 */
#ifndef TFPROF_BASE_LIBRARY_H
#define TFPROF_BASE_LIBRARY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct library_symbol {
    const char *name;
    void       *pointer; /* address of the function pointer to fill */
    void (*linked)(void); /* the function itself, where the build has it; NULL: it is loaded */
};
/* A function of a library whose archive a bundled build links (engine/bundle.cmake). */
#ifdef TFPROF_BUNDLED
#define LIBRARY_SYMBOL(function, pointer) { #function, (pointer), (void (*)(void))(function) }
#else
#define LIBRARY_SYMBOL(function, pointer) { #function, (pointer), NULL }
#endif
struct library {
    const char                  *soname;  /* of the version that was built against */
    const char                  *purpose; /* what it is needed for: "to unpack blocks of checkpoints" */
    const struct library_symbol *symbols;
    size_t                       symbol_count;
    bool                         is_loaded;
};

/* Fills all pointers at the first call. False: ERR_INPUT, which says what is missing and what for.
 * Any thread may call it; a library stays until the program ends. */
bool library_need(struct library *library, struct err *err);

#endif
