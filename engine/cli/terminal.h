/* terminal: how results may look where they go. */
#ifndef TFPROF_CLI_TERMINAL_H
#define TFPROF_CLI_TERMINAL_H

#include "base/arena.h"

#include <stdbool.h>

enum { TERMINAL_COLUMNS = 80, TERMINAL_MIN_COLUMNS = 60 };

/* 80, or what a narrower terminal on standard output has, down to 60. */
unsigned terminal_width(void);
/* choice: "always", "never", or "auto": a terminal on standard output that knows colours, and no
 * NO_COLOR in the environment. */
bool terminal_is_colored(const char *choice, bool is_standard_output);
/* The command that shows long answers a screen at a time: TFPROF_PAGER, else PAGER, else less where
 * it is installed. NULL: none, as TFPROF_PAGER=cat says. */
const char *terminal_pager(struct arena *arena);

#endif
