/* why_json: the causes of something in a profile, for machines. */
#ifndef TFPROF_REPORT_WHY_JSON_H
#define TFPROF_REPORT_WHY_JSON_H

#include "report/output.h"

void why_json(const struct why *why, const struct study *study,
              const struct output_options *options, struct text *text);

#endif
