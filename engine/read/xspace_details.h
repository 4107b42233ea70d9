/* xspace_details: what the "details" texts of GPU events say ("grid:4,64,1 regs:32", "size:4096").
 */
#ifndef TFPROF_READ_XSPACE_DETAILS_H
#define TFPROF_READ_XSPACE_DETAILS_H

#include "base/str.h"
#include "model/profile.h"

/* false: the text has no launch configuration. */
bool xspace_kernel_config(struct str details, struct kernel_config *config);
/* The size of a copy, a set or an allocation; false: the text has none. */
bool xspace_details_bytes(struct str details, int64_t *bytes);

#endif
