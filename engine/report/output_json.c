/*
 * output_json: results for machines. The key order and names of the advice are a contract
 * (docs/advice.schema.json); what is unknown is left out rather than null.
 */
#include "report/bisect_report.h"
#include "report/output.h"

#include "analyze/study.h"
#include "base/json_fields.h"
#include "report/describe.h"
#include "report/diff_json.h"
#include "report/finding_json.h"
#include "report/gate_json.h"
#include "report/history_report.h"
#include "report/info_json.h"
#include "report/rules_json.h"
#include "report/table_report.h"
#include "report/tool.h"
#include "report/verify_report.h"
#include "report/whatif_json.h"
#include "report/why_json.h"
#include "rules/advice.h"

#include <math.h>
#include <string.h>

static void write_tool(struct json_writer *json, const struct advice *advice)
{
    put_object(json, "tool");
    put_text(json, "version", TFPROF_VERSION);
    put_array(json, "rules");
    for (size_t i = 0; i < advice->packs.count; i++) {
        const struct pack *pack = &advice->packs.items[i];

        json_object(json);
        put_text(json, "pack", pack->name);
        put_text(json, "version", pack->version);
        put_integer(json, "count", pack->rule_count);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void write_left_out(struct json_writer *json, const struct steps *steps)
{
    put_array(json, "left_out");
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host != steps->host || step->is_used)
            continue;
        json_object(json);
        put_integer(json, "step", step->number);
        put_text(json, "why", step->left_out ? step->left_out : "not usable");
        json_object_end(json);
    }
    json_array_end(json);
}

/* What each looked-at step waits for: the table step_parts, milliseconds of the columns that are
 * not 0. */
static void write_each(struct json_writer *json, const struct study *study)
{
    enum { STEPS_MOST = 1000 };
    const struct table *table = facts_find_table(&study->facts, "step_parts");
    size_t              count = table ? table->row_count : 0;
    bool                is_compact = json->is_compact;

    put_array(json, "each");
    json->is_compact = true;
    for (size_t row = 0; row < count && row < STEPS_MOST; row++) {
        double sum_ns = 0;

        json_object(json);
        put_number(json, "step", table->columns[table_column(table, "number")][row]);
        put_object(json, "parts");
        for (size_t i = 0; i < table->spec->column_count; i++) {
            const struct column_spec *column = &table->spec->columns[i];
            double                    ns = table->columns[i][row];

            if (column->unit != UNIT_NS || !(ns > 0))
                continue;
            put_ms(json,
                   arena_text(json->text->arena, "%.*s",
                              (int)(strlen(column->name) - strlen("_ns")), column->name),
                   ns);
            sum_ns += ns;
        }
        json_object_end(json);
        put_ms(json, "wall_ms", sum_ns);
        json_object_end(json);
    }
    json->is_compact = is_compact;
    json_array_end(json);
}

static void write_steps(struct json_writer *json, const struct study *study)
{
    const struct steps *steps = &study->steps;
    struct step_range   range = study_step_range(study);
    double              batches;

    put_object(json, "steps");
    put_integer(json, "count", range.count);
    put_integer(json, "used", range.used);
    if (range.used > 0) {
        put_integer(json, "first", range.first);
        put_integer(json, "last", range.last);
    }
    put_text(json, "source", step_source_name(steps->source));
    if (steps->is_uneven)
        put_bool(json, "is_uneven", true);
    if (facts_get(&study->facts, "work.per_step", &batches))
        put_number(json, "batches_per_step", batches);
    write_left_out(json, steps);
    put_object(json, "wall_ms");
    put_ms(json, "median", steps->median_ns);
    put_ms(json, "mean", steps->mean_ns);
    put_ms(json, "min", steps->min_ns);
    put_ms(json, "max", steps->max_ns);
    put_number(json, "cov", steps->cov);
    json_object_end(json);
    write_each(json, study);
    json_object_end(json);
}

static void write_composition(struct json_writer *json, const struct study *study)
{
    double part_ns[PART_COUNT];

    put_array(json, "composition");
    if (study_composition(study, part_ns)) {
        for (int part = 0; part < PART_COUNT; part++) {
            if (part_ns[part] <= 0)
                continue;
            json_object(json);
            put_text(json, "part", part_name((enum part)part));
            put_ms(json, "ms", part_ns[part]);
            put_number(json, "share", fmin(1, part_ns[part] / steps_ns(&study->steps)));
            json_object_end(json);
        }
    }
    json_array_end(json);
}

static void write_verdict(struct json_writer *json, const struct verdict *verdict)
{
    put_object(json, "verdict");
    put_text(json, "class", verdict->class_name ? verdict->class_name : "unknown");
    put_number(json, "share", verdict->share);
    put_text(json, "text", verdict->text ? verdict->text : "");
    finding_json_evidence(json, verdict->evidence.items, verdict->evidence.count);
    json_object_end(json);
}

static void write_together(struct json_writer *json, const struct advice *advice)
{
    put_array(json, "together");
    for (size_t i = 0; i < advice->together.count; i++) {
        const struct together *together = &advice->together.items[i];
        uint32_t               named = 0;

        json_object(json);
        put_array(json, "fixed");
        for (size_t at = 0; at < advice->findings.count && named < together->count; at++) {
            if (!finding_is_fixable(&advice->findings.items[at]))
                continue;
            json_text(json, advice->findings.items[at].rule);
            named++;
        }
        json_array_end(json);
        put_ms(json, "step_ms", together->step_ns);
        put_number(json, "speedup", together->speedup);
        put_text(json, "then", together->then_class);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_unlooked(struct json_writer *json, const struct advice *advice)
{
    put_array(json, "skipped");
    for (size_t i = 0; i < advice->skipped.count; i++) {
        json_object(json);
        put_text(json, "rule", advice->skipped.items[i].rule);
        put_text(json, "reason", advice->skipped.items[i].reason);
        put_text(json, "capture", advice->skipped.items[i].capture);
        json_object_end(json);
    }
    json_array_end(json);
    put_array(json, "failed");
    for (size_t i = 0; i < advice->failed.count; i++) {
        json_object(json);
        put_text(json, "rule", advice->failed.items[i].rule);
        put_text(json, "message", advice->failed.items[i].message);
        json_object_end(json);
    }
    json_array_end(json);
    put_array(json, "suppressed");
    for (size_t i = 0; i < advice->suppressed.count; i++) {
        json_object(json);
        put_text(json, "rule", advice->suppressed.items[i].rule);
        put_text(json, "reason", advice->suppressed.items[i].reason);
        put_integer(json, "count", advice->suppressed.items[i].count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void advice_json(const struct advice *advice, const struct study *study,
                        const struct output_options *options, struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.advice/1");
    write_tool(&json, advice);
    json_key(&json, "profile");
    info_json_profile(&json, study->profile, false);
    write_steps(&json, study);
    write_composition(&json, study);
    write_verdict(&json, &advice->verdict);
    put_array(&json, "findings");
    for (size_t i = 0; i < advice->findings.count; i++)
        finding_json(&json, &advice->findings.items[i], study);
    json_array_end(&json);
    write_together(&json, advice);
    put_object(&json, "coverage");
    put_integer(&json, "rules", advice->rule_count);
    put_integer(&json, "looked", advice->looked_count);
    put_integer(&json, "found", advice->found_count);
    put_integer(&json, "quiet", advice->quiet_count);
    write_unlooked(&json, advice);
    put_integer(&json, "other_formats", advice->other_format_count);
    json_object_end(&json);
    json_object_end(&json);
    text_add_byte(text, '\n');
}

const struct output output_json = {
    .name = "json",
    .summary = "one object for machines, as docs/advice.schema.json says",
    .advice = advice_json,
    .info = info_json,
    .table = table_json,
    .tool = tool_json,
    .whatif = whatif_json,
    .why = why_json,
    .diff = diff_json,
    .rules = rules_json,
    .explain = explain_json,
    .gate = gate_json,
    .history = history_json,
    .verify = verify_json,
    .bisect = bisect_json,
};
