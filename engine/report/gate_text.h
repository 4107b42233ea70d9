/* gate_text: how a gate ended and why, for people. */
#ifndef TFPROF_REPORT_GATE_TEXT_H
#define TFPROF_REPORT_GATE_TEXT_H

#include "base/text.h"

struct gate_result;
struct output_options;

void gate_text(const struct gate_result *result, const struct output_options *options,
               struct text *text);

#endif
