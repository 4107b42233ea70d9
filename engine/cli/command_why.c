/* why: the causes of something in a profile, walked backwards. */
#include "analyze/why.h"

#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/result.h"

struct why_values {
    struct input_values  input;
    struct result_values result;
};

#define INPUT(field) offsetof(struct why_values, input.field)
#define RESULT(field) offsetof(struct why_values, result.field)
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool answer(struct input *input, const struct result_values *result, const char *what,
                   struct err *err)
{
    struct output_options shape = result_options(result);
    struct text           text = { .arena = &input->report_arena };
    struct why            why;

    progress_stage("walking back");
    if (!why_run(&why, &input->study, what, &input->report_arena, err))
        return false;
    result_output(result)->why(&why, &input->study, &shape, &text);
    return result_write(result, &text, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct why_values *values = call->values;
    struct option_list       files = call->operands;
    struct input             input;
    bool                     is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    if (files.values.count < (input_has_paths(&values->input) ? 1U : 2U)) {
        (void)err_set(err, ERR_USAGE, "a profile and what to explain are needed");
        return err_advise(err, "as in tfprof why PROFILE gap, or step:slowest");
    }
    files.values.count--;
    if (!input_load(&input, &values->input, &files, err))
        return false;
    is_done = answer(&input, &values->result, call->operands.values.items[files.values.count], err);
    input_free(&input);
    progress_end();
    return is_done;
}

const struct command command_why = {
    .name = "why",
    .summary = "walk back the causes of an idle time, a slow step, a late rank or an op",
    .operands = "PROFILE... WHAT",
    .description =
        "WHAT is one of: gap, the longest idle time of the busiest device; gap@step12, that of one "
        "step; step:slowest or step:12, beside a step of usual length; collective:REGEX, the rank "
        "that comes latest to it, beside the one that comes first; op:REGEX or kernel:REGEX, the "
        "longest one. Regular expressions are searched in names.\n"
        "Each cause is printed with the time it holds, the op around it and, where stacks were "
        "recorded, the line in the program.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct why_values),
    .takes_files = true,
    .run = run,
};
