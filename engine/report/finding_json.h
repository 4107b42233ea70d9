/* finding_json: one finding, and evidence, for machines. */
#ifndef TFPROF_REPORT_FINDING_JSON_H
#define TFPROF_REPORT_FINDING_JSON_H

#include "base/json_writer.h"

struct evidence;
struct finding;

void finding_json(struct json_writer *json, const struct finding *finding);
/* The key "evidence" and its array. */
void finding_json_evidence(struct json_writer *json, const struct evidence *evidence, size_t count);

#endif
