/* timeline: a recording, or what matters of it, as a file for viewers of traces. */
#include "report/trace/trace.h"

#include "analyze/schedule/why.h"
#include "base/file.h"
#include "base/gzip.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/rank_input.h"
#include "report/describe.h"
#include "report/trace/cutout.h"
#include "rules/advise.h"

#include <stdio.h>
#include <string.h>

struct timeline_values {
    struct input_values   input;
    struct advise_options rules;
    const char           *path, *format, *around, *config;
    int64_t               finding;
};

#define INPUT(field) offsetof(struct timeline_values, input.field)
#define RULES(field) offsetof(struct timeline_values, rules.field)
#define TIMELINE(field) offsetof(struct timeline_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT, .offset = TIMELINE(path), .preset = "timeline.pftrace",
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
        (is_auto && (ends_in(values->path, ".csv") || ends_in(values->path, ".csv.gz"))))
        return &trace_csv;
    if (strcmp(values->format, "chrome") == 0 ||
        (is_auto && (ends_in(values->path, ".json") || ends_in(values->path, ".json.gz"))))
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

static bool cut_finding(const struct timeline_values *values, struct input *input,
                        struct trace_options *what, struct err *err)
{
    struct advise_options rules = values->rules;
    struct arena         *arena = &input->report_arena;
    struct advice         advice = { 0 };
    struct project        project;
    const struct finding *finding;

    progress_stage("running rules");
    if (!project_load(&project, values->config, arena, err) ||
        !project_apply(&project, &rules, arena, err) || !advise_check(&rules, err) ||
        !advise_run(&input->study, &rules, arena, &advice, err))
        return false;
    finding = find(&advice, values->finding);
    if (!finding) {
        (void)err_set(err, ERR_USAGE, "advise has no finding %lld", (long long)values->finding);
        return err_advise(err, "tfprof advise numbers them");
    }
    return cutout_finding(&input->study, finding, what, arena, err);
}

static bool cut(const struct timeline_values *values, struct input *input,
                struct trace_options *what, struct err *err)
{
    struct why why;

    if (values->finding > 0)
        return cut_finding(values, input, what, err);
    if (values->around)
        return why_run(&why, &input->study, values->around, &input->report_arena, err) &&
               cutout_why(&input->study, &why, what, &input->report_arena, err);
    if (values->input.steps)
        cutout_steps(&input->study, what);
    return true;
}

static bool write_file(const struct timeline_values *values, const struct text *text,
                       struct input *input, struct err *err)
{
    struct text packed = { .arena = &input->report_arena };

    if (text->is_cut)
        return err_set(err, ERR_LIMIT, "the timeline does not fit the memory limit");
    if (!ends_in(values->path, ".gz"))
        return file_write(values->path, text_str(text), err);
    if (!gzip_pack(text_str(text), &packed) || packed.is_cut)
        return err_set(err, ERR_LIMIT, "the timeline does not fit the memory limit");
    return file_write(values->path, text_str(&packed), err);
}

static bool write_timeline(const struct timeline_values *values, struct input *input,
                           struct err *err)
{
    struct trace_options what = { .start_ns = INT64_MIN, .end_ns = INT64_MAX };
    struct text          text = { .arena = &input->report_arena };
    uint64_t             left_out;

    if (!cut(values, input, &what, err))
        return false;
    progress_stage("writing");
    left_out = trace_write(chosen(values), &input->study, &what, &text);
    progress_end();
    if (!write_file(values, &text, input, err))
        return false;
    if (left_out)
        fprintf(stderr, "tfprof: note: %llu slices are not in the timeline: more than 64 overlap\n",
                (unsigned long long)left_out);
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct timeline_values *values = call->values;
    struct input                  input;
    bool                          is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    if (values->around && values->finding > 0)
        return err_set(err, ERR_USAGE,
                       "--around and --finding each choose what to write: give one");
    if (rank_input_is(&call->operands))
        return rank_input_lacks_events(err);
    is_done = input_load(&input, &values->input, &call->operands, err);
    if (is_done) {
        is_done = write_timeline(values, &input, err);
        input_free(&input);
    }
    progress_end();
    return is_done;
}

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
    .run = run,
};
