/* history: when did the program become slower? */
#include "base/file.h"
#include "base/macros.h"
#include "cli/answer.h"
#include "cli/progress.h"
#include "cli/read_baseline.h"
#include "cli/result.h"
#include "cli/summarize.h"
#include "gate/budget.h"
#include "gate/history.h"

struct history_values {
    struct input_values  input;
    struct result_values result;
    struct option_list   metrics;
    int64_t              window;
    double               p_value, min_change;
};

#define INPUT(field) offsetof(struct history_values, input.field)
#define RESULT(field) offsetof(struct history_values, result.field)
#define HISTORY(field) offsetof(struct history_values, field)
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "metric", .kind = OPTION_REPEAT, .offset = HISTORY(metrics), .choices = "NAME",
      .help = "a number to follow, named as in budgets; step_ms.p50 otherwise" },
    { .name = "window", .kind = OPTION_COUNT, .offset = HISTORY(window), .preset = "50",
      .choices = "N", .help = "measurements that are looked at together" },
    { .name = "p-value", .kind = OPTION_NUMBER, .offset = HISTORY(p_value), .preset = "0.001",
      .help = "largest chance of error that counts as a change" },
    { .name = "min-change", .kind = OPTION_NUMBER, .offset = HISTORY(min_change), .preset = "0%",
      .choices = "unit:share", .help = "smallest change that counts" },
#include "cli/input_options.def"
};
/* clang-format on */

struct collecting {
    const struct history_values *values;
    struct arena                *arena;
    struct text                 *warnings;
    struct history              *histories;
    struct budget               *quantities;
    size_t                       count;
    size_t                       measured; /* files that are measurements */
};

static bool add_summary(struct collecting *collecting, const char *name,
                        const struct summary *summary, struct err *err)
{
    collecting->measured++;
    for (size_t i = 0; i < collecting->count; i++) {
        struct history      *history = &collecting->histories[i];
        struct history_point point = { .name = name };

        if (!budget_value(&collecting->quantities[i], summary, collecting->arena, &point.value))
            history->skipped_count++;
        else if (!vec_push(&history->points, collecting->arena, point))
            return err_memory(err, "the history");
    }
    return true;
}

/* One damaged baseline of many takes no measurement from the others; with --strict it ends all. */
static bool leave_out(const struct collecting *collecting, struct err *err)
{
    char line[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];

    if (collecting->values->input.is_strict)
        return err_advise(err, "without --strict it is left out");
    err->advice[0] = '\0'; /* for whom it ends with that */
    text_print(collecting->warnings, "tfprof: %s; it is left out\n",
               err_format(err, line, sizeof line));
    *err = (struct err) { 0 };
    return true;
}

/* A file that is no profile either is left out: directories hold notes and hidden files too. */
static bool add_entry(struct collecting *collecting, const char *directory, const char *name,
                      struct err *err)
{
    static const struct advise_options no_options;
    const char        *path = arena_text(collecting->arena, "%s/%s", directory, name);
    struct summarizing how = { .input = &collecting->values->input,
                               .rules = &no_options,
                               .warnings = collecting->warnings };
    struct summary     summary;
    struct option_list operand = { 0 };
    bool               is_measured, is_kept;

    if (!path || !vec_push(&operand.values, collecting->arena, path))
        return err_memory(err, "the history");
    is_kept = is_baseline(path) || str_ends(str_from(name), STR(".tfbase"));
    is_measured = is_kept ? read_baseline(&summary, path, collecting->arena, err)
                          : summarize(&summary, &how, &operand, collecting->arena, err);
    if (is_measured)
        return add_summary(collecting, name, &summary, err);
    if (err->code != ERR_FORMAT && err->code != ERR_INPUT)
        return false;
    if (is_kept)
        return leave_out(collecting, err);
    *err = (struct err) { 0 };
    return true;
}

/* Of a log directory each run is a measurement, of another each file. */
static bool add_directory(struct collecting *collecting, const char *directory, struct err *err)
{
    char **names;
    char  *plugin = arena_text(collecting->arena, "%s/plugins/profile", directory);
    size_t count;

    if (!plugin)
        return err_memory(err, "the history");
    directory = file_is_directory(plugin) ? plugin : directory;
    if (!file_list(directory, collecting->arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (names[i][0] != '.' && !add_entry(collecting, directory, names[i], err))
            return false;
    if (collecting->measured)
        return true;
    err_set(err, ERR_INPUT, "holds no measurement");
    err_advise(err, "name a directory of baselines or recordings, or a log directory");
    return err_source(err, directory);
}

static bool find_changes(struct collecting *collecting, struct history *history, struct err *err)
{
    struct change_options limits = {
        .window = (size_t)collecting->values->window,
        .p_value = collecting->values->p_value,
        .magnitude = collecting->values->min_change,
    };
    double *values = arena_new_array(collecting->arena, double, history->points.count + 1);

    for (size_t i = 0; values && i < history->points.count; i++)
        values[i] = history->points.items[i].value;
    return (values && change_points_find(values, history->points.count, &limits, collecting->arena,
                                         &history->changes)) ||
           err_memory(err, "the history");
}

static bool start(struct collecting *collecting, struct err *err)
{
    static const char *const  standard[] = { "step_ms.p50" };
    const struct option_list *asked = &collecting->values->metrics;
    const char *const        *names = asked->values.count > 0 ? asked->values.items : standard;

    collecting->count = asked->values.count > 0 ? asked->values.count : ARRAY_COUNT(standard);
    collecting->histories = arena_new_array(collecting->arena, struct history, collecting->count);
    collecting->quantities = arena_new_array(collecting->arena, struct budget, collecting->count);
    if (!collecting->histories || !collecting->quantities)
        return err_memory(err, "the history");
    for (size_t i = 0; i < collecting->count; i++) {
        if (!budget_quantity(names[i], collecting->arena, &collecting->quantities[i], err))
            return false;
        collecting->histories[i].metric = names[i];
        collecting->histories[i].unit = collecting->quantities[i].unit;
    }
    return true;
}

static bool collect(struct collecting *collecting, const struct option_list *operands,
                    struct err *err)
{
    if (operands->values.count != 1) {
        err_set(err, ERR_USAGE, "history takes one directory");
        return err_advise(err, "its files are the measurements, in the order of their names");
    }
    if (collecting->values->input.run)
        return err_set(err, ERR_USAGE, "history looks at every run: --run is not for it");
    if (!start(collecting, err) || !add_directory(collecting, operands->values.items[0], err))
        return false;
    for (size_t i = 0; i < collecting->count; i++)
        if (!find_changes(collecting, &collecting->histories[i], err))
            return false;
    return true;
}

static bool make(struct call *call, struct err *err)
{
    struct collecting collecting = { .values = call->values,
                                     .arena = call->arena,
                                     .warnings = &call->warnings };

    if (!collect(&collecting, &call->operands, err))
        return false;
    call->output->history(collecting.histories, collecting.count, &call->shape, &call->text);
    return true;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct history_values, input),
    .result_offset = offsetof(struct history_values, result),
    .make = make,
};

const struct command command_history = {
    .name = "history",
    .summary = "find when numbers of a program changed their level",
    .operands = "DIR",
    .description =
        "Reads the baselines (or profiles) of a directory in the order of their names, follows "
        "one or several numbers through them, and says where their level changed, with a chart.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct history_values),
    .run = answer_run_alone,
    .answer = &answer,
};
