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

struct run_files { /* of one run */
    const char        *name;
    struct option_list files;
};
struct run_list {
    VEC(struct run_files) runs;
};
struct run_line;

/* Runs of a directory; of a folder without runs all files are one, or with is_apart each file is one. */
bool run_lines_list(const char *directory, bool is_apart, struct arena *arena, struct run_list *list,
                    struct err *err);
/* What keeps a recording from being read is in line->error, with its exit status in *status. */
bool run_lines_read(const struct run_lines *how, const struct run_files *run, struct run_line *line,
                    int *status, struct err *err);

#endif
