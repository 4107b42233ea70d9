/* finding_text: one finding for people: what, what it costs, what shows it, what to do. */
#ifndef TFPROF_REPORT_FINDING_TEXT_H
#define TFPROF_REPORT_FINDING_TEXT_H

#include "report/layout.h"

#include <stddef.h>
#include <stdint.h>

struct evidence;
struct finding;

/* number: what it is called here. Of its evidence the first ones at most; the caller ends it. */
void finding_text(struct layout *layout, const struct finding *finding, uint32_t number,
                  size_t most_evidence);
/* The command that prices it again, by the edits that its price stands on, where it has some. */
void finding_text_check(struct layout *layout, const struct finding *finding);
void finding_text_evidence(struct layout *layout, const struct evidence *evidence);

#endif
