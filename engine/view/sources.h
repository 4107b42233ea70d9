/* sources: lines of the user's program, from a copy of it in a folder. */
#ifndef TFPROF_VIEW_SOURCES_H
#define TFPROF_VIEW_SOURCES_H

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct sources;

/* NULL: past the budget. The folder need not hold all files; what it lacks has no lines. */
struct sources *sources_open(const char *folder, struct arena *arena);
void            sources_close(struct sources *sources); /* accepts NULL */
/* The line without its indent, valid until sources_close; empty: not there. path as recorded: the
 * longest end of it that the folder holds is the file. */
struct str sources_line(struct sources *sources, struct str path, uint32_t line);

#endif
