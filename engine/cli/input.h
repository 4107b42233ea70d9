/* input: what every command that reads a profile shares: its options, reading, analysing. */
#ifndef TFPROF_CLI_INPUT_H
#define TFPROF_CLI_INPUT_H

#include "analyze/study.h"
#include "base/err.h"
#include "base/option.h"
#include "cli/notes.h"
#include "model/profile.h"

struct input_values { /* filled through cli/input_options.def */
    const char        *input_format, *run, *host, *device, *accelerator, *steps;
    const char        *capture;
    struct option_list profile_paths, graph_paths, run_meta_paths, op_log_paths, checkpoint_paths;
    double             memory_bytes; /* 0: no limit */
    int64_t            threads;      /* 0: one a core */
    bool               is_list, is_strict;
    bool               may_summarize; /* no option: of many ranks summaries are enough */
    bool               keeps_job;     /* no option: who asks goes on asking the job of summaries */
    enum notes_use     notes; /* no option: where notes of reading go beside standard error */
};

struct job;
struct input {
    struct arena         profile_arena, report_arena;
    struct profile       profile;
    struct study         study;
    struct study_options options;         /* what the user selects */
    const char          *steps;           /* --steps as written; NULL: all */
    bool                 is_studied;      /* analyses have run */
    bool                 is_of_summaries; /* it has no events */
    struct job          *job;             /* of summaries, where that was asked for, or NULL */
};

/* "4:13", "4:", ":13", "7" -> both ends by number; INT64_MIN and INT64_MAX where open. */
bool input_steps_scan(const char *text, int64_t *first, int64_t *last, struct err *err);
/* Whether files are named by options, so that no operand is needed. */
bool input_has_paths(const struct input_values *values);
/* Reads and analyses. On false nothing needs input_free. */
bool input_load(struct input *input, const struct input_values *values,
                const struct option_list *operands, struct err *err) MUST_USE;
enum input_use {
    INPUT_ANALYSES,
    INPUT_VIEWS,        /* for the classic views, without what timelines need */
    INPUT_COMPAT_VIEWS, /* with what the original takes alone */
    INPUT_TIMELINES,    /* for the classic views and their timelines */
    INPUT_COMPAT_TIMELINES,
};
/* Reads what --host and --device select, without analysing, except that views of a timeline need
 * its steps; --steps holds for what analyses and views look at. A selection that selects nothing is
 * an error that lists what there is. */
bool input_read(struct input *input, const struct input_values *values,
                const struct option_list *operands, enum input_use use, struct err *err) MUST_USE;
/* For views of lines: fills profile.classic->lines where there are any. Once is enough. */
bool input_lines(struct input *input, struct err *err);
/* Analyses what input_read read, once. */
bool input_study(struct input *input, struct err *err);
void input_free(struct input *input);
/* Prints to standard output what the operands (directories) hold. */
bool input_list(const struct option_list *operands, struct arena *arena, struct err *err);

#endif
