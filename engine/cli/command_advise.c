/* advise: what to change in the program, ranked by what it saves. */
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/result.h"
#include "cli/run_lines.h"
#include "cli/view_input.h"
#include "rules/advise.h"

#include <string.h>

struct advise_values {
    struct input_values   input;
    struct result_values  result;
    struct advise_options rules;
    double                min_share;
    const char           *fail_on, *rule_errors, *config;
    bool                  is_complete, is_every_run;
};

#define INPUT(field) offsetof(struct advise_values, input.field)
#define RESULT(field) offsetof(struct advise_values, result.field)
#define RULES(field) offsetof(struct advise_values, rules.field)
#define ADVISE(field) offsetof(struct advise_values, field)
#define RESULT_FORMATS "text|json|csv|html|markdown|github|sarif|classic|adviceproto"
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "min-impact", .kind = OPTION_NUMBER, .offset = ADVISE(min_share), .preset = "0.5%",
      .choices = "unit:share", .help = "leave findings that save less of the step out of the text" },
    { .name = "coverage", .kind = OPTION_FLAG, .offset = ADVISE(is_complete),
      .help = "list every rule that could not look, and why" },
    { .name = "all", .kind = OPTION_FLAG, .offset = ADVISE(is_every_run),
      .help = "a line of advice for each run of a log directory" },
#include "cli/rule_options.def"
    { .name = "fail-on", .kind = OPTION_ONE_OF, .offset = ADVISE(fail_on),
      .choices = "info|warn|error|veto", .help = "exit 1 for a finding of this severity or above" },
    { .name = "rule-errors", .kind = OPTION_ONE_OF, .offset = ADVISE(rule_errors), .preset = "warn",
      .choices = "fail|warn", .help = "whether a rule that fails makes the exit status 5" },
    { .name = "config", .kind = OPTION_TEXT, .offset = ADVISE(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/input_options.def"
};
/* clang-format on */

/* Whether a finding that stands for itself is of this severity or above. */
static bool reaches(const struct advice *advice, const char *severity)
{
    int limit = SEVERITY_INFO;

    while (limit < SEVERITY_VETO && strcmp(severity_name((enum severity)limit), severity) != 0)
        limit++;
    for (size_t i = 0; i < advice->findings.count; i++) {
        const struct finding *finding = &advice->findings.items[i];

        if (!finding->hidden_by && (int)finding->severity >= limit)
            return true;
    }
    return false;
}

struct advise_state {
    struct advise_options rules;
    struct project        project;
};

static bool prepare(struct call *call, struct err *err)
{
    const struct advise_values *values = call->values;
    struct advise_state        *state = arena_new(call->arena, struct advise_state);

    if (!state)
        return err_memory(err, "the configuration");
    call->state = state;
    state->rules = values->rules;
    return project_ready(&state->project, values->config, &state->rules, call->arena, err);
}

static bool make(struct call *call, struct err *err)
{
    const struct advise_values *values = call->values;
    struct advise_state        *state = call->state;
    struct study               *study = &call->inputs[0]->study;
    struct advice               advice = { 0 };

    progress_stage("running rules");
    if (!advise_run(study, &state->rules, call->text.arena, &advice, err))
        return false;
    call->shape.is_complete = values->is_complete;
    call->shape.min_share = values->min_share;
    call->output->advice(&advice, study, &call->shape, &call->text);
    project_add_warnings(&state->project, &advice, &call->warnings);
    if (advice.failed.count > 0 && strcmp(values->rule_errors, "fail") == 0)
        return err_set(err, ERR_SCRIPT, "%zu rule%s failed, the first is %s: %s",
                       advice.failed.count, advice.failed.count == 1 ? "" : "s",
                       advice.failed.items[0].rule, advice.failed.items[0].message);
    if (values->fail_on && reaches(&advice, values->fail_on))
        call->status = 1;
    return true;
}

/* --all: lines rather than a report. */
static bool advise_runs(struct call *call, struct err *err)
{
    const struct advise_values *values = call->values;
    struct input_values         input = values->input;
    struct text                 text = { .arena = call->arena };
    bool                        is_json = strcmp(values->result.format, "json") == 0;
    struct run_lines            how = { .input = &input, .min_share = values->min_share };
    bool                        is_done;

    if (!is_json && strcmp(values->result.format, "text") != 0)
        return err_set(err, ERR_USAGE, "--all prints text or json, not %s", values->result.format);
    if (values->input.run || values->fail_on)
        return err_set(err, ERR_USAGE, "--all looks at every run: %s is not for it",
                       values->input.run ? "--run" : "--fail-on");
    if (!prepare(call, err))
        return false;
    how.rules = &((const struct advise_state *)call->state)->rules;
    how.arena = call->arena;
    input.notes = NOTES_TELL_DAMAGE;
    is_done = run_lines_print(&how, &call->operands, is_json, &text, &call->status, err) &&
              result_write(&values->result, &text, err);
    progress_end();
    return is_done;
}

static bool advise_classic(struct call *call, bool is_proto, struct err *err)
{
    const struct advise_values  *values = call->values;
    struct classic_advice_values asked = { .input = values->input,
                                           .only = values->rules.only,
                                           .format = is_proto ? "proto" : "text" };
    struct call                  classic = { .command = &command_classic_advice,
                                             .values = &asked,
                                             .operands = call->operands,
                                             .arena = call->arena };

    return view_input_run(&classic, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct advise_values *values = call->values;
    bool                        is_proto = strcmp(values->result.format, "adviceproto") == 0;

    if (!values->input.is_list && (is_proto || strcmp(values->result.format, "classic") == 0))
        return advise_classic(call, is_proto, err);
    if (!values->input.is_list && values->is_every_run)
        return advise_runs(call, err);
    return answer_run(call, err);
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct advise_values, input),
    .result_offset = offsetof(struct advise_values, result),
    .has_notes = true,
    .prepare = prepare,
    .make = make,
};

const struct command command_advise = {
    .name = "advise",
    .summary = "say what to change, ranked by the time it saves",
    .operands = "PROFILE...",
    .description =
        "Reads a recording of a training or inference program and prints what limits it and what "
        "to change, the change that saves most first, each with its price a step.\n"
        "PROFILE is a file of any supported format (found by its content), a directory that a "
        "profiler wrote, or - for standard input. Several files are hosts or ranks of one job.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct advise_values),
    .run = run,
    .answer = &answer,
};
