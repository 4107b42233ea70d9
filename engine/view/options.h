/* options: what a view is asked for, as words and as checked values. */
#ifndef TFPROF_VIEW_OPTIONS_H
#define TFPROF_VIEW_OPTIONS_H

#include "base/err.h"
#include "base/option.h"
#include "base/pattern.h"
#include "model/classic.h"
#include "view/attributes.h"
#include "view/output.h"
#include "view/own_types.h"

struct view_values { /* filled through view/view_options.def */
    int64_t max_depth;
    int64_t min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes, min_micros,
        min_accelerator_micros, min_cpu_micros, min_params, min_float_ops, min_occurrence;
    int64_t            max_rows; /* 0: all */
    const char        *order_by, *output, *dump_to_file, *format, *source, *own_types;
    struct option_list account, start, trim, show, hide, select, devices, steps, statistics;
    bool               is_displayed_only, is_compat, is_viz, has_line_text;
};

/* A comma list of regexes. */
struct view_patterns {
    VEC(struct pattern *) items;
    bool is_asked;      /* some were named, though none of them may be one */
    bool is_everything; /* ".*" alone */
};

enum view_format { VIEW_TEXT, VIEW_JSON, VIEW_CSV, VIEW_PROTO };
struct view_options {                     /* checked; free with view_options_free */
    int64_t              max_depth, step; /* step < 0: mean of the steps */
    struct view_numbers  mins;            /* VALUE_DEFINITIONS: unused; RUNS: min_occurrence */
    int                  order_by;        /* enum view_value, or ORDER_BY_NAME */
    unsigned             selected;        /* bit an attribute */
    int64_t              max_rows; /* 0: all */
    const char          *source;   /* folder with the program's files, or NULL */
    struct view_patterns account, start, trim, show, hide, devices;
    struct own_types     own_types;
    struct view_output   output;
    enum view_format     format;
    VEC(int64_t) steps; /* to be shown side by side, when several were asked for */
    unsigned             statistics;        /* over the steps: bit an enum statistic; 0: none */
    bool                 is_displayed_only; /* totals of displayed nodes alone */
    bool                 has_line_text;     /* labels of code end in the line itself */
    bool                 is_compat;         /* the original's answer even where it is misleading */
};
enum { ORDER_BY_NAME = -1 };

/* classic: whose steps may be named; NULL: any. What is no regex is ERR_USAGE; with is_compat it matches nothing, and complaints have a line. */
bool view_options_check(const struct view_values *values, const struct classic *classic,
                        struct arena *arena, struct view_options *options, struct text *complaints,
                        struct err *err);
/* order_by of the first number that is shown: times, then what else is selected. */
int  view_options_largest_first(const struct view_options *options);
void view_options_free(struct view_options *options); /* accepts a zeroed one */
/* False, ERR_USAGE: one of the patterns cost too much, so that what was matched with it is no answer. */
bool view_options_settled(const struct view_options *options, struct err *err);
bool view_patterns_match(const struct view_patterns *patterns, struct str text);

#endif
