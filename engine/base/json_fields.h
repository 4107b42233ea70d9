/*
 * json_fields: one member of the object being written. What is unknown (NULL, NaN, infinite) is
 * left out, as the contract wants it.
 */
#ifndef TFPROF_BASE_JSON_FIELDS_H
#define TFPROF_BASE_JSON_FIELDS_H

#include "base/json_writer.h"

void put_text(struct json_writer *json, const char *key, const char *text);
void put_str(struct json_writer *json, const char *key, struct str text); /* empty: left out */
void put_number(struct json_writer *json, const char *key, double number);
void put_exact(struct json_writer *json, const char *key, double number);
void put_integer(struct json_writer *json, const char *key, int64_t number);
void put_bool(struct json_writer *json, const char *key, bool value);
void put_ms(struct json_writer *json, const char *key, double ns);
/* Opens the array or object under `key`. */
void put_array(struct json_writer *json, const char *key);
void put_object(struct json_writer *json, const char *key);

#endif
