#include "cli/answer.h"

#include "base/file.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/rank_input.h"
#include "cli/result.h"

#include <stdio.h>
#include <string.h>

static const struct input_values *input_of(const struct call *call)
{
    return (const void *)((const char *)call->values + call->command->answer->input_offset);
}

static const struct result_values *result_of(const struct call *call)
{
    const struct command_answer *answer = call->command->answer;

    return answer->has_no_result
               ? NULL
               : (const void *)((const char *)call->values + answer->result_offset);
}

bool answer_prepare(struct call *call, struct err *err)
{
    const struct command_answer *answer = call->command->answer;
    const struct result_values  *result = result_of(call);

    call->output = result && result->format ? result_output(result) : NULL;
    return !answer->prepare || answer->prepare(call, err);
}

bool answer_make(struct call *call, struct arena *arena, struct err *err)
{
    call->text = (struct text) { .arena = arena };
    call->warnings = (struct text) { .arena = call->arena };
    return call->command->answer->make(call, err);
}

void answer_warn(const struct call *call)
{
    fprintf(stderr, "%.*s", STR_ARG(text_str(&call->warnings)));
}

bool answer_give(struct call *call, struct arena *arena, struct err *err)
{
    struct err unwritten = { 0 };
    bool       is_made;

    if (call->output) /* a page has its own look */
        call->shape = result_options(result_of(call));
    is_made = answer_make(call, arena, err);
    /* What has a result and is an error all the same, as that of a rule that failed, is shown. */
    if ((is_made || call->text.len > 0) &&
        !result_write(result_of(call), &call->text, is_made ? err : &unwritten))
        is_made = false;
    progress_end();
    answer_warn(call);
    return is_made;
}

/* A file that nobody named would be looked for. */
static bool tell_file(const struct call *call, struct err *err)
{
    const struct command_answer *answer = call->command->answer;
    struct text                  text = { .arena = call->arena };

    if (!answer->file || strcmp(result_of(call)->path, answer->file) != 0)
        return true;
    text_print(&text, "%s is written; open it %s\n", answer->file, answer->opener);
    return file_write("-", text_str(&text), err);
}

bool answer_run(struct call *call, struct err *err)
{
    struct input_values how = *input_of(call);
    struct input        input;
    bool                is_done;

    if (how.is_list)
        return input_list(&call->operands, call->arena, err);
    if (!answer_prepare(call, err))
        return false;
    if (call->command->answer->needs_events && rank_input_is(&call->operands))
        return rank_input_lacks_events(err);
    if (call->command->answer->has_notes)
        how.notes = result_notes(result_of(call));
    how.keeps_job = call->command->answer->asks_job;
    how.may_summarize = !call->command->answer->needs_events && !how.keeps_job;
    is_done = input_load(&input, &how, &call->operands, err);
    if (is_done) {
        call->inputs[0] = &input;
        is_done = answer_give(call, &input.report_arena, err);
        input_free(&input);
    }
    progress_end();
    return is_done && tell_file(call, err);
}

bool answer_run_alone(struct call *call, struct err *err)
{
    bool is_done;

    if (input_of(call)->is_list)
        return input_list(&call->operands, call->arena, err);
    is_done = answer_prepare(call, err) && answer_give(call, call->arena, err);
    progress_end();
    return is_done;
}
