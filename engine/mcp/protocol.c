#include "mcp/protocol.h"

#include "base/json_fields.h"
#include "read/json_scan.h"

static struct json_scan scan_of(struct str text)
{
    const char *at = text.data ? text.data : "";

    return (struct json_scan) { .at = at, .end = at + text.len };
}

bool rpc_member(struct str object, const char *name, struct str *value)
{
    struct json_scan scan = scan_of(object);
    struct str       key, found;
    bool             is_there = false;

    if (object.len == 0 || !json_open(&scan, '{'))
        return false;
    while (json_member(&scan, &key)) {
        found = json_value(&scan);
        if (scan.state != JSON_FINE)
            return false;
        if (str_equal(key, str_from(name))) {
            *value = found;
            is_there = true;
        }
    }
    return is_there && scan.state == JSON_FINE;
}

static bool is_text(struct str value)
{
    return value.len >= 2 && value.data[0] == '"';
}

static struct str text_in(struct str value, struct arena *arena)
{
    return json_unescape(arena, str_slice(value, 1, value.len - 1));
}

const char *rpc_text(struct str object, const char *name, struct arena *arena)
{
    struct str value;

    if (!rpc_member(object, name, &value) || !is_text(value))
        return NULL;
    value = text_in(value, arena);
    /* What names a file or an option must not end before its end. */
    return str_find(value, '\0') < value.len ? NULL : arena_str(arena, value).data;
}

bool rpc_integer(struct str object, const char *name, int64_t *number)
{
    struct str value;

    return rpc_member(object, name, &value) && str_to_int64(value, number);
}

static bool is_whole(struct str line)
{
    struct json_scan scan = scan_of(line);

    if (json_peek(&scan) != '{')
        return false;
    json_skip(&scan);
    return scan.state == JSON_FINE && json_peek(&scan) == '\0' && scan.at == scan.end;
}

static bool is_id(struct str id)
{
    int64_t number;

    return is_text(id) || str_to_int64(id, &number);
}

bool rpc_parse(struct rpc_request *request, struct str line, struct arena *arena,
               enum rpc_error *error, const char **why)
{
    struct str value;

    *request = (struct rpc_request) { 0 };
    line = str_trim(line);
    *error = RPC_PARSE_ERROR;
    *why = "a line is one JSON object";
    if (!is_whole(line))
        return false;
    *error = RPC_INVALID_REQUEST;
    *why = "an id is a text or a whole number";
    if (rpc_member(line, "id", &value)) {
        if (!is_id(value))
            return false;
        request->id = value;
    }
    *why = "\"jsonrpc\" is \"2.0\"";
    if (!rpc_member(line, "jsonrpc", &value) || !str_equal(value, STR("\"2.0\"")))
        return false;
    *why = "a method is missing";
    if (!rpc_member(line, "method", &value) || !is_text(value))
        return false;
    request->method = text_in(value, arena);
    *why = "\"params\" is an object";
    if (rpc_member(line, "params", &value)) {
        if (value.len == 0 || value.data[0] != '{')
            return false;
        request->params = value;
    }
    return true;
}

void rpc_begin(struct json_writer *json, const struct rpc_request *request, struct text *text)
{
    int64_t number = 0;

    *json = (struct json_writer) { .text = text, .is_compact = true };
    json_object(json);
    put_text(json, "jsonrpc", "2.0");
    json_key(json, "id");
    if (request->id.len == 0)
        json_null(json);
    else if (is_text(request->id))
        json_str(json, text_in(request->id, text->arena));
    else if (str_to_int64(request->id, &number))
        json_integer(json, number);
}

void rpc_fail(const struct rpc_request *request, enum rpc_error error, const char *why,
              struct text *text)
{
    struct json_writer json;

    rpc_begin(&json, request, text);
    put_object(&json, "error");
    put_integer(&json, "code", error);
    put_text(&json, "message", why);
    json_object_end(&json);
    json_object_end(&json);
}
