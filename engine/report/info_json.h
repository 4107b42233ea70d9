/* info_json: what a profile holds, for machines. */
#ifndef TFPROF_REPORT_INFO_JSON_H
#define TFPROF_REPORT_INFO_JSON_H

#include "base/json_writer.h"

struct output_options;
struct profile;
struct study;

/* The value of the advice contract's key "profile"; with details also what each device can do and
 * what each host has. */
void info_json_profile(struct json_writer *json, const struct profile *profile, bool has_details);
void info_json(const struct study *study, const struct output_options *options, struct text *text);

#endif
