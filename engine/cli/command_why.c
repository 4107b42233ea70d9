/* why: the causes of something in a profile, walked backwards. */
#include "analyze/schedule/why.h"

#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/result.h"

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

static bool answer(struct input *input, const struct result_values *result, const char *what,
                   struct err *err)
{
    struct output_options shape = result_options(result);
    struct text           text = { .arena = &input->report_arena };
    struct why            why;

    progress_stage("walking back");
    if (!why_run(&why, &input->study, what, &input->report_arena, err))
        return false;
    result_output(result)->why(&why, &input->study, &shape, &text);
    return result_write(result, &text, err);
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
    struct option_list       files = call->operands;
    const char              *what = take_question(&files, input_has_paths(&values->input));
    struct input             input;
    bool                     is_done;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    if (what && !files.values.count && !input_has_paths(&values->input)) {
        (void)err_set(err, ERR_USAGE, "a profile to explain it from is needed");
        return err_advise(err, "as in tfprof why PROFILE %s", what);
    }
    if (!input_load(&input, &values->input, &files, err))
        return false;
    is_done = answer(&input, &values->result, what, err);
    input_free(&input);
    progress_end();
    return is_done;
}

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
        "recorded, the line in the program.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct why_values),
    .run = run,
};
