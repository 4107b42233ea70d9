/* output_sarif: SARIF 2.1.0. Fingerprints stay over runs, so that services follow an alert. */
#include "analyze/study.h"
#include "base/json_fields.h"
#include "base/json_writer.h"
#include "gate/gate.h"
#include "report/describe.h"
#include "report/layout.h"
#include "report/output.h"
#include "rules/advice.h"

#include <string.h>

static void put_message(struct json_writer *json, const char *key, const char *words)
{
    put_object(json, key);
    put_text(json, "text", words);
    json_object_end(json);
}

/* URIs are relative to the source root unless absolute; blanks and the like are escaped. */
static void put_uri(struct json_writer *json, const char *file, struct arena *arena)
{
    struct text uri = { .arena = arena };

    if (file[0] == '/')
        text_add(&uri, STR("file://"));
    for (; *file; file++) {
        unsigned char byte = (unsigned char)*file;

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || strchr("-._~/", byte))
            text_add_byte(&uri, (char)byte);
        else
            text_print(&uri, "%%%02X", byte);
    }
    put_text(json, "uri", uri.data ? uri.data : "");
}

struct sarif_result {
    const char *rule, *level, *message, *file, *fingerprint;
    uint32_t    line;
};

static void add_result(struct json_writer *json, const struct sarif_result *result)
{
    json_object(json);
    put_text(json, "ruleId", result->rule);
    put_text(json, "level", result->level);
    put_message(json, "message", result->message);
    put_array(json, "locations");
    json_object(json);
    put_object(json, "physicalLocation");
    put_object(json, "artifactLocation");
    put_uri(json, result->file, json->text->arena);
    json_object_end(json);
    put_object(json, "region");
    put_integer(json, "startLine", result->line > 0 ? result->line : 1);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
    json_array_end(json);
    put_object(json, "partialFingerprints");
    put_text(json, "tfprof/v1", result->fingerprint);
    json_object_end(json);
    json_object_end(json);
}

static const char *level_of(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_PASS:
        return "none";
    case OUTCOME_WARN:
        return "warning";
    case OUTCOME_INCONCLUSIVE:
        return "warning";
    case OUTCOME_FAIL:
        break;
    }
    return "error";
}

static bool is_listed(const char *const *ids, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

static void add_rule(struct json_writer *json, const char *id, const char *words,
                     const char *remedy)
{
    json_object(json);
    put_text(json, "id", id);
    put_message(json, "shortDescription", words);
    if (remedy)
        put_message(json, "help", remedy);
    json_object_end(json);
}

/* The diff rules, and rules of advice and budgets that a result names. */
static void add_rules(struct json_writer *json, const struct gate_result *result)
{
    struct arena *arena = json->text->arena;
    const char  **ids = arena_new_array(arena, const char *, result->checks.count + 1);
    size_t        count = 0;

    put_array(json, "rules");
    for (size_t i = 0; i < diff_rule_count; i++)
        add_rule(json, diff_rules[i].id, diff_rules[i].title, diff_rules[i].remedy);
    for (size_t i = 0; ids && i < result->checks.count; i++) {
        const char *id = result->checks.items[i].rule;

        if (diff_rule_find(id) || is_listed(ids, count, id))
            continue;
        ids[count++] = id;
        add_rule(json, id,
                 strcmp(id, "budget") == 0 ? "A budget does not hold" : "Advice that is new", NULL);
    }
    json_array_end(json);
}

static void add_results(struct json_writer *json, const struct gate_result *result)
{
    const char *place = result->baseline ? result->baseline : result->profile;

    put_array(json, "results");
    for (size_t i = 0; i < result->checks.count; i++) {
        const struct check *check = &result->checks.items[i];

        if (check->outcome != OUTCOME_PASS)
            add_result(json, &(struct sarif_result) {
                                 .rule = check->rule,
                                 .level = level_of(check->outcome),
                                 .message = check->title,
                                 .file = check->file[0] ? check->file : place,
                                 .line = check->line,
                                 .fingerprint = check->fingerprint,
                             });
    }
    for (size_t i = 0; result->outcome != OUTCOME_PASS && i < result->changes.count; i++) {
        const struct change *change = &result->changes.items[i];

        if (change->rule)
            add_result(json, &(struct sarif_result) {
                                 .rule = change->rule,
                                 .level = change->severity >= SEVERITY_WARN ? "warning" : "note",
                                 .message = change->title,
                                 .file = change->file[0] ? change->file : place,
                                 .line = change->line,
                                 .fingerprint = change->fingerprint,
                             });
    }
    json_array_end(json);
}

/* Opens the document up to the tool's rules, which are an open array. */
static void begin(struct json_writer *json)
{
    json_object(json);
    put_text(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    put_text(json, "version", "2.1.0");
    put_array(json, "runs");
    json_object(json);
    put_object(json, "tool");
    put_object(json, "driver");
    put_text(json, "name", "tfprof");
    put_text(json, "semanticVersion", TFPROF_VERSION);
}

static void end_tool(struct json_writer *json)
{
    json_object_end(json);
    json_object_end(json);
}

static void end(struct json_writer *json)
{
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
    text_add_byte(json->text, '\n');
}

static void gate_sarif(const struct gate_result *result, const struct output_options *options,
                       struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    begin(&json);
    add_rules(&json, result);
    end_tool(&json);
    add_results(&json, result);
    put_object(&json, "properties");
    put_text(&json, "outcome", outcome_name(result->outcome));
    put_text(&json, "headline", result->headline);
    json_object_end(&json);
    end(&json);
}

static const char *level_of_severity(enum severity severity)
{
    return severity == SEVERITY_INFO ? "note" : severity == SEVERITY_WARN ? "warning" : "error";
}

static void add_advice_rules(struct json_writer *json, const struct advice *advice)
{
    const char **ids = arena_new_array(json->text->arena, const char *, advice->findings.count + 1);
    size_t       count = 0;

    put_array(json, "rules");
    for (size_t i = 0; ids && i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (finding->hidden_by || is_listed(ids, count, finding->rule))
            continue;
        ids[count++] = finding->rule;
        add_rule(json, finding->rule, finding->title, finding->remedy_text);
    }
    json_array_end(json);
}

static void add_advice_results(struct json_writer *json, const struct advice *advice,
                               const char *profile_name)
{
    put_array(json, "results");
    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];
        bool                  has_place = finding->locations.count > 0;

        if (finding->hidden_by)
            continue;
        add_result(json, &(struct sarif_result) {
                             .rule = finding->rule,
                             .level = level_of_severity(finding->severity),
                             .message = finding_message(finding, json->text->arena),
                             .file = has_place ? finding->locations.items[0].file : profile_name,
                             .line = has_place ? finding->locations.items[0].line : 0,
                             .fingerprint = finding->fingerprint,
                         });
    }
    json_array_end(json);
}

static void advice_sarif(const struct advice *advice, const struct study *study,
                         const struct output_options *options, struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    begin(&json);
    add_advice_rules(&json, advice);
    end_tool(&json);
    add_advice_results(&json, advice, study->profile->name ? study->profile->name : "the profile");
    put_object(&json, "properties");
    put_text(&json, "verdict", advice->verdict.text);
    json_object_end(&json);
    end(&json);
}

const struct output output_sarif = {
    .name = "sarif",
    .summary = "SARIF 2.1.0 for code scanning",
    .advice = advice_sarif,
    .gate = gate_sarif,
};
