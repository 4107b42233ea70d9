/* gate: may this change land? */
#include "base/file.h"
#include "base/macros.h"
#include "base/unit.h"
#include "cli/answer.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/read_baseline.h"
#include "cli/result.h"
#include "cli/summarize.h"
#include "cli/terminal.h"
#include "gate/gate.h"
#include "rules/catalogue.h"

#include <string.h>

struct gate_values {
    struct input_values   input;
    struct result_values  result;
    struct advise_options rules;
    struct option_list    budgets, reports;
    const char           *max_regression, *count_tolerance, *counts, *fail_on;
    const char           *baseline, *inconclusive, *damage, *rule_errors, *config;
};

#define INPUT(field) offsetof(struct gate_values, input.field)
#define RESULT(field) offsetof(struct gate_values, result.field)
#define RULES(field) offsetof(struct gate_values, rules.field)
#define GATE(field) offsetof(struct gate_values, field)
#define RESULT_FORMATS "text|json|html|markdown|github|sarif|junit|gitlab|openmetrics|tap"
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "report", .kind = OPTION_REPEAT, .offset = GATE(reports), .choices = "FORMAT=FILE",
      .help = "write the result in this format too, as sarif=gate.sarif" },
    { .name = "baseline", .kind = OPTION_TEXT, .offset = GATE(baseline), .choices = "FILE",
      .help = "compare with this baseline; without it only budgets are held" },
    { .name = "budget", .kind = OPTION_REPEAT, .offset = GATE(budgets), .choices = "EXPR",
      .help = "a limit on a number, as 'step_ms.p50 <= 210' or 'findings.error == 0'" },
    { .name = "max-regression", .kind = OPTION_TEXT, .offset = GATE(max_regression),
      .choices = "SHARE",
      .help = "fail when the step is significantly slower by this share; 5% otherwise" },
    { .name = "count-tolerance", .kind = OPTION_TEXT, .offset = GATE(count_tolerance),
      .choices = "SHARE", .help = "share that exact counts a step may grow by; 0 otherwise" },
    { .name = "counts", .kind = OPTION_ONE_OF, .offset = GATE(counts),
      .choices = "strict|recommended|lenient",
      .help = "which counts that grew fail by themselves: all, those that cost something each, none" },
    { .name = "fail-on", .kind = OPTION_ONE_OF, .offset = GATE(fail_on),
      .choices = "info|warn|error|veto",
      .help = "fail for advice of this severity or above that the baseline does not have" },
    { .name = "inconclusive", .kind = OPTION_ONE_OF, .offset = GATE(inconclusive),
      .choices = "fail|warn|pass",
      .help = "what a comparison that cannot tell counts as; fail otherwise: exit status 4" },
    { .name = "damage", .kind = OPTION_ONE_OF, .offset = GATE(damage), .choices = "refuse|accept",
      .help = "accept: judge damaged recordings too, with a warning; else inconclusive" },
    { .name = "rule-errors", .kind = OPTION_ONE_OF, .offset = GATE(rule_errors), .preset = "warn",
      .choices = "fail|warn", .help = "whether a rule that fails makes the exit status 5" },
    { .name = "config", .kind = OPTION_TEXT, .offset = GATE(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/rule_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

/* "sarif=gate.sarif": the format before the first "=". */
static const struct output *report_output(const char *report, const char **path, struct err *err)
{
    struct str           rest = str_from(report), name = str_cut(&rest, '=');
    const struct output *output = NULL;

    for (size_t i = 0; i < output_count; i++)
        if (outputs[i]->gate && str_equal(str_from(outputs[i]->name), name))
            output = outputs[i];
    *path = rest.data;
    if (!output || rest.len == 0 || name.len == str_from(report).len)
        err_set(err, ERR_USAGE, "--report takes FORMAT=FILE with a format of --format, not '%s'",
                report);
    return err->code == ERR_NONE ? output : NULL;
}

static bool check_reports(const struct option_list *reports, struct err *err)
{
    const char *path;

    for (size_t i = 0; i < reports->values.count; i++)
        if (!report_output(reports->values.items[i], &path, err))
            return false;
    return true;
}

static bool write_report(const struct gate_result *result, const char *report, struct arena *arena,
                         struct err *err)
{
    struct output_options shape = { .width = TERMINAL_COLUMNS };
    struct text           text = { .arena = arena };
    const char           *path;
    const struct output  *output = report_output(report, &path, err);

    if (!output)
        return false;
    output->gate(result, &shape, &text);
    if (!text_is_whole(&text))
        return err_set(err, ERR_LIMIT, "the report does not fit the memory limit");
    return file_write(path, text_str(&text), err);
}

/* Those of --report; the caller has the one of --format. */
static bool write_reports(const struct gate_values *values, const struct gate_result *result,
                          struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < values->reports.values.count; i++)
        if (!write_report(result, values->reports.values.items[i], arena, err))
            return false;
    return true;
}

static const char *first_of(const char *option, const char *configured, const char *otherwise)
{
    return option ? option : configured ? configured : otherwise;
}

/* "5%" and, as people write it, "5" are 5 %; so is "0.05". Between a fifth and 1, and above 100, a
 * number without a unit could mean either or nothing. */
static bool scan_share(const char *name, const char *text, double *share, struct err *err)
{
    static const double MOST_SHARE = 0.2, MOST_PERCENT = 100, MOST = 10;
    double              number;

    if (unit_scan(str_from(text), UNIT_NONE, &number)) {
        if (number < 0 || number > MOST_PERCENT)
            return err_set(err, ERR_USAGE, "--%s is a share of 0 to 100 %%, not '%s'", name, text);
        if (number > MOST_SHARE && number < 1)
            return err_set(err, ERR_USAGE, "--%s %s: write %g%% or %s%%", name, text, number * 100,
                           text);
        *share = number < 1 ? number : number / 100;
        return true;
    }
    return (unit_scan(str_from(text), UNIT_SHARE, share) && *share >= 0 && *share <= MOST) ||
           err_set(err, ERR_USAGE, "--%s takes a share as 5%%, not '%s'", name, text);
}

static enum count_policy policy_of(const char *name)
{
    return strcmp(name, "strict") == 0    ? COUNTS_STRICT
           : strcmp(name, "lenient") == 0 ? COUNTS_LENIENT
                                          : COUNTS_RECOMMENDED;
}

/* The command line before the project's configuration. */
static bool settle_limits(const struct gate_values *values, const struct project *project,
                          struct arena *arena, struct gate_limits *limits, struct err *err)
{
    *limits = (struct gate_limits) {
        .budgets = project->budgets,
        .counts = policy_of(first_of(values->counts, project->counts, "recommended")),
        .fail_on = first_of(values->fail_on, project->fail_on, NULL),
        .accepts_damage =
            strcmp(first_of(values->damage, project->damage, "refuse"), "accept") == 0,
    };
    for (size_t i = 0; i < values->budgets.values.count; i++)
        if (!vec_push(&limits->budgets.values, arena, values->budgets.values.items[i]))
            return err_memory(err, "budgets");
    return scan_share("max-regression",
                      first_of(values->max_regression, project->max_regression, "5%"),
                      &limits->max_regression, err) &&
           scan_share("count-tolerance",
                      first_of(values->count_tolerance, project->count_tolerance, "0"),
                      &limits->count_tolerance, err);
}

static bool nothing_to_hold(struct err *err)
{
    err_set(err, ERR_USAGE, "nothing to hold: no --baseline and no --budget");
    return err_advise(err, "tfprof baseline PROFILE... -o base.tfbase writes a baseline");
}

static bool is_counted(struct str name)
{
    return str_fits(name, "info|warn|error|veto|total");
}

static bool is_rule(struct str name, const char *budget, const struct rule_list *list,
                    struct arena *arena, struct err *err)
{
    VEC(const char *) names = { 0 };
    const char *nearest, *text = arena_str(arena, name).data;

    for (size_t i = 0; i < list->rules.count; i++) {
        if (!vec_push(&names, arena, list->rules.items[i].id))
            return err_memory(err, "budgets");
        if (str_equal(name, str_from(list->rules.items[i].id)))
            return true;
    }
    nearest = text ? option_nearest(text, names.items, names.count) : NULL;
    err_set(err, ERR_USAGE, "no rule is called '%.*s' in the budget '%s'", STR_ARG(name), budget);
    return nearest ? err_advise(err, "did you mean findings.%s?", nearest) : false;
}

/* A rule that there is not finds nothing: a budget for it would always hold. */
static bool check_rules(const struct gate_limits *limits, const struct advise_options *rules,
                        struct arena *arena, struct err *err)
{
    struct rule_list list = { 0 };

    for (size_t i = 0; i < limits->budgets.values.count; i++) {
        const char *budget = limits->budgets.values.items[i];
        struct str  name = str_trim((struct str) { budget, strcspn(budget, "<>=") });

        if (!str_starts(name, STR("findings.")))
            continue;
        name = str_slice(name, strlen("findings."), name.len);
        if (is_counted(name))
            continue;
        if ((list.rules.count == 0 && !rules_list(rules, arena, &list, err)) ||
            !is_rule(name, budget, &list, arena, err))
            return false;
    }
    return true;
}

struct gate_state {
    struct project        project;
    struct advise_options rules;
    struct gate_limits    limits;
    const char           *baseline; /* its path; NULL: none */
};

static bool prepare(struct call *call, struct err *err)
{
    const struct gate_values *values = call->values;
    struct gate_state        *state = arena_new(call->arena, struct gate_state);

    if (!state)
        return err_memory(err, "the configuration");
    call->state = state;
    state->rules = values->rules;
    if (!project_load(&state->project, values->config, call->arena, err))
        return false;
    state->baseline = first_of(values->baseline, state->project.baseline, NULL);
    if (!check_reports(&values->reports, err) ||
        !settle_limits(values, &state->project, call->arena, &state->limits, err) ||
        !project_apply(&state->project, &state->rules, call->arena, err) ||
        !check_rules(&state->limits, &state->rules, call->arena, err))
        return false;
    return state->baseline || state->limits.budgets.values.count > 0 || nothing_to_hold(err);
}

/* Reads the runs by itself: each is gone before the next. */
static bool make(struct call *call, struct err *err)
{
    const struct gate_values *values = call->values;
    struct gate_state        *state = call->state;
    struct summarizing        how = { .input = &values->input,
                                      .rules = &state->rules,
                                      .warnings = &call->warnings };
    struct advice             none = { 0 };
    struct summary            baseline, after;
    struct gate_result        result;

    if ((state->baseline && !read_baseline(&baseline, state->baseline, call->arena, err)) ||
        !summarize(&after, &how, &call->operands, call->arena, err) ||
        !gate_run(state->baseline ? &baseline : NULL, &after, &state->limits, call->arena, &result,
                  err) ||
        !write_reports(values, &result, call->arena, err))
        return false;
    call->output->gate(&result, &call->shape, &call->text);
    project_add_warnings(&state->project, &none, &call->warnings);
    call->status =
        gate_status(&result, first_of(values->inconclusive, state->project.inconclusive, "fail"));
    return summary_rules_hold(&after, values->rule_errors, err);
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct gate_values, input),
    .result_offset = offsetof(struct gate_values, result),
    .prepare = prepare,
    .make = make,
};

const struct command command_gate = {
    .name = "gate",
    .summary = "fail when a change made the program slower",
    .operands = "PROFILE...",
    .description =
        "Compares one or several recordings of a program with a baseline and holds budgets. Exact "
        "counts come first: one more launch, copy or blocking call a step fails. The step time "
        "fails when it is slower by --max-regression and that is no chance. Then it says what "
        "changed.\n"
        "Each PROFILE is a run of its own. Exit status: 0 passed, 1 failed, 4 inconclusive: other "
        "work or hardware, too few steps, everything slower as by load on the machine, or a "
        "slow-down that may be chance or drift.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct gate_values),
    .run = answer_run_alone,
    .answer = &answer,
};
