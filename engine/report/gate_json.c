#include "report/gate_json.h"

#include "base/json_fields.h"
#include "gate/gate.h"
#include "report/finding_json.h"
#include "report/gate_words.h"
#include "report/output.h"

#include <math.h>

static void put_place(struct json_writer *json, const char *file, uint32_t line)
{
    if (!file[0])
        return;
    put_text(json, "file", file);
    if (line > 0)
        put_integer(json, "line", line);
}

static void write_step(struct json_writer *json, const struct gate_result *result)
{
    if (!result->has_step)
        return;
    put_object(json, "step");
    put_text(json, "of", gate_words_unit(result));
    if (result->is_per_batch) {
        put_number(json, "batches_before", result->batches_before);
        put_number(json, "batches_after", result->batches_after);
    }
    put_exact(json, "before_ms", result->before_ns / 1e6);
    put_exact(json, "after_ms", result->after_ns / 1e6);
    put_number(json, "change", result->change);
    put_number(json, "change_low", result->change_low);
    put_number(json, "change_high", result->change_high);
    put_number(json, "p", result->p_value);
    put_integer(json, "runs_before", (int64_t)result->runs_before);
    put_integer(json, "runs_after", (int64_t)result->runs_after);
    put_integer(json, "steps_before", (int64_t)result->steps_before);
    put_integer(json, "steps_after", (int64_t)result->steps_after);
    json_object_end(json);
}

static void write_checks(struct json_writer *json, const struct gate_result *result)
{
    put_array(json, "checks");
    for (size_t i = 0; i < result->checks.count; i++) {
        const struct check *check = &result->checks.items[i];

        json_object(json);
        put_text(json, "id", check->id);
        put_text(json, "rule", check->rule);
        put_text(json, "kind", check_kind_name(check->kind));
        put_text(json, "outcome", outcome_name(check->outcome));
        put_text(json, "title", check->title);
        if (check->detail[0])
            put_text(json, "detail", check->detail);
        if (check->has_before)
            put_exact(json, "before", unit_to_json(check->before, check->unit));
        if (check->has_after)
            put_exact(json, "after", unit_to_json(check->after, check->unit));
        put_text(json, "unit", unit_json_name(check->unit));
        put_place(json, check->file, check->line);
        put_text(json, "fingerprint", check->fingerprint);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_differences(struct json_writer *json, const struct gate_result *result)
{
    put_array(json, "differences");
    for (size_t i = 0; i < result->differences.count; i++) {
        const struct difference *difference = &result->differences.items[i];

        json_object(json);
        put_text(json, "what", difference->what);
        put_text(json, "before", difference->before);
        put_text(json, "after", difference->after);
        put_bool(json, "comparable", !difference->is_fatal);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_parts(struct json_writer *json, const struct gate_result *result)
{
    put_array(json, "parts");
    for (size_t i = 0; i < result->parts.count; i++) {
        const struct part_change *part = &result->parts.items[i];

        json_object(json);
        put_text(json, "part", part_name(part->part));
        put_exact(json, "before_ms", part->before_ns / 1e6);
        put_exact(json, "after_ms", part->after_ns / 1e6);
        put_exact(json, "change_ms", (part->after_ns - part->before_ns) / 1e6);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_pieces(struct json_writer *json, const struct gate_result *result)
{
    put_array(json, "pieces");
    for (size_t i = 0; i < result->pieces.count; i++) {
        const struct piece *piece = &result->pieces.items[i];

        json_object(json);
        put_text(json, "title", piece->title);
        put_text(json, "was", piece->was);
        put_text(json, "is", piece->is);
        put_exact(json, "before_ms", piece->before_ns / 1e6);
        put_exact(json, "after_ms", piece->after_ns / 1e6);
        put_exact(json, "change_ms", (piece->after_ns - piece->before_ns) / 1e6);
        put_place(json, piece->file, piece->line);
        json_object_end(json);
    }
    json_array_end(json);
    if (result->pieces.count > 0)
        put_exact(json, "rest_ms", gate_words_rest(result, result->pieces.count) / 1e6);
}

static const char *how_name(const struct change *change)
{
    switch (change->how) {
    case CHANGE_MORE:
        return "more";
    case CHANGE_LESS:
        return "less";
    case CHANGE_NEW:
        return "new";
    case CHANGE_GONE:
        break;
    }
    return "gone";
}

static void write_changes(struct json_writer *json, const struct gate_result *result)
{
    put_array(json, "changes");
    for (size_t i = 0; i < result->changes.count; i++) {
        const struct change *change = &result->changes.items[i];

        json_object(json);
        put_text(json, "rule", change->rule);
        if (change->rule)
            put_text(json, "severity", severity_name(change->severity));
        put_text(json, "what", change->noun);
        put_text(json, "how", how_name(change));
        put_text(json, "name", change->name);
        if (change->group[0])
            put_text(json, "group", change->group);
        put_text(json, "title", change->title);
        put_ms(json, "before_ms", change->before_ns);
        put_ms(json, "after_ms", change->after_ns);
        put_number(json, "before_count", change->before_count);
        put_number(json, "after_count", change->after_count);
        put_place(json, change->file, change->line);
        if (change->remedy[0])
            put_text(json, "remedy", change->remedy);
        put_text(json, "fingerprint", change->fingerprint);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_findings(struct json_writer *json, const struct gate_result *result)
{
    put_array(json, "new_findings");
    for (size_t i = 0; i < result->added.count; i++)
        finding_json(json, result->added.items[i], NULL);
    json_array_end(json);
    put_array(json, "fixed_findings");
    for (size_t i = 0; i < result->fixed.count; i++) {
        const struct known_finding *finding = result->fixed.items[i];

        json_object(json);
        put_text(json, "rule", finding->rule);
        put_text(json, "title", finding->title);
        put_text(json, "severity", severity_name(finding->severity));
        put_text(json, "fingerprint", finding->fingerprint);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_notes(struct json_writer *json, const char *side, const struct summary *summary)
{
    for (size_t i = 0; summary && i < summary->notes.count; i++) {
        const struct run_note *note = &summary->notes.items[i];

        json_object(json);
        put_text(json, "side", side);
        put_text(json, "run", note->run);
        if (note->where[0])
            put_text(json, "where", note->where);
        put_text(json, "what", note->what);
        put_integer(json, "count", note->count);
        put_bool(json, "damage", note->is_damage);
        json_object_end(json);
    }
}

void gate_json(const struct gate_result *result, const struct output_options *options,
               struct text *text)
{
    struct json_writer json = { .text = text };

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.gate/1");
    put_text(&json, "version", TFPROF_VERSION);
    put_text(&json, "outcome", outcome_name(result->outcome));
    put_text(&json, "headline", result->headline);
    put_text(&json, "profile", result->profile);
    put_text(&json, "baseline", result->baseline);
    write_step(&json, result);
    put_array(&json, "notes");
    write_notes(&json, "before", result->before_summary);
    write_notes(&json, "after", result->after_summary);
    json_array_end(&json);
    write_checks(&json, result);
    write_differences(&json, result);
    write_parts(&json, result);
    write_pieces(&json, result);
    write_changes(&json, result);
    write_findings(&json, result);
    put_text(&json, "likely_cause", result->likely_cause);
    put_text(&json, "command", result->command);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
