/* xspace_decode: all planned lines into the profile: decoding, side by side where that pays, then
 * the merge, activities and flows. */
#ifndef TFPROF_READ_XSPACE_DECODE_H
#define TFPROF_READ_XSPACE_DECODE_H

#include "read/read.h"
#include "read/xspace_merge.h"

bool xspace_decode(struct xspace_tasks *tasks, const struct read_options *options,
                   struct profile *profile, struct arena *scratch, struct err *err);

#endif
