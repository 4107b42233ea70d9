/* gate: may this change land? */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/read_baseline.h"
#include "cli/result.h"
#include "cli/summarize.h"
#include "gate/gate.h"

struct gate_values {
    struct input_values   input;
    struct result_values  result;
    struct advise_options rules;
    struct gate_limits    limits;
    const char           *baseline, *inconclusive;
};

#define INPUT(field) offsetof(struct gate_values, input.field)
#define RESULT(field) offsetof(struct gate_values, result.field)
#define RULES(field) offsetof(struct gate_values, rules.field)
#define GATE(field) offsetof(struct gate_values, field)
#define RESULT_FORMATS "text|json|markdown|github|sarif|junit|gitlab|openmetrics|tap"
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "baseline", .kind = OPTION_TEXT, .offset = GATE(baseline), .choices = "FILE",
      .help = "compare with this baseline; without it only budgets are held" },
    { .name = "budget", .kind = OPTION_REPEAT, .offset = GATE(limits.budgets), .choices = "EXPR",
      .help = "a limit on a number, as 'step_ms.p50 <= 210' or 'findings.error == 0'" },
    { .name = "max-regression", .kind = OPTION_NUMBER, .offset = GATE(limits.max_regression),
      .preset = "5%", .choices = "unit:share",
      .help = "fail when the step is significantly slower by this share" },
    { .name = "count-tolerance", .kind = OPTION_NUMBER, .offset = GATE(limits.count_tolerance),
      .preset = "0%", .choices = "unit:share",
      .help = "share that exact counts a step may grow by" },
    { .name = "fail-on", .kind = OPTION_ONE_OF, .offset = GATE(limits.fail_on),
      .choices = "info|warn|error|veto",
      .help = "fail for advice of this severity or above that the baseline does not have" },
    { .name = "inconclusive", .kind = OPTION_ONE_OF, .offset = GATE(inconclusive),
      .preset = "fail", .choices = "fail|warn|pass",
      .help = "what a comparison that cannot tell counts as; fail is exit status 4" },
    { .name = "only", .kind = OPTION_LIST, .offset = RULES(only), .choices = "RULE",
      .help = "run these rules, categories or tags alone" },
    { .name = "skip", .kind = OPTION_LIST, .offset = RULES(skip), .choices = "RULE",
      .help = "leave these rules, categories or tags out" },
    { .name = "set", .kind = OPTION_REPEAT, .offset = RULES(set), .choices = "RULE.PARAM=VALUE",
      .help = "set a parameter of a rule" },
    { .name = "rules", .kind = OPTION_REPEAT, .offset = RULES(rule_directories), .choices = "DIR",
      .help = "add the rules of a directory" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool write_result(const struct gate_values *values, const struct gate_result *result,
                         struct arena *arena, struct err *err)
{
    struct output_options shape = result_options(&values->result);
    struct text           text = { .arena = arena };

    result_output(&values->result)->gate(result, &shape, &text);
    return result_write(&values->result, &text, err);
}

static bool compare(struct call *call, struct err *err)
{
    const struct gate_values *values = call->values;
    struct summary            baseline, after;
    struct gate_result        result;

    if (!values->baseline && values->limits.budgets.values.count == 0) {
        err_set(err, ERR_USAGE, "nothing to hold: no --baseline and no --budget");
        return err_advise(err, "tfprof baseline PROFILE... -o base.tfbase writes a baseline");
    }
    if ((values->baseline && !read_baseline(&baseline, values->baseline, call->arena, err)) ||
        !summarize(&after, &values->input, &values->rules, &call->operands, call->arena, err) ||
        !gate_run(values->baseline ? &baseline : NULL, &after, &values->limits, call->arena,
                  &result, err) ||
        !write_result(values, &result, call->arena, err))
        return false;
    call->status = gate_status(&result, values->inconclusive);
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct gate_values *values = call->values;
    bool                      is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    is_done = compare(call, err);
    progress_end();
    return is_done;
}

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
        "work or hardware, too few steps, or everything slower by one factor.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct gate_values),
    .takes_files = true,
    .run = run,
};
