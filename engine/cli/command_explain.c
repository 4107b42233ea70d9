/* explain: what one rule looks for, and what it makes of a profile. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
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

static bool explain(struct call *call, struct input *input, struct err *err)
{
    const struct explain_values *values = call->values;
    struct output_options        shape = result_options(&values->result);
    struct arena                *arena = input ? &input->report_arena : call->arena;
    struct rule_explanation      explanation = { 0 };
    struct text                  text = { .arena = arena };
    struct advise_options        settings = { .rule_directories = values->directories };
    const char                  *profile_name = NULL;

    if (!project_load_into(values->config, &settings, call->arena, err) ||
        !rule_explain(call->operands.values.items[0], &settings, input ? &input->study : NULL,
                      arena, &explanation, err))
        return false;
    if (input)
        profile_name = input->profile.name ? input->profile.name : "the profile";
    result_output(&values->result)->explain(&explanation, profile_name, &shape, &text);
    project_warn_unfiltered(explanation.is_unfiltered);
    return result_write(&values->result, &text, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct explain_values *values = call->values;
    struct option_list           paths = call->operands;
    struct input                 input;
    bool                         is_done;

    if (paths.values.count == 0)
        return err_set(err, ERR_USAGE, "no rule given; tfprof rules lists them");
    paths.values.items++;
    paths.values.count--;
    if (values->input.is_list)
        return input_list(&paths, call->arena, err);
    if (paths.values.count == 0 && !input_has_paths(&values->input))
        return explain(call, NULL, err);
    is_done = input_load(&input, &values->input, &paths, err);
    if (is_done) {
        is_done = explain(call, &input, err);
        input_free(&input);
    }
    progress_end();
    return is_done;
}

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
};
