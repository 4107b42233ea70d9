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
struct library {
    const char                  *soname;  /* of the version that was built against */
    const char                  *purpose; /* what it is needed for: "to unpack blocks of checkpoints" */
    const struct library_symbol *symbols;
    size_t                       symbol_count;
    bool                         is_loaded;
};

/* A library by a list of what is called of it, as its header declares that:
 *     #define SNAPPY(FUNCTION, table) FUNCTION(snappy_uncompress, table)
 *     LIBRARY(snappy, TFPROF_SNAPPY, "to unpack blocks", SNAPPY);
 * Behind library_need(&snappy_library, err) it is called as snappy.snappy_uncompress(…). */
#define LIBRARY(table, soname_of_it, needed_for, FUNCTIONS)                                        \
    static struct { FUNCTIONS(LIBRARY_POINTER, table) } table;                                     \
    static const struct library_symbol table##_symbols[] = { FUNCTIONS(LIBRARY_ROW, table) };      \
    static struct library              table##_library = {                                         \
        .soname = (soname_of_it),                                                                  \
        .purpose = (needed_for),                                                                   \
        .symbols = table##_symbols,                                                                \
        .symbol_count = sizeof table##_symbols / sizeof *table##_symbols,                          \
    }
#define LIBRARY_POINTER(function, table) __typeof__(function) *function;
#ifdef LIBRARY_IS_LINKED /* this file's, whose archive the build links (engine/bundle.cmake) */
#define LIBRARY_ROW(function, table) { #function, &(table).function, (void (*)(void))(function) },
#else
#define LIBRARY_ROW(function, table) { #function, &(table).function, NULL },
#endif

/* Fills all pointers at the first call. False: ERR_INPUT, which says what is missing and what for.
 * Any thread may call it; a library stays until the program ends. */
bool library_need(struct library *library, struct err *err);

#endif
