/* diff_json: what became of a step, in whole nanoseconds; docs/diff.schema.json. */
#ifndef TFPROF_REPORT_DIFF_JSON_H
#define TFPROF_REPORT_DIFF_JSON_H

#include "report/output.h"

void diff_json(const struct diff *diff, int64_t rows, const struct output_options *options,
               struct text *text);

#endif
