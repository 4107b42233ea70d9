/* why: the causes of something in a profile, walked backwards. */
#include "analyze/schedule/why.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/rank_input.h"
#include "cli/result.h"
#include "ranks/job_why.h"

struct why_values {
    struct input_values  input;
    struct result_values result;
};

#define INPUT(field) offsetof(struct why_values, input.field)
#define RESULT(field) offsetof(struct why_values, result.field)
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool make(struct call *call, struct err *err)
{
    const struct input *input = call->inputs[0];
    const struct study *study = &input->study;
    struct why          why;

    progress_stage("walking back");
    if (input->is_of_summaries && !input->job)
        return rank_input_lacks_events(err);
    if (input->job ? !job_why(&why, input->job, call->subject, call->text.arena, err)
                   : !why_run(&why, study, call->subject, call->text.arena, err))
        return false;
    call->output->why(&why, study, &call->shape, &call->text);
    return true;
}

/* Takes the last operand off the files where it is what to explain; NULL: all are files. */
static const char *take_question(struct option_list *files, bool has_paths)
{
    const char *last = files->values.count ? files->values.items[files->values.count - 1] : NULL;
    bool        is_alone = files->values.count == 1 && !has_paths;

    if (!last || file_exists(last) || (is_alone && !why_is_question(last)))
        return NULL;
    files->values.count--;
    return last;
}

static bool run(struct call *call, struct err *err)
{
    const struct why_values *values = call->values;
    bool                     has_paths = input_has_paths(&values->input);

    if (values->input.is_list)
        return answer_run(call, err);
    call->subject = take_question(&call->operands, has_paths);
    if (call->subject && !call->operands.values.count && !has_paths) {
        (void)err_set(err, ERR_USAGE, "a profile to explain it from is needed");
        return err_advise(err, "as in tfprof why PROFILE %s", call->subject);
    }
    return answer_run(call, err);
}

static const struct command_answer answer = {
    .asks_job = true,
    .input_offset = offsetof(struct why_values, input),
    .result_offset = offsetof(struct why_values, result),
    .make = make,
};

const struct command command_why = {
    .name = "why",
    .summary = "walk back the causes of an idle time, a slow step, a late rank or an op",
    .operands = "PROFILE... [WHAT]",
    .description =
        "WHAT is one of: gap, the longest idle time of the busiest device; gap@step12, that of one "
        "step; step:slowest or step:12, beside a step of usual length; collective:REGEX, the rank "
        "that comes latest to it, beside the one that comes first; op:REGEX or kernel:REGEX, the "
        "longest one. Regular expressions are searched in names. Without it the slowest step or "
        "the "
        "largest gap is explained, whichever holds more time beyond the usual.\n"
        "Each cause is printed with the time it holds, the op around it and, where stacks were "
        "recorded, the line in the program. Of summaries of ranks steps and collectives can be "
        "explained, by what each rank did.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct why_values),
    .run = run,
    .answer = &answer,
};
