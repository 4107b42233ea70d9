/* diff: what changed between two recordings of one program. */
#include "analyze/diff/diff.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/result.h"

struct diff_values {
    struct input_values  input;
    struct result_values result;
    int64_t              rows, depth;
};

#define INPUT(field) offsetof(struct diff_values, input.field)
#define RESULT(field) offsetof(struct diff_values, result.field)
#define DIFF(field) offsetof(struct diff_values, field)
#undef RESULT_FORMATS
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "max-rows", .kind = OPTION_COUNT, .offset = DIFF(rows), .preset = "10",
      .choices = "N", .help = "show this many parts of each kind, the others as one; 0 shows all" },
    { .name = "depth", .kind = OPTION_COUNT, .offset = DIFF(depth), .preset = "2",
      .choices = "N", .help = "how many parts of an op's name make its scope" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool make(struct call *call, struct err *err)
{
    const struct diff_values *values = call->values;
    struct diff               diff;

    if (!diff_make(&diff, &call->inputs[0]->study, &call->inputs[1]->study, values->depth,
                   call->text.arena, err))
        return false;
    call->output->diff(&diff, values->rows, &call->shape, &call->text);
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct diff_values *values = call->values;
    struct option_list        sides[2] = { 0 };
    struct input              inputs[2];
    int                       read = 0;
    bool                      is_done = true;

    if (values->input.is_list)
        return input_list(&call->operands, call->arena, err);
    if (call->operands.values.count != 2)
        return err_set(err, ERR_USAGE, "diff needs two recordings: the one before, the one after");
    for (; read < 2 && is_done; read += is_done) {
        if (!vec_push(&sides[read].values, call->arena, call->operands.values.items[read]))
            return err_set(err, ERR_LIMIT, "the arguments do not fit the memory limit");
        is_done = input_load(&inputs[read], &values->input, &sides[read], err);
    }
    call->inputs[0] = &inputs[0];
    call->inputs[1] = &inputs[1];
    is_done =
        is_done && answer_prepare(call, err) && answer_give(call, &inputs[0].report_arena, err);
    while (read-- > 0)
        input_free(&inputs[read]);
    progress_end();
    return is_done;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct diff_values, input),
    .result_offset = offsetof(struct diff_values, result),
    .make = make,
};

const struct command command_diff = {
    .name = "diff",
    .summary = "show what changed between two recordings, by part, type, scope and line",
    .operands = "BEFORE AFTER",
    .description =
        "Compares the step of two recordings of one program, the one that advise is about: first "
        "by what it waits for, then by type of op, scope and line, most change first. Each list "
        "sums to the step before, the step after and the change exactly. Memory is what ops asked "
        "for.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct diff_values),
    .run = run,
    .answer = &answer,
};
