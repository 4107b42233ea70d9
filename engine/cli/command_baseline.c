/* baseline: what a gate compares with, as a file. */
#include "base/file.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/summarize.h"

#include <string.h>

struct baseline_values {
    struct input_values   input;
    struct advise_options rules;
    const char           *path, *reason, *damage, *rule_errors, *config;
};

#define INPUT(field) offsetof(struct baseline_values, input.field)
#define BASELINE(field) offsetof(struct baseline_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT, .offset = BASELINE(path),
      .choices = "FILE", .help = "write the baseline to FILE, whole or not at all" },
    { .name = "reason", .kind = OPTION_TEXT, .offset = BASELINE(reason), .choices = "TEXT",
      .help = "why there is a new baseline; kept in it" },
    { .name = "damage", .kind = OPTION_ONE_OF, .offset = BASELINE(damage), .choices = "refuse|accept",
      .help = "accept: keep the numbers of a damaged recording too; refused otherwise" },
    { .name = "rule-errors", .kind = OPTION_ONE_OF, .offset = BASELINE(rule_errors), .preset = "warn",
      .choices = "fail|warn", .help = "whether a rule that fails makes the exit status 5" },
    { .name = "preset", .kind = OPTION_ONE_OF, .offset = BASELINE(rules.preset),
      .choices = "recommended|strict|all", .help = "which rules run and how closely they look" },
    { .name = "rules", .kind = OPTION_REPEAT, .offset = BASELINE(rules.rule_directories),
      .choices = "DIR", .help = "add the rules of a directory" },
    { .name = "config", .kind = OPTION_TEXT, .offset = BASELINE(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool is_accepted(const struct baseline_values *values, const struct project *project)
{
    const char *damage = values->damage ? values->damage : project->damage;

    return damage && strcmp(damage, "accept") == 0;
}

static bool make(struct call *call, struct err *err)
{
    const struct baseline_values *values = call->values;
    struct advise_options         rules = values->rules;
    struct summarizing            how = { .input = &values->input,
                                          .rules = &rules,
                                          .warnings = &call->warnings };
    struct project                project;
    struct summary                summary;

    if (!project_load(&project, values->config, call->arena, err) ||
        !project_apply(&project, &rules, call->arena, err))
        return false;
    how.refuses_damage = !is_accepted(values, &project);
    if (!summarize(&summary, &how, &call->operands, call->arena, err))
        return false;
    summary.comment = values->reason ? values->reason : "";
    summary_write(&summary, &call->text);
    if (!text_is_whole(&call->text))
        return err_set(err, ERR_LIMIT, "the baseline does not fit the memory limit");
    return summary_rules_hold(&summary, values->rule_errors, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct baseline_values *values = call->values;
    struct err                    unwritten = { 0 };
    bool                          is_made;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    is_made = answer_prepare(call, err) && answer_make(call, call->arena, err);
    progress_end();
    answer_warn(call);
    /* A rule that failed leaves a baseline all the same. */
    return (is_made || (call->text.len > 0 && text_is_whole(&call->text))) &&
           file_write(values->path ? values->path : "-", text_str(&call->text),
                      is_made ? err : &unwritten) &&
           is_made;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct baseline_values, input),
    .has_no_result = true,
    .make = make,
};

const struct command command_baseline = {
    .name = "baseline",
    .summary = "write what later runs are compared with",
    .operands = "PROFILE...",
    .description =
        "Writes the numbers of one or several recordings of the same program to a small file that "
        "`tfprof gate --baseline` compares with: exact counts, step times, what the step waits "
        "for, its largest ops, kernels and call sites, findings, and what identifies hardware and "
        "work.\n"
        "Each PROFILE is a run of its own. With four or more runs on both sides a gate can tell "
        "small changes from chance.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct baseline_values),
    .run = run,
    .answer = &answer,
};
