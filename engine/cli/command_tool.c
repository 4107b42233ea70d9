/* The tools of the profiler's guide: one command a row of report/tools.def. */
#include "report/tool.h"

#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/result.h"

#include <stddef.h>

struct tool_values {
    struct input_values  input;
    struct result_values result;
    int64_t              top;
    bool                 is_wide;
};

#define INPUT(field) offsetof(struct tool_values, input.field)
#define RESULT(field) offsetof(struct tool_values, result.field)
/* clang-format off */
static const struct option options[] = {
    { .name = "top", .kind = OPTION_INTEGER, .offset = offsetof(struct tool_values, top), .preset = "-1",
      .choices = "N", .help = "rows of each table; 0: all; without it text shows a page, JSON all" },
    { .name = "wide", .kind = OPTION_FLAG, .offset = offsetof(struct tool_values, is_wide),
      .help = "text: every column, however wide the terminal is" },
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool make(struct call *call, struct err *err)
{
    const struct tool_values *values = call->values;

    (void)err;
    call->shape.is_complete = values->is_wide;
    call->output->tool(tool_find(call->command->name), &call->inputs[0]->study, values->top,
                       &call->shape, &call->text);
    return true;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct tool_values, input),
    .result_offset = offsetof(struct tool_values, result),
    .make = make,
};

#define TOOL(id, about, ...)                                                                       \
    const struct command command_##id = {                                                          \
        .name = #id,                                                                               \
        .summary = (about),                                                                        \
        .operands = "PROFILE...",                                                                  \
        .description = "Prints facts and tables of a recording under one heading: " about          \
                       ". Times are a step's where the heading does not say otherwise. What the "  \
                       "recording does not give is said with the reason. JSON holds exact "        \
                       "numbers with units and all rows; tfprof table has any table as CSV.",      \
        .options = options,                                                                        \
        .option_count = ARRAY_COUNT(options),                                                      \
        .values_bytes = sizeof(struct tool_values),                                                \
        .run = answer_run,                                                                         \
        .answer = &answer,                                                                         \
    };
#include "report/tools.def"
