/* finding_text: one finding for people: what, what it costs, what shows it, what to do. */
#ifndef TFPROF_REPORT_FINDING_TEXT_H
#define TFPROF_REPORT_FINDING_TEXT_H

#include "report/layout.h"

#include <stdint.h>

struct evidence;
struct finding;

/* number: what it is called here. */
void finding_text(struct layout *layout, const struct finding *finding, uint32_t number);
void finding_text_evidence(struct layout *layout, const struct evidence *evidence);

#endif
