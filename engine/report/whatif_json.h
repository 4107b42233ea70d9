/* whatif_json: what edits of a program would give, for machines. */
#ifndef TFPROF_REPORT_WHATIF_JSON_H
#define TFPROF_REPORT_WHATIF_JSON_H

#include "report/output.h"

void whatif_json(const struct whatif *whatif, const struct study *study,
                 const struct output_options *options, struct text *text);

#endif
