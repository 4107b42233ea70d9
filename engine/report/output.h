/*
 * output: a way to show results. Renderers compute nothing but layout: what they show was found by
 * analyses and rules. Everything goes into a text; who writes it decides where.
 * To add a format: output_X.c with one `const struct output output_X`, one line in outputs.def.
 */
#ifndef TFPROF_REPORT_OUTPUT_H
#define TFPROF_REPORT_OUTPUT_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct advice;
struct diff;
struct gate_result;
struct history;
struct rule_explanation;
struct rule_list;
struct study;
struct table_view;
struct tool;
struct verification;
struct bisection;
struct whatif;
struct why;

struct output_options {
    unsigned width; /* columns of a text, at least 60 */
    bool     is_colored;
    bool     is_complete; /* every rule that could not look, every timeline */
    double   min_share;   /* text leaves out priced findings below this share of the step */
};

/* Which results a format can show is up to it; functions of others are NULL, and the command's
 * --format does not offer it. */
struct output {
    const char *name; /* as --format takes it */
    const char *summary;
    void (*advice)(const struct advice *advice, const struct study *study,
                   const struct output_options *options, struct text *text);
    void (*info)(const struct study *study, const struct output_options *options,
                 struct text *text);
    void (*table)(const struct table_view *view, const struct output_options *options,
                  struct text *text);
    /* rows: of each table; 0: all, negative: as the format sees fit. */
    void (*tool)(const struct tool *tool, const struct study *study, int64_t rows,
                 const struct output_options *options, struct text *text);
    void (*whatif)(const struct whatif *whatif, const struct study *study,
                   const struct output_options *options, struct text *text);
    void (*why)(const struct why *why, const struct study *study,
                const struct output_options *options, struct text *text);
    /* rows: how many of each list are shown, 0 all; formats for machines show all. */
    void (*diff)(const struct diff *diff, int64_t rows, const struct output_options *options,
                 struct text *text);
    void (*rules)(const struct rule_list *list, const struct output_options *options,
                  struct text *text);
    /* profile_name NULL: the rule alone. */
    void (*explain)(const struct rule_explanation *explanation, const char *profile_name,
                    const struct output_options *options, struct text *text);
    void (*gate)(const struct gate_result *result, const struct output_options *options,
                 struct text *text);
    void (*history)(const struct history *histories, size_t count,
                    const struct output_options *options, struct text *text);
    void (*verify)(const struct verification *verification, const struct output_options *options,
                   struct text *text);
    void (*bisect)(const struct bisection *bisection, const struct output_options *options,
                   struct text *text);
};
#define OUTPUT(name) extern const struct output output_##name;
#include "report/outputs.def"
#undef OUTPUT
extern const struct output *const outputs[];
extern const size_t               output_count;

const struct output *output_find(const char *name); /* NULL: unknown */

#endif
