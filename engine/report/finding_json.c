/* finding_json: the value of one entry of "findings". */
#include "report/finding_json.h"

#include "base/json_fields.h"
#include "report/trace/cutout.h"
#include "rules/advice.h"

#include <math.h>

void finding_json_evidence(struct json_writer *json, const struct evidence *evidence, size_t count)
{
    put_array(json, "evidence");
    for (size_t i = 0; i < count; i++) {
        json_object(json);
        put_text(json, "what", evidence[i].what);
        if (evidence[i].text) {
            put_text(json, "value", evidence[i].text);
        } else if (!isfinite(evidence[i].value)) {
            put_text(json, "value", "unknown");
        } else if (evidence[i].unit == UNIT_BOOL) {
            put_bool(json, "value", evidence[i].value != 0);
        } else {
            put_number(json, "value", unit_to_json(evidence[i].value, evidence[i].unit));
            put_text(json, "unit", unit_json_name(evidence[i].unit));
        }
        put_number(json, "share", evidence[i].share);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_subject(struct json_writer *json, const struct subject *subject)
{
    if (!subject->op && !subject->kernel && !subject->device && !subject->host && !subject->scope &&
        subject->rank < 0 && subject->step < 0)
        return;
    put_object(json, "subject");
    put_text(json, "op", subject->op);
    put_text(json, "kernel", subject->kernel);
    put_text(json, "device", subject->device);
    put_text(json, "host", subject->host);
    if (subject->rank >= 0)
        put_integer(json, "rank", subject->rank);
    if (subject->step >= 0)
        put_integer(json, "step", subject->step);
    put_text(json, "scope", subject->scope);
    json_object_end(json);
}

static void write_locations(struct json_writer *json, const struct finding *finding)
{
    put_array(json, "locations");
    for (size_t i = 0; i < finding->locations.count; i++) {
        const struct location *location = &finding->locations.items[i];

        json_object(json);
        put_text(json, "file", location->file);
        put_integer(json, "line", location->line);
        put_text(json, "function", location->function);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_impact(struct json_writer *json, const struct impact *impact)
{
    put_object(json, "impact");
    if (impact->has_saving) {
        put_ms(json, "low_ms", impact->low_ns);
        put_ms(json, "mid_ms", impact->mid_ns);
        put_ms(json, "high_ms", impact->high_ns);
        put_number(json, "share", impact->share);
        put_ms(json, "model_ms", impact->model_ns);
    }
    put_text(json, "method", method_name(impact->has_saving ? impact->method : METHOD_NONE));
    put_text(json, "confidence", confidence_name(impact->confidence));
    put_text(json, "resource", impact->resource);
    json_object_end(json);
}

/* What the model replayed, as whatif takes it. */
static void write_edits(struct json_writer *json, const struct finding *finding)
{
    if (!finding->edits.count)
        return;
    put_array(json, "edits");
    for (size_t i = 0; i < finding->edits.count; i++)
        json_text(json, finding->edits.items[i]);
    json_array_end(json);
}

/* Where in the recording it is: for a part of the timeline. */
static void write_seen(struct json_writer *json, const struct study *study,
                       const struct finding *finding)
{
    struct arena         scratch = { .budget_bytes = json->text->arena->budget_bytes };
    struct cutout_events seen;
    bool                 is_compact = json->is_compact;

    if (!cutout_events(study, finding, &seen, &scratch)) {
        json->text->is_cut = true;
    } else if (seen.count) {
        put_object(json, "seen");
        put_integer(json, "start_ns", seen.start_ns);
        put_integer(json, "end_ns", seen.end_ns);
        put_integer(json, "count", (int64_t)seen.count);
        put_array(json, "events");
        json->is_compact = true;
        for (size_t i = 0; i < seen.events.count; i++) {
            json_array(json);
            json_integer(json, seen.events.items[i].start_ns);
            json_integer(json, seen.events.items[i].duration_ns);
            json_array_end(json);
        }
        json_array_end(json);
        json->is_compact = is_compact;
        json_object_end(json);
    }
    arena_free(&scratch);
}

void finding_json(struct json_writer *json, const struct finding *finding,
                  const struct study *study)
{
    json_object(json);
    put_integer(json, "rank", finding->rank);
    put_text(json, "rule", finding->rule);
    put_text(json, "title", finding->title);
    put_text(json, "severity", severity_name(finding->severity));
    put_text(json, "category", finding->category);
    write_subject(json, &finding->subject);
    write_locations(json, finding);
    write_impact(json, &finding->impact);
    write_edits(json, finding);
    finding_json_evidence(json, finding->evidence.items, finding->evidence.count);
    if (study)
        write_seen(json, study, finding);
    put_text(json, "condition", finding->condition ? finding->condition : "");
    put_object(json, "remedy");
    put_text(json, "text", finding->remedy_text ? finding->remedy_text : "");
    put_text(json, "code", finding->remedy_code);
    put_text(json, "flags", finding->remedy_flags);
    json_object_end(json);
    if (finding->children.count > 0) {
        put_array(json, "children");
        for (size_t i = 0; i < finding->children.count; i++)
            json_text(json, finding->children.items[i]);
        json_array_end(json);
    }
    put_text(json, "hidden_by", finding->hidden_by);
    put_text(json, "fingerprint", finding->fingerprint);
    json_object_end(json);
}
