/* whatif: what a step would take if something in it were different. */
#include "analyze/schedule/whatif.h"

#include "analyze/replay/edit_text.h"
#include "analyze/replay/edits_run.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/rank_input.h"
#include "cli/result.h"
#include "ranks/job_whatif.h"

struct whatif_values {
    struct input_values  input;
    struct result_values result;
    struct option_list   edit;
    const char          *sweep;
    bool                 efficiency;
    int64_t              on_rank;
    union {
        struct option_list list;   /* REPEAT */
        const char        *text;   /* TEXT */
        bool               is_set; /* FLAG */
    } given[WHATIF_COUNT];
};

#define INPUT(field) offsetof(struct whatif_values, input.field)
#define RESULT(field) offsetof(struct whatif_values, result.field)
#define VALUE(field) offsetof(struct whatif_values, field)
#define GIVEN(kind)                                                                                \
    (offsetof(struct whatif_values, given) + (kind) * sizeof((struct whatif_values *)0)->given[0])
/* clang-format off */
static const struct option options[] = {
#define WHATIF(id, name_, option, argument, scan, apply, help_) \
    { .name = name_, .kind = OPTION_##option, .offset = GIVEN(WHATIF_##id), .choices = argument, .help = help_ },
#include "analyze/schedule/whatif.def"
    { .name = "edit", .kind = OPTION_REPEAT, .offset = VALUE(edit), .choices = "EDIT",
      .help = "an edit of a finding, as advise --format json shows them; by itself" },
    { .name = "sweep", .kind = OPTION_TEXT, .offset = VALUE(sweep), .choices = "WHAT",
      .help = "what is selected at factors from 1 to 0, and where something else takes over; by itself" },
    { .name = "efficiency", .kind = OPTION_FLAG, .offset = VALUE(efficiency),
      .help = "the step with one ideal on top of the other, and which ranks hold the others up; by itself" },
    { .name = "on-rank", .kind = OPTION_INTEGER, .offset = VALUE(on_rank), .preset = "-1",
      .choices = "N", .help = "edit this rank alone" },
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool add_edit(struct whatif *whatif, enum whatif_kind kind, const char *text,
                     struct arena *arena, struct err *err)
{
    struct whatif_edit edit;

    if (!whatif_edit_scan(&edit, kind, text, arena, err))
        return false;
    return vec_push(&whatif->edits, arena, edit) ||
           err_set(err, ERR_LIMIT, "the edits do not fit the memory limit");
}

static bool add_listed(struct whatif *whatif, enum whatif_kind kind, const struct option_list *list,
                       struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < list->values.count; i++)
        if (!add_edit(whatif, kind, list->values.items[i], arena, err))
            return false;
    return true;
}

/* Edits apply in the order of whatif.def. */
static bool add_edits(struct whatif *whatif, const struct whatif_values *values,
                      struct arena *arena, struct err *err)
{
    static const enum option_kind forms[WHATIF_COUNT] = {
#define WHATIF(id, name, option, argument, scan, apply, help) OPTION_##option,
#include "analyze/schedule/whatif.def"
    };

    for (enum whatif_kind kind = 0; kind < WHATIF_COUNT; kind++) {
        bool is_list = forms[kind] == OPTION_REPEAT, is_text = forms[kind] == OPTION_TEXT;

        if (is_list && !add_listed(whatif, kind, &values->given[kind].list, arena, err))
            return false;
        if (is_text && values->given[kind].text &&
            !add_edit(whatif, kind, values->given[kind].text, arena, err))
            return false;
        if (!is_list && !is_text && values->given[kind].is_set &&
            !add_edit(whatif, kind, NULL, arena, err))
            return false;
    }
    return true;
}

static bool has_edits(const struct whatif *whatif, struct err *err)
{
    if (whatif->edits.count)
        return true;
    (void)err_set(err, ERR_USAGE, "no edit: say what would be different");
    return err_advise(err, "as in tfprof whatif PROFILE --scale kernel:gemm=0.5");
}

struct path_edits {
    VEC(struct edit) list;
};

/* Edits of findings, which go by themselves: they are about the path of the step. */
static bool scan_edits(struct whatif *whatif, const struct option_list *list,
                       struct path_edits *edits, struct arena *arena, struct err *err)
{
    if (list->values.count && whatif->edits.count)
        return err_set(err, ERR_USAGE,
                       "--edit goes by itself: it is replayed on the path of the step");
    for (size_t i = 0; i < list->values.count; i++) {
        struct str         text = str_from(list->values.items[i]);
        struct whatif_edit shown = { .text = list->values.items[i] };
        struct edit        edit;

        if (!edit_scan(&edit, text, arena, err))
            return false;
        if (!vec_push(&edits->list, arena, edit) || !vec_push(&whatif->edits, arena, shown))
            return err_set(err, ERR_LIMIT, "the edits do not fit the memory limit");
    }
    return true;
}

/* One selection at many factors, which goes by itself. */
static bool add_sweep(struct whatif *whatif, const char *what, struct arena *arena, struct err *err)
{
    if (!what)
        return true;
    if (whatif->edits.count)
        return err_set(err, ERR_USAGE, "--sweep goes by itself: it is a row of edits");
    return sweep_scan(whatif, what, arena, err);
}

static bool add_efficiency(struct whatif *whatif, bool is_wanted, struct arena *arena,
                           struct err *err)
{
    if (!is_wanted)
        return true;
    if (whatif->edits.count)
        return err_set(err, ERR_USAGE, "--efficiency goes by itself: it is a row of edits");
    return efficiency_scan(whatif, arena, err);
}

struct whatif_state {
    struct whatif     whatif;
    struct path_edits edits;
};

static bool prepare(struct call *call, struct err *err)
{
    const struct whatif_values *values = call->values;
    struct whatif_state        *state = arena_new(call->arena, struct whatif_state);

    if (!state)
        return err_set(err, ERR_LIMIT, "the edits do not fit the memory limit");
    call->state = state;
    state->whatif.on_rank = (int32_t)values->on_rank;
    return add_edits(&state->whatif, values, call->arena, err) &&
           scan_edits(&state->whatif, &values->edit, &state->edits, call->arena, err) &&
           add_sweep(&state->whatif, values->sweep, call->arena, err) &&
           add_efficiency(&state->whatif, values->efficiency, call->arena, err) &&
           has_edits(&state->whatif, err);
}

static bool make(struct call *call, struct err *err)
{
    struct whatif_state *state = call->state;
    struct study        *study = &call->inputs[0]->study;
    const struct job    *job = call->inputs[0]->job;
    struct arena        *arena = call->text.arena;
    bool                 is_of_path = state->edits.list.count > 0, is_done;

    progress_stage("replaying steps");
    if (call->inputs[0]->is_of_summaries && (!job || is_of_path))
        return rank_input_lacks_events(err);
    if (is_of_path)
        is_done = edits_run(&state->whatif, study, state->edits.list.items, arena, err);
    else
        is_done = job ? job_whatif(&state->whatif, job, study, arena, err)
                      : whatif_run(&state->whatif, study, arena, err);
    if (!is_done)
        return false;
    call->output->whatif(&state->whatif, study, &call->shape, &call->text);
    return true;
}

static const struct command_answer answer = {
    .asks_job = true,
    .input_offset = offsetof(struct whatif_values, input),
    .result_offset = offsetof(struct whatif_values, result),
    .prepare = prepare,
    .make = make,
};

const struct command command_whatif = {
    .name = "whatif",
    .summary = "say what a step would take if something were different",
    .operands = "PROFILE...",
    .description =
        "Schedules the steps of a recording again with edits: each by itself and all together, "
        "with the step time it gives and what the step then consists of.\n"
        "WHAT is one of"
#define TARGET(id, word, bearers) " " word ","
#include "analyze/schedule/whatif_targets.def"
        " alone or with a regular expression that is searched in names: kernel:gemm, op:aten::mm$. "
        "An op is its host time with the kernels that it launches. Of summaries of ranks what they "
        "did between collectives is scheduled.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct whatif_values),
    .run = answer_run,
    .answer = &answer,
};
