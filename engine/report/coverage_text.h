/* coverage_text: how much the rules could look at. Could not look is never shown as fine. */
#ifndef TFPROF_REPORT_COVERAGE_TEXT_H
#define TFPROF_REPORT_COVERAGE_TEXT_H

#include "report/layout.h"

struct advice;

/* A paragraph; complete: followed by every rule that could not look, failed or was suppressed. */
void coverage_text(struct layout *layout, const struct advice *advice, bool is_complete);

#endif
