/* finding_text: one finding for people: what, what it costs, what shows it, what to do. */
#ifndef TFPROF_REPORT_FINDING_TEXT_H
#define TFPROF_REPORT_FINDING_TEXT_H

#include "report/layout.h"

struct evidence;
struct finding;

void finding_text(struct layout *layout, const struct finding *finding);
void finding_text_evidence(struct layout *layout, const struct evidence *evidence);

#endif
