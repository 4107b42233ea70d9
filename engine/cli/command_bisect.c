/* bisect: which revision made the program slower? */
#include "base/file.h"
#include "base/macros.h"
#include "base/process.h"
#include "cli/answer.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/summarize.h"
#include "gate/bisect.h"
#include "gate/budget.h"

#include <stdlib.h>
#include <string.h>

struct bisect_values {
    struct input_values  input;
    struct result_values result;
    const char          *repository, *good, *bad, *record, *metric;
    int64_t              runs;
    double               confidence;
};

#define INPUT(field) offsetof(struct bisect_values, input.field)
#define RESULT(field) offsetof(struct bisect_values, result.field)
#define BISECT(field) offsetof(struct bisect_values, field)
#undef RESULT_FORMATS
/* clang-format off */
static const struct option options[] = {
    { .name = "good", .kind = OPTION_TEXT, .offset = BISECT(good), .choices = "REVISION",
      .help = "a revision before the change" },
    { .name = "bad", .kind = OPTION_TEXT, .offset = BISECT(bad), .preset = "HEAD", .choices = "REVISION",
      .help = "a later one behind it" },
    { .name = "record", .kind = OPTION_TEXT, .offset = BISECT(record), .choices = "COMMAND",
      .help = "builds and records in the folder it is run in, into $TFPROF_RECORDING; status 125: pass over this revision" },
    { .name = "repository", .kind = OPTION_TEXT, .offset = BISECT(repository), .preset = ".", .choices = "DIR",
      .help = "of git; it is not touched, revisions are checked out beside it" },
    { .name = "metric", .kind = OPTION_TEXT, .offset = BISECT(metric), .preset = "step_ms.p50", .choices = "NAME",
      .help = "the number that changed, named as in budgets" },
    { .name = "runs", .kind = OPTION_COUNT, .offset = BISECT(runs), .preset = "50", .choices = "N",
      .help = "most recordings that are made" },
    { .name = "confidence", .kind = OPTION_NUMBER, .offset = BISECT(confidence), .preset = "95%", .choices = "unit:share",
      .help = "how likely the revision must be" },
#include "cli/result_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

struct bisecting {
    const struct bisect_values *values;
    struct call                *call;
    struct bisection            bisection;
    struct revision            *revisions;
    struct summary            **summaries; /* by revision, of its last run; NULL: none */
    struct budget               quantity;
    char                       *folder, *tree;
    size_t                      made; /* recordings */
};

/* The last line of what a program said. */
static struct str last_line(const struct process_output *output)
{
    struct str text = str_trim(text_str(output->err.len ? &output->err : &output->out)),
               line = text;

    while (text.len)
        line = str_cut(&text, '\n');
    return str_slice(line, 0, 300);
}

/* sh -c SCRIPT with up to four arguments. */
static bool shell(struct bisecting *bisecting, const char *script, const char *const arguments[4],
                  struct process_output *output, struct err *err)
{
    char *all[] = { (char *)"/bin/sh",    (char *)"-c",         (char *)script,
                    (char *)"sh",         (char *)arguments[0], (char *)arguments[1],
                    (char *)arguments[2], (char *)arguments[3], NULL };

    *output = (struct process_output) { .out.arena = bisecting->call->arena,
                                        .err.arena = bisecting->call->arena };
    return process_run(all, output, err);
}

static bool git(struct bisecting *bisecting, const char *script, const char *const arguments[4],
                struct process_output *output, struct err *err)
{
    if (!shell(bisecting, script, arguments, output, err))
        return false;
    return output->status == 0 || err_set(err, ERR_INPUT, "git: %.*s", STR_ARG(last_line(output)));
}

/* "3f2c1ab Use float64 in the loss" */
static bool add_revisions(struct bisecting *bisecting, struct str lines, struct err *err)
{
    struct arena *arena = bisecting->call->arena;
    size_t        count = 0;

    for (size_t i = 0; i < lines.len; i++)
        count += lines.data[i] == '\n';
    bisecting->revisions = arena_new_array(arena, struct revision, count);
    bisecting->summaries = arena_new_array(arena, struct summary *, count);
    if (!bisecting->revisions || !bisecting->summaries || count < 2 ||
        !bisect_start(&bisecting->bisection.bisect, count - 1, arena))
        return err_memory(err, "the revisions");
    for (size_t i = 0; i < count; i++) {
        struct str line = str_cut(&lines, '\n');

        bisecting->revisions[i].id = arena_str(arena, str_cut(&line, ' ')).data;
        bisecting->revisions[i].title = arena_str(arena, line).data;
        if (!bisecting->revisions[i].id || !bisecting->revisions[i].title)
            return err_memory(err, "the revisions");
    }
    bisecting->bisection.revisions = bisecting->revisions;
    return true;
}

static bool list_revisions(struct bisecting *bisecting, struct err *err)
{
    static const char related[] = "cd \"$1\" && git merge-base --is-ancestor \"$2\" \"$3\"";
    static const char list[] = "cd \"$1\" && git log -1 --format='%h %s' \"$2\" -- && "
                               "git log --reverse --first-parent --format='%h %s' \"$2..$3\" --";
    const struct bisect_values *values = bisecting->values;
    const char *const     arguments[4] = { values->repository, values->good, values->bad, NULL };
    struct process_output output;

    if (!shell(bisecting, related, arguments, &output, err))
        return false;
    if (output.status == 1 && output.err.len == 0)
        return err_set(err, ERR_USAGE, "%s does not come before %s", values->good, values->bad);
    if (output.status != 0)
        return err_set(err, ERR_INPUT, "git: %.*s", STR_ARG(last_line(&output)));
    if (!git(bisecting, list, arguments, &output, err))
        return false;
    if (str_find(text_str(&output.out), '\n') + 1 >= output.out.len)
        return err_set(err, ERR_USAGE, "%s and %s are one revision", values->good, values->bad);
    return add_revisions(bisecting, text_str(&output.out), err);
}

/* The recording of this run as a number; *is_skipped: this revision cannot be recorded. */
static bool measure(struct bisecting *bisecting, size_t revision, const char *path, double *value,
                    struct err *err)
{
    static const struct advise_options none;
    struct arena                      *arena = bisecting->call->arena;
    struct summary                    *summary = arena_new(arena, struct summary);
    struct option_list                 operand = { 0 };
    struct summarizing                 how = { .input = &bisecting->values->input,
                                               .rules = &none,
                                               .warnings = &bisecting->call->warnings };

    if (!summary || !vec_push(&operand.values, arena, path))
        return err_memory(err, "the revisions");
    if (!summarize(summary, &how, &operand, arena, err))
        return false;
    bisecting->summaries[revision] = summary;
    return budget_value(&bisecting->quantity, summary, arena, value) ||
           err_set(err, ERR_INPUT, "the recording of %s has no %s",
                   bisecting->revisions[revision].id, bisecting->values->metric);
}

static void say_run(const struct bisecting *bisecting, size_t revision, double value)
{
    struct text line = { .arena = bisecting->call->arena };

    text_print(&line, "run %zu: %s  ", bisecting->made, bisecting->revisions[revision].id);
    unit_print(&line, value, bisecting->bisection.unit);
    if (text_is_whole(&line))
        progress_say(line.data);
}

static bool run_command(struct bisecting *bisecting, size_t revision, const char *path,
                        struct process_output *output, struct err *err)
{
    static const char checkout[] = "cd \"$1\" && git checkout --quiet --force --detach \"$2\" --";
    static const char record[] = "cd \"$1\" && TFPROF_RECORDING=$3 exec /bin/sh -c \"$2\"";
    const char       *id = bisecting->revisions[revision].id;

    return git(bisecting, checkout, (const char *const[4]) { bisecting->tree, id, NULL, NULL },
               output, err) &&
           shell(bisecting, record,
                 (const char *const[4]) { bisecting->tree, bisecting->values->record, path, NULL },
                 output, err);
}

/* One recording of a revision; status 125 passes over it. */
static bool record(struct bisecting *bisecting, size_t revision, struct err *err)
{
    enum { PASSED_OVER = 125 };
    const char *id = bisecting->revisions[revision].id;
    const char *path =
        arena_text(bisecting->call->arena, "%s/run-%zu", bisecting->folder, ++bisecting->made);
    struct process_output output;
    double                value = 0;

    if (!path)
        return err_memory(err, "the revisions");
    if (!run_command(bisecting, revision, path, &output, err))
        return false;
    if (output.status == PASSED_OVER && revision > 0 && revision < bisecting->bisection.bisect.last)
        return bisecting->bisection.bisect.is_skipped[revision] = true;
    if (output.status != 0) {
        err_set(err, ERR_INPUT, "the command ends with status %d at %s%s%.*s", output.status, id,
                last_line(&output).len ? ": " : "", STR_ARG(last_line(&output)));
        return err_advise(err,
                          "status 125 passes over a revision, but not over the first and last");
    }
    if (!file_exists(path)) {
        err_set(err, ERR_INPUT, "the command wrote no recording at %s", id);
        return err_advise(err, "it is to write to the file or folder $TFPROF_RECORDING");
    }
    if (!measure(bisecting, revision, path, &value, err))
        return false;
    say_run(bisecting, revision, value);
    return bisect_add(&bisecting->bisection.bisect, revision, value, bisecting->call->arena) ||
           err_memory(err, "the revisions");
}

static bool may_run(const struct bisecting *bisecting)
{
    return bisecting->made < (size_t)bisecting->values->runs;
}

/* In turns, so that what drifts on this machine hits both alike. */
static bool record_ends(struct bisecting *bisecting, struct err *err)
{
    enum { LEAST_RUNS = 2, MOST_RUNS = 6 };
    struct bisect *bisect = &bisecting->bisection.bisect;

    for (int round = 0; round < MOST_RUNS && may_run(bisecting); round++) {
        if (!record(bisecting, 0, err) || !record(bisecting, bisect->last, err))
            return false;
        bisect_settle(bisect);
        if (round + 1 >= LEAST_RUNS && bisect_can_tell(bisect))
            return true;
    }
    bisecting->bisection.why = "what both ends measure differs by no more than their runs do";
    return true;
}

static bool search(struct bisecting *bisecting, struct err *err)
{
    struct bisection *bisection = &bisecting->bisection;
    struct bisect    *bisect = &bisection->bisect;

    if (!record_ends(bisecting, err))
        return false;
    for (;;) {
        size_t next = bisect_next(bisect);

        bisection->found =
            bisect_found(bisect, bisection->confidence, &bisection->first, &bisection->last);
        bisection->is_found = !bisection->why[0] && bisection->first == bisection->last;
        if (bisection->why[0] || bisection->is_found)
            return true;
        if (!next || !may_run(bisecting)) {
            bisection->why =
                next ? "--runs allows no more recordings" : "those between cannot be recorded";
            return true;
        }
        if (!record(bisecting, next, err))
            return false;
        bisect_settle(bisect);
    }
}

/* What changed, by the nearest on both sides that were measured. */
static bool compare(struct bisecting *bisecting, struct err *err)
{
    struct bisection        *bisection = &bisecting->bisection;
    const struct gate_limits limits = { .max_regression = 0.05 };

    bisection->before = bisection->found - 1;
    bisection->after = bisection->found;
    while (!bisecting->summaries[bisection->before])
        bisection->before--;
    while (!bisecting->summaries[bisection->after])
        bisection->after++;
    if (!bisection->is_found)
        return true;
    bisection->compared = arena_new(bisecting->call->arena, struct gate_result);
    return bisection->compared ? gate_run(bisecting->summaries[bisection->before],
                                          bisecting->summaries[bisection->after], &limits,
                                          bisecting->call->arena, bisection->compared, err)
                               : err_memory(err, "the revisions");
}

static bool make_tree(struct bisecting *bisecting, struct err *err)
{
    static const char     add[] = "git -C \"$1\" worktree add --quiet --detach \"$2\" \"$3\"";
    const char           *place = getenv("TMPDIR");
    struct process_output output;

    bisecting->folder = arena_text(bisecting->call->arena, "%s/tfprof-bisect.XXXXXX",
                                   place && *place ? place : "/tmp");
    if (!bisecting->folder)
        return err_memory(err, "the revisions");
    if (!mkdtemp(bisecting->folder))
        return err_set(err, ERR_OUTPUT, "cannot make the folder %s", bisecting->folder);
    bisecting->tree = arena_text(bisecting->call->arena, "%s/tree", bisecting->folder);
    return bisecting->tree
               ? git(bisecting, add,
                     (const char *const[4]) { bisecting->values->repository, bisecting->tree,
                                              bisecting->revisions[0].id, NULL },
                     &output, err)
               : err_memory(err, "the revisions");
}

static void remove_tree(struct bisecting *bisecting)
{
    static const char     clear[] = "git -C \"$1\" worktree remove --force \"$2\"; rm -rf \"$3\"";
    struct process_output output;
    struct err            ignored = { 0 };

    if (bisecting->tree)
        (void)shell(bisecting, clear,
                    (const char *const[4]) { bisecting->values->repository, bisecting->tree,
                                             bisecting->folder, NULL },
                    &output, &ignored);
}

static bool check_usage(const struct bisect_values *values, const struct call *call,
                        struct err *err)
{
    if (call->operands.values.count > 0)
        return err_set(err, ERR_USAGE, "bisect makes its recordings itself and takes none");
    if (!values->good || !values->record) {
        err_set(err, ERR_USAGE, "bisect needs --good and --record");
        return err_advise(
            err, "as in --good v1.4 --record 'python train.py --profile $TFPROF_RECORDING'");
    }
    if (values->good[0] == '-' || values->bad[0] == '-')
        return err_set(err, ERR_USAGE, "'%s' is no revision",
                       values->good[0] == '-' ? values->good : values->bad);
    return (values->confidence > 0 && values->confidence < 1) ||
           err_set(err, ERR_USAGE, "--confidence is a share between 0 and 100 %%");
}

static bool make(struct call *call, struct err *err)
{
    const struct bisect_values *values = call->values;
    struct bisecting            bisecting = { .values = values, .call = call };
    bool                        is_done;

    if (!check_usage(values, call, err) ||
        !budget_quantity(values->metric, call->arena, &bisecting.quantity, err) ||
        !list_revisions(&bisecting, err))
        return false;
    bisecting.bisection.metric = values->metric;
    bisecting.bisection.unit = bisecting.quantity.unit;
    bisecting.bisection.confidence = values->confidence;
    bisecting.bisection.why = "";
    is_done = make_tree(&bisecting, err) && search(&bisecting, err) && compare(&bisecting, err);
    remove_tree(&bisecting);
    if (!is_done)
        return false;
    call->output->bisect(&bisecting.bisection, &call->shape, &call->text);
    call->status = bisecting.bisection.is_found ? 0 : 4;
    return true;
}

static const struct command_answer answer = {
    .input_offset = offsetof(struct bisect_values, input),
    .result_offset = offsetof(struct bisect_values, result),
    .make = make,
};

const struct command command_bisect = {
    .name = "bisect",
    .summary = "find the revision that made a program slower",
    .operands = "",
    .description =
        "Checks out revisions of a git repository in a folder of its own, has a command record "
        "each, and finds the first that measures like the bad one, with as few recordings as its "
        "noise allows: each next one is made where it tells most. Then it says what changed there. "
        "Exit status: 0 found, 4 not sure: the ends are too much alike, revisions that cannot be "
        "recorded lie between, or --runs is spent.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct bisect_values),
    .run = answer_run_alone,
    .answer = &answer,
};
