#include "mcp/tools.h"

#include "base/file.h"
#include "base/json_fields.h"
#include "base/macros.h"
#include "base/vec.h"
#include "mcp/keep.h"
#include "mcp/protocol.h"
#include "read/json_scan.h"

#include <stdio.h>
#include <string.h>

/* Below 2 000 tokens: the densest answers, tables of numbers, have 2.3 bytes a token, others three
 * to four. */
enum { RESULT_BYTES = 4600 };

struct options {
    VEC(const char *) list;
};

typedef tfprof_answer *tool_function(struct tool_call *call, const char **why);
#define MCP_TOOL(name, ...) static tool_function call_##name;
#include "mcp/tools.def"
#undef MCP_TOOL

static const struct mcp_tool {
    const char    *name, *purpose, *properties, *required, *shape;
    size_t         most_items;
    tool_function *call;
} mcp_tools[] = {
#define MCP_TOOL(name, purpose, properties, required, shape, most)                                 \
    { #name, purpose, properties, required, shape, most, call_##name },
#include "mcp/tools.def"
#undef MCP_TOOL
};

void tools_list(struct json_writer *json, struct arena *arena)
{
    put_array(json, "tools");
    for (size_t i = 0; i < ARRAY_COUNT(mcp_tools); i++) {
        const struct mcp_tool *tool = &mcp_tools[i];

        json_object(json);
        put_text(json, "name", tool->name);
        put_text(json, "description", tool->purpose);
        json_key(json, "inputSchema");
        keep_all(json,
                 arena_text(arena,
                            "{\"type\":\"object\",\"properties\":{%s},\"required\":[%s],"
                            "\"additionalProperties\":false}",
                            tool->properties, tool->required),
                 arena);
        json_key(json, "outputSchema");
        json_shape_schema(json, tool->shape);
        json_key(json, "annotations");
        keep_all(json, "{\"readOnlyHint\":true,\"openWorldHint\":false}", arena);
        json_object_end(json);
    }
    json_array_end(json);
}

static const char *message_of(tfprof_error *error, struct arena *arena)
{
    const char *message = arena_text(arena, "%s", tfprof_error_message(error));

    tfprof_error_free(error);
    return message;
}

static void close_recording(struct opened_recording *recording)
{
    tfprof_close(recording->profile);
    recording->profile = NULL;
}

void tools_free(struct tools *tools)
{
    for (size_t i = 0; i < OPENED_FILES; i++)
        close_recording(&tools->opened[i]);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Makes it the newest. */
static void move_to_front(struct tools *tools, size_t at)
{
    struct opened_recording recording = tools->opened[at];

    memmove(&tools->opened[1], &tools->opened[0], at * sizeof recording);
    tools->opened[0] = recording;
}

/* A directory may get more files at any time, so that it is read again. */
static bool find_opened(struct tools *tools, const char *path, const struct stat *status)
{
    for (size_t i = 0; i < OPENED_FILES; i++) {
        const struct opened_recording *recording = &tools->opened[i];

        if (!recording->profile || strcmp(recording->path, path) != 0)
            continue;
        move_to_front(tools, i);
        if (S_ISREG(status->st_mode) && is_same(&recording->status, status))
            return true;
        close_recording(&tools->opened[0]);
    }
    return false;
}

/* The one of a path argument; stays the tools'. */
static tfprof_profile *open_recording(struct tool_call *call, const char *argument,
                                      const char **why)
{
    const char              *path = rpc_text(call->arguments, argument, call->arena);
    struct tools            *tools = call->tools;
    tfprof_error            *error = NULL;
    struct stat              status = { 0 };
    tfprof_profile          *profile;
    struct opened_recording *last;

    if (!path || strlen(path) >= OPENED_PATH_BYTES || strcmp(path, "-") == 0) {
        *why = arena_text(call->arena, "\"%s\" is the path of a recording", argument);
        return NULL;
    }
    if (stat(path, &status) == 0 && find_opened(tools, path, &status))
        return tools->opened[0].profile;
    profile = tfprof_open(&path, 1, NULL, &error);
    if (!profile) {
        *why = message_of(error, call->arena);
        return NULL;
    }
    last = &tools->opened[OPENED_FILES - 1];
    close_recording(last);
    *last = (struct opened_recording) { .status = status, .profile = profile };
    snprintf(last->path, sizeof last->path, "%s", path);
    move_to_front(tools, OPENED_FILES - 1);
    return profile;
}

static bool add_option(struct tool_call *call, struct options *options, const char *name,
                       const char *value)
{
    const char *option = arena_text(call->arena, "%s%s", name, value);

    return option && vec_push(&options->list, call->arena, option);
}

/* "only": "input" becomes "only=input", each text of a list an option of its own. */
static void add_argument(struct tool_call *call, struct options *options, const char *argument,
                         const char *prefix)
{
    struct json_scan scan;
    struct str       value;
    const char      *text = rpc_text(call->arguments, argument, call->arena);

    if (text)
        add_option(call, options, prefix, text);
    else if (rpc_member(call->arguments, argument, &value) && value.data[0] == '[') {
        scan = (struct json_scan) { .at = value.data, .end = value.data + value.len };
        json_open(&scan, '[');
        while (json_item(&scan)) {
            bool       is_text = json_peek(&scan) == '"';
            struct str item = is_text ? json_scalar(&scan) : json_value(&scan);

            text = arena_str(call->arena, json_unescape(call->arena, item)).data;
            if (is_text && text)
                add_option(call, options, prefix, text);
        }
    }
}

static const char *const *options_of(struct tool_call *call, struct options *options)
{
    return vec_push(&options->list, call->arena, NULL) ? options->list.items : NULL;
}

/* By address: the error is there only when the answer is. */
static tfprof_answer *answered(struct tool_call *call, tfprof_answer *answer, tfprof_error **error,
                               const char **why)
{
    if (!answer)
        *why = message_of(*error, call->arena);
    return answer;
}

static tfprof_answer *call_advise(struct tool_call *call, const char **why)
{
    tfprof_profile *profile = open_recording(call, "path", why);
    struct options  options = { 0 };
    tfprof_error   *error = NULL;

    if (!profile)
        return NULL;
    add_argument(call, &options, "only", "only=");
    return answered(call, tfprof_advise(profile, options_of(call, &options), &error), &error, why);
}

static tfprof_answer *call_explain(struct tool_call *call, const char **why)
{
    const char     *rule = rpc_text(call->arguments, "rule", call->arena);
    tfprof_profile *profile = NULL;
    struct str      path;
    tfprof_error   *error = NULL;

    *why = "\"rule\" is the id of a rule";
    if (!rule || (rpc_member(call->arguments, "path", &path) &&
                  !(profile = open_recording(call, "path", why))))
        return NULL;
    return answered(call, tfprof_explain(profile, rule, NULL, &error), &error, why);
}

static tfprof_answer *call_why(struct tool_call *call, const char **why)
{
    tfprof_profile *profile = open_recording(call, "path", why);
    const char     *what = rpc_text(call->arguments, "what", call->arena);
    tfprof_error   *error = NULL;

    return profile ? answered(call, tfprof_why(profile, what, NULL, &error), &error, why) : NULL;
}

/* Those of the command, which go together; others are edits of findings. */
static bool is_whatif_option(const char *edit)
{
    static const char *const names[] = { "scale",   "drop",          "parallel",
                                         "merge",   "move",          "rank",
                                         "network", "no-input-wait", "graph-capture" };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        size_t len = strlen(names[i]);

        if (strncmp(edit, names[i], len) == 0 && (edit[len] == '=' || edit[len] == '\0'))
            return true;
    }
    return false;
}

static tfprof_answer *call_whatif(struct tool_call *call, const char **why)
{
    tfprof_profile *profile = open_recording(call, "path", why);
    struct options  given = { 0 }, options = { 0 };
    tfprof_error   *error = NULL;

    if (!profile)
        return NULL;
    add_argument(call, &given, "edits", "");
    for (size_t i = 0; i < given.list.count; i++)
        add_option(call, &options,
                   is_whatif_option(given.list.items[i]) ? "" : "edit=", given.list.items[i]);
    return answered(call, tfprof_whatif(profile, options_of(call, &options), &error), &error, why);
}

static bool is_one_path(const struct tool_call *call)
{
    const char *before = rpc_text(call->arguments, "before", call->arena);
    const char *after = rpc_text(call->arguments, "after", call->arena);

    return before && after && strcmp(before, after) == 0;
}

static tfprof_answer *call_diff(struct tool_call *call, const char **why)
{
    tfprof_profile *before = open_recording(call, "before", why), *after = NULL;
    tfprof_error   *error = NULL;

    /* Opening a path again may close what was read of it before. */
    if (before)
        after = is_one_path(call) ? before : open_recording(call, "after", why);
    return after ? answered(call, tfprof_diff(before, after, NULL, &error), &error, why) : NULL;
}

/* Names of tables, as an answer would have them. */
static struct str table_names(tfprof_profile *profile, struct arena *arena)
{
    struct text        text = { .arena = arena };
    struct json_writer json = { .text = &text, .is_compact = true };
    const char        *name;

    json_object(&json);
    put_array(&json, "tables");
    for (size_t i = 0; (name = tfprof_table_name(profile, i)); i++)
        json_text(&json, name);
    json_array_end(&json);
    json_object_end(&json);
    return text_str(&text);
}

static bool has_table(tfprof_profile *profile, const char *name)
{
    for (size_t i = 0; i < tfprof_table_count(profile); i++)
        if (strcmp(tfprof_table_name(profile, i), name) == 0)
            return true;
    return false;
}

static tfprof_answer *call_table(struct tool_call *call, const char **why)
{
    tfprof_profile *profile = open_recording(call, "path", why);
    const char     *name = rpc_text(call->arguments, "name", call->arena);
    struct options  options = { 0 };
    tfprof_error   *error = NULL;
    tfprof_answer  *answer;
    int64_t         top = 20;

    if (!profile)
        return NULL;
    if (!name) {
        *why = arena_text(call->arena, "\"name\" is one of %.*s",
                          STR_ARG(table_names(profile, call->arena)));
        return NULL;
    }
    if (rpc_integer(call->arguments, "top", &top) && top < 1)
        top = 1;
    add_argument(call, &options, "columns", "columns=");
    add_argument(call, &options, "where", "where=");
    add_argument(call, &options, "sort", "sort=");
    add_option(call, &options, "top=", arena_text(call->arena, "%lld", (long long)top));
    answer = answered(call, tfprof_table_text(profile, name, options_of(call, &options), &error),
                      &error, why);
    if (!answer && !has_table(profile, name))
        *why = arena_text(call->arena, "%s; this recording has %.*s", *why,
                          STR_ARG(table_names(profile, call->arena)));
    return answer;
}

/* "limit" and "top" ask for more than the usual, and so for a longer answer. */
static size_t items_wanted(const struct mcp_tool *tool, struct str arguments, size_t *budget_bytes)
{
    int64_t items = 0;

    *budget_bytes = RESULT_BYTES;
    if ((!rpc_integer(arguments, "limit", &items) && !rpc_integer(arguments, "top", &items)) ||
        items < 1)
        return tool->most_items;
    if ((size_t)items > tool->most_items)
        *budget_bytes = SIZE_MAX;
    return (size_t)items;
}

bool tools_call(struct tool_call *call, struct str name, bool *is_known, struct str *result,
                const char **why)
{
    const struct mcp_tool *tool = NULL;
    tfprof_answer         *answer;
    size_t                 items, budget_bytes;

    for (size_t i = 0; i < ARRAY_COUNT(mcp_tools); i++)
        if (str_equal(name, str_from(mcp_tools[i].name)))
            tool = &mcp_tools[i];
    *is_known = tool != NULL;
    if (!tool || !(answer = tool->call(call, why)))
        return false;
    items = items_wanted(tool, call->arguments, &budget_bytes);
    *result =
        json_keep_within((struct str) { tfprof_answer_text(answer), tfprof_answer_bytes(answer) },
                         tool->shape, items, budget_bytes, call->arena);
    tfprof_answer_free(answer);
    return true;
}
