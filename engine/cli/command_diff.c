/* diff: what changed between two recordings of one program. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "view/diff.h"

#include <string.h>

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

static bool print(const struct diff_values *values, struct input inputs[2], struct err *err)
{
    struct diff diff;
    struct text text = { .arena = &inputs[0].report_arena };

    if (!diff_make(inputs[0].profile.classic, inputs[1].profile.classic, values->depth,
                   &inputs[0].report_arena, &diff))
        return err_set(err, ERR_LIMIT, "the comparison does not fit the memory limit");
    if (strcmp(values->result.format, "json") == 0)
        diff_print_json(&diff, &text);
    else
        diff_print(&diff, values->rows, &text);
    return result_write(&values->result, &text, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct diff_values *values = call->values;
    struct option_list        sides[2] = { 0 };
    struct input              inputs[2];
    int                       read = 0;
    bool                      is_done = true;

    if (call->operands.values.count != 2)
        return err_set(err, ERR_USAGE, "diff needs two recordings: the one before, the one after");
    for (; read < 2 && is_done; read += is_done) {
        if (!vec_push(&sides[read].values, call->arena, call->operands.values.items[read]))
            return err_set(err, ERR_LIMIT, "the arguments do not fit the memory limit");
        is_done = input_read(&inputs[read], &values->input, &sides[read], INPUT_VIEWS, err);
        if (is_done && !input_lines(&inputs[read], err)) {
            input_free(&inputs[read]);
            is_done = false;
        }
    }
    is_done = is_done && print(values, inputs, err);
    while (read-- > 0)
        input_free(&inputs[read]);
    progress_end();
    return is_done;
}

const struct command command_diff = {
    .name = "diff",
    .summary = "show what changed between two recordings, by type, scope and line",
    .operands = "BEFORE AFTER",
    .description =
        "Compares a step of two recordings of one program. Each list shows where the time and the "
        "memory went, most change first; its parts sum to the change of the step exactly: what no "
        "op accounts for, waiting or work at the same time, is a part of its own. Bytes are those "
        "that ops asked for.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct diff_values),
    .takes_files = true,
    .run = run,
};
