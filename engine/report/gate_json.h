/* gate_json: how a gate ended and why, for machines (docs/gate.schema.json). */
#ifndef TFPROF_REPORT_GATE_JSON_H
#define TFPROF_REPORT_GATE_JSON_H

#include "base/text.h"

struct gate_result;
struct output_options;

void gate_json(const struct gate_result *result, const struct output_options *options,
               struct text *text);

#endif
