/* why_text: the causes of something in a profile, for people. */
#ifndef TFPROF_REPORT_WHY_TEXT_H
#define TFPROF_REPORT_WHY_TEXT_H

#include "report/output.h"

void why_text(const struct why *why, const struct study *study,
              const struct output_options *options, struct text *text);

#endif
