/*
 * page: a report as one HTML file that needs nothing else: verdict, findings, composition, steps,
 * timeline and tables. What it shows is advice JSON and tables of facts; assets/ draws them. Names
 * of a recording are data in it and never markup, and a policy in the page lets only its own script
 * run (docs/report.md).
 */
#ifndef TFPROF_REPORT_PAGE_PAGE_H
#define TFPROF_REPORT_PAGE_PAGE_H

#include "base/err.h"
#include "base/text.h"
#include "report/page/slices.h"

struct advice;
struct diff;
struct facts;
struct gate_result;
struct study;
struct whatif;

struct page_options {
    size_t                      most_rows; /* of a table */
    const struct diff          *change;    /* since another recording; NULL: there is none */
    const struct whatif *const *sweeps;    /* steps with less and less of something */
    size_t                      sweep_count;
    size_t                      most_slices; /* of the timeline; shorter ones stand together */
    const struct slice_index   *index;       /* of the timelines; NULL: no timeline */
    bool is_served; /* the page may ask where it came from for more of the same recording */
};

/* Adds the file to text. False: memory ran out. */
bool page_write(const struct advice *advice, const struct study *study,
                const struct page_options *options, struct text *text, struct err *err);

/* The same of a gate's result. */
void page_write_gate(const struct gate_result *result, struct text *text);

/* What a served page asks for (docs/report.md): slices of a span, and a table with all its rows.
 * False: memory ran out; there is no such table. */
bool page_write_span(const struct slice_index *index, struct slice_span span, size_t most,
                     struct text *text, struct err *err);
bool page_write_table(const struct facts *facts, const char *name, struct text *text,
                      struct err *err);

#endif
