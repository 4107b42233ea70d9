/* The tools of the profiler's guide: one command a row of report/tools.def. */
#include "report/tool.h"

#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/result.h"
#include "report/layout.h"
#include "rules/advise.h"

#include <stddef.h>
#include <string.h>

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

/* Tools whose text ends with what built-in rules of a category say. */
static const struct {
    const char *tool, *category;
} advised[] = { { "input", "input" }, { "datasets", "input" } };

static void print_finding(const struct finding *finding, struct layout *layout)
{
    struct text title = { .arena = layout->arena };

    text_print(&title, "%s (%s)", finding->title, finding->rule);
    layout_wrap(layout, 2, "", 4, text_str(&title));
    if (finding->remedy_text)
        layout_wrap(layout, 4, "", 4, str_from(finding->remedy_text));
    for (struct str rest = str_from(finding->remedy_code ? finding->remedy_code : ""); rest.len;) {
        text_fill(layout->text, ' ', 8);
        text_add_clean(layout->text, str_cut(&rest, '\n'));
        layout_line(layout);
    }
}

/* "What to change": the findings of a category that are not said more specifically by others. */
static bool print_advice(struct call *call, const char *category, struct err *err)
{
    struct layout layout = layout_make(&call->text, call->shape.width, call->shape.is_colored);
    struct advise_options rules = { 0 };
    struct advice         advice = { 0 };
    bool                  is_first = true;

    if (!vec_push(&rules.only.values, call->text.arena, category))
        return err_memory(err, "the advice");
    if (!advise_run(&call->inputs[0]->study, &rules, call->text.arena, &advice, err))
        return false;
    for (size_t i = 0; i < advice.findings.count; i++) {
        const struct finding *finding = &advice.findings.items[i];

        if (finding->hidden_by || strcmp(finding->category, category) != 0)
            continue;
        if (is_first)
            text_print(&call->text, "\nWhat to change (tfprof advise says what it saves)\n");
        is_first = false;
        print_finding(finding, &layout);
    }
    return true;
}

static bool make(struct call *call, struct err *err)
{
    const struct tool_values *values = call->values;

    call->shape.is_complete = values->is_wide;
    call->output->tool(tool_find(call->command->name), &call->inputs[0]->study, values->top,
                       &call->shape, &call->text);
    for (size_t i = 0; i < ARRAY_COUNT(advised); i++)
        if (strcmp(call->command->name, advised[i].tool) == 0 &&
            strcmp(values->result.format, "text") == 0)
            return print_advice(call, advised[i].category, err);
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
