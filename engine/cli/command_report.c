/* report: the advice and what it rests on, as a page. */
#include "report/page/page.h"

#include "analyze/diff/diff.h"
#include "base/file.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/project.h"
#include "cli/result.h"
#include "cli/sweeps.h"
#include "rules/advise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_values {
    struct input_values   input;
    struct result_values  result; /* its path */
    struct advise_options rules;
    const char           *config, *against;
    int64_t               most_rows, most_slices;
    bool                  has_full_paths, has_requests;
};

enum {
    SCOPE_DEPTH = 2, /* as tfprof diff */
    MOST_LINE = 4096
};

#define INPUT(field) offsetof(struct report_values, input.field)
#define RULES(field) offsetof(struct report_values, rules.field)
#define REPORT(field) offsetof(struct report_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT, .offset = REPORT(result.path), .preset = "report.html",
      .choices = "FILE", .help = "write the page to FILE, whole or not at all; - for standard output" },
    { .name = "against", .kind = OPTION_TEXT, .offset = REPORT(against), .choices = "BEFORE",
      .help = "show what changed since this recording of the program, as tfprof diff" },
    { .name = "rows", .kind = OPTION_COUNT, .offset = REPORT(most_rows), .preset = "1000",
      .choices = "N", .help = "rows of each table; 0: all" },
    { .name = "slices", .kind = OPTION_COUNT, .offset = REPORT(most_slices), .preset = "200000",
      .choices = "N", .help = "slices of the timeline, the shorter ones stand together; 0: no timeline" },
    { .name = "full-paths", .kind = OPTION_FLAG, .offset = REPORT(has_full_paths),
      .help = "keep the folders of the recording's files, which the page leaves out otherwise" },
    { .name = "requests", .kind = OPTION_FLAG, .offset = REPORT(has_requests),
      .help = "write no file, but answer lines of standard input until it ends: page, slices FROM_NS TO_NS, "
      "table NAME; each with ok or error, a count of bytes, and the bytes" },
#include "cli/rule_options.def"
    { .name = "config", .kind = OPTION_TEXT, .offset = REPORT(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
#include "cli/input_options.def"
};
/* clang-format on */

struct report_state {
    struct advise_options     rules;
    struct project            project;
    const struct slice_index *index; /* of the timelines; NULL: they are not wanted */
};

/* A page is made to be passed on: who reads it need not know where the files lay. */
static char **names_without_folders(const struct profile *profile, struct arena *arena)
{
    char **names = arena_new_array(arena, char *, profile->files.count);

    for (size_t i = 0; names && i < profile->files.count; i++) {
        char *name = profile->files.items[i].name, *slash = strrchr(name, '/');

        names[i] = slash && slash[1] ? slash + 1 : name;
    }
    return names;
}

static void swap_names(struct profile *profile, char **names)
{
    for (size_t i = 0; i < profile->files.count; i++) {
        char *name = profile->files.items[i].name;

        profile->files.items[i].name = names[i];
        names[i] = name;
    }
}

static bool prepare(struct call *call, struct err *err)
{
    const struct report_values *values = call->values;
    struct report_state        *state = arena_new(call->arena, struct report_state);

    if (!state)
        return err_memory(err, "the configuration");
    call->state = state;
    state->rules = values->rules;
    return project_ready(&state->project, values->config, &state->rules, call->arena, err);
}

static bool write_page(struct call *call, struct err *err)
{
    const struct report_values *values = call->values;
    struct report_state        *state = call->state;
    struct study               *study = &call->inputs[0]->study;
    struct page_options         shape = { .most_rows = (size_t)values->most_rows,
                                          .most_slices = (size_t)values->most_slices,
                                          .index = state->index,
                                          .is_served = values->has_requests };
    struct advice               advice = { 0 };
    struct diff                 change;
    struct sweeps               sweeps;

    progress_stage("running rules");
    if (!advise_run(study, &state->rules, call->text.arena, &advice, err))
        return false;
    if (call->inputs[1]) {
        progress_stage("comparing");
        if (!diff_make(&change, &call->inputs[1]->study, study, SCOPE_DEPTH, call->text.arena, err))
            return false;
        shape.change = &change;
    }
    progress_stage("replaying steps");
    if (!sweeps_make(&sweeps, study, call->text.arena, err))
        return false;
    shape.sweeps = sweeps.list.items;
    shape.sweep_count = sweeps.list.count;
    progress_stage("writing");
    if (!page_write(&advice, study, &shape, &call->text, err))
        return false;
    project_add_warnings(&state->project, &advice, &call->warnings);
    return true;
}

/* Folders stay out of what `write` writes. */
static bool without_folders(struct call *call, bool (*write)(struct call *, struct err *),
                            struct err  *err)
{
    const struct report_values *values = call->values;
    char                      **names[2] = { 0 };
    bool                        is_made;

    for (int side = 0; side < 2 && call->inputs[side] && !values->has_full_paths; side++) {
        names[side] = names_without_folders(&call->inputs[side]->profile, call->text.arena);
        if (!names[side])
            return err_memory(err, "the page");
    }
    for (int side = 0; side < 2 && names[side]; side++)
        swap_names(&call->inputs[side]->profile, names[side]);
    is_made = write(call, err);
    for (int side = 0; side < 2 && names[side]; side++)
        swap_names(&call->inputs[side]->profile, names[side]);
    return is_made;
}

static bool index_slices(struct call *call, struct arena *arena, struct err *err)
{
    const struct report_values *values = call->values;
    struct report_state        *state = call->state;

    if (values->most_slices > 0)
        state->index = slice_index_make(&call->inputs[0]->profile, arena);
    return state->index || values->most_slices == 0 ||
           err_set(err, ERR_LIMIT, "the timeline does not fit the memory limit");
}

static bool make(struct call *call, struct err *err)
{
    return index_slices(call, call->text.arena, err) && without_folders(call, write_page, err);
}

/* "slices FROM_NS TO_NS", both since the clock of the recording's events began. */
static bool answer_span(struct call *call, const char *words, struct err *err)
{
    const struct report_values *values = call->values;
    const struct report_state  *state = call->state;
    struct slice_span           span;
    char                       *end;

    span.from_ns = strtoll(words, &end, 10);
    if (end == words || *end != ' ')
        return err_set(err, ERR_USAGE, "slices takes two times in nanoseconds");
    words = end + 1;
    span.to_ns = strtoll(words, &end, 10);
    if (end == words || *end || span.to_ns <= span.from_ns)
        return err_set(err, ERR_USAGE, "slices takes two times in nanoseconds");
    if (!state->index)
        return err_set(err, ERR_USAGE, "--slices=0 leaves the timeline out");
    return page_write_span(state->index, span, (size_t)values->most_slices, &call->text, err);
}

static bool answer_request(struct call *call, const char *line, struct err *err)
{
    static const char slices[] = "slices ", table[] = "table ";

    if (strcmp(line, "page") == 0)
        return without_folders(call, write_page, err);
    if (strncmp(line, slices, strlen(slices)) == 0)
        return answer_span(call, line + strlen(slices), err);
    if (strncmp(line, table, strlen(table)) == 0)
        return page_write_table(&call->inputs[0]->study.facts, line + strlen(table), &call->text,
                                err);
    return err_set(err, ERR_USAGE, "requests are: page, slices FROM_NS TO_NS, table NAME");
}

static bool give_answer(const char *word, struct str bytes, struct err *err)
{
    printf("%s %zu\n", word, bytes.len);
    fwrite(bytes.data, 1, bytes.len, stdout);
    return fflush(stdout) == 0 || err_set(err, ERR_INPUT, "standard output: %s", strerror(errno));
}

static bool answer_line(struct call *call, const char *line, struct err *err)
{
    struct arena arena = { .budget_bytes = call->inputs[0]->report_arena.budget_bytes };
    struct err   fault = { 0 };
    char         words[2 * ERR_TEXT_BYTES + ERR_SOURCE_BYTES];
    bool         is_given;

    call->text = (struct text) { .arena = &arena };
    call->warnings = (struct text) { .arena = &arena };
    is_given = answer_request(call, line, &fault)
                   ? give_answer("ok", text_str(&call->text), err)
                   : give_answer("error", str_from(err_format(&fault, words, sizeof words)), err);
    progress_end();
    arena_free(&arena);
    return is_given;
}

static bool answer_lines(struct call *call, struct err *err)
{
    char line[MOST_LINE];

    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!answer_line(call, line, err))
            return false;
    }
    return true;
}

static bool answer_requests(struct call *call, struct err *err)
{
    const struct report_values *values = call->values;
    struct input                input;
    bool                        is_done;

    if (values->against)
        return err_set(err, ERR_USAGE, "--requests and --against do not go together");
    if (!answer_prepare(call, err) || !input_load(&input, &values->input, &call->operands, err))
        return false;
    call->inputs[0] = &input;
    is_done = index_slices(call, &input.report_arena, err) && answer_lines(call, err);
    input_free(&input);
    return is_done;
}

/* The other recording is read first and stays, for make. */
static bool run(struct call *call, struct err *err)
{
    const struct report_values *values = call->values;
    struct option_list          before = { 0 };
    struct input                input;
    bool                        is_done;

    if (values->has_requests && !values->input.is_list)
        return answer_requests(call, err);
    if (!values->against || values->input.is_list)
        return answer_run(call, err);
    if (!vec_push(&before.values, call->arena, values->against))
        return err_set(err, ERR_LIMIT, "the arguments do not fit the memory limit");
    if (!input_load(&input, &values->input, &before, err))
        return false;
    call->inputs[1] = &input;
    is_done = answer_run(call, err);
    input_free(&input);
    return is_done;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct report_values, input),
    .result_offset = offsetof(struct report_values, result),
    .file = "report.html",
    .opener = "in a browser",
    .prepare = prepare,
    .make = make,
};

const struct command command_report = {
    .name = "report",
    .summary = "write a page: verdict, findings, steps, timeline and tables in one HTML file",
    .operands = "PROFILE...",
    .description =
        "Writes what advise says, and what it rests on, as one HTML file that opens in any "
        "browser, needs no network and loads nothing: findings with evidence and fix, the "
        "composition of a step, every step, a timeline to zoom and search, and every table to "
        "sort, filter and save as CSV.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct report_values),
    .run = run,
    .answer = &answer,
};
