/* scope, graph, op, code: the classic views, in the original's text or for machines. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/view_input.h"

#include <string.h>

struct view_command_values {
    struct input_values input;
    struct view_values  view;
    const char         *against;
};

#define INPUT(field) offsetof(struct view_command_values, input.field)
#define VIEW_OPTION(field) offsetof(struct view_command_values, view.field)
#define VIEW_ORDER NULL /* depends on what is read */
/* clang-format off */
static const struct option options[] = {
#include "view/view_options.def"
    { .name = "against", .kind = OPTION_TEXT, .offset = offsetof(struct view_command_values, against),
      .choices = "FILE", .help = "compare with this recording: both, and the change from it" },
#include "cli/input_options.def"
};
/* clang-format on */

/* For scripts: an answer that there is none is a failure, but for the original. */
static bool refuse(const struct view_call *call, struct err *err)
{
    struct str why = str_trim(text_str(call->complaints)), first = str_cut(&why, '\n');

    if (why.len && str_ends(first, STR(".")))
        first.len--;
    err_set(err, call->refusal, "%.*s", STR_ARG(first));
    return why.len && err_advise(err, "%.*s", STR_ARG(why));
}

/* Whether nobody expects the original's order of such recordings. */
static bool has_no_order(const struct profile *profile)
{
    return profile->format == FORMAT_XSPACE || profile->format == FORMAT_KINETO;
}

static bool show(struct call *call, struct input *input, const struct input *other, struct err *err)
{
    const struct view_command_values *values = call->values;
    const struct view                *view = view_find(call->command->name);
    struct view_options               checked;
    struct view_call                  view_call;
    struct text                       texts[2];
    bool                              is_done;

    if ((view->needs_code && !input_lines(input, err)) ||
        !view_input_call(input, &view_call, texts, "this view", err) ||
        !view_options_check(&values->view, view_call.classic, &input->report_arena, &checked,
                            view_call.complaints, err))
        return false;
    if (!values->view.order_by && !checked.is_compat && has_no_order(&input->profile))
        checked.order_by = view_options_largest_first(&checked);
    view_call.options = &checked;
    if (other) {
        view_call.other = other->profile.classic;
        view_call.recordings[1] = &other->profile;
    }
    view_call.is_streamed = call->is_streamed;
    progress_end();
    is_done = view_report(view, &view_call, err);
    if (is_done && view_call.refusal && !checked.is_compat)
        is_done = refuse(&view_call, err);
    else if (is_done)
        is_done = view_input_keep(&view_call, call, err);
    view_options_free(&checked);
    return is_done;
}

static bool show_against(struct call *call, struct input *input, struct err *err)
{
    const struct view_command_values *values = call->values;
    struct input_values               plain = values->input;
    struct option_list                operands = { 0 };
    struct input                      other;
    bool                              is_done;

    if (!values->against)
        return show(call, input, NULL, err);
    plain.profile_paths = plain.graph_paths = plain.run_meta_paths = operands;
    plain.op_log_paths = plain.checkpoint_paths = operands;
    if (!vec_push(&operands.values, call->arena, values->against))
        return err_set(err, ERR_LIMIT, "the arguments do not fit the memory limit");
    if (!input_read(&other, &plain, &operands, INPUT_VIEWS, err))
        return false;
    is_done = (!view_find(call->command->name)->needs_code || input_lines(&other, err)) &&
              show(call, input, &other, err);
    input_free(&other);
    return is_done;
}

static enum input_use use_of(const struct view_values *view)
{
    bool is_timeline = view->output && strncmp(view->output, "timeline", 8) == 0;

    if (is_timeline)
        return view->is_compat ? INPUT_COMPAT_TIMELINES : INPUT_TIMELINES;
    return view->is_compat ? INPUT_COMPAT_VIEWS : INPUT_VIEWS;
}

static bool make(struct call *call, struct err *err)
{
    const struct view_command_values *values = call->values;
    struct input                      input;
    bool                              is_done;

    if (!input_read(&input, &values->input, &call->operands, use_of(&values->view), err))
        return false;
    is_done = show_against(call, &input, err);
    input_free(&input);
    return is_done;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct view_command_values, input),
    .has_no_result = true,
    .has_files = true,
    .make = make,
};

#define VIEW_COMMAND(view, sentence)                                                               \
    const struct command command_##view = {                                                        \
        .name = #view,                                                                             \
        .summary = sentence,                                                                       \
        .operands = "FILE...",                                                                     \
        .description = "Prints the report of TensorFlow's own profiler, with its options, for "    \
                       "TensorFlow graphs with run metadata and op logs, a ProfileProto, or any "  \
                       "other recording: then ops, kernels and copies of the used steps count "    \
                       "with their own time. docs/views.md explains.",                             \
        .options = options,                                                                        \
        .option_count = ARRAY_COUNT(options),                                                      \
        .values_bytes = sizeof(struct view_command_values),                                        \
        .run = view_input_run,                                                                     \
        .answer = &answer,                                                                         \
    }
VIEW_COMMAND(scope, "show the ops of a program by their names");
VIEW_COMMAND(graph, "show the ops of a program by what they take in");
VIEW_COMMAND(op, "show the types of ops of a program");
VIEW_COMMAND(code, "show the lines that made a program's ops");
