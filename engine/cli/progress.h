/*
 * progress: one line on standard error that says what takes long. Appears after a second of work,
 * only on a terminal, and is gone before results are printed. Programs that use the library are told
 * instead, by a function of theirs.
 */
#ifndef TFPROF_CLI_PROGRESS_H
#define TFPROF_CLI_PROGRESS_H

typedef void progress_listener(void *context, const char *stage);

void progress_allow(void);             /* before this there is no line: a library prints nothing */
/* Stages that this thread comes to are told; NULL ends it. */
void progress_listen(progress_listener *tell, void *context);
void progress_stage(const char *what); /* "reading"; a literal; starts the line if there is none */
void progress_say(const char *line);   /* what has come about; it stays on a terminal */
void progress_end(void);               /* wipes it; harmless without one */

#endif
