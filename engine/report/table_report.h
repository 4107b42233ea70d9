/* table_report: a table of facts: for people, for spreadsheets and for programs. Data formats hold
 * whole names and exact numbers in the units of docs/facts.md; text is cut to the terminal. */
#ifndef TFPROF_REPORT_TABLE_REPORT_H
#define TFPROF_REPORT_TABLE_REPORT_H

#include "base/text.h"

struct json_writer;
struct output_options;
struct table_view;

void table_text(const struct table_view *view, const struct output_options *options,
                struct text *text);
void table_json(const struct table_view *view, const struct output_options *options,
                struct text *text);
void table_csv(const struct table_view *view, const struct output_options *options,
               struct text *text);
/* The grid alone. */
void table_rows_text(const struct table_view *view, const struct output_options *options, struct text *text);
/* The keys "columns", "matched" and "rows". */
void table_json_rows(struct json_writer *json, const struct table_view *view);
/* The key "columns": name, unit and help of each. */
void table_json_columns(struct json_writer *json, const struct table_view *view);
/* A cell that has a value. */
void table_json_cell(struct json_writer *json, const struct table_view *view, size_t row, size_t column);

#endif
