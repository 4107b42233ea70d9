/* view_input: what the commands of the classic views share with others: a report and complaints. */
#ifndef TFPROF_CLI_VIEW_INPUT_H
#define TFPROF_CLI_VIEW_INPUT_H

#include "cli/input.h"
#include "view/view.h"

/* What is at hand for classic views; false: the profile has no graph of TensorFlow. */
bool view_input_call(struct input *input, struct view_call *call, struct text texts[2],
                     const char *what, struct err *err);
/* Complaints to standard error, the report to standard output. */
bool view_input_write(const struct view_call *call, struct err *err);

/* advise --format classic and adviceproto: reads the files and says what the original would. */
bool view_input_advise(const struct input_values *values, const struct option_list *operands,
                       const struct option_list *only, bool is_proto, struct err *err);

#endif
