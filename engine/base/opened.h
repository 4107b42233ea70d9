/*
 * opened: the files that were read since the program began. A result must not replace one of them,
 * and where a mapped one shrinks or fails under a reader, a program that watches them ends with a line
 * that says so instead of a signal.
 */
#ifndef TFPROF_BASE_OPENED_H
#define TFPROF_BASE_OPENED_H

#include "base/str.h"

#include <stdbool.h>
#include <sys/stat.h>

/* From now on. Signals are the program's, so a library does not. */
void opened_watch(void);
/* Remembers a plain file. Past memory it does nothing. */
void opened_add(const char *path, const struct stat *status);
bool opened_has(const struct stat *status);
/* Bytes of a file that are mapped from now on, until opened_unmap. */
void opened_map(const char *path, struct str bytes);
void opened_unmap(struct str bytes);

#endif
