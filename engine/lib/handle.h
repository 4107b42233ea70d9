/* handle: what the opaque types of tfprof.h are made of, and what all its functions share. */
#ifndef TFPROF_LIB_HANDLE_H
#define TFPROF_LIB_HANDLE_H

#include "base/err.h"
#include "cli/command.h"
#include "cli/input.h"
#include "lib/tfprof.h"

#include <pthread.h>

struct tfprof_profile {
    struct arena    arena; /* of option values */
    struct input    input;
    pthread_mutex_t mutex; /* held by whoever looks into input */
};
/* One call of a command on profiles. */
struct asking {
    const struct command *command;
    const char           *subject;
    tfprof_profile       *profiles[2];
    const char *const    *paths; /* of commands that read by themselves */
    size_t                path_count;
    const char *const    *options;
};

/* Turns err into *error, where someone wants it. Returns false. */
bool error_give(const struct err *err, tfprof_error **error);
/* Parses the options of the asking into call, whose arena is set. */
bool asking_parse(const struct asking *asking, struct call *call, struct err *err);
/* What the command makes of the asking. */
tfprof_answer *asking_answer(const struct asking *asking, tfprof_error **error);
/* In an order that two askings of the same profiles share. */
void asking_lock(const struct asking *asking);
void asking_unlock(const struct asking *asking);

#endif
