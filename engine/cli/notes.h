/*
 * notes: what a reader found and went on, on standard error. input_read and input_load say it for
 * every command, because most results have no room for it; JSON of results has it too.
 */
#ifndef TFPROF_CLI_NOTES_H
#define TFPROF_CLI_NOTES_H

#include "base/err.h"
#include "model/profile.h"

enum notes_use {
    NOTES_TELL,       /* all of them */
    NOTES_TELL_DAMAGE, /* the result has the others */
    NOTES_KEEP,       /* the result goes to the same terminal and has them, or nobody asked */
};

/* Five at most, and how many more there are. `name` stands for files where a note names none. */
void notes_tell(const struct profile *profile, const char *name, enum notes_use use);
/* ERR_FORMAT with the first note of damage. */
bool notes_refuse(const struct profile *profile, const char *name, struct err *err);

#endif
