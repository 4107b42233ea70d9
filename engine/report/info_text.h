/* info_text: what a profile holds, for people. */
#ifndef TFPROF_REPORT_INFO_TEXT_H
#define TFPROF_REPORT_INFO_TEXT_H

#include "base/text.h"

struct output_options;
struct study;

void info_text(const struct study *study, const struct output_options *options, struct text *text);

#endif
