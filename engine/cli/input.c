/* input: from option values to a profile under analysis. */
#include "cli/input.h"

#include "analyze/analysis.h"
#include "analyze/classic/classic_model.h"
#include "base/file.h"
#include "base/macros.h"
#include "cli/progress.h"
#include "cli/rank_input.h"
#include "model/classic.h"
#include "model/hardware_file.h"
#include "model/selection.h"
#include "read/kineto/graph_capture.h"
#include "read/read.h"

#include <limits.h>

static bool scan_end(struct str text, int64_t open, int64_t *number)
{
    if (text.len == 0) {
        *number = open;
        return true;
    }
    return str_to_int64(text, number);
}

bool input_steps_scan(const char *text, int64_t *first, int64_t *last, struct err *err)
{
    struct str whole = str_from(text), rest = whole;
    struct str from = str_cut(&rest, ':');
    bool       is_range = from.len < whole.len;

    if (!is_range)
        rest = from;
    if (whole.len == 0 || !scan_end(from, INT64_MIN, first) || !scan_end(rest, INT64_MAX, last))
        return err_set(err, ERR_USAGE, "--steps takes A:B, A:, :B or one step number, not '%s'",
                       text);
    if (*first > *last)
        return err_set(err, ERR_USAGE, "--steps %s is empty: the first step is behind the last",
                       text);
    return true;
}

bool input_has_paths(const struct input_values *values)
{
    return values->profile_paths.values.count > 0 || values->graph_paths.values.count > 0 ||
           values->run_meta_paths.values.count > 0 || values->op_log_paths.values.count > 0;
}

/* A name of the table stands for itself, a file for the name in it. */
static bool take_hardware(const char *text, struct read_options *options, struct arena *arena,
                          struct err *err)
{
    options->hardware = hardware_named(text, arena, err);
    if (!options->hardware)
        return false;
    options->accelerator = hardware_find(str_from(text)) ? text : options->hardware->words;
    return true;
}

/* What the capture of the graphs tells of their replays. */
static bool join_capture(struct input *input, const char *path, const struct read_options *options,
                         struct err *err)
{
    struct read_options how = *options;
    struct arena        arena = { .budget_bytes = options->memory_budget_bytes };
    struct profile      capture;
    bool                is_done;

    if (input->profile.format != FORMAT_KINETO)
        return err_set(err, ERR_USAGE, "--capture goes with traces of PyTorch");
    how.is_capture = true;
    how.host = how.run = how.accelerator = NULL;
    how.hardware = NULL;
    is_done = (profile_init(&capture, &arena) || err_memory(err, "the capture")) &&
              read_profile(&path, 1, &how, &capture, err) &&
              (capture.format == FORMAT_KINETO ||
               (err_set(err, ERR_USAGE, "is no trace of PyTorch, as a capture is"),
                err_source(err, path))) &&
              graph_capture_join(&input->profile, &capture, err);
    arena_free(&arena);
    return is_done;
}

static bool read_all(struct input *input, const struct input_values *values,
                     const struct option_list *operands, enum input_use use, struct err *err)
{
    struct read_options options = {
        .input_format = values->input_format,
        .run = values->run,
        .host = values->host,
        .profile_paths = values->profile_paths,
        .graph_paths = values->graph_paths,
        .run_meta_paths = values->run_meta_paths,
        .op_log_paths = values->op_log_paths,
        .checkpoint_paths = values->checkpoint_paths,
        .memory_budget_bytes = (size_t)values->memory_bytes,
        .threads = values->threads > UINT_MAX ? UINT_MAX : (unsigned)values->threads,
        .accelerator = values->accelerator,
        .is_strict = values->is_strict,
        .is_classic = use != INPUT_ANALYSES,
        .has_classic_times = use == INPUT_TIMELINES || use == INPUT_COMPAT_TIMELINES,
        .is_compat = use == INPUT_COMPAT_VIEWS || use == INPUT_COMPAT_TIMELINES,
    };

    input->profile_arena.budget_bytes = options.memory_budget_bytes;
    if (values->accelerator &&
        !take_hardware(values->accelerator, &options, &input->profile_arena, err))
        return false;
    input->report_arena.budget_bytes = options.memory_budget_bytes;
    if (!profile_init(&input->profile, &input->profile_arena))
        return err_set(err, ERR_LIMIT, "--memory is too little to read anything");
    progress_stage("reading");
    return read_profile(operands->values.items, operands->values.count, &options, &input->profile,
                        err) &&
           (!values->capture || join_capture(input, values->capture, &options, err));
}

static bool advise_steps(int64_t first, int64_t last, struct err *err)
{
    if (first == last)
        return err_advise(err, "there is step %lld", (long long)first);
    return err_advise(err, "there are steps %lld to %lld", (long long)first, (long long)last);
}

/* --steps is wrong for this recording: says why, and which steps there are. */
static bool no_steps(const struct input *input, struct err *err)
{
    const struct steps *steps = &input->study.steps;
    const char         *why = NULL;
    int64_t             first = INT64_MAX, last = INT64_MIN;

    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->number >= input->options.first_step && step->number <= input->options.last_step)
            why = step->left_out;
        first = step->number < first ? step->number : first;
        last = step->number > last ? step->number : last;
    }
    if (steps->source == STEPS_WHOLE_TRACE || steps->list.count == 0) {
        err_set(err, ERR_USAGE, "--steps %s: the recording shows no steps", input->steps);
        return err_advise(err, "leave the option out, or record with step markers");
    }
    if (why)
        err_set(err, ERR_USAGE, "--steps %s: no step there can be used: %s", input->steps, why);
    else
        err_set(err, ERR_USAGE, "--steps %s selects no step", input->steps);
    return advise_steps(first, last, err);
}

static const char *first_path(const struct input_values *values, const struct option_list *operands)
{
    const struct option_list *lists[] = { operands, &values->profile_paths, &values->graph_paths,
                                          &values->run_meta_paths, &values->op_log_paths };

    for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
        if (lists[i]->values.count > 0)
            return lists[i]->values.items[0];
    return "the profile";
}

/* Also where analysing then fails: damage may be why. */
static bool tell_notes(const struct input *input, const struct input_values *values,
                       const struct option_list *operands, struct err *err)
{
    const char *name = first_path(values, operands);

    if (values->is_strict && !notes_refuse(&input->profile, name, err))
        return err_advise(err, "without --strict what is whole is used");
    notes_tell(&input->profile, name, values->notes);
    return true;
}

bool input_study(struct input *input, struct err *err)
{
    if (!input->is_studied)
        input->is_studied =
            study_run(&input->study, &input->profile, &input->options, &input->report_arena, err) &&
            (!input->steps || input->study.steps.used_count > 0 || no_steps(input, err));
    return input->is_studied;
}

static bool no_classic_steps(const struct input *input, struct err *err)
{
    const struct classic *classic = input->profile.classic;

    err_set(err, ERR_USAGE, "--steps %s selects no step", input->steps);
    if (classic->steps.count == 0)
        return err_advise(err, "no step was recorded");
    return advise_steps(classic->steps.items[0], classic->steps.items[classic->steps.count - 1],
                        err);
}

static bool select_classic_steps(struct input *input, struct err *err)
{
    return !input->steps || !input->profile.classic ||
           selection_classic_steps(input->profile.classic, input->options.first_step,
                                   input->options.last_step) ||
           no_classic_steps(input, err);
}

static bool select_places(struct input *input, const struct input_values *values, struct err *err)
{
    return (!values->host || selection_host(&input->profile, values->host, err)) &&
           (!values->device || selection_device(&input->profile, values->device, err));
}

/* What has no graph is shown by what ran. */
static bool make_classic(struct input *input, struct err *err)
{
    progress_stage("analysing");
    return input_study(input, err) &&
           (classic_model_make(&input->study, &input->profile) ||
            err_set(err, ERR_LIMIT, "the views do not fit the memory limit"));
}

bool input_lines(struct input *input, struct err *err)
{
    return !input->is_studied || !input->profile.classic ||
           classic_model_add_lines(&input->study, &input->profile) ||
           err_set(err, ERR_LIMIT, "the lines do not fit the memory limit");
}

static bool set_options(struct input *input, const struct input_values *values, struct err *err)
{
    *input = (struct input) {
        .options = { .first_step = INT64_MIN,
                     .last_step = INT64_MAX,
                     .threads = values->threads > UINT_MAX ? UINT_MAX : (unsigned)values->threads },
        .steps = values->steps,
    };
    return !values->steps || input_steps_scan(values->steps, &input->options.first_step,
                                              &input->options.last_step, err);
}

static bool read_ranks(struct input *input, const struct input_values *values,
                       const struct option_list *operands, enum input_use use, struct err *err)
{
    if (use == INPUT_ANALYSES)
        return rank_input_load(input, values, operands, err) &&
               tell_notes(input, values, operands, err);
    return rank_input_lacks_events(err);
}

bool input_read(struct input *input, const struct input_values *values,
                const struct option_list *operands, enum input_use use, struct err *err)
{
    if (!set_options(input, values, err))
        return false;
    if (operands->values.count == 0 && !input_has_paths(values)) {
        err_set(err, ERR_USAGE, "no profile given");
        return err_advise(err, "name a file or directory, or - for standard input");
    }
    if (rank_input_is(operands) ||
        (use == INPUT_ANALYSES && rank_input_is_large(values, operands))) {
        if (read_ranks(input, values, operands, use, err))
            return true;
        input_free(input);
        return false;
    }
    if (read_all(input, values, operands, use, err) && select_places(input, values, err) &&
        tell_notes(input, values, operands, err) &&
        (use == INPUT_ANALYSES ||
         (input->profile.classic ? select_classic_steps(input, err) : make_classic(input, err))))
        return true;
    input_free(input);
    return false;
}

bool input_load(struct input *input, const struct input_values *values,
                const struct option_list *operands, struct err *err)
{
    if (!input_read(input, values, operands, INPUT_ANALYSES, err))
        return false;
    progress_stage("analysing");
    if (!input_study(input, err)) {
        input_free(input);
        return false;
    }
    return true;
}

void input_free(struct input *input)
{
    arena_free(&input->report_arena);
    arena_free(&input->profile_arena);
}

bool input_list(const struct option_list *operands, struct arena *arena, struct err *err)
{
    struct text text = { .arena = arena };

    if (operands->values.count == 0)
        return err_set(err, ERR_USAGE, "--list needs a directory");
    for (size_t i = 0; i < operands->values.count; i++) {
        struct read_listing listing = { 0 };

        if (!read_list(operands->values.items[i], arena, &listing, err))
            return false;
        for (size_t row = 0; row < listing.rows.count; row++) {
            const struct read_listing_row *item = &listing.rows.items[row];

            text_print(&text, "%s\t%s\t%s\t%llu bytes\n", item->run ? item->run : "-",
                       item->name ? item->name : "-", item->format ? item->format : "-",
                       (unsigned long long)item->bytes);
        }
    }
    return file_write("-", text_str(&text), err);
}
