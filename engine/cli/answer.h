/*
 * answer: commands that say something of recordings that were read: their options, what they read,
 * and the text that they make of it, which goes where the caller wants it. The command line reads,
 * asks and writes; the library (lib/tfprof.h) asks the same of what it has read before.
 */
#ifndef TFPROF_CLI_ANSWER_H
#define TFPROF_CLI_ANSWER_H

#include "cli/command.h"

/* For struct command's run: reads the operands as one recording, answers, writes. */
bool answer_run(struct call *call, struct err *err);
/* The same for commands whose make reads by itself. */
bool answer_run_alone(struct call *call, struct err *err);
/* The same in pieces. Before anything is read: finds the renderer, and what is wrong with the options. */
bool answer_prepare(struct call *call, struct err *err);
/* call->inputs are read; fills call->text and call->warnings. */
bool answer_make(struct call *call, struct arena *arena, struct err *err);
/* Writes call->warnings to standard error. */
void answer_warn(const struct call *call);
/* Both, and writes the text where the options say and the warnings to standard error. */
bool answer_give(struct call *call, struct arena *arena, struct err *err);

#endif
