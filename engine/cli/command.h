/*
 * command: what `tfprof NAME` can be. A command is a row of constants and a function; parsing,
 * help, the man page and completion come from the row. To add one: command_X.c with `const struct
 * command command_X`, one line in commands.def.
 */
#ifndef TFPROF_CLI_COMMAND_H
#define TFPROF_CLI_COMMAND_H

#include "base/arena.h"
#include "base/err.h"
#include "base/option.h"
#include "base/text.h"
#include "report/output.h"

#include <stdbool.h>
#include <stddef.h>

struct input;

struct call { /* one invocation, parsed */
    const struct command *command;
    void                 *values; /* the command's option struct */
    struct option_list    operands;
    struct arena         *arena;  /* lives as long as the command */
    int                   status; /* exit status when run returns true; starts at 0 */
    /* Of commands with an answer: */
    const char           *subject; /* what of a recording is asked for: a table, a rule; or NULL */
    void                 *state;   /* what prepare leaves for make */
    struct input         *inputs[2]; /* what was read; of diff two */
    const struct output  *output;
    struct output_options shape;
    struct text           text, warnings; /* the result, and lines for standard error beside it */
    bool                  is_streamed; /* parts of it may go to standard output as they are made */
};

/* How a command makes a result of what was read (cli/answer.h): the command line and the library
 * ask the same functions. */
struct command_answer {
    size_t input_offset, result_offset; /* of input_values and result_values in the option struct */
    bool   has_no_result;               /* no result_values: the command has its own formats */
    bool   has_notes;                   /* the result holds the notes of reading */
    bool   has_files;                   /* its option `output` names files beside the result */
    bool   needs_events;                /* summaries of ranks do not do */
    bool   asks_job;                    /* of summaries, too, by their job (struct input) */
    const char *file, *opener;          /* where the result goes unless one says where, and what opens it; or NULL */
    bool (*prepare)(struct call *call, struct err *err); /* before reading; or NULL */
    bool (*make)(struct call *call, struct err *err);    /* fills text, warnings and status */
};

struct command {
    const char                  *name;
    const char                  *summary;     /* one line, no full stop */
    const char                  *operands;    /* "PROFILE...", or "" */
    const char                  *description; /* paragraphs for help and man page */
    const struct option         *options;
    size_t                       option_count, values_bytes;
    bool                         is_hidden; /* for the build, not for users */
    const struct command_answer *answer;    /* NULL: it does something else than answering */
    bool (*run)(struct call *call, struct err *err);
};
#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND
extern const struct command *const commands[];
extern const size_t                command_count;

const struct command *command_find(const char *name); /* NULL: unknown */
/* The nearest command's name, or NULL. */
const char *command_nearest(const char *name);
/* Which command these arguments (without the program's name) mean, and how many of them name it.
 * `tfprof PROFILE` and `tfprof --format json PROFILE` are advise. */
const struct command *command_choose(int argument_count, char *const *arguments, int *used,
                                     struct err *err);
/* Parses and runs; *status is the exit status when true. */
bool command_run(int argument_count, char *const *arguments, struct arena *arena, int *status,
                 struct err *err);

#endif
