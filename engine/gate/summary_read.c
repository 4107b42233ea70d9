/* summary_read: a baseline from its file. Unknown keys are skipped: newer files add some. */
#include "gate/summary.h"

#include "analyze/analysis.h"
#include "read/json_scan.h"

#include <math.h>
#include <string.h>

struct reading {
    struct json_scan scan;
    struct arena    *arena;
    struct summary  *summary;
    unsigned         seen_sections, seen_items; /* a bit each */
    bool             is_full;                   /* the arena is exhausted */
};

/* Ends the reading at `at`, where something else should stand. */
static void fault(struct reading *reading, const char *at, const char *expected)
{
    if (reading->scan.state != JSON_FINE)
        return;
    reading->scan.state = JSON_BAD;
    reading->scan.at = at;
    reading->scan.expected = expected;
}

/* Of an object that has just ended. */
static void need(struct reading *reading, bool is_there, const char *member)
{
    if (!is_there)
        fault(reading, reading->scan.at, member);
}

static const char *text_of(struct reading *reading)
{
    bool        is_text = json_peek(&reading->scan) == '"';
    const char *at = reading->scan.at;
    struct str  text = json_unescape(reading->arena, json_scalar(&reading->scan));

    text = arena_str(reading->arena, text);
    if (!is_text)
        fault(reading, at, "a text");
    if (!text.data) {
        reading->is_full = true;
        return "";
    }
    return text.data;
}

static double number_within(struct reading *reading, double low, double high, const char *expected)
{
    bool        is_text = json_peek(&reading->scan) == '"';
    const char *at = reading->scan.at;
    double      number = 0;
    struct str  text = json_scalar(&reading->scan);

    if (is_text || !str_to_double(text, &number) || !(number >= low && number <= high)) {
        fault(reading, at, expected);
        return low;
    }
    return number;
}

/* Sizes, times and amounts: never negative, and below what any step can come to. */
static double amount_of(struct reading *reading)
{
    return number_within(reading, 0, 1e24, "a number from 0 to 1e24");
}

static double value_of(struct reading *reading)
{
    if (json_peek(&reading->scan) == 'n' && str_equal(json_scalar(&reading->scan), STR("null")))
        return NAN;
    return number_within(reading, -1e300, 1e300, "a number or null");
}

static uint32_t small_of(struct reading *reading)
{
    return (uint32_t)number_within(reading, 0, UINT32_MAX, "a number from 0 to 4294967295");
}

static bool truth_of(struct reading *reading)
{
    const char *at = reading->scan.at;
    struct str  text = json_scalar(&reading->scan);

    if (!str_equal(text, STR("true")) && !str_equal(text, STR("false")))
        fault(reading, at, "true or false");
    return str_equal(text, STR("true"));
}

#define PUSH(reading, vec, ...)                                                                    \
    ((reading)->is_full = !vec_push((vec), (reading)->arena, __VA_ARGS__) || (reading)->is_full)

enum field_kind { TEXT, AMOUNT, MILLISECONDS, SMALL, INTEGER, TRUTH, SEVERITY, PART };
/* A member of an object, and where it goes in the struct that is filled. */
struct field {
    struct str      key;
    enum field_kind kind;
    size_t          offset;
    void (*read)(struct reading *reading, void *row); /* PART: the value's own reader */
};
#define FIELD(owner, member, kind)                                                                 \
    {                                                                                              \
        STR_INIT(#member), (kind), offsetof(struct owner, member), NULL                            \
    }
#define FIELD_NAMED(name, owner, member, kind)                                                     \
    {                                                                                              \
        STR_INIT(name), (kind), offsetof(struct owner, member), NULL                               \
    }

static enum severity severity_of(struct reading *reading)
{
    const char *at = reading->scan.at, *name = text_of(reading);

    for (int i = SEVERITY_INFO; i <= SEVERITY_VETO; i++)
        if (strcmp(name, severity_name((enum severity)i)) == 0)
            return (enum severity)i;
    fault(reading, at, "a severity");
    return SEVERITY_INFO;
}

static void read_field(struct reading *reading, const struct field *field, void *row)
{
    void *at = (char *)row + field->offset;

    switch (field->kind) {
    case TEXT:
        *(const char **)at = text_of(reading);
        break;
    case AMOUNT:
        *(double *)at = amount_of(reading);
        break;
    case MILLISECONDS:
        *(double *)at = amount_of(reading) * 1e6;
        break;
    case SMALL:
        *(uint32_t *)at = small_of(reading);
        break;
    case INTEGER:
        *(int64_t *)at = small_of(reading);
        break;
    case TRUTH:
        *(bool *)at = truth_of(reading);
        break;
    case SEVERITY:
        *(enum severity *)at = severity_of(reading);
        break;
    case PART:
        field->read(reading, row);
        break;
    }
}

/* The rest of an object that was opened. The members that were there, a bit each. */
static unsigned read_members(struct reading *reading, const struct field *fields, size_t count,
                             void *row)
{
    unsigned   seen = 0;
    struct str key;

    while (json_member(&reading->scan, &key)) {
        size_t i = 0;

        while (i < count && !str_equal(key, fields[i].key))
            i++;
        if (i == count) {
            json_skip(&reading->scan);
            continue;
        }
        seen |= 1u << i;
        read_field(reading, &fields[i], row);
    }
    return seen;
}

/* The next object of an array whose bracket was opened; false: there is none. */
static bool read_row(struct reading *reading, const struct field *fields, size_t count, void *row)
{
    if (!json_item(&reading->scan) || !json_open(&reading->scan, '{'))
        return false;
    read_members(reading, fields, count, row);
    return true;
}

static void read_work(struct reading *reading, void *owner)
{
    static const struct field fields[] = {
        FIELD(work_item, what, TEXT),
        FIELD(work_item, flops, AMOUNT),
        FIELD(work_item, calls, AMOUNT),
    };
    static const struct work_item fresh = { .what = "", .flops = -1, .calls = -1 };
    struct identity              *identity = owner;
    struct work_item              item = fresh;

    if (!json_open(&reading->scan, '['))
        return;
    for (; read_row(reading, fields, ARRAY_COUNT(fields), &item); item = fresh) {
        need(reading, item.flops >= 0 && item.calls >= 0, "\"what\", \"flops\" and \"calls\"");
        PUSH(reading, &identity->work, item);
    }
}

static void read_devices(struct reading *reading, void *owner)
{
    struct identity *identity = owner;

    if (!json_open(&reading->scan, '['))
        return;
    while (json_item(&reading->scan))
        PUSH(reading, &identity->devices, text_of(reading));
}

static void read_identity(struct reading *reading)
{
    static const struct field fields[] = {
        { STR_INIT("devices"), PART, 0, read_devices },
        { STR_INIT("work"), PART, 0, read_work },
        FIELD(identity, format, TEXT),
        FIELD(identity, framework, TEXT),
        FIELD(identity, framework_version, TEXT),
        FIELD(identity, step_source, TEXT),
        FIELD(identity, step_marker, TEXT),
        FIELD(identity, work_hash, TEXT),
        FIELD(identity, hosts, SMALL),
        FIELD(identity, cores, SMALL),
        FIELD(identity, world_size, INTEGER),
        FIELD(identity, parameters, AMOUNT),
    };
    struct identity *identity = &reading->summary->identity;
    unsigned         seen;

    if (!json_open(&reading->scan, '{'))
        return;
    seen = read_members(reading, fields, ARRAY_COUNT(fields), identity);
    need(reading, identity->format[0] && identity->step_source[0] && (seen & 3) == 3,
         "\"format\", \"devices\", \"step_source\" and \"work\"");
}

static void read_steps(struct reading *reading, void *owner)
{
    struct run *run = owner;
    VEC(double) steps = { 0 };

    if (!json_open(&reading->scan, '['))
        return;
    while (json_item(&reading->scan)) {
        double ms = amount_of(reading);

        if (ms > 0)
            PUSH(reading, &steps, ms * 1e6);
    }
    run->step_ns = steps.items;
    run->step_count = steps.count;
}

struct named_count {
    const char        *name;
    struct count_value value;
};

static void keep_count(const struct run *run, const struct named_count *count)
{
    for (size_t i = 0; i < count_spec_count; i++)
        if (strcmp(count_specs[i].name, count->name) == 0)
            run->counts[i] = count->value;
}

static void read_counts(struct reading *reading, void *run)
{
    static const struct field fields[] = {
        FIELD(named_count, name, TEXT),
        FIELD_NAMED("value", named_count, value.value, AMOUNT),
        FIELD_NAMED("low", named_count, value.low, AMOUNT),
        FIELD_NAMED("high", named_count, value.high, AMOUNT),
    };
    static const struct named_count fresh = { "", { .value = -1, .low = -1, .high = -1 } };
    struct named_count              count = fresh;

    if (!json_open(&reading->scan, '['))
        return;
    for (; read_row(reading, fields, ARRAY_COUNT(fields), &count); count = fresh) {
        struct count_value *value = &count.value;

        value->is_steady = value->low < 0 && value->high < 0;
        if (value->is_steady)
            value->low = value->high = value->value;
        need(reading, count.name[0] && value->value >= 0, "\"name\" and \"value\"");
        need(reading, value->low >= 0 && value->low <= value->value && value->value <= value->high,
             "\"low\" and \"high\" around \"value\"");
        if (reading->scan.state == JSON_FINE)
            keep_count(run, &count);
    }
}

static void read_run(struct reading *reading)
{
    static const struct field fields[] = {
        { STR_INIT("step_ms"), PART, 0, read_steps },
        { STR_INIT("counts"), PART, 0, read_counts },
        FIELD(run, name, TEXT),
        FIELD_NAMED("steps_left_out", run, left_out, SMALL),
    };
    struct run run = { .name = "" };
    unsigned   seen;

    run.counts = arena_new_array(reading->arena, struct count_value, count_spec_count);
    if (!run.counts || !json_open(&reading->scan, '{')) {
        reading->is_full |= !run.counts;
        return;
    }
    for (size_t i = 0; i < count_spec_count; i++)
        run.counts[i] = (struct count_value) { .value = NAN, .low = NAN, .high = NAN };
    seen = read_members(reading, fields, ARRAY_COUNT(fields), &run);
    need(reading, run.name[0] && (seen & 3) == 3, "\"name\", \"step_ms\" and \"counts\"");
    PUSH(reading, &reading->summary->runs, run);
}

static void read_runs(struct reading *reading)
{
    if (!json_open(&reading->scan, '['))
        return;
    while (!reading->is_full && json_item(&reading->scan))
        read_run(reading);
}

/* Values of a fact, at most one a run; runs come first in the file. */
static void read_values(struct reading *reading, struct series *series)
{
    size_t runs = reading->summary->runs.count, at = 0;

    series->values = arena_new_array(reading->arena, double, runs + 1);
    if (!series->values || !json_open(&reading->scan, '[')) {
        reading->is_full |= !series->values;
        return;
    }
    for (size_t run = 0; run < runs; run++)
        series->values[run] = NAN;
    while (json_item(&reading->scan)) {
        double value = value_of(reading);

        if (at < runs)
            series->values[at] = value;
        at++;
    }
    need(reading, at == runs, "a value for each run");
}

static void read_facts(struct reading *reading)
{
    struct str key;

    if (!json_open(&reading->scan, '{'))
        return;
    while (!reading->is_full && json_member(&reading->scan, &key)) {
        struct str              name = arena_str(reading->arena, key);
        const struct fact_spec *spec = name.data ? analysis_fact(name.data) : NULL;
        struct series           series = { .name = name.data };

        reading->is_full |= !name.data;
        if (!spec) {
            json_skip(&reading->scan); /* of another version */
            continue;
        }
        series.unit = spec->unit;
        read_values(reading, &series);
        PUSH(reading, &reading->summary->facts, series);
    }
}

static void read_item_rows(struct reading *reading, void *owner)
{
    static const struct field fields[] = {
        FIELD(item, name, TEXT),
        FIELD(item, group, TEXT),
        FIELD(item, file, TEXT),
        FIELD(item, dtype, TEXT),
        FIELD(item, trait, TEXT),
        FIELD_NAMED("ms", item, ns, MILLISECONDS),
        FIELD(item, count, AMOUNT),
        FIELD(item, bytes, AMOUNT),
        FIELD(item, threads, AMOUNT),
        FIELD(item, line, SMALL),
        FIELD_NAMED("fastest_ms", item, fastest_ns, MILLISECONDS),
    };
    static const struct item fresh = {
        .name = "", .group = "", .file = "", .dtype = "", .trait = "", .ns = -1, .count = -1
    };
    struct item_list *list = owner;
    struct item       item = fresh;

    if (!json_open(&reading->scan, '['))
        return;
    for (; read_row(reading, fields, ARRAY_COUNT(fields), &item); item = fresh) {
        need(reading, item.ns >= 0 && item.count >= 0, "\"ms\" and \"count\"");
        PUSH(reading, &list->rows, item);
    }
}

static void read_item_list(struct reading *reading, struct str kind)
{
    static const struct field fields[] = {
        FIELD_NAMED("complete", item_list, is_complete, TRUTH),
        { STR_INIT("rows"), PART, 0, read_item_rows },
    };
    struct item_list  unknown = { .is_complete = false };
    struct item_list *list = &unknown;

    for (int i = 0; i < ITEM_KIND_COUNT; i++)
        if (str_equal(kind, str_from(item_kind_name((enum item_kind)i)))) {
            list = &reading->summary->items[i];
            reading->seen_items |= 1u << i;
        }
    if (json_open(&reading->scan, '{'))
        need(reading, read_members(reading, fields, ARRAY_COUNT(fields), list) == 3,
             "\"complete\" and \"rows\"");
}

static void read_items(struct reading *reading)
{
    struct str key;

    if (!json_open(&reading->scan, '{'))
        return;
    while (!reading->is_full && json_member(&reading->scan, &key))
        read_item_list(reading, key);
    need(reading, reading->seen_items == (1u << ITEM_KIND_COUNT) - 1,
         "\"path\", \"ops\", \"kernels\", \"syncs\", \"copies\" and \"collectives\"");
}

static void read_findings(struct reading *reading)
{
    static const struct field fields[] = {
        FIELD(known_finding, rule, TEXT),        FIELD(known_finding, title, TEXT),
        FIELD(known_finding, fingerprint, TEXT), FIELD(known_finding, severity, SEVERITY),
        FIELD(known_finding, file, TEXT),        FIELD(known_finding, line, SMALL),
        FIELD(known_finding, share, AMOUNT),
    };
    static const struct known_finding fresh = {
        .rule = "", .title = "", .fingerprint = "", .file = ""
    };
    struct known_finding finding = fresh;

    if (!json_open(&reading->scan, '['))
        return;
    for (; read_row(reading, fields, ARRAY_COUNT(fields), &finding); finding = fresh) {
        need(reading, finding.rule[0] && finding.fingerprint[0],
             "\"rule\", \"severity\", \"fingerprint\" and \"title\"");
        PUSH(reading, &reading->summary->findings, finding);
    }
}

static void read_notes(struct reading *reading)
{
    static const struct field fields[] = {
        FIELD(run_note, run, TEXT),
        FIELD(run_note, where, TEXT),
        FIELD(run_note, what, TEXT),
        FIELD(run_note, count, SMALL),
        FIELD_NAMED("damage", run_note, is_damage, TRUTH),
    };
    static const struct run_note fresh = { .run = "", .where = "", .what = "" };
    struct run_note              note = fresh;

    if (!json_open(&reading->scan, '['))
        return;
    for (; read_row(reading, fields, ARRAY_COUNT(fields), &note); note = fresh) {
        need(reading, note.what[0], "\"what\"");
        PUSH(reading, &reading->summary->notes, note);
    }
}

static void read_failed(struct reading *reading)
{
    static const struct field fields[] = {
        FIELD(failed_rule, rule, TEXT),
        FIELD(failed_rule, message, TEXT),
    };
    static const struct failed_rule fresh = { .rule = "", .message = "" };
    struct failed_rule              failed = fresh;

    if (!json_open(&reading->scan, '['))
        return;
    for (; read_row(reading, fields, ARRAY_COUNT(fields), &failed); failed = fresh) {
        need(reading, failed.rule[0], "\"rule\"");
        PUSH(reading, &reading->summary->failed, failed);
    }
}

static const struct section {
    struct str key;
    void (*read)(struct reading *reading);
} sections[] = {
    { STR_INIT("identity"), read_identity },   { STR_INIT("runs"), read_runs },
    { STR_INIT("facts"), read_facts },         { STR_INIT("items"), read_items },
    { STR_INIT("findings"), read_findings },   { STR_INIT("notes"), read_notes },
    { STR_INIT("failed_rules"), read_failed },
};
enum { NEEDED_SECTIONS = 5 }; /* the first; the others are there where they hold something */

static void read_section(struct reading *reading, struct str key, struct str *schema)
{
    for (size_t i = 0; i < ARRAY_COUNT(sections); i++) {
        if (!str_equal(key, sections[i].key))
            continue;
        if (reading->seen_sections >> i & 1u)
            fault(reading, reading->scan.at, "each part once: this one was there before");
        reading->seen_sections |= 1u << i;
        sections[i].read(reading);
        return;
    }
    if (str_equal(key, STR("schema")))
        *schema = str_from(text_of(reading));
    else if (str_equal(key, STR("version")))
        reading->summary->version = text_of(reading);
    else if (str_equal(key, STR("comment")))
        reading->summary->comment = text_of(reading);
    else
        json_skip(&reading->scan);
}

static void end_of_file(struct reading *reading)
{
    unsigned needed = (1u << NEEDED_SECTIONS) - 1;

    need(reading, (reading->seen_sections & needed) == needed,
         "\"identity\", \"runs\", \"facts\", \"items\" and \"findings\"");
    if (reading->scan.state == JSON_FINE &&
        (json_peek(&reading->scan) || reading->scan.at < reading->scan.end))
        fault(reading, reading->scan.at, "the end of the file");
}

static bool rewrite(struct err *err)
{
    return err_advise(err, "write a new one: tfprof baseline PROFILE... -o FILE");
}

static bool check(const struct reading *reading, struct str bytes, struct str schema,
                  struct err *err)
{
    if (reading->is_full)
        return err_set(err, ERR_LIMIT, "the baseline does not fit the memory limit");
    if (schema.len > 0 && !str_equal(schema, STR(SUMMARY_SCHEMA))) {
        err_set(err, ERR_FORMAT, "no baseline that this version reads: its schema is '%.*s'",
                STR_ARG(schema));
        return rewrite(err);
    }
    if (reading->scan.state != JSON_FINE) {
        bool is_cut = reading->scan.state == JSON_CUT;

        err_set(err, ERR_FORMAT,
                is_cut ? "the baseline ends early" : "no whole baseline: expected %s",
                reading->scan.expected);
        err->line = err->column = 1;
        for (const char *at = bytes.data; at < reading->scan.at; at++) {
            err->column = *at == '\n' ? 1 : err->column + 1;
            err->line += *at == '\n';
        }
        return rewrite(err);
    }
    if (reading->summary->runs.count == 0)
        return err_set(err, ERR_FORMAT, "the baseline holds no run") || rewrite(err);
    return true;
}

bool summary_read(struct summary *summary, struct str bytes, const char *name, struct arena *arena,
                  struct err *err)
{
    struct reading reading = { .arena = arena, .summary = summary };
    struct str     key, schema = STR("");

    *summary = (struct summary) {
        .name = name,
        .version = "",
        .comment = "",
        .identity = { .format = "",
                      .framework = "",
                      .framework_version = "",
                      .world_size = -1,
                      .step_source = "",
                      .step_marker = "",
                      .work_hash = "" },
    };
    reading.scan = (struct json_scan) { .at = bytes.data, .end = bytes.data + bytes.len };
    if (json_open(&reading.scan, '{'))
        while (!reading.is_full && json_member(&reading.scan, &key))
            read_section(&reading, key, &schema);
    if (!reading.is_full && str_equal(schema, STR(SUMMARY_SCHEMA)))
        end_of_file(&reading);
    return check(&reading, bytes, schema, err);
}
