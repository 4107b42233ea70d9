/* notes_json: the member "notes" of a result: what reading found and went on. */
#ifndef TFPROF_MODEL_NOTES_JSON_H
#define TFPROF_MODEL_NOTES_JSON_H

#include "base/json_writer.h"

struct profile;

/* Of several recordings in this order; one that is NULL is passed over. */
void notes_json(struct json_writer *json, const struct profile *const *profiles, size_t count);

#endif
