/*
 * nesting: what each event began inside of: of the events of its timeline that had not ended, the
 * one that began last. An event may end behind the one around it: annotations do, and times that
 * were rounded.
 */
#ifndef TFPROF_MODEL_NESTING_H
#define TFPROF_MODEL_NESTING_H

#include "model/profile.h"

/* By event: the event around it; NO_ID at top level. O(events). NULL: the arena is exhausted. */
uint32_t *nesting_find(const struct profile *profile, struct arena *arena);
/* By event of a thread: the activity of the innermost one that `is` chooses of the event itself and
 * all around it, or NO_ID. O(events). NULL: the arena is exhausted. */
uint32_t *nesting_innermost(const struct profile *profile, const uint32_t *around,
                            bool (*is)(const struct profile *, const struct activity *),
                            struct arena *arena);

#endif
