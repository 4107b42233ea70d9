/* run_line: what is said of a recording in a line, where many are told one below the other. */
#ifndef TFPROF_REPORT_RUN_LINE_H
#define TFPROF_REPORT_RUN_LINE_H

#include "base/arena.h"
#include "base/text.h"

#include <stdint.h>

struct advice;
struct study;

struct run_line { /* plain data, which outlives the recording */
    const char *name;
    const char *error; /* why it cannot be read; NULL: it can */
    double      step_ns; /* NaN: unknown */
    uint32_t    steps, hosts, finding_count;
    const char *verdict; /* "input-bound" */
    double      verdict_share;
    const char *rule; /* of the first finding with a sure price; NULL: there is none */
    const char *title, *fix, *place; /* of it; place may be empty */
    double      saving_ns, saving_share;
};

/* Numbers of one that could be read; name and error stay. false: no memory left. */
bool run_line_fill(struct run_line *line, const struct advice *advice, const struct study *study,
                   double min_share, struct arena *arena);
/* One line: name in a column as wide as that, length of a step, verdict, share saved, what to do. */
void run_line_text(const struct run_line *line, unsigned name_columns, struct text *text);
/* One object on one line. */
void run_line_json(const struct run_line *line, struct text *text);
/* Numbers of one that could be read, as an OpenMetrics exposition. */
void run_line_metrics(const struct run_line *line, struct text *text);

#endif
