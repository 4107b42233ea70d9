/* prompt: lines from a terminal, with history and completion, or from a pipe; answers to each. */
#ifndef TFPROF_CLI_PROMPT_H
#define TFPROF_CLI_PROMPT_H

#include "cli/session.h"

/* Until the end of input or quit. */
bool prompt_run(struct session *session, struct err *err);

#endif
