/* finding_json: one finding, and evidence, for machines. */
#ifndef TFPROF_REPORT_FINDING_JSON_H
#define TFPROF_REPORT_FINDING_JSON_H

#include "base/json_writer.h"

struct evidence;
struct finding;
struct study;

/* study: where events of the recording show it; NULL: that is left out. */
void finding_json(struct json_writer *json, const struct finding *finding,
                  const struct study *study);
/* The key "evidence" and its array. */
void finding_json_evidence(struct json_writer *json, const struct evidence *evidence, size_t count);

#endif
