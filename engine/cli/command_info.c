/* info: what a profile holds, which analyses it allows and what is missing for the others. */
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/result.h"

struct info_values {
    struct input_values  input;
    struct result_values result;
    bool                 is_complete;
};

#define INPUT(field) offsetof(struct info_values, input.field)
#define RESULT(field) offsetof(struct info_values, result.field)
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "all", .kind = OPTION_FLAG, .offset = offsetof(struct info_values, is_complete),
      .help = "list every timeline" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool make(struct call *call, struct err *err)
{
    const struct info_values *values = call->values;

    (void)err;
    call->shape.is_complete = values->is_complete;
    call->output->info(&call->inputs[0]->study, &call->shape, &call->text);
    return true;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct info_values, input),
    .result_offset = offsetof(struct info_values, result),
    .has_notes = true,
    .make = make,
};

const struct command command_info = {
    .name = "info",
    .summary = "show what a profile holds and what can be said from it",
    .operands = "PROFILE...",
    .description = "Prints files, hosts, devices, timelines, kinds of events and steps of a "
                   "recording, and for each analysis what it found and what is missing for the "
                   "rest, with what to record next time.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct info_values),
    .run = answer_run,
    .answer = &answer,
};
