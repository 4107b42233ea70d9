/* prompt: one profile, many questions. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/prompt.h"

struct prompt_values {
    struct input_values input;
    struct view_values  view;
};

#define INPUT(field) offsetof(struct prompt_values, input.field)
#define VIEW_OPTION(field) offsetof(struct prompt_values, view.field)
/* clang-format off */
static const struct option options[] = {
#include "view/view_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool run(struct call *call, struct err *err)
{
    const struct prompt_values *values = call->values;
    struct input                input;
    struct session              session = {
                     .input = &input,
                     .arena = call->arena,
                     .trees.arena = call->arena,
                     .values = values->view,
                     .read_as = &values->input,
                     .operands = &call->operands,
    };
    bool is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    if (!input_read(&input, &values->input, &call->operands,
                    values->view.is_compat ? INPUT_COMPAT_TIMELINES : INPUT_TIMELINES, err)) {
        progress_end();
        return false;
    }
    progress_end();
    is_done = (input.profile.classic ||
               err_set(err, ERR_INPUT,
                       "the prompt needs a TensorFlow graph, run metadata or ProfileProto")) &&
              prompt_run(&session, err);
    session_free(&session);
    input_free(&input);
    return is_done;
}

const struct command command_prompt = {
    .name = "prompt",
    .summary = "ask one profile many questions: scope, graph, op, code, advise",
    .operands = "FILE...",
    .description =
        "Reads a profile once and answers line after line, from a terminal with history and "
        "completion or from a pipe. A line is a view with its options; set keeps options for the "
        "lines that follow, an empty line lists them, help explains, quit or the end of input "
        "ends. A line may end in | and a command of the shell.\n"
        "tfprof --graph_path=... and the like without a command do the same, as the original. "
        "The history is kept in ~/.tfprof_history, or where TFPROF_HISTORY says; answers longer "
        "than the "
        "window go through less, or what TFPROF_PAGER or PAGER names (cat: none).",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct prompt_values),
    .run = run,
};
