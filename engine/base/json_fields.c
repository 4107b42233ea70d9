/* json_fields: members of an object, left out when unknown. */
#include "base/json_fields.h"

#include <math.h>

#define NS_PER_MS 1e6

void put_text(struct json_writer *json, const char *key, const char *text)
{
    if (!text)
        return;
    json_key(json, key);
    json_text(json, text);
}

void put_number(struct json_writer *json, const char *key, double number)
{
    if (!isfinite(number))
        return;
    json_key(json, key);
    json_number(json, number);
}

void put_integer(struct json_writer *json, const char *key, int64_t number)
{
    json_key(json, key);
    json_integer(json, number);
}

void put_ms(struct json_writer *json, const char *key, double ns)
{
    put_number(json, key, ns / NS_PER_MS);
}

void put_str(struct json_writer *json, const char *key, struct str text)
{
    if (text.len == 0)
        return;
    json_key(json, key);
    json_str(json, text);
}

void put_bool(struct json_writer *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

void put_array(struct json_writer *json, const char *key)
{
    json_key(json, key);
    json_array(json);
}

void put_object(struct json_writer *json, const char *key)
{
    json_key(json, key);
    json_object(json);
}

void put_exact(struct json_writer *json, const char *key, double number)
{
    json_key(json, key);
    json_exact(json, number);
}
