/* report: the advice and what it rests on, as a page. */
#include "report/page/page.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "rules/advise.h"

#include <string.h>

struct report_values {
    struct input_values   input;
    struct advise_options rules;
    const char           *path, *config;
    int64_t               most_rows, most_slices;
    bool                  has_full_paths;
};

#define INPUT(field) offsetof(struct report_values, input.field)
#define RULES(field) offsetof(struct report_values, rules.field)
#define REPORT(field) offsetof(struct report_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT, .offset = REPORT(path), .preset = "report.html",
      .choices = "FILE", .help = "write the page to FILE, whole or not at all; - for standard output" },
    { .name = "rows", .kind = OPTION_COUNT, .offset = REPORT(most_rows), .preset = "1000",
      .choices = "N", .help = "rows of each table; 0: all" },
    { .name = "slices", .kind = OPTION_COUNT, .offset = REPORT(most_slices), .preset = "200000",
      .choices = "N", .help = "slices of the timeline, the shorter ones stand together; 0: no timeline" },
    { .name = "full-paths", .kind = OPTION_FLAG, .offset = REPORT(has_full_paths),
      .help = "keep the folders of the recording's files, which the page leaves out otherwise" },
#include "cli/rule_options.def"
    { .name = "config", .kind = OPTION_TEXT, .offset = REPORT(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/input_options.def"
};
/* clang-format on */

/* A page is made to be passed on: who reads it need not know where the files lay. */
static void leave_folders_out(struct profile *profile)
{
    for (size_t i = 0; i < profile->files.count; i++) {
        char *slash = strrchr(profile->files.items[i].name, '/');

        if (slash && slash[1])
            profile->files.items[i].name = slash + 1;
    }
}

static bool write_report(const struct report_values *values, struct input *input,
                         const struct project *project, const struct advise_options *rules,
                         struct err *err)
{
    struct page_options shape = { .most_rows = (size_t)values->most_rows,
                                  .most_slices = (size_t)values->most_slices };
    struct advice       advice = { 0 };
    struct text         text = { .arena = &input->report_arena };

    if (!values->has_full_paths)
        leave_folders_out(&input->profile);
    progress_stage("running rules");
    if (!advise_run(&input->study, rules, &input->report_arena, &advice, err))
        return false;
    progress_stage("writing");
    if (!page_write(&advice, &input->study, &shape, &text, err))
        return false;
    progress_end();
    if (!file_write(values->path, text_str(&text), err))
        return false;
    project_warn(project);
    project_warn_guests(&advice);
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct report_values *values = call->values;
    struct advise_options       rules = values->rules;
    struct project              project;
    struct input                input;
    bool                        is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    if (!project_load(&project, values->config, call->arena, err) ||
        !project_apply(&project, &rules, call->arena, err) || !advise_check(&rules, err))
        return false;
    is_done = input_load(&input, &values->input, &call->operands, err);
    if (is_done) {
        is_done = write_report(values, &input, &project, &rules, err);
        input_free(&input);
    }
    progress_end();
    return is_done;
}

const struct command command_report = {
    .name = "report",
    .summary = "write a page: verdict, findings, steps, timeline and tables in one HTML file",
    .operands = "PROFILE...",
    .description =
        "Writes what advise says, and what it rests on, as one HTML file that opens in any "
        "browser, needs no network and loads nothing: findings with evidence and fix, the "
        "composition of a step, every step, a timeline to zoom and search, and every table to "
        "sort, filter and save as CSV.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct report_values),
    .run = run,
};
