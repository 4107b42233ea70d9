/* same_job: whether several files can be of one job, where they do not tell it themselves. */
#ifndef TFPROF_READ_SAME_JOB_H
#define TFPROF_READ_SAME_JOB_H

#include "base/err.h"
#include "model/profile.h"

/* false: ERR_USAGE where hosts share hardly any op or kernel, with its shapes, that they ran, and
 * neither their ranks nor their folder make them one job; or ERR_LIMIT. */
bool same_job_check(const struct profile *profile, struct err *err);

#endif
