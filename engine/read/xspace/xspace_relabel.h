/* xspace_relabel: events that turn out to be of an op, a copy of a direction, or of another kind, that
 * their own names do not tell. */
#ifndef TFPROF_READ_XSPACE_RELABEL_H
#define TFPROF_READ_XSPACE_RELABEL_H

#include "model/profile.h"

struct relabel {
    struct profile *profile;
    struct id_map   label_of; /* by activity and what was learnt of it; with an arena */
};

/* `op`: its row, or NO_ID: then `copy` is what was learnt. false: the budget. */
bool xspace_relabel(struct relabel *relabel, uint32_t event, uint32_t op, enum copy_direction copy);
bool xspace_relabel_kind(struct relabel *relabel, uint32_t event, enum activity_kind kind);

#endif
