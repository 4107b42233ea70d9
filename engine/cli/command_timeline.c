/* timeline: a recording, or what matters of it, as a file for viewers of traces. */
#include "report/trace/trace.h"

#include "analyze/schedule/why.h"
#include "base/gzip.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/result.h"
#include "report/describe.h"
#include "report/trace/cutout.h"
#include "rules/advise.h"

#include <string.h>

struct timeline_values {
    struct input_values   input;
    struct result_values  result; /* its path */
    struct advise_options rules;
    const char           *format, *around, *config;
    int64_t               finding;
};

#define INPUT(field) offsetof(struct timeline_values, input.field)
#define RULES(field) offsetof(struct timeline_values, rules.field)
#define TIMELINE(field) offsetof(struct timeline_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT, .offset = TIMELINE(result.path), .preset = "timeline.pftrace",
      .choices = "FILE", .help = "write FILE, whole or not at all, packed where its name ends in .gz; - for standard output" },
    { .name = "format", .kind = OPTION_ONE_OF, .offset = TIMELINE(format), .preset = "auto",
      .choices = "auto|perfetto|chrome|csv", .help = "what to write; auto: chrome or csv where FILE ends in .json or .csv, packed or not" },
    { .name = "around", .kind = OPTION_TEXT, .offset = TIMELINE(around), .choices = "WHAT",
      .help = "the step of WHAT alone, marked: what tfprof why explains, as gap, step:slowest or op:REGEX" },
    { .name = "finding", .kind = OPTION_COUNT, .offset = TIMELINE(finding), .choices = "N",
      .help = "a few steps with what the Nth finding of advise is about, marked" },
#include "cli/rule_options.def"
    { .name = "config", .kind = OPTION_TEXT, .offset = TIMELINE(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);

    return length >= tail && strcmp(path + length - tail, end) == 0;
}

static const struct trace_format *chosen(const struct timeline_values *values)
{
    bool is_auto = strcmp(values->format, "auto") == 0;

    if (strcmp(values->format, "csv") == 0 ||
        (is_auto &&
         (ends_in(values->result.path, ".csv") || ends_in(values->result.path, ".csv.gz"))))
        return &trace_csv;
    if (strcmp(values->format, "chrome") == 0 ||
        (is_auto &&
         (ends_in(values->result.path, ".json") || ends_in(values->result.path, ".json.gz"))))
        return &trace_chrome;
    return &trace_perfetto;
}

/* By the number that texts show, which leave claimed ones out. */
static const struct finding *find(const struct advice *advice, int64_t number)
{
    for (size_t i = 0; i < advice->findings.count; i++) {
        if (finding_is_shown(&advice->findings.items[i], 0.005) && --number == 0)
            return &advice->findings.items[i];
    }
    return NULL;
}

static bool cut_finding(struct call *call, struct trace_options *what, struct err *err)
{
    const struct timeline_values *values = call->values;
    struct study                 *study = &call->inputs[0]->study;
    struct advise_options         rules = values->rules;
    struct arena                 *arena = call->text.arena;
    struct advice                 advice = { 0 };
    struct project                project;
    const struct finding         *finding;

    progress_stage("running rules");
    if (!project_ready(&project, values->config, &rules, arena, err) ||
        !advise_run(study, &rules, arena, &advice, err))
        return false;
    finding = find(&advice, values->finding);
    if (!finding) {
        (void)err_set(err, ERR_USAGE, "advise has no finding %lld", (long long)values->finding);
        return err_advise(err, "tfprof advise numbers them");
    }
    return cutout_finding(study, finding, what, arena, err);
}

static bool cut(struct call *call, struct trace_options *what, struct err *err)
{
    const struct timeline_values *values = call->values;
    struct study                 *study = &call->inputs[0]->study;
    struct why                    why;

    if (values->finding > 0)
        return cut_finding(call, what, err);
    if (values->around)
        return why_run(&why, study, values->around, call->text.arena, err) &&
               cutout_why(study, &why, what, call->text.arena, err);
    if (values->input.steps)
        cutout_steps(study, what);
    return true;
}

static bool pack(struct text *text, struct err *err)
{
    struct text packed = { .arena = text->arena };

    if (!gzip_pack(text_str(text), &packed))
        return err_set(err, ERR_LIMIT, "the timeline does not fit the memory limit");
    *text = packed;
    return true;
}

static bool prepare(struct call *call, struct err *err)
{
    const struct timeline_values *values = call->values;

    return !(values->around && values->finding > 0) ||
           err_set(err, ERR_USAGE, "--around and --finding each choose what to write: give one");
}

static bool make(struct call *call, struct err *err)
{
    const struct timeline_values *values = call->values;
    struct trace_options          what = { .start_ns = INT64_MIN, .end_ns = INT64_MAX };
    uint64_t                      left_out;

    if (!cut(call, &what, err))
        return false;
    progress_stage("writing");
    left_out = trace_write(chosen(values), &call->inputs[0]->study, &what, &call->text);
    if (left_out)
        text_print(&call->warnings,
                   "tfprof: note: %llu slices are not in the timeline: more than 64 overlap\n",
                   (unsigned long long)left_out);
    return !ends_in(values->result.path, ".gz") || call->text.is_cut || pack(&call->text, err);
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct timeline_values, input),
    .result_offset = offsetof(struct timeline_values, result),
    .needs_events = true,
    .file = "timeline.pftrace",
    .opener = "at https://ui.perfetto.dev",
    .prepare = prepare,
    .make = make,
};

const struct command command_timeline = {
    .name = "timeline",
    .summary = "write a trace for Perfetto or chrome://tracing: all of it, or what matters",
    .operands = "PROFILE...",
    .description =
        "Writes the slices of every thread, stream and device line with what is known of them, "
        "arrows from launches to kernels, memory and counters over time, the steps, and what each "
        "looked-at step waits for. --steps, --around and --finding cut out a part, with marks on "
        "what it is about. Open the file at https://ui.perfetto.dev, which reads it in the "
        "browser, or JSON in chrome://tracing. CSV has a row a slice and a sample of a counter, "
        "with "
        "all that is known of it, for databases.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct timeline_values),
    .run = answer_run,
    .answer = &answer,
};
