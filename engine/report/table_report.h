/* table_report: a table of facts: for people, for spreadsheets and for programs. Data formats hold
 * whole names and exact numbers in the units of docs/facts.md; text is cut to the terminal. */
#ifndef TFPROF_REPORT_TABLE_REPORT_H
#define TFPROF_REPORT_TABLE_REPORT_H

#include "base/text.h"

struct output_options;
struct table_view;

void table_text(const struct table_view *view, const struct output_options *options,
                struct text *text);
void table_json(const struct table_view *view, const struct output_options *options,
                struct text *text);
void table_csv(const struct table_view *view, const struct output_options *options,
               struct text *text);

#endif
