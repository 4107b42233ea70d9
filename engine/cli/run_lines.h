/* run_lines: recordings, each in a line of advice (report/run_line.h). */
#ifndef TFPROF_CLI_RUN_LINES_H
#define TFPROF_CLI_RUN_LINES_H

#include "base/err.h"
#include "base/text.h"
#include "cli/input.h"
#include "cli/project.h"
#include "rules/advise.h"

struct run_lines { /* how they are made */
    const struct input_values   *input;
    const struct advise_options *rules;
    double                       min_share;
    struct arena                *arena; /* of the lines */
};

/* All runs of the directories, from the oldest to the newest of each; JSON has an object a line.
 * What cannot be read says why on its line, and *status is that error's exit status then. */
bool run_lines_print(const struct run_lines *how, const struct option_list *directories,
                     bool is_json, struct text *text, int *status, struct err *err);

#endif
