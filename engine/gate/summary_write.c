/* summary_write: a baseline as JSON that people can read and diff: one line a number, a step list,
 * a row. */
#include "gate/summary.h"

#include "base/json_fields.h"

#include <math.h>
#include <string.h>

/* What is written until row_end stands on one line. */
static void row_start(struct json_writer *json)
{
    json_object(json);
    json->is_compact = true;
}

static void row_end(struct json_writer *json)
{
    json_object_end(json);
    json->is_compact = false;
}

static void put_filled(struct json_writer *json, const char *key, const char *text)
{
    put_str(json, key, str_from(text));
}

/* Where a recording lay on the machine that wrote the baseline says nothing on others. */
static const char *without_root(const char *path)
{
    const char *slash = strrchr(path, '/');

    return path[0] == '/' && slash[1] ? slash + 1 : path;
}

static void put_nonzero(struct json_writer *json, const char *key, double number)
{
    if (number != 0)
        put_exact(json, key, number);
}

static void write_work(struct json_writer *json, const struct identity *identity)
{
    put_array(json, "work");
    for (size_t i = 0; i < identity->work.count; i++) {
        const struct work_item *item = &identity->work.items[i];

        row_start(json);
        put_filled(json, "what", item->what);
        put_exact(json, "flops", item->flops);
        put_exact(json, "calls", item->calls);
        row_end(json);
    }
    json_array_end(json);
}

static void write_identity(struct json_writer *json, const struct identity *identity)
{
    put_object(json, "identity");
    put_filled(json, "format", identity->format);
    put_filled(json, "framework", identity->framework);
    put_filled(json, "framework_version", identity->framework_version);
    put_array(json, "devices");
    for (size_t i = 0; i < identity->devices.count; i++)
        json_text(json, identity->devices.items[i]);
    json_array_end(json);
    put_exact(json, "hosts", identity->hosts);
    put_nonzero(json, "cores", identity->cores);
    if (identity->world_size >= 0)
        put_exact(json, "world_size", (double)identity->world_size);
    put_filled(json, "step_source", identity->step_source);
    put_filled(json, "step_marker", identity->step_marker);
    put_nonzero(json, "parameters", identity->parameters);
    put_filled(json, "work_hash", identity->work_hash);
    write_work(json, identity);
    json_object_end(json);
}

static void write_counts(struct json_writer *json, const struct run *run)
{
    put_array(json, "counts");
    for (size_t i = 0; i < count_spec_count; i++) {
        const struct count_value *value = &run->counts[i];

        if (!isfinite(value->value))
            continue;
        row_start(json);
        put_filled(json, "name", count_specs[i].name);
        put_exact(json, "value", value->value);
        if (!value->is_steady) {
            put_exact(json, "low", value->low);
            put_exact(json, "high", value->high);
        }
        row_end(json);
    }
    json_array_end(json);
}

static void write_runs(struct json_writer *json, const struct summary *summary)
{
    put_array(json, "runs");
    for (size_t i = 0; i < summary->runs.count; i++) {
        const struct run *run = &summary->runs.items[i];

        json_object(json);
        put_filled(json, "name", without_root(run->name));
        put_exact(json, "steps_left_out", run->left_out);
        put_array(json, "step_ms");
        json->is_compact = true;
        for (size_t step = 0; step < run->step_count; step++)
            json_number(json, run->step_ns[step] / 1e6);
        json_array_end(json);
        json->is_compact = false;
        write_counts(json, run);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_facts(struct json_writer *json, const struct summary *summary)
{
    put_object(json, "facts");
    for (size_t i = 0; i < summary->facts.count; i++) {
        const struct series *series = &summary->facts.items[i];

        put_array(json, series->name);
        json->is_compact = true;
        for (size_t run = 0; run < summary->runs.count; run++) {
            if (!isfinite(series->values[run]))
                json_null(json);
            else if (series->unit == UNIT_NS || series->unit == UNIT_SHARE)
                json_number(json, series->values[run]);
            else
                json_exact(json, series->values[run]);
        }
        json_array_end(json);
        json->is_compact = false;
    }
    json_object_end(json);
}

static void write_items(struct json_writer *json, const struct item_list *list)
{
    json_object(json);
    put_bool(json, "complete", list->is_complete);
    put_array(json, "rows");
    for (size_t i = 0; i < list->rows.count; i++) {
        const struct item *item = &list->rows.items[i];

        row_start(json);
        put_filled(json, "name", item->name);
        put_filled(json, "group", item->group);
        put_ms(json, "ms", item->ns);
        if (item->fastest_ns > 0)
            put_ms(json, "fastest_ms", item->fastest_ns);
        put_exact(json, "count", item->count);
        put_nonzero(json, "bytes", item->bytes);
        put_nonzero(json, "threads", item->threads);
        put_filled(json, "dtype", item->dtype);
        put_filled(json, "trait", item->trait);
        put_filled(json, "file", item->file);
        put_nonzero(json, "line", item->line);
        row_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void write_findings(struct json_writer *json, const struct summary *summary)
{
    put_array(json, "findings");
    for (size_t i = 0; i < summary->findings.count; i++) {
        const struct known_finding *finding = &summary->findings.items[i];

        row_start(json);
        put_filled(json, "rule", finding->rule);
        put_filled(json, "severity", severity_name(finding->severity));
        put_filled(json, "fingerprint", finding->fingerprint);
        put_filled(json, "title", finding->title);
        if (finding->share > 0)
            put_number(json, "share", finding->share);
        put_filled(json, "file", finding->file);
        put_nonzero(json, "line", finding->line);
        row_end(json);
    }
    json_array_end(json);
}

static void write_notes(struct json_writer *json, const struct summary *summary)
{
    if (summary->notes.count == 0)
        return;
    put_array(json, "notes");
    for (size_t i = 0; i < summary->notes.count; i++) {
        const struct run_note *note = &summary->notes.items[i];

        row_start(json);
        put_filled(json, "run", without_root(note->run));
        put_filled(json, "where", note->where);
        put_filled(json, "what", note->what);
        put_exact(json, "count", note->count);
        put_bool(json, "damage", note->is_damage);
        row_end(json);
    }
    json_array_end(json);
}

static void write_failed(struct json_writer *json, const struct summary *summary)
{
    if (summary->failed.count == 0)
        return;
    put_array(json, "failed_rules");
    for (size_t i = 0; i < summary->failed.count; i++) {
        row_start(json);
        put_filled(json, "rule", summary->failed.items[i].rule);
        put_filled(json, "message", summary->failed.items[i].message);
        row_end(json);
    }
    json_array_end(json);
}

void summary_write(const struct summary *summary, struct text *text)
{
    struct json_writer json = { .text = text };

    json_object(&json);
    put_filled(&json, "schema", SUMMARY_SCHEMA);
    put_filled(&json, "version", summary->version);
    put_filled(&json, "comment", summary->comment);
    write_identity(&json, &summary->identity);
    write_runs(&json, summary);
    write_facts(&json, summary);
    put_object(&json, "items");
    for (int kind = 0; kind < ITEM_KIND_COUNT; kind++) {
        json_key(&json, item_kind_name((enum item_kind)kind));
        write_items(&json, &summary->items[kind]);
    }
    json_object_end(&json);
    write_findings(&json, summary);
    write_notes(&json, summary);
    write_failed(&json, summary);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
