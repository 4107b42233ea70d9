/* read_baseline: a baseline from its file. */
#ifndef TFPROF_CLI_READ_BASELINE_H
#define TFPROF_CLI_READ_BASELINE_H

#include "gate/summary.h"

bool read_baseline(struct summary *baseline, const char *path, struct arena *arena,
                   struct err *err) MUST_USE;
/* Whether the file starts like a baseline. */
bool is_baseline(const char *path);

#endif
