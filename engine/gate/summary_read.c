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

static void read_work(struct reading *reading)
{
    struct json_scan *scan = &reading->scan;
    struct str        key;

    if (!json_open(scan, '['))
        return;
    while (json_item(scan) && json_open(scan, '{')) {
        struct work_item item = { .what = "", .flops = -1, .calls = -1 };

        while (json_member(scan, &key)) {
            if (str_equal(key, STR("what")))
                item.what = text_of(reading);
            else if (str_equal(key, STR("flops")))
                item.flops = amount_of(reading);
            else if (str_equal(key, STR("calls")))
                item.calls = amount_of(reading);
            else
                json_skip(scan);
        }
        need(reading, item.flops >= 0 && item.calls >= 0, "\"what\", \"flops\" and \"calls\"");
        PUSH(reading, &reading->summary->identity.work, item);
    }
}

static void read_devices(struct reading *reading)
{
    if (!json_open(&reading->scan, '['))
        return;
    while (json_item(&reading->scan))
        PUSH(reading, &reading->summary->identity.devices, text_of(reading));
}

static bool read_identity_text(struct reading *reading, struct str key)
{
    struct identity *identity = &reading->summary->identity;
    const struct {
        struct str   key;
        const char **field;
    } texts[] = {
        { STR("format"), &identity->format },
        { STR("framework"), &identity->framework },
        { STR("framework_version"), &identity->framework_version },
        { STR("step_source"), &identity->step_source },
        { STR("step_marker"), &identity->step_marker },
        { STR("work_hash"), &identity->work_hash },
    };

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (!str_equal(key, texts[i].key))
            continue;
        *texts[i].field = text_of(reading);
        return true;
    }
    return false;
}

static void read_identity(struct reading *reading)
{
    struct identity *identity = &reading->summary->identity;
    bool             has_devices = false, has_work = false;
    struct str       key;

    if (!json_open(&reading->scan, '{'))
        return;
    while (json_member(&reading->scan, &key)) {
        if (read_identity_text(reading, key))
            continue;
        has_devices |= str_equal(key, STR("devices"));
        has_work |= str_equal(key, STR("work"));
        if (str_equal(key, STR("devices")))
            read_devices(reading);
        else if (str_equal(key, STR("work")))
            read_work(reading);
        else if (str_equal(key, STR("hosts")))
            identity->hosts = small_of(reading);
        else if (str_equal(key, STR("cores")))
            identity->cores = small_of(reading);
        else if (str_equal(key, STR("world_size")))
            identity->world_size = small_of(reading);
        else if (str_equal(key, STR("parameters")))
            identity->parameters = amount_of(reading);
        else
            json_skip(&reading->scan);
    }
    need(reading, identity->format[0] && identity->step_source[0] && has_devices && has_work,
         "\"format\", \"devices\", \"step_source\" and \"work\"");
}

static void read_steps(struct reading *reading, struct run *run)
{
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

static void keep_count(const struct run *run, const char *name, const struct count_value *value)
{
    for (size_t i = 0; i < count_spec_count; i++)
        if (strcmp(count_specs[i].name, name) == 0)
            run->counts[i] = *value;
}

static void read_counts(struct reading *reading, const struct run *run)
{
    struct str key;

    if (!json_open(&reading->scan, '['))
        return;
    while (json_item(&reading->scan) && json_open(&reading->scan, '{')) {
        struct count_value value = { .value = -1, .low = -1, .high = -1 };
        const char        *name = "";

        while (json_member(&reading->scan, &key)) {
            if (str_equal(key, STR("name")))
                name = text_of(reading);
            else if (str_equal(key, STR("value")))
                value.value = amount_of(reading);
            else if (str_equal(key, STR("low")))
                value.low = amount_of(reading);
            else if (str_equal(key, STR("high")))
                value.high = amount_of(reading);
            else
                json_skip(&reading->scan);
        }
        value.is_steady = value.low < 0 && value.high < 0;
        if (value.is_steady)
            value.low = value.high = value.value;
        need(reading, name[0] && value.value >= 0, "\"name\" and \"value\"");
        need(reading, value.low >= 0 && value.low <= value.value && value.value <= value.high,
             "\"low\" and \"high\" around \"value\"");
        if (reading->scan.state == JSON_FINE)
            keep_count(run, name, &value);
    }
}

static void read_run(struct reading *reading)
{
    struct run run = { .name = "" };
    bool       has_steps = false, has_counts = false;
    struct str key;

    run.counts = arena_new_array(reading->arena, struct count_value, count_spec_count);
    if (!run.counts || !json_open(&reading->scan, '{')) {
        reading->is_full |= !run.counts;
        return;
    }
    for (size_t i = 0; i < count_spec_count; i++)
        run.counts[i] = (struct count_value) { .value = NAN, .low = NAN, .high = NAN };
    while (json_member(&reading->scan, &key)) {
        has_steps |= str_equal(key, STR("step_ms"));
        has_counts |= str_equal(key, STR("counts"));
        if (str_equal(key, STR("name")))
            run.name = text_of(reading);
        else if (str_equal(key, STR("steps_left_out")))
            run.left_out = small_of(reading);
        else if (str_equal(key, STR("step_ms")))
            read_steps(reading, &run);
        else if (str_equal(key, STR("counts")))
            read_counts(reading, &run);
        else
            json_skip(&reading->scan);
    }
    need(reading, run.name[0] && has_steps && has_counts, "\"name\", \"step_ms\" and \"counts\"");
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

static bool read_item_text(struct reading *reading, struct str key, struct item *item)
{
    const struct {
        struct str   key;
        const char **field;
    } texts[] = {
        { STR("name"), &item->name },   { STR("group"), &item->group },
        { STR("file"), &item->file },   { STR("dtype"), &item->dtype },
        { STR("trait"), &item->trait },
    };

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        if (!str_equal(key, texts[i].key))
            continue;
        *texts[i].field = text_of(reading);
        return true;
    }
    return false;
}

static void read_item_rows(struct reading *reading, struct item_list *list)
{
    struct str key;

    if (!json_open(&reading->scan, '['))
        return;
    while (json_item(&reading->scan) && json_open(&reading->scan, '{')) {
        struct item item = {
            .name = "", .group = "", .file = "", .dtype = "", .trait = "", .ns = -1, .count = -1
        };

        while (json_member(&reading->scan, &key)) {
            if (read_item_text(reading, key, &item))
                continue;
            if (str_equal(key, STR("ms")))
                item.ns = amount_of(reading) * 1e6;
            else if (str_equal(key, STR("count")))
                item.count = amount_of(reading);
            else if (str_equal(key, STR("bytes")))
                item.bytes = amount_of(reading);
            else if (str_equal(key, STR("threads")))
                item.threads = amount_of(reading);
            else if (str_equal(key, STR("line")))
                item.line = small_of(reading);
            else
                json_skip(&reading->scan);
        }
        need(reading, item.ns >= 0 && item.count >= 0, "\"ms\" and \"count\"");
        PUSH(reading, &list->rows, item);
    }
}

static void read_item_list(struct reading *reading, struct str kind)
{
    struct item_list  unknown = { .is_complete = false };
    struct item_list *list = &unknown;
    bool              has_complete = false, has_rows = false;
    struct str        key;

    for (int i = 0; i < ITEM_KIND_COUNT; i++)
        if (str_equal(kind, str_from(item_kind_name((enum item_kind)i)))) {
            list = &reading->summary->items[i];
            reading->seen_items |= 1u << i;
        }
    if (!json_open(&reading->scan, '{'))
        return;
    while (json_member(&reading->scan, &key)) {
        has_complete |= str_equal(key, STR("complete"));
        has_rows |= str_equal(key, STR("rows"));
        if (str_equal(key, STR("complete")))
            list->is_complete = truth_of(reading);
        else if (str_equal(key, STR("rows")))
            read_item_rows(reading, list);
        else
            json_skip(&reading->scan);
    }
    need(reading, has_complete && has_rows, "\"complete\" and \"rows\"");
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

static enum severity severity_of(struct reading *reading)
{
    const char *at = reading->scan.at, *name = text_of(reading);

    for (int i = SEVERITY_INFO; i <= SEVERITY_VETO; i++)
        if (strcmp(name, severity_name((enum severity)i)) == 0)
            return (enum severity)i;
    fault(reading, at, "a severity");
    return SEVERITY_INFO;
}

static void read_findings(struct reading *reading)
{
    struct json_scan *scan = &reading->scan;
    struct str        key;

    if (!json_open(scan, '['))
        return;
    while (json_item(scan) && json_open(scan, '{')) {
        struct known_finding finding = { .rule = "", .title = "", .fingerprint = "", .file = "" };

        while (json_member(scan, &key)) {
            if (str_equal(key, STR("rule")))
                finding.rule = text_of(reading);
            else if (str_equal(key, STR("title")))
                finding.title = text_of(reading);
            else if (str_equal(key, STR("fingerprint")))
                finding.fingerprint = text_of(reading);
            else if (str_equal(key, STR("severity")))
                finding.severity = severity_of(reading);
            else if (str_equal(key, STR("file")))
                finding.file = text_of(reading);
            else if (str_equal(key, STR("line")))
                finding.line = small_of(reading);
            else if (str_equal(key, STR("share")))
                finding.share = amount_of(reading);
            else
                json_skip(scan);
        }
        need(reading, finding.rule[0] && finding.fingerprint[0],
             "\"rule\", \"severity\", \"fingerprint\" and \"title\"");
        PUSH(reading, &reading->summary->findings, finding);
    }
}

static void read_notes(struct reading *reading)
{
    struct json_scan *scan = &reading->scan;
    struct str        key;

    if (!json_open(scan, '['))
        return;
    while (json_item(scan) && json_open(scan, '{')) {
        struct run_note note = { .run = "", .where = "", .what = "" };

        while (json_member(scan, &key)) {
            if (str_equal(key, STR("run")))
                note.run = text_of(reading);
            else if (str_equal(key, STR("where")))
                note.where = text_of(reading);
            else if (str_equal(key, STR("what")))
                note.what = text_of(reading);
            else if (str_equal(key, STR("count")))
                note.count = small_of(reading);
            else if (str_equal(key, STR("damage")))
                note.is_damage = truth_of(reading);
            else
                json_skip(scan);
        }
        need(reading, note.what[0], "\"what\"");
        PUSH(reading, &reading->summary->notes, note);
    }
}

static void read_failed(struct reading *reading)
{
    struct json_scan *scan = &reading->scan;
    struct str        key;

    if (!json_open(scan, '['))
        return;
    while (json_item(scan) && json_open(scan, '{')) {
        struct failed_rule failed = { .rule = "", .message = "" };

        while (json_member(scan, &key)) {
            if (str_equal(key, STR("rule")))
                failed.rule = text_of(reading);
            else if (str_equal(key, STR("message")))
                failed.message = text_of(reading);
            else
                json_skip(scan);
        }
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
