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

struct advice;
struct diff;
struct study;
struct whatif;

struct page_options {
    size_t most_rows;   /* of a table */
    const struct diff *change; /* since another recording; NULL: there is none */
    const struct whatif *const *sweeps; /* steps with less and less of something */
    size_t                      sweep_count;
    size_t most_slices; /* of the timeline; shorter ones stand together; 0: no timeline */
};

/* Adds the file to text. False: memory ran out. */
bool page_write(const struct advice *advice, const struct study *study,
                const struct page_options *options, struct text *text, struct err *err);

#endif
