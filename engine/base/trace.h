/* trace: for developers. TFPROF_TRACE=read,rules:2 prints categories to stderr with time and bytes. */
#ifndef TFPROF_BASE_TRACE_H
#define TFPROF_BASE_TRACE_H

#include "base/macros.h"

#include <stdbool.h>
#include <stdint.h>

bool    trace_is_on(const char *category, int level);
void    trace_print(const char *category, const char *format, ...) CHECK_PRINTF(2, 3);
int64_t trace_now_ns(void); /* monotonic */
int64_t trace_cpu_ns(void); /* that this thread has worked */

#endif
