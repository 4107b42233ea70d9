/* hlo: programs as they were compiled, and graphs as they were built. */
#include "analyze/program/program_view.h"

#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/result.h"
#include "report/program_report.h"

#include <string.h>

struct hlo_values {
    struct input_values  input;
    struct result_values result;
    const char          *module, *op;
    int64_t              depth, top;
};

#define INPUT(field) offsetof(struct hlo_values, input.field)
#define RESULT(field) offsetof(struct hlo_values, result.field)
#define RESULT_FORMATS "text|json|dot"
/* clang-format off */
static const struct option options[] = {
    { .name = "module", .kind = OPTION_TEXT, .offset = offsetof(struct hlo_values, module),
      .choices = "NAME", .help = "the instructions of this module; a part of its name will do" },
    { .name = "op", .kind = OPTION_TEXT, .offset = offsetof(struct hlo_values, op),
      .choices = "NAME", .help = "this instruction, and those around it" },
    { .name = "depth", .kind = OPTION_INTEGER, .offset = offsetof(struct hlo_values, depth),
      .preset = "1", .choices = "N", .help = "how many edges around it, each way" },
    { .name = "top", .kind = OPTION_INTEGER, .offset = offsetof(struct hlo_values, top),
      .preset = "200", .choices = "N", .help = "text: at most so many lines; 0: all" },
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool prepare(struct call *call, struct err *err)
{
    const struct hlo_values *values = call->values;

    if (values->depth < 0 || values->top < 0)
        return err_set(err, ERR_USAGE, "--depth and --top are 0 or more");
    if (strcmp(values->result.format, "dot") == 0 && !values->module && !values->op) {
        err_set(err, ERR_USAGE, "--format dot draws instructions, and no module was named");
        return err_advise(err, "add --module NAME or --op NAME");
    }
    return true;
}

static bool make(struct call *call, struct err *err)
{
    const struct hlo_values *values = call->values;
    struct program_question  question = { values->module, values->op, values->depth, true };
    struct program_view      view;

    if (!program_view_make(&call->inputs[0]->study, &question, call->text.arena, &view, err))
        return false;
    if (strcmp(values->result.format, "json") == 0)
        program_json(&view, &call->text);
    else if (strcmp(values->result.format, "dot") == 0)
        program_dot(&view, &call->text);
    else
        program_text(&view, (size_t)values->top, &call->shape, &call->text);
    return true;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct hlo_values, input),
    .result_offset = offsetof(struct hlo_values, result),
    .prepare = prepare,
    .make = make,
};

const struct command command_hlo = {
    .name = "hlo",
    .summary = "show compiled programs: modules, instructions, what is around an op",
    .operands = "PROFILE...",
    .description =
        "Lists the programs that a recording holds: modules that XLA compiled, functions and "
        "graphs "
        "that TensorFlow built. With --module it prints a module's instructions, what fusions, "
        "calls "
        "and loops hold indented below them; with --op an instruction, what it needs and what "
        "needs "
        "it. Beside each stand its time a step, its operations and the line that it comes from, "
        "where known. Where no program was recorded, as of PyTorch, it shows the ops as they call "
        "each other.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct hlo_values),
    .run = answer_run,
    .answer = &answer,
};
