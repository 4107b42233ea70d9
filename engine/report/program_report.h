/* program_report: modules, instructions and neighbourhoods of analyze/program/program_view: for
 * people, for Graphviz and for programs. */
#ifndef TFPROF_REPORT_PROGRAM_REPORT_H
#define TFPROF_REPORT_PROGRAM_REPORT_H

#include "base/text.h"

struct output_options;
struct program_view;

/* rows: of modules or instructions; 0: all. */
void program_text(const struct program_view *view, size_t rows, const struct output_options *options,
                  struct text *text);
/* A digraph of the instructions; without any, an empty one. */
void program_dot(const struct program_view *view, struct text *text);
/* docs/hlo.schema.json */
void program_json(const struct program_view *view, struct text *text);

#endif
