/* runs_page: the recordings of a folder, each with the way to its page. */
#ifndef TFPROF_REPORT_RUNS_PAGE_H
#define TFPROF_REPORT_RUNS_PAGE_H

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

struct run_entry {
    const char *title;  /* run of a log directory, or a file's name */
    const char *format; /* as readers call it */
    int64_t     modified_s; /* since 1970 */
    uint64_t    bytes;
    size_t      files;
};
/* In the given order. `trouble` says why the folder could not be looked at, or is NULL. */
void runs_page(const char *folder, const struct run_entry *runs, size_t count, const char *trouble,
               struct text *text);
/* That a page could not be made, and what was said about it. */
void trouble_page(const char *title, struct str words, struct text *text);
/* [{"run": title, …}], in the same order. */
void runs_json(const struct run_entry *runs, size_t count, struct text *text);

#endif
