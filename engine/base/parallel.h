/* parallel: the same function over indices 0..count-1 on up to `threads` threads (0: one a core).
 * Work is handed out one index at a time, big items first if the caller sorts them so. */
#ifndef TFPROF_BASE_PARALLEL_H
#define TFPROF_BASE_PARALLEL_H

#include <stddef.h>

void     parallel_for(size_t count, unsigned threads, void (*work)(void *shared, size_t index),
                      void *shared);
unsigned parallel_cores(void);

#endif
