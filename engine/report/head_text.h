/* head_text: the first line of a report: what was recorded, and which steps are looked at. */
#ifndef TFPROF_REPORT_HEAD_TEXT_H
#define TFPROF_REPORT_HEAD_TEXT_H

#include "report/layout.h"

struct study;

void head_text(struct layout *layout, const struct study *study);

#endif
