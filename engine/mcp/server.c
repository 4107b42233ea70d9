#include "mcp/server.h"

#include "base/json_fields.h"
#include "base/macros.h"
#include "mcp/keep.h"
#include "mcp/protocol.h"
#include "mcp/tools.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1 << 20 };
#define NEWEST "2026-07-28"
#define RULE_PREFIX "tfprof://rules/"
/* Those that begin with "initialize", the newest first. */
static const char *const handshakes[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };
static const char        instructions[] =
    "Reads recordings of machine-learning programs (PyTorch, TensorFlow, JAX). Begin with advise; "
    "check a finding with whatif and its edits, or why; table has the numbers. Times of findings "
    "are a step's. After a change record again and use diff: what is saved is an estimate.";

struct exchange { /* one line and the answer to it */
    struct tools      *tools;
    struct rpc_request request;
    struct arena      *arena;
    struct text       *text;
};
typedef void method(struct exchange *exchange);

static struct json_writer begin_result(struct exchange *exchange)
{
    struct json_writer json;

    rpc_begin(&json, &exchange->request, exchange->text);
    put_object(&json, "result");
    put_text(&json, "resultType", "complete");
    return json;
}

static void end_result(struct json_writer *json)
{
    json_object_end(json);
    json_object_end(json);
}

/* What stays as it is as long as the program runs. */
static void put_lifetime(struct json_writer *json)
{
    put_integer(json, "ttlMs", 3600000);
    put_text(json, "cacheScope", "public");
}

static void put_name(struct json_writer *json)
{
    json_object(json);
    put_text(json, "name", "tfprof");
    put_text(json, "version", tfprof_version());
    json_object_end(json);
}

static void put_abilities(struct json_writer *json, struct arena *arena)
{
    json_key(json, "capabilities");
    keep_all(json, "{\"tools\":{},\"resources\":{}}", arena);
    put_text(json, "instructions", instructions);
}

static void initialize(struct exchange *exchange)
{
    const char *asked = rpc_text(exchange->request.params, "protocolVersion", exchange->arena);
    const char *agreed = handshakes[0];
    struct json_writer json = begin_result(exchange);

    for (size_t i = 0; asked && i < ARRAY_COUNT(handshakes); i++)
        if (strcmp(asked, handshakes[i]) == 0)
            agreed = handshakes[i];
    put_text(&json, "protocolVersion", agreed);
    json_key(&json, "serverInfo");
    put_name(&json);
    put_abilities(&json, exchange->arena);
    end_result(&json);
}

static void discover(struct exchange *exchange)
{
    struct json_writer json = begin_result(exchange);

    put_array(&json, "supportedVersions");
    json_text(&json, NEWEST);
    json_array_end(&json);
    put_abilities(&json, exchange->arena);
    put_lifetime(&json);
    put_object(&json, "_meta");
    json_key(&json, "io.modelcontextprotocol/serverInfo");
    put_name(&json);
    json_object_end(&json);
    end_result(&json);
}

static void ping(struct exchange *exchange)
{
    struct json_writer json = begin_result(exchange);

    end_result(&json);
}

static void list_tools(struct exchange *exchange)
{
    struct json_writer json = begin_result(exchange);

    tools_list(&json, exchange->arena);
    put_lifetime(&json);
    end_result(&json);
}

static void put_content(struct json_writer *json, struct str text)
{
    put_array(json, "content");
    json_object(json);
    put_text(json, "type", "text");
    json_key(json, "text");
    json_str(json, text);
    json_object_end(json);
    json_array_end(json);
}

static void call_tool(struct exchange *exchange)
{
    struct tool_call   call = { .tools = exchange->tools, .arena = exchange->arena };
    const char        *name = rpc_text(exchange->request.params, "name", exchange->arena);
    const char        *why = NULL;
    struct str         result = { 0 };
    struct json_writer json;
    bool               is_known, is_done;

    rpc_member(exchange->request.params, "arguments", &call.arguments);
    is_done = tools_call(&call, str_from(name), &is_known, &result, &why);
    if (!is_known) {
        rpc_fail(&exchange->request, RPC_INVALID_PARAMS, "there is no such tool", exchange->text);
        return;
    }
    json = begin_result(exchange);
    put_content(&json, is_done ? result : str_from(why));
    if (is_done) {
        json_key(&json, "structuredContent");
        json_keep(&json, result, NULL, &(struct keeping) { .arena = exchange->arena });
    }
    put_bool(&json, "isError", !is_done);
    end_result(&json);
}

static void list_resources(struct exchange *exchange)
{
    struct json_writer json = begin_result(exchange);

    json_key(&json, "resources");
    keep_all(&json,
             "[{\"uri\":\"tfprof://rules\",\"name\":\"rules\",\"mimeType\":\"application/json\","
             "\"description\":\"id, title, severity and category of every rule\"}]",
             exchange->arena);
    put_lifetime(&json);
    end_result(&json);
}

static void list_templates(struct exchange *exchange)
{
    struct json_writer json = begin_result(exchange);

    json_key(&json, "resourceTemplates");
    keep_all(
        &json,
        "[{\"uriTemplate\":\"" RULE_PREFIX "{rule}\",\"name\":\"rule\",\"mimeType\":"
        "\"application/json\",\"description\":\"what a rule looks for, why it matters, what it "
        "needs, its parameters\"}]",
        exchange->arena);
    put_lifetime(&json);
    end_result(&json);
}

static void read_resource(struct exchange *exchange)
{
    const char *uri = rpc_text(exchange->request.params, "uri", exchange->arena);
    const char *rule =
        uri && str_starts(str_from(uri), STR(RULE_PREFIX)) ? uri + strlen(RULE_PREFIX) : NULL;
    tfprof_answer     *answer = NULL;
    struct json_writer json;
    struct str         whole;

    if (uri && strcmp(uri, "tfprof://rules") == 0)
        answer = tfprof_rules(NULL, NULL);
    else if (rule)
        answer = tfprof_explain(NULL, rule, NULL, NULL);
    if (!answer) {
        rpc_fail(&exchange->request, RPC_NO_RESOURCE, "there is no such resource", exchange->text);
        return;
    }
    whole = (struct str) { tfprof_answer_text(answer), tfprof_answer_bytes(answer) };
    json = begin_result(exchange);
    put_array(&json, "contents");
    json_object(&json);
    put_text(&json, "uri", uri);
    put_text(&json, "mimeType", "application/json");
    json_key(&json, "text");
    json_str(&json, rule ? whole
                         : json_keep_within(whole, "rules{id title severity category}", 1, SIZE_MAX,
                                            exchange->arena));
    json_object_end(&json);
    json_array_end(&json);
    put_lifetime(&json);
    end_result(&json);
    tfprof_answer_free(answer);
}

static const struct {
    struct str name;
    method    *run;
} methods[] = {
    { STR_INIT("initialize"), initialize },
    { STR_INIT("server/discover"), discover },
    { STR_INIT("ping"), ping },
    { STR_INIT("tools/list"), list_tools },
    { STR_INIT("tools/call"), call_tool },
    { STR_INIT("resources/list"), list_resources },
    { STR_INIT("resources/templates/list"), list_templates },
    { STR_INIT("resources/read"), read_resource },
};

/* Each request of the newest revision says which one it is of. */
static bool is_of_other_version(const struct exchange *exchange)
{
    struct str  meta;
    const char *version = NULL;

    if (rpc_member(exchange->request.params, "_meta", &meta))
        version = rpc_text(meta, "io.modelcontextprotocol/protocolVersion", exchange->arena);
    return version && strcmp(version, NEWEST) != 0;
}

static void refuse_version(struct exchange *exchange)
{
    struct json_writer json;

    rpc_begin(&json, &exchange->request, exchange->text);
    put_object(&json, "error");
    put_integer(&json, "code", RPC_OTHER_VERSION);
    put_text(&json, "message", "only " NEWEST " is spoken without a handshake");
    json_key(&json, "data");
    keep_all(&json, "{\"supported\":[\"" NEWEST "\"],\"requested\":\"another\"}", exchange->arena);
    end_result(&json);
}

static void answer_request(struct exchange *exchange)
{
    if (is_of_other_version(exchange)) {
        refuse_version(exchange);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(methods); i++)
        if (str_equal(exchange->request.method, methods[i].name)) {
            methods[i].run(exchange);
            return;
        }
    rpc_fail(&exchange->request, RPC_NO_METHOD, "there is no such method", exchange->text);
}

/* Adds the answer to one line, a line itself; nothing for a notification. */
static void answer_line(struct tools *tools, struct str line, struct text *text)
{
    struct exchange exchange = { .tools = tools, .arena = text->arena, .text = text };
    enum rpc_error  error;
    const char     *why;

    if (str_trim(line).len == 0)
        return;
    if (!rpc_parse(&exchange.request, line, text->arena, &error, &why))
        rpc_fail(&exchange.request, error, why, text);
    else if (exchange.request.id.len == 0)
        return;
    else
        answer_request(&exchange);
    text_add_byte(text, '\n');
}

static bool write_answer(struct tools *tools, struct str line, FILE *output)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };

    answer_line(tools, line, &text);
    if (text.len > 0)
        fwrite(text.data, 1, text.len, output);
    arena_free(&arena);
    return fflush(output) == 0;
}

bool mcp_serve(FILE *input, FILE *output)
{
    struct tools tools = { 0 };
    char        *line = malloc(LINE_BYTES);
    size_t       len = 0;
    bool         is_written = true;
    int          byte = 0;

    if (!line)
        arena_out_of_memory(LINE_BYTES);
    while (is_written && byte != EOF) {
        byte = getc(input);
        if (byte != '\n' && byte != EOF) {
            if (len < LINE_BYTES)
                line[len] = (char)byte;
            len += len <= LINE_BYTES; /* a longer line is cut, and so is none that is understood */
            continue;
        }
        if (len > 0)
            is_written = write_answer(
                &tools, (struct str) { line, len < LINE_BYTES ? len : LINE_BYTES }, output);
        len = 0;
    }
    free(line);
    tools_free(&tools);
    return is_written;
}
