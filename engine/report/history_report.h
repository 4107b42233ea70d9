/* history_report: series of measurements and where their level changed. */
#ifndef TFPROF_REPORT_HISTORY_REPORT_H
#define TFPROF_REPORT_HISTORY_REPORT_H

#include "base/text.h"

struct history;
struct output_options;

void history_text(const struct history *histories, size_t count,
                  const struct output_options *options, struct text *text);
void history_json(const struct history *histories, size_t count,
                  const struct output_options *options, struct text *text);

#endif
