/* tf_lanes: events of runs whose threads were not recorded. */
#ifndef TFPROF_READ_TF_LANES_H
#define TFPROF_READ_TF_LANES_H

#include "read/tf/tf_model.h"

/* Adds events and timelines of op_runs from row `first` on. false: past the budget. */
bool tf_lanes_place(struct tf_model *model, size_t first);

#endif
