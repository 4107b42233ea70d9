/* scope, graph, op, code: the classic views of a TensorFlow program, in the original's text. */
#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "view/view.h"

#include <stdio.h>

struct view_command_values {
    struct input_values input;
    struct view_values  view;
};

#define INPUT(field) offsetof(struct view_command_values, input.field)
#define VIEW_OPTION(field) offsetof(struct view_command_values, view.field)
/* clang-format off */
static const struct option options[] = {
#include "view/view_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool write_report(const struct view_call *view_call, struct err *err)
{
    if (view_call->text->is_cut)
        return err_set(err, ERR_LIMIT, "the result does not fit the memory limit");
    return file_write("-", text_str(view_call->text), err);
}

static bool show(const struct view *view, const struct view_command_values *values,
                 struct input *input, struct err *err)
{
    struct view_options checked;
    struct text         text = { .arena = &input->report_arena };
    struct text         complaints = { .arena = &input->report_arena };
    struct view_call    view_call = { .classic = input->profile.classic,
                                      .options = &checked,
                                      .arena = &input->report_arena,
                                      .text = &text,
                                      .complaints = &complaints };
    bool                is_done;

    if (!input->profile.classic)
        return err_set(err, ERR_INPUT,
                       "the %s view needs a TensorFlow graph, run metadata or ProfileProto",
                       view->name);
    if (!view_options_check(&values->view, &input->report_arena, &checked, &complaints, err))
        return false;
    is_done = view_report(view, &view_call, err);
    progress_end();
    fprintf(stderr, "%.*s", STR_ARG(text_str(&complaints)));
    is_done = is_done && write_report(&view_call, err);
    view_options_free(&checked);
    return is_done;
}

static bool run(struct call *call, struct err *err)
{
    const struct view_command_values *values = call->values;
    struct input                      input;
    bool                              is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    is_done = input_read(&input, &values->input, &call->operands, true, err);
    if (is_done) {
        is_done = show(view_find(call->command->name), values, &input, err);
        input_free(&input);
    }
    progress_end();
    return is_done;
}

#define VIEW_COMMAND(view, sentence)                                                               \
    const struct command command_##view = {                                                        \
        .name = #view,                                                                             \
        .summary = sentence,                                                                       \
        .operands = "FILE...",                                                                     \
        .description = "Reads TensorFlow graphs, run metadata and op logs, or a ProfileProto, "    \
                       "and prints the "                                                           \
                       "report of TensorFlow's own profiler, with its options.",                   \
        .options = options,                                                                        \
        .option_count = ARRAY_COUNT(options),                                                      \
        .values_bytes = sizeof(struct view_command_values),                                        \
        .takes_files = true,                                                                       \
        .run = run,                                                                                \
    }
VIEW_COMMAND(scope, "show the ops of a TensorFlow program by their names");
VIEW_COMMAND(graph, "show the ops of a TensorFlow program by what they take in");
VIEW_COMMAND(op, "show the types of ops of a TensorFlow program");
VIEW_COMMAND(code, "show the lines that made a TensorFlow program");
