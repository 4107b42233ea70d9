#include "cli/view_input.h"

#include "base/file.h"
#include "cli/progress.h"
#include "view/classic_advice.h"

#include <stdio.h>

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

bool view_input_write(const struct view_call *call, struct err *err)
{
    progress_end();
    fprintf(stderr, "%.*s", STR_ARG(text_str(call->complaints)));
    if (!text_is_whole(call->text))
        return err_set(err, ERR_LIMIT, "the result does not fit the memory limit");
    return file_write("-", text_str(call->text), err);
}

bool view_input_advise(const struct input_values *values, const struct option_list *operands,
                       const struct option_list *only, bool is_proto, struct err *err)
{
    struct view_options options = { .is_compat = true };
    struct view_call    call;
    struct text         texts[2];
    struct input        input;
    bool                is_done;

    if (!input_read(&input, values, operands, INPUT_COMPAT_VIEWS, err))
        return false;
    is_done = view_input_call(&input, &call, texts, "the classic advice", err);
    call.options = &options;
    is_done = is_done && classic_advice(&call, only, is_proto, err) && view_input_write(&call, err);
    input_free(&input);
    return is_done;
}
