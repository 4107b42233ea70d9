/* tool: a page of facts and tables under a name of the profiler's guide, as rows of
 * report/tools.def. */
#ifndef TFPROF_REPORT_TOOL_H
#define TFPROF_REPORT_TOOL_H

#include "analyze/facts.h"
#include "analyze/table_view.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

struct output_options;
struct study;

enum { TOOL_SECTIONS = 20 };

struct tool_section {
    const char *title;
    const char *facts;                  /* names, comma between; or NULL, and of a table: */
    bool        leaves_zero_out;        /* facts, in text */
    const char *table, *columns, *sort; /* columns and sort "": the table's own */
    const char *where;                  /* a condition that rows of the table fit, or NULL */
    int64_t     text_rows;
};
struct tool {
    const char         *name, *summary;
    struct tool_section sections[TOOL_SECTIONS]; /* up to the first without a title */
};
extern const struct tool tools[];
extern const size_t      tool_count;

const struct tool *tool_find(const char *name); /* NULL: none */
/* The next of a list of names with commas between, terminated; NULL behind the last. */
const char *tool_next_name(struct str *rest, struct arena *arena);
/* Rows of the section's table; 0: all. False: the recording has none. */
bool tool_view(struct table_view *view, const struct tool_section *section,
               const struct facts *facts, int64_t rows, struct arena *arena);

/* rows: of each table; 0: all, negative: as many as the section says. */
void tool_text(const struct tool *tool, const struct study *study, int64_t rows,
               const struct output_options *options, struct text *text);
/* All rows unless `rows` is positive; docs/tool.schema.json. */
void tool_json(const struct tool *tool, const struct study *study, int64_t rows,
               const struct output_options *options, struct text *text);

#endif
