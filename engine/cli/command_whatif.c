/* whatif: what a step would take if something in it were different. */
#include "analyze/schedule/whatif.h"

#include "analyze/replay/edit_text.h"
#include "analyze/replay/edits_run.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/result.h"

struct whatif_values {
    struct input_values  input;
    struct result_values result;
    struct option_list   scale, drop, parallel, merge, move, rank, edit;
    const char          *network;
    int64_t              on_rank;
    bool                 no_input_wait, graph_capture;
};

#define INPUT(field) offsetof(struct whatif_values, input.field)
#define RESULT(field) offsetof(struct whatif_values, result.field)
#define WHATIF(field) offsetof(struct whatif_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "scale", .kind = OPTION_REPEAT, .offset = WHATIF(scale), .choices = "WHAT=FACTOR",
      .help = "what is selected costs FACTOR of what it did, as kernel:gemm=0.5" },
    { .name = "drop", .kind = OPTION_REPEAT, .offset = WHATIF(drop), .choices = "WHAT",
      .help = "leave out what is selected, as sync, copy or kernel:gemm" },
    { .name = "parallel", .kind = OPTION_REPEAT, .offset = WHATIF(parallel), .choices = "WHAT=N",
      .help = "spread what is selected over N workers, as input=4" },
    { .name = "merge", .kind = OPTION_REPEAT, .offset = WHATIF(merge), .choices = "WHAT",
      .help = "make one launch of kernels that follow one another, as kernel:elementwise" },
    { .name = "move", .kind = OPTION_REPEAT, .offset = WHATIF(move), .choices = "WHAT",
      .help = "run what is selected beside its stream, as copy or comm" },
    { .name = "no-input-wait", .kind = OPTION_FLAG, .offset = WHATIF(no_input_wait),
      .help = "input is there when a step asks for it" },
    { .name = "network", .kind = OPTION_TEXT, .offset = WHATIF(network), .choices = "xN",
      .help = "collectives go N times as fast" },
    { .name = "rank", .kind = OPTION_REPEAT, .offset = WHATIF(rank), .choices = "N=median",
      .help = "rank N works as fast as the median of the others" },
    { .name = "graph-capture", .kind = OPTION_FLAG, .offset = WHATIF(graph_capture),
      .help = "one launch enqueues all kernels of a step" },
    { .name = "edit", .kind = OPTION_REPEAT, .offset = WHATIF(edit), .choices = "EDIT",
      .help = "an edit of a finding, as advise --format json shows them; by itself" },
    { .name = "on-rank", .kind = OPTION_INTEGER, .offset = WHATIF(on_rank), .preset = "-1",
      .choices = "N", .help = "edit this rank alone" },
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

static bool add_edit(struct whatif *whatif, enum whatif_kind kind, const char *option,
                     const char *text, struct arena *arena, struct err *err)
{
    struct whatif_edit edit;

    if (!whatif_edit_scan(&edit, kind, option, text, arena, err))
        return false;
    return vec_push(&whatif->edits, arena, edit) ||
           err_set(err, ERR_LIMIT, "the edits do not fit the memory limit");
}

/* Edits apply in the order of this table. */
static bool add_edits(struct whatif *whatif, const struct whatif_values *values,
                      struct arena *arena, struct err *err)
{
    const struct {
        enum whatif_kind          kind;
        const char               *option;
        const struct option_list *list;
    } lists[] = {
        { WHATIF_SCALE, "scale", &values->scale },
        { WHATIF_DROP, "drop", &values->drop },
        { WHATIF_PARALLEL, "parallel", &values->parallel },
        { WHATIF_MERGE, "merge", &values->merge },
        { WHATIF_MOVE, "move", &values->move },
        { WHATIF_RANK, "rank", &values->rank },
    };

    for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
        for (size_t j = 0; j < lists[i].list->values.count; j++)
            if (!add_edit(whatif, lists[i].kind, lists[i].option, lists[i].list->values.items[j],
                          arena, err))
                return false;
    if (values->no_input_wait &&
        !add_edit(whatif, WHATIF_NO_INPUT_WAIT, "no-input-wait", NULL, arena, err))
        return false;
    if (values->network &&
        !add_edit(whatif, WHATIF_NETWORK, "network", values->network, arena, err))
        return false;
    if (values->graph_capture &&
        !add_edit(whatif, WHATIF_GRAPH_CAPTURE, "graph-capture", NULL, arena, err))
        return false;
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
           has_edits(&state->whatif, err);
}

static bool make(struct call *call, struct err *err)
{
    struct whatif_state *state = call->state;
    struct study        *study = &call->inputs[0]->study;
    struct arena        *arena = call->text.arena;

    progress_stage("replaying steps");
    if (!(state->edits.list.count
              ? edits_run(&state->whatif, study, state->edits.list.items, arena, err)
              : whatif_run(&state->whatif, study, arena, err)))
        return false;
    call->output->whatif(&state->whatif, study, &call->shape, &call->text);
    return true;
}

static const struct command_answer answer = {
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
        "WHAT is kernel, op, host, copy, memset, comm, sync, input or launch, alone or with a "
        "regular expression that is searched in names: kernel:gemm, op:aten::mm$. An op is its "
        "host time with the kernels that it launches.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct whatif_values),
    .run = answer_run,
    .answer = &answer,
};
