/* diff_text: what became of a step, as lists of parts for people. */
#ifndef TFPROF_REPORT_DIFF_TEXT_H
#define TFPROF_REPORT_DIFF_TEXT_H

#include "report/output.h"

void diff_text(const struct diff *diff, int64_t rows, const struct output_options *options,
               struct text *text);

#endif
