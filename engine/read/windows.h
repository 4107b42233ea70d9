/*
 * windows: what PyTorch's handler for TensorBoard records of one process. A schedule that repeats
 * makes a file for each window, and one of them is read.
 */
#ifndef TFPROF_READ_WINDOWS_H
#define TFPROF_READ_WINDOWS_H

#include "base/arena.h"
#include "base/str.h"

/* Names [first, *end) in a folder, in order, are of one process: the row of the one that is read.
 * Of training rather than of evaluation, and of those the last whose steps are whole: the program's
 * end cuts a window, which then holds fewer steps than the one before. */
size_t window_choose(const char *folder, char *const *names, size_t count, size_t first,
                     struct arena *scratch, size_t *end);

#endif
