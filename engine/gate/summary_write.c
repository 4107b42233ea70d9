/* summary_write: a baseline as JSON that people can read and diff: one line a number, a step list,
 * a row. */
#include "gate/summary.h"

#include "base/json_writer.h"

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

static void put_text(struct json_writer *json, const char *key, const char *text)
{
    if (!text[0])
        return;
    json_key(json, key);
    json_text(json, text);
}

/* Where a recording lay on the machine that wrote the baseline says nothing on others. */
static const char *without_root(const char *path)
{
    const char *slash = strrchr(path, '/');

    return path[0] == '/' && slash[1] ? slash + 1 : path;
}

static void put_exact(struct json_writer *json, const char *key, double number)
{
    json_key(json, key);
    json_exact(json, number);
}

static void put_nonzero(struct json_writer *json, const char *key, double number)
{
    if (number != 0)
        put_exact(json, key, number);
}

/* Times need no more than six digits. */
static void put_ms(struct json_writer *json, const char *key, double ns)
{
    json_key(json, key);
    json_number(json, ns / 1e6);
}

static void write_work(struct json_writer *json, const struct identity *identity)
{
    json_key(json, "work");
    json_array(json);
    for (size_t i = 0; i < identity->work.count; i++) {
        const struct work_item *item = &identity->work.items[i];

        row_start(json);
        put_text(json, "what", item->what);
        put_exact(json, "flops", item->flops);
        put_exact(json, "calls", item->calls);
        row_end(json);
    }
    json_array_end(json);
}

static void write_identity(struct json_writer *json, const struct identity *identity)
{
    json_key(json, "identity");
    json_object(json);
    put_text(json, "format", identity->format);
    put_text(json, "framework", identity->framework);
    put_text(json, "framework_version", identity->framework_version);
    json_key(json, "devices");
    json_array(json);
    for (size_t i = 0; i < identity->devices.count; i++)
        json_text(json, identity->devices.items[i]);
    json_array_end(json);
    put_exact(json, "hosts", identity->hosts);
    put_nonzero(json, "cores", identity->cores);
    if (identity->world_size >= 0)
        put_exact(json, "world_size", (double)identity->world_size);
    put_text(json, "step_source", identity->step_source);
    put_text(json, "step_marker", identity->step_marker);
    put_nonzero(json, "parameters", identity->parameters);
    put_text(json, "work_hash", identity->work_hash);
    write_work(json, identity);
    json_object_end(json);
}

static void write_counts(struct json_writer *json, const struct run *run)
{
    json_key(json, "counts");
    json_array(json);
    for (size_t i = 0; i < count_spec_count; i++) {
        const struct count_value *value = &run->counts[i];

        if (!isfinite(value->value))
            continue;
        row_start(json);
        put_text(json, "name", count_specs[i].name);
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
    json_key(json, "runs");
    json_array(json);
    for (size_t i = 0; i < summary->runs.count; i++) {
        const struct run *run = &summary->runs.items[i];

        json_object(json);
        put_text(json, "name", without_root(run->name));
        put_exact(json, "steps_left_out", run->left_out);
        json_key(json, "step_ms");
        json_array(json);
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
    json_key(json, "facts");
    json_object(json);
    for (size_t i = 0; i < summary->facts.count; i++) {
        const struct series *series = &summary->facts.items[i];

        json_key(json, series->name);
        json_array(json);
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
    json_key(json, "complete");
    json_bool(json, list->is_complete);
    json_key(json, "rows");
    json_array(json);
    for (size_t i = 0; i < list->rows.count; i++) {
        const struct item *item = &list->rows.items[i];

        row_start(json);
        put_text(json, "name", item->name);
        put_text(json, "group", item->group);
        put_ms(json, "ms", item->ns);
        put_exact(json, "count", item->count);
        put_nonzero(json, "bytes", item->bytes);
        put_nonzero(json, "threads", item->threads);
        put_text(json, "dtype", item->dtype);
        put_text(json, "trait", item->trait);
        put_text(json, "file", item->file);
        put_nonzero(json, "line", item->line);
        row_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void write_findings(struct json_writer *json, const struct summary *summary)
{
    json_key(json, "findings");
    json_array(json);
    for (size_t i = 0; i < summary->findings.count; i++) {
        const struct known_finding *finding = &summary->findings.items[i];

        row_start(json);
        put_text(json, "rule", finding->rule);
        put_text(json, "severity", severity_name(finding->severity));
        put_text(json, "fingerprint", finding->fingerprint);
        put_text(json, "title", finding->title);
        if (finding->share > 0) {
            json_key(json, "share");
            json_number(json, finding->share);
        }
        put_text(json, "file", finding->file);
        put_nonzero(json, "line", finding->line);
        row_end(json);
    }
    json_array_end(json);
}

static void write_notes(struct json_writer *json, const struct summary *summary)
{
    if (summary->notes.count == 0)
        return;
    json_key(json, "notes");
    json_array(json);
    for (size_t i = 0; i < summary->notes.count; i++) {
        const struct run_note *note = &summary->notes.items[i];

        row_start(json);
        put_text(json, "run", without_root(note->run));
        put_text(json, "where", note->where);
        put_text(json, "what", note->what);
        put_exact(json, "count", note->count);
        json_key(json, "damage");
        json_bool(json, note->is_damage);
        row_end(json);
    }
    json_array_end(json);
}

static void write_failed(struct json_writer *json, const struct summary *summary)
{
    if (summary->failed.count == 0)
        return;
    json_key(json, "failed_rules");
    json_array(json);
    for (size_t i = 0; i < summary->failed.count; i++) {
        row_start(json);
        put_text(json, "rule", summary->failed.items[i].rule);
        put_text(json, "message", summary->failed.items[i].message);
        row_end(json);
    }
    json_array_end(json);
}

void summary_write(const struct summary *summary, struct text *text)
{
    struct json_writer json = { .text = text };

    json_object(&json);
    put_text(&json, "schema", SUMMARY_SCHEMA);
    put_text(&json, "version", summary->version);
    put_text(&json, "comment", summary->comment);
    write_identity(&json, &summary->identity);
    write_runs(&json, summary);
    write_facts(&json, summary);
    json_key(&json, "items");
    json_object(&json);
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
