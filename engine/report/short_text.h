/* short_text: the answer for who reads no further. */
#ifndef TFPROF_REPORT_SHORT_TEXT_H
#define TFPROF_REPORT_SHORT_TEXT_H

#include "report/layout.h"
#include "rules/advice.h"

/* At most three lines: number of the finding, share of the step that it saves, what to do, where. None
 * where nothing shown saves time. */
/* Whether a finding would be such a line, */
bool short_text_has(const struct finding *finding, double min_share);
/* what it says to do, and the place in the program; empty where none is known. */
struct str short_text_fix(struct arena *arena, const struct finding *finding);
struct str short_text_place(struct arena *arena, const struct finding *finding);
void short_text(struct layout *layout, const struct advice *advice, double min_share);

#endif
