/* output_gitlab: a Code Quality report: a JSON array of issues, each with a place and a
 * fingerprint. */
#include "base/json_fields.h"
#include "base/json_writer.h"
#include "gate/gate.h"
#include "report/output.h"

/* Issues need a place; without one it is the baseline, which the change has to replace. */
static void add_issue(struct json_writer *json, const char *rule, const char *severity,
                      const char *fingerprint, const char *words, const char *file, uint32_t line)
{
    json_object(json);
    put_text(json, "description", words);
    put_text(json, "check_name", rule);
    put_text(json, "fingerprint", fingerprint);
    put_text(json, "severity", severity);
    put_object(json, "location");
    put_text(json, "path", file);
    put_object(json, "lines");
    put_integer(json, "begin", line > 0 ? line : 1);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
}

static const char *severity_of(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_PASS:
        return "info";
    case OUTCOME_WARN:
        return "minor";
    case OUTCOME_INCONCLUSIVE:
        return "major";
    case OUTCOME_FAIL:
        break;
    }
    return "critical";
}

static void gate_gitlab(const struct gate_result *result, const struct output_options *options,
                        struct text *text)
{
    struct json_writer json = { .text = text };
    const char        *place = result->baseline ? result->baseline : result->profile;

    (void)options;
    json_array(&json);
    for (size_t i = 0; i < result->checks.count; i++) {
        const struct check *check = &result->checks.items[i];

        if (check->outcome != OUTCOME_PASS)
            add_issue(&json, check->rule, severity_of(check->outcome), check->fingerprint,
                      check->title, check->file[0] ? check->file : place, check->line);
    }
    for (size_t i = 0; result->outcome != OUTCOME_PASS && i < result->changes.count; i++) {
        const struct change *change = &result->changes.items[i];

        if (change->rule && change->severity >= SEVERITY_WARN)
            add_issue(&json, change->rule, "minor", change->fingerprint, change->title,
                      change->file[0] ? change->file : place, change->line);
    }
    json_array_end(&json);
    text_add_byte(text, '\n');
}

const struct output output_gitlab = {
    .name = "gitlab",
    .summary = "a Code Quality report for GitLab",
    .gate = gate_gitlab,
};
