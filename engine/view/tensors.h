/* tensors: values of a checkpoint's variables as the views show them. */
#ifndef TFPROF_VIEW_TENSORS_H
#define TFPROF_VIEW_TENSORS_H

#include "view/view.h"

/* Below the row of a node, if values are selected and there is a checkpoint. What it lacks is told
 * in the complaints. */
void print_tensor(struct str name, const struct view_call *call);
bool   tensor_is_shown(int type, bool is_compat); /* the original prints few types */
double tensor_short_number(double number); /* printed with six digits and scanned again */

#endif
