/* info: what a profile holds, which analyses it allows and what is missing for the others. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
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

static bool run(struct call *call, struct err *err)
{
    const struct info_values *values = call->values;
    struct output_options     shape = result_options(&values->result);
    struct input_values       how = values->input;
    struct input              input;
    bool                      is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    shape.is_complete = values->is_complete;
    how.notes = result_notes(&values->result);
    is_done = input_load(&input, &how, &call->operands, err);
    if (is_done) {
        struct text text = { .arena = &input.report_arena };

        result_output(&values->result)->info(&input.study, &shape, &text);
        is_done = result_write(&values->result, &text, err);
        input_free(&input);
    }
    progress_end();
    return is_done;
}

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
    .run = run,
};
