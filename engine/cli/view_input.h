/* view_input: what the commands of the classic views share with others: a report and complaints. */
#ifndef TFPROF_CLI_VIEW_INPUT_H
#define TFPROF_CLI_VIEW_INPUT_H

#include "cli/command.h"
#include "cli/input.h"
#include "view/view.h"

/* What is at hand for classic views; false: the profile has no graph of TensorFlow. */
bool view_input_call(struct input *input, struct view_call *call, struct text texts[2],
                     const char *what, struct err *err);
/* Both texts into the call's, which outlive what was read. */
bool view_input_keep(const struct view_call *view_call, struct call *call, struct err *err);
/* For struct command's run: makes the answer and writes it, warnings first. */
bool view_input_run(struct call *call, struct err *err);

/* What the original's `advise` says of files, as a command for programs: text, or an AdviceProto. */
struct classic_advice_values {
    struct input_values input;
    struct option_list  only;   /* names of checkers; none: all */
    const char         *format; /* "text", "proto" */
};
extern const struct command command_classic_advice;

#endif
