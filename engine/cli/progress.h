/*
 * progress: one line on standard error that says what takes long. Appears after a second of work,
 * only on a terminal, and is gone before results are printed.
 */
#ifndef TFPROF_CLI_PROGRESS_H
#define TFPROF_CLI_PROGRESS_H

void progress_allow(void);              /* before this there is none: a library says nothing */
void progress_stage(const char *what); /* "reading"; a literal; starts the line if there is none */
void progress_end(void);               /* wipes it; harmless without one */

#endif
