/* info_json: `tfprof info --format json` and the head of every JSON report. */
#include "report/info_json.h"

#include "analyze/analysis.h"
#include "base/json_fields.h"
#include "model/notes_json.h"
#include "report/describe.h"
#include "report/inventory.h"

static void put_name(struct json_writer *json, const char *key, const struct profile *profile,
                     uint32_t name)
{
    put_str(json, key, profile_str(profile, name));
}

static void put_host(struct json_writer *json, const struct profile *profile, uint32_t host)
{
    if (host < profile->hosts.count)
        put_name(json, "host", profile, profile->hosts.items[host].name);
}

static void put_positive(struct json_writer *json, const char *key, double number)
{
    if (number > 0)
        put_number(json, key, number);
}

static void write_files(struct json_writer *json, const struct profile *profile)
{
    put_array(json, "files");
    for (size_t i = 0; i < profile->files.count; i++) {
        const struct source_file *file = &profile->files.items[i];

        json_object(json);
        put_text(json, "name", file->name ? file->name : "");
        put_integer(json, "bytes", (int64_t)file->bytes);
        put_host(json, profile, file->host);
        if (file->rank >= 0)
            put_integer(json, "rank", file->rank);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_devices(struct json_writer *json, const struct profile *profile, bool has_details)
{
    put_array(json, "devices");
    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct device *device = &profile->devices.items[i];

        json_object(json);
        json_key(json, "name");
        json_str(json, profile_str(profile, device->name));
        put_text(json, "kind", device_kind_name(device->kind));
        put_name(json, "model", profile, device->model);
        put_host(json, profile, device->host);
        if (has_details && device->unit_of)
            put_name(json, "unit_of", profile, profile->devices.items[device->unit_of - 1].name);
        if (has_details) {
            if (device->compute_major > 0) {
                put_integer(json, "compute_major", device->compute_major);
                put_integer(json, "compute_minor", device->compute_minor);
            }
            put_positive(json, "sm_count", device->sm_count);
            put_positive(json, "peak_flops_per_s", device->peak_flops_per_s);
            put_positive(json, "memory_bytes_per_s", device->memory_bytes_per_s);
            put_positive(json, "memory_bytes", (double)device->memory_bytes);
            put_positive(json, "clock_hz", device->clock_hz);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

void info_json_profile(struct json_writer *json, const struct profile *profile, bool has_details)
{
    json_object(json);
    put_text(json, "name", profile->name ? profile->name : "");
    put_text(json, "format", profile_format_name(profile->format));
    write_files(json, profile);
    put_name(json, "framework", profile, profile->framework);
    if (has_details)
        put_name(json, "framework_version", profile, profile->framework_version);
    put_integer(json, "hosts", (int64_t)profile->hosts.count);
    write_devices(json, profile, has_details);
    notes_json(json, &profile, 1);
    json_object_end(json);
}

static void write_counts(struct json_writer *json, const struct profile *profile)
{
    struct inventory_row rows[INVENTORY_ROWS];
    size_t               count = inventory_counts(profile, rows);

    put_object(json, "counts");
    for (size_t i = 0; i < count; i++)
        put_integer(json, rows[i].key, (int64_t)rows[i].count);
    json_object_end(json);
}

static void write_unknown(struct json_writer *json, const struct profile *profile)
{
    const struct unknown **rows = inventory_unknowns(profile, json->text->arena);

    put_array(json, "not_understood");
    for (size_t i = 0; rows && i < profile->unknowns.count; i++) {
        json_object(json);
        put_text(json, "kind", unknown_kind_name((enum unknown_kind)rows[i]->kind));
        put_name(json, "name", profile, rows[i]->name);
        put_integer(json, "count", (int64_t)rows[i]->count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_timelines(struct json_writer *json, const struct profile *profile)
{
    put_array(json, "timelines");
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        json_object(json);
        put_name(json, "name", profile, timeline->name);
        put_text(json, "kind", timeline_kind_name(timeline->kind));
        put_host(json, profile, timeline->host);
        if (timeline->device < profile->devices.count)
            put_name(json, "device", profile, profile->devices.items[timeline->device].name);
        put_integer(json, "events", timeline->event_count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_kinds(struct json_writer *json, const struct profile *profile)
{
    uint64_t counts[ACTIVITY_KIND_COUNT];

    inventory_kinds(profile, counts);
    put_object(json, "events_by_kind");
    for (int kind = 0; kind < ACTIVITY_KIND_COUNT; kind++) {
        if (counts[kind] > 0)
            put_integer(json, activity_kind_name((enum activity_kind)kind), (int64_t)counts[kind]);
    }
    json_object_end(json);
}

static void write_steps(struct json_writer *json, const struct study *study)
{
    struct step_range range = study_step_range(study);

    put_object(json, "steps");
    put_integer(json, "count", range.count);
    put_integer(json, "used", range.used);
    put_text(json, "source", step_source_name(study->steps.source));
    put_text(json, "marker", study->steps.marker_name);
    if (range.used > 0)
        put_ms(json, "median_ms", study->steps.median_ns);
    json_object_end(json);
}

static void write_replay(struct json_writer *json, const struct study *study)
{
    double error, worst, steps, value;

    if (!facts_get(&study->facts, "replay.error", &error) ||
        !facts_get(&study->facts, "replay.worst_error", &worst) ||
        !facts_get(&study->facts, "replay.steps", &steps))
        return;
    put_object(json, "replay");
    put_integer(json, "steps", (int64_t)steps);
    put_number(json, "error", error);
    put_number(json, "worst_error", worst);
    if (facts_get(&study->facts, "replay.device_bound_ns", &value))
        put_ms(json, "device_bound_ms", value);
    if (facts_get(&study->facts, "replay.host_bound_ns", &value))
        put_ms(json, "host_bound_ms", value);
    json_object_end(json);
}

static void write_missing(struct json_writer *json, const struct study *study,
                          const struct analysis *analysis)
{
    size_t         cursor = 0;
    struct missing missing;

    put_array(json, "missing");
    while (inventory_missing(study, analysis, &cursor, &missing)) {
        json_object(json);
        put_text(json, "name", missing.name);
        put_text(json, "reason", missing.reason);
        put_text(json, "capture", missing.capture);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_analyses(struct json_writer *json, const struct study *study)
{
    put_array(json, "analyses");
    for (size_t i = 0; i < analysis_count; i++) {
        struct yield yield = inventory_yield(study, analyses[i]);

        json_object(json);
        put_text(json, "name", analyses[i]->name);
        put_text(json, "summary", analyses[i]->summary);
        put_integer(json, "found", yield.found);
        put_integer(json, "of", yield.of);
        write_missing(json, study, analyses[i]);
        json_object_end(json);
    }
    json_array_end(json);
}

/* Every fact, in the units of JSON (times in ms). */
static void write_facts(struct json_writer *json, const struct study *study)
{
    put_object(json, "facts");
    for (size_t i = 0; i < study->facts.list.count; i++) {
        const struct fact *fact = &study->facts.list.items[i];

        if (fact->spec->unit == UNIT_NAME)
            put_str(json, fact->spec->name, intern_str(study->facts.names, (uint32_t)fact->value));
        else
            put_number(json, fact->spec->name, unit_to_json(fact->value, fact->spec->unit));
    }
    json_object_end(json);
}

/* What the numbers of `facts` are in, whatever their names end in: times are ms here. */
static void write_units(struct json_writer *json, const struct study *study)
{
    put_object(json, "fact_units");
    for (size_t i = 0; i < study->facts.list.count; i++) {
        const struct fact_spec *spec = study->facts.list.items[i].spec;

        put_text(json, spec->name, unit_json_name(spec->unit));
    }
    json_object_end(json);
}

void info_json(const struct study *study, const struct output_options *options, struct text *text)
{
    struct json_writer    json = { .text = text };
    const struct profile *profile = study->recording;

    (void)options;
    json_object(&json);
    put_text(&json, "schema", "tfprof.info/1");
    json_key(&json, "profile");
    info_json_profile(&json, profile, true);
    put_ms(&json, "duration_ms", (double)(profile->end_ns - profile->start_ns));
    put_integer(&json, "resolution_ns", profile->resolution_ns);
    write_counts(&json, profile);
    write_timelines(&json, profile);
    write_kinds(&json, profile);
    write_steps(&json, study);
    write_replay(&json, study);
    write_analyses(&json, study);
    write_facts(&json, study);
    write_units(&json, study);
    put_integer(&json, "unknown_fields", (int64_t)profile->unknown_fields);
    put_integer(&json, "unknown_stats", (int64_t)profile->unknown_stats);
    write_unknown(&json, profile);
    json_object_end(&json);
    text_add_byte(text, '\n');
}
