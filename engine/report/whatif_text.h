/* whatif_text: what edits of a program would give, for people. */
#ifndef TFPROF_REPORT_WHATIF_TEXT_H
#define TFPROF_REPORT_WHATIF_TEXT_H

#include "report/output.h"

void whatif_text(const struct whatif *whatif, const struct study *study,
                 const struct output_options *options, struct text *text);

#endif
