/* The tools of the profiler's guide: one command a row of report/tools.def. */
#include "report/tool.h"

#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
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

static bool show(const struct tool_values *values, const struct tool *tool, struct input *input,
                 struct err *err)
{
    struct output_options shape = result_options(&values->result);
    struct text           text = { .arena = &input->report_arena };

    shape.is_complete = values->is_wide;
    result_output(&values->result)->tool(tool, &input->study, values->top, &shape, &text);
    return result_write(&values->result, &text, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct tool_values *values = call->values;
    struct input              input;
    bool                      is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    is_done = input_load(&input, &values->input, &call->operands, err);
    if (is_done) {
        is_done = show(values, tool_find(call->command->name), &input, err);
        input_free(&input);
    }
    progress_end();
    return is_done;
}

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
        .run = run,                                                                                \
    };
#include "report/tools.def"
