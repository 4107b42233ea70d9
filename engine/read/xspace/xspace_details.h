/* xspace_details: what the "details" texts of GPU events say ("grid:4,64,1 regs:32", "size:4096").
 */
#ifndef TFPROF_READ_XSPACE_DETAILS_H
#define TFPROF_READ_XSPACE_DETAILS_H

#include "base/str.h"
#include "model/profile.h"

/* What cannot be is unknown: more registers than a thread can have, an occupancy of nothing.
 * false: the text has no launch configuration. */
bool xspace_kernel_config(struct str details, struct kernel_config *config);
/* The size of a copy, a set or an allocation; false: the text has none. */
bool xspace_details_bytes(struct str details, int64_t *bytes);
/* The memories that a copy is between ("pageable", "device"); false: the text does not tell both.
 */
bool xspace_details_kinds(struct str details, struct str *from, struct str *to);
/* The way of a copy by such memories, as "pinned -> device"; none where one is of neither side. */
enum copy_direction xspace_memories_direction(struct str kinds);

#endif
