/*
 * named: files that options of their own name, as --graph-path does. Each must be what its option
 * says: a view of a graph without its runs would be a table of zeros.
 */
#ifndef TFPROF_READ_NAMED_H
#define TFPROF_READ_NAMED_H

#include "read/read_paths.h"

/* Adds them to the files that operands stand for. ERR_USAGE: options that exclude each other. */
bool named_add(const struct read_options *options, struct arena *arena, struct read_paths *found,
               struct err *err);
/* reader: what takes the bytes; NULL: none. Otherwise false with ERR_FORMAT. */
bool named_check(const struct named_role *role, struct str bytes, const struct reader *reader,
                 struct err *err);
/* Of a file that has no place beside what is read: false, ERR_USAGE. */
bool named_left_out(const struct named_role *role, const struct reader *chosen, struct err *err);

#endif
