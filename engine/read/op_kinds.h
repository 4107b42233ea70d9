/* op_kinds: op types that stand for something in particular, the same in every format of TensorFlow and XLA. */
#ifndef TFPROF_READ_OP_KINDS_H
#define TFPROF_READ_OP_KINDS_H

#include "model/profile.h"

/* What an op of this type does; `usual` for those that just compute. */
enum activity_kind op_type_kind(struct str type, enum activity_kind usual);

#endif
