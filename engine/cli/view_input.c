#include "cli/view_input.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/progress.h"
#include "view/classic_advice.h"

#include <string.h>

bool view_input_call(struct input *input, struct view_call *call, struct text texts[2],
                     const char *what, struct err *err)
{
    for (int i = 0; i < 2; i++)
        texts[i] = (struct text) { .arena = &input->report_arena };
    *call = (struct view_call) { .classic = input->profile.classic,
                                 .recordings = { &input->profile },
                                 .arena = &input->report_arena,
                                 .text = &texts[0],
                                 .complaints = &texts[1] };
    return call->classic ||
           err_set(err, ERR_INPUT, "%s needs a TensorFlow graph, run metadata or ProfileProto",
                   what);
}

static bool keep(const struct text *text, struct text *kept)
{
    kept->is_cut = kept->is_cut || !text_is_whole(text);
    text_add(kept, text_str(text));
    return text_is_whole(kept);
}

bool view_input_keep(const struct view_call *view_call, struct call *call, struct err *err)
{
    return (keep(view_call->complaints, &call->warnings) && keep(view_call->text, &call->text)) ||
           err_set(err, ERR_LIMIT, "the result does not fit the memory limit");
}

bool view_input_run(struct call *call, struct err *err)
{
    const struct input_values *values =
        (const void *)((const char *)call->values + call->command->answer->input_offset);
    bool is_made;

    if (values->is_list)
        return input_list(&call->operands, call->arena, err);
    call->is_streamed = true;
    is_made = answer_prepare(call, err) && answer_make(call, call->arena, err);
    progress_end();
    answer_warn(call);
    return is_made && file_write("-", text_str(&call->text), err);
}

#define INPUT(field) offsetof(struct classic_advice_values, input.field)
/* clang-format off */
static const struct option advice_options[] = {
    { .name = "only", .kind = OPTION_LIST, .offset = offsetof(struct classic_advice_values, only),
      .choices = "CHECKERS", .help = "what these checkers of TensorFlow's profiler say" },
    { .name = "format", .kind = OPTION_ONE_OF, .offset = offsetof(struct classic_advice_values, format),
      .preset = "text", .choices = "text|proto", .help = "proto is an AdviceProto" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool make_advice(struct call *call, struct err *err)
{
    const struct classic_advice_values *values = call->values;
    struct view_options                 options = { .is_compat = true };
    struct view_call                    view_call;
    struct text                         texts[2];
    struct input                        input;
    bool                                is_proto = strcmp(values->format, "proto") == 0, is_done;

    if (!input_read(&input, &values->input, &call->operands, INPUT_COMPAT_VIEWS, err))
        return false;
    is_done = view_input_call(&input, &view_call, texts, "the classic advice", err);
    view_call.options = &options;
    is_done = is_done && classic_advice(&view_call, &values->only, is_proto, err) &&
              view_input_keep(&view_call, call, err);
    input_free(&input);
    return is_done;
}

static const struct command_answer advice_answer = {
    .input_offset = offsetof(struct classic_advice_values, input),
    .has_no_result = true,
    .make = make_advice,
};
const struct command command_classic_advice = {
    .name = "advise",
    .options = advice_options,
    .option_count = ARRAY_COUNT(advice_options),
    .values_bytes = sizeof(struct classic_advice_values),
    .answer = &advice_answer,
};
