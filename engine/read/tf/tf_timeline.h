/*
 * tf_timeline: traces that tensorflow.python.client.timeline makes of RunMetadata (Chrome trace
 * JSON), turned back into it. What a trace lacks, sizes and shapes of results, stays unknown.
 * Traces of several session runs one behind the other, as programs merge them, become a message
 * each.
 */
#ifndef TFPROF_READ_TF_TIMELINE_H
#define TFPROF_READ_TF_TIMELINE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>

struct tf_timeline {
    VEC(struct str) runs; /* RunMetadata by time, at least one */
    bool is_cut;          /* the text ends early; what stands before was taken */
};

bool tf_timeline_is(struct str bytes); /* looks at little of it */
/* false: not the shape of such a trace, or past the arena's budget. */
bool tf_timeline_read(struct str json, struct arena *arena, struct tf_timeline *timeline,
                      struct err *err);

#endif
