/* rules_json: `tfprof rules` and `tfprof explain` with --format json. */
#include "report/rules_json.h"

#include "base/json_fields.h"
#include "report/describe.h"
#include "report/finding_json.h"
#include "rules/catalogue.h"

static void write_names(struct json_writer *json, const char *key, const char *const *names,
                        size_t count)
{
    put_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_text(json, names[i]);
    json_array_end(json);
}

static void write_formats(struct json_writer *json, uint32_t mask)
{
    put_array(json, "formats");
    for (int format = FORMAT_PROFILE; format <= FORMAT_KINETO; format++) {
        if (mask & (UINT32_C(1) << format))
            json_text(json, profile_format_name((enum profile_format)format));
    }
    json_array_end(json);
}

static void write_param(struct json_writer *json, const struct rule_param *param)
{
    json_object(json);
    put_text(json, "name", param->name);
    switch (param->kind) {
    case RULE_PARAM_NUMBER:
        put_text(json, "kind", "number");
        put_text(json, "unit", unit_json_name(param->unit));
        put_number(json, "default", unit_to_json(param->number, param->unit));
        put_number(json, "min", unit_to_json(param->min, param->unit));
        put_number(json, "max", unit_to_json(param->max, param->unit));
        break;
    case RULE_PARAM_BOOL:
        put_text(json, "kind", "bool");
        put_bool(json, "default", param->number != 0);
        break;
    case RULE_PARAM_TEXT:
        put_text(json, "kind", "text");
        put_text(json, "default", param->text);
        break;
    }
    if (param->is_set)
        put_bool(json, "set_by_project", true);
    put_text(json, "doc", param->doc);
    json_object_end(json);
}

static void write_rule(struct json_writer *json, const struct rule_info *rule)
{
    json_object(json);
    put_text(json, "id", rule->id);
    put_text(json, "title", rule->title);
    put_text(json, "summary", rule->summary);
    put_text(json, "severity", rule->is_off ? "off" : severity_name(rule->severity));
    put_text(json, "preset", preset_name(rule->preset));
    put_text(json, "category", rule->category);
    put_text(json, "cause", rule->cause);
    put_text(json, "pack", rule->pack);
    put_text(json, "version", rule->version);
    put_text(json, "file", rule->file);
    write_formats(json, rule->format_mask);
    write_names(json, "needs", rule->needs.items, rule->needs.count);
    write_names(json, "tags", rule->tags.items, rule->tags.count);
    write_names(json, "more_specific_than", rule->more_specific_than.items,
                rule->more_specific_than.count);
    put_array(json, "params");
    for (size_t i = 0; i < rule->params.count; i++)
        write_param(json, &rule->params.items[i]);
    json_array_end(json);
    put_text(json, "doc", rule->doc);
    json_object_end(json);
}

void rules_json(const struct rule_list *list, const struct output_options *options,
                struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.rules/1");
    put_array(&json, "rules");
    for (size_t i = 0; i < list->rules.count; i++)
        write_rule(&json, &list->rules.items[i]);
    json_array_end(&json);
    put_array(&json, "failed");
    for (size_t i = 0; i < list->failed.count; i++) {
        json_object(&json);
        put_text(&json, "rule", list->failed.items[i].rule);
        put_text(&json, "message", list->failed.items[i].message);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    text_add_byte(text, '\n');
}

static const char *outcome_name(enum rule_outcome outcome)
{
    switch (outcome) {
    case RULE_QUIET:
        return "quiet";
    case RULE_FOUND:
        return "found";
    case RULE_SKIPPED:
        return "skipped";
    case RULE_FAILED:
        return "failed";
    }
    return "failed";
}

void explain_json(const struct rule_explanation *explanation, const char *profile_name,
                  const struct output_options *options, struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.explanation/1");
    json_key(&json, "rule");
    write_rule(&json, &explanation->info);
    if (explanation->place && !profile_name) {
        put_text(&json, "outcome", outcome_name(explanation->outcome));
        put_text(&json, "reason", explanation->reason);
    }
    if (profile_name) {
        put_text(&json, "profile", profile_name);
        put_text(&json, "outcome", outcome_name(explanation->outcome));
        put_text(&json, "reason", explanation->reason);
        put_text(&json, "capture", explanation->capture);
        finding_json_evidence(&json, explanation->needs.items, explanation->needs.count);
        put_array(&json, "findings");
        for (size_t i = 0; i < explanation->findings.count; i++)
            finding_json(&json, &explanation->findings.items[i], NULL);
        json_array_end(&json);
    }
    json_object_end(&json);
    text_add_byte(text, '\n');
}
