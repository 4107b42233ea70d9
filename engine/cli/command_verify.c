/* verify: did a fix save what the advice promised? */
#include "base/json_writer.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/project.h"
#include "cli/result.h"
#include "cli/summarize.h"
#include "gate/verify.h"
#include "report/verify_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct verify_values {
    struct input_values   input;
    struct result_values  result;
    struct advise_options rules;
    const char           *claimed, *ledger, *config;
};

#define INPUT(field) offsetof(struct verify_values, input.field)
#define RESULT(field) offsetof(struct verify_values, result.field)
#define RULES(field) offsetof(struct verify_values, rules.field)
#define VERIFY(field) offsetof(struct verify_values, field)
#undef RESULT_FORMATS
/* clang-format off */
static const struct option options[] = {
    { .name = "claimed", .kind = OPTION_TEXT, .offset = VERIFY(claimed), .choices = "FINDING",
      .help = "the finding of BEFORE that was fixed: its rule, or its number in the advice" },
    { .name = "ledger", .kind = OPTION_TEXT, .offset = VERIFY(ledger), .choices = "FILE",
      .help = "append what was promised and achieved to this file, a line of JSON" },
    { .name = "config", .kind = OPTION_TEXT, .offset = VERIFY(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/result_options.def"
#include "cli/rule_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool add_summary(struct summary *summary, const struct verify_values *values,
                        const struct advise_options *rules, const char *path, struct call *call,
                        struct err *err)
{
    struct summarizing how = { .input = &values->input,
                               .rules = rules,
                               .warnings = &call->warnings };
    struct option_list operand = { 0 };

    return (vec_push(&operand.values, call->arena, path) ||
            err_set(err, ERR_LIMIT, "the arguments do not fit the memory limit")) &&
           summarize(summary, &how, &operand, call->arena, err);
}

/* Lines of those before stay as they are. */
static bool append(const char *path, struct str line, struct err *err)
{
    FILE *file = fopen(path, "ab");
    bool  is_done = file && fwrite(line.data, 1, line.len, file) == line.len;

    if (file && fclose(file) != 0)
        is_done = false;
    return is_done || err_set(err, ERR_OUTPUT, "cannot append to '%s': %s", path, strerror(errno));
}

static bool write_ledger(const struct verification *verification, const char *path,
                         struct arena *arena, struct err *err)
{
    struct text text = { .arena = arena };

    verify_ledger(verification, &text);
    return text_is_whole(&text) ? append(path, text_str(&text), err)
                                : err_memory(err, "the ledger");
}

static bool prepare(struct call *call, struct err *err)
{
    const struct verify_values *values = call->values;
    struct advise_options      *rules = arena_new(call->arena, struct advise_options);
    struct project             *project = arena_new(call->arena, struct project);

    if (!rules || !project)
        return err_memory(err, "the configuration");
    if (call->operands.values.count != 2)
        return err_set(err, ERR_USAGE,
                       "verify needs two recordings: the one before the fix, the one after");
    if (!values->claimed) {
        err_set(err, ERR_USAGE, "verify needs --claimed: which finding was fixed");
        return err_advise(err, "tfprof advise %s lists them", call->operands.values.items[0]);
    }
    *rules = values->rules;
    call->state = rules;
    return project_load(project, values->config, call->arena, err) &&
           project_apply(project, rules, call->arena, err);
}

static bool make(struct call *call, struct err *err)
{
    const struct verify_values  *values = call->values;
    const struct advise_options *rules = call->state;
    const char *const           *paths = call->operands.values.items;
    struct verification          verification;
    struct summary               before, after;
    const struct finding        *claimed;

    if (!add_summary(&before, values, rules, paths[0], call, err) ||
        !(claimed = verify_find(&before.advice, values->claimed, call->arena, err)) ||
        !add_summary(&after, values, rules, paths[1], call, err) ||
        !verify_make(&verification, &before, &after, claimed, call->arena, err))
        return false;
    call->output->verify(&verification, &call->shape, &call->text);
    call->status = verify_status(&verification);
    return !values->ledger || write_ledger(&verification, values->ledger, call->arena, err);
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct verify_values, input),
    .result_offset = offsetof(struct verify_values, result),
    .prepare = prepare,
    .make = make,
};

const struct command command_verify = {
    .name = "verify",
    .summary = "say whether a fix saved what the advice promised",
    .operands = "BEFORE AFTER",
    .description =
        "Compares two recordings of a program, before and after a finding was fixed, as gate does: "
        "whether they do the same work, what the finding promised, what was achieved, and what of "
        "it is left. Exit status: 0 at least the low end of what was promised, 1 surely less, 4 "
        "cannot be told: other work, too few steps, or within what chance makes.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct verify_values),
    .run = answer_run_alone,
    .answer = &answer,
};
