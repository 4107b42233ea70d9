/* explain: what one rule looks for, and what it makes of a profile. */
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/project.h"
#include "cli/result.h"
#include "rules/catalogue.h"

struct explain_values {
    struct input_values  input;
    struct result_values result;
    struct option_list   directories;
    const char          *config;
};

#define INPUT(field) offsetof(struct explain_values, input.field)
#define RESULT(field) offsetof(struct explain_values, result.field)
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "rules", .kind = OPTION_REPEAT,
      .offset = offsetof(struct explain_values, directories), .choices = "DIR",
      .help = "add the rules of a directory" },
    { .name = "config", .kind = OPTION_TEXT, .offset = offsetof(struct explain_values, config),
      .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool make(struct call *call, struct err *err)
{
    const struct explain_values *values = call->values;
    const struct input          *input = call->inputs[0];
    struct rule_explanation      explanation = { 0 };
    struct advise_options        settings = { .rule_directories = values->directories };
    const char                  *profile_name = NULL;

    if (!project_load_into(values->config, &settings, call->arena, err) ||
        !rule_explain(call->subject, &settings, input ? &call->inputs[0]->study : NULL,
                      call->text.arena, &explanation, err))
        return false;
    if (input)
        profile_name = input->profile.name ? input->profile.name : "the profile";
    call->output->explain(&explanation, profile_name, &call->shape, &call->text);
    project_add_unfiltered(explanation.is_unfiltered, &call->warnings);
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct explain_values *values = call->values;
    struct option_list          *paths = &call->operands;

    if (paths->values.count == 0)
        return err_set(err, ERR_USAGE, "no rule given; tfprof rules lists them");
    call->subject = *paths->values.items++;
    paths->values.count--;
    if (!values->input.is_list && paths->values.count == 0 && !input_has_paths(&values->input))
        return answer_prepare(call, err) && answer_give(call, call->arena, err);
    return answer_run(call, err);
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct explain_values, input),
    .result_offset = offsetof(struct explain_values, result),
    .make = make,
};

const struct command command_explain = {
    .name = "explain",
    .summary = "say what a rule looks for, with a profile's numbers if one is given",
    .operands = "RULE [PROFILE...]",
    .description = "Prints what a rule looks for, why it matters, what it needs and its "
                   "parameters. With a profile also what it needs of it, and what it found.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct explain_values),
    .run = run,
    .answer = &answer,
};
