/* short_text: the answer for who reads no further. */
#ifndef TFPROF_REPORT_SHORT_TEXT_H
#define TFPROF_REPORT_SHORT_TEXT_H

#include "report/layout.h"
#include "rules/advice.h"

/* At most three lines: number of the finding, share of the step that it saves, what to do, where. None
 * where nothing shown saves time. */
void short_text(struct layout *layout, const struct advice *advice, double min_share);

#endif
