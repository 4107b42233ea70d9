/* summarize: what is kept of a rank's recording for looking at all ranks of a job at once. */
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/rank_input.h"
#include "cli/result.h"

struct summarize_values {
    struct input_values  input;
    struct result_values result; /* its path */
};

#define INPUT(field) offsetof(struct summarize_values, input.field)
/* clang-format off */
static const struct option options[] = {
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT,
      .offset = offsetof(struct summarize_values, result.path), .choices = "FILE",
      .help = "write the summary to FILE, whole or not at all; standard output otherwise" },
#include "cli/input_options.def"
};
/* clang-format on */

static bool make(struct call *call, struct err *err)
{
    const struct summarize_values *values = call->values;
    struct arena                   arena = { .budget_bytes = (size_t)values->input.memory_bytes };
    struct rank_records            records = { 0 };
    bool                           is_done;

    if (call->operands.values.count == 0) {
        err_set(err, ERR_USAGE, "no recording given");
        return err_advise(err, "name files or directories; each file is a rank");
    }
    is_done = rank_input_collect(&values->input, &call->operands, NULL, &records, &arena, err);
    if (is_done)
        rank_records_write(&records, &call->text);
    arena_free(&arena);
    return is_done;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct summarize_values, input),
    .result_offset = offsetof(struct summarize_values, result),
    .make = make,
};

const struct command command_summarize = {
    .name = "summarize",
    .summary = "keep of each rank's recording what all ranks together are judged by",
    .operands = "RECORDING...",
    .description =
        "Writes tens of kilobytes a rank, however long its recording is: steps and their parts, "
        "collectives, what took most time, facts. Each file is a rank, and read after the one "
        "before it is forgotten. `tfprof advise` and `tfprof info` read summaries, and recordings "
        "beside them.\n"
        "Summaries are named FILE.ranks, and `tfprof merge` makes one of many. docs/scale.md says "
        "how clusters do it.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct summarize_values),
    .run = answer_run_alone,
    .answer = &answer,
};
