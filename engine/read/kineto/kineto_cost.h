/* kineto_cost: operations and traffic of one execution of an op, from the shapes that a trace of PyTorch tells. */
#ifndef TFPROF_READ_KINETO_COST_H
#define TFPROF_READ_KINETO_COST_H

#include "read/kineto/reader_kineto.h"

struct kineto_operands { /* the tensors among the arguments, members of lists too */
    const struct tensor *list;
    size_t               count;
};
/* Sets op->flops (a multiplication and an addition are two) and op->bytes (read and written); < 0 unknown. */
void kineto_cost(struct str name, const struct kineto_event *event,
                 const struct kineto_operands *operands, struct op *op);

#endif
