/* watch: advice for each recording as it lands. */
#include "base/file.h"
#include "base/macros.h"
#include "base/process.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/run_lines.h"
#include "read/read.h"
#include "report/run_line.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct watch_values {
    struct input_values   input;
    struct advise_options rules;
    const char           *format, *exec, *metrics;
    double                interval_s, min_share;
    int64_t               count;
    bool                  has_old;
};

#define INPUT(field) offsetof(struct watch_values, input.field)
#define RULES(field) offsetof(struct watch_values, rules.field)
#define WATCH(field) offsetof(struct watch_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "format", .kind = OPTION_ONE_OF, .offset = WATCH(format), .preset = "text", .choices = "text|json",
      .help = "how to print a line; json: an object each" },
    { .name = "old", .kind = OPTION_FLAG, .offset = WATCH(has_old),
      .help = "also tell of recordings that are there already" },
    { .name = "interval", .kind = OPTION_NUMBER, .offset = WATCH(interval_s), .preset = "2", .choices = "SECONDS",
      .help = "how often to look; a recording is read when it was the same twice" },
    { .name = "count", .kind = OPTION_COUNT, .offset = WATCH(count), .choices = "N",
      .help = "end after so many recordings" },
    { .name = "exec", .kind = OPTION_TEXT, .offset = WATCH(exec), .choices = "COMMAND",
      .help = "run this for each, with the line as JSON in $TFPROF_LINE and its first file in $TFPROF_RECORDING" },
    { .name = "metrics", .kind = OPTION_TEXT, .offset = WATCH(metrics), .choices = "FILE",
      .help = "keep the numbers of the last recording in this file as OpenMetrics" },
    { .name = "min-share", .kind = OPTION_NUMBER, .offset = WATCH(min_share), .preset = "1%", .choices = "unit:share",
      .help = "of the step that the first fix must save to be named" },
#include "cli/rule_options.def"
#include "cli/input_options.def"
};
/* clang-format on */

struct seen { /* a recording, as it was at the last look */
    char   *name;
    int64_t bytes, changed_ns; /* of all its files */
    bool    is_told;
};
struct watching {
    const struct watch_values *values;
    const char                *folder;
    struct arena               arena; /* of names */
    VEC(struct seen) seen;
    int64_t told;
    bool    is_first; /* look */
};

static struct seen *find_seen(struct watching *watching, const char *name)
{
    for (size_t i = 0; i < watching->seen.count; i++)
        if (strcmp(watching->seen.items[i].name, name) == 0)
            return &watching->seen.items[i];
    name = arena_text(&watching->arena, "%s", name);
    return name && vec_push(&watching->seen, &watching->arena,
                            ((struct seen) { .name = (char *)name, .bytes = -1 }))
               ? &watching->seen.items[watching->seen.count - 1]
               : NULL;
}

/* As the files are now; false: one of them is gone. */
static bool measure(const struct option_list *files, int64_t *bytes, int64_t *changed_ns)
{
    *bytes = *changed_ns = 0;
    for (size_t i = 0; i < files->values.count; i++) {
        struct stat status;
        int64_t     at_ns;

        if (stat(files->values.items[i], &status) != 0)
            return false;
        at_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
        *bytes += status.st_size;
        *changed_ns = at_ns > *changed_ns ? at_ns : *changed_ns;
    }
    return true;
}

static bool run_exec(const struct watching *watching, const char *path, struct str line,
                     struct arena *arena, struct err *err)
{
    static const char     script[] = "TFPROF_RECORDING=$2 TFPROF_LINE=$3 exec /bin/sh -c \"$1\"";
    char                 *json = arena_text(arena, "%.*s", STR_ARG(str_trim(line)));
    char                 *arguments[] = { (char *)"/bin/sh",
                                          (char *)"-c",
                                          (char *)script,
                                          (char *)"sh",
                                          (char *)watching->values->exec,
                                          (char *)path,
                                          json,
                                          NULL };
    struct process_output output = { .out.arena = arena, .err.arena = arena };

    if (!json)
        return err_memory(err, "the recordings");
    if (!process_run(arguments, &output, err))
        return false;
    printf("%.*s", STR_ARG(text_str(&output.out)));
    fprintf(stderr, "%.*s", STR_ARG(text_str(&output.err)));
    if (output.status != 0)
        fprintf(stderr, "tfprof: the command for %s ended with status %d\n", path, output.status);
    return true;
}

static bool tell(struct watching *watching, const struct run_files *run, struct arena *arena,
                 struct err *err)
{
    const struct watch_values *values = watching->values;
    struct run_lines           how = { .input = &values->input,
                                       .rules = &values->rules,
                                       .min_share = values->min_share,
                                       .arena = arena };
    struct text                text = { .arena = arena }, json = text, metrics = text;
    struct run_line            line;
    int                        status = 0;

    if (!run_lines_read(&how, run, &line, &status, err))
        return false;
    progress_end();
    run_line_text(&line, 0, &text);
    run_line_json(&line, &json);
    run_line_metrics(&line, &metrics);
    if (!text_is_whole(&text) || !text_is_whole(&json) || !text_is_whole(&metrics))
        return err_memory(err, "the recordings");
    printf("%.*s", STR_ARG(text_str(strcmp(values->format, "json") == 0 ? &json : &text)));
    fflush(stdout);
    watching->told++;
    return (!values->metrics || line.error ||
            file_write(values->metrics, text_str(&metrics), err)) &&
           (!values->exec ||
            run_exec(watching, run->files.values.items[0], text_str(&json), arena, err));
}

static bool is_enough(const struct watching *watching)
{
    return watching->values->count > 0 && watching->told >= watching->values->count;
}

/* What is new and was the same at the last look is told: it is written whole by then. */
static bool look_at(struct watching *watching, const struct run_files *run, struct arena *arena,
                    struct err *err)
{
    struct seen *seen = find_seen(watching, run->name);
    int64_t      bytes, changed_ns;
    bool         is_same;

    if (!seen)
        return err_memory(err, "the recordings");
    if (!measure(&run->files, &bytes, &changed_ns))
        return true;
    is_same = seen->bytes == bytes && seen->changed_ns == changed_ns;
    seen->bytes = bytes;
    seen->changed_ns = changed_ns;
    if (!is_same)
        seen->is_told = watching->is_first && !watching->values->has_old;
    if (!is_same || seen->is_told || bytes == 0 || is_enough(watching))
        return true;
    seen->is_told = true;
    return tell(watching, run, arena, err);
}

static bool look(struct watching *watching, struct err *err)
{
    struct arena    arena = { 0 };
    struct run_list list = { 0 };
    struct err      none = { 0 };
    bool            is_done = true;

    /* A folder without a recording yet is none that is wrong. */
    if (run_lines_list(watching->folder, true, &arena, &list, &none))
        for (size_t i = 0; is_done && i < list.runs.count; i++)
            is_done = look_at(watching, &list.runs.items[i], &arena, err);
    watching->is_first = false;
    arena_free(&arena);
    return is_done;
}

static void wait_for(double seconds)
{
    struct timespec time = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

    nanosleep(&time, NULL);
}

static bool run(struct call *call, struct err *err)
{
    const struct watch_values *values = call->values;
    struct watching            watching = { .values = values, .is_first = true };
    bool                       is_done = true;

    if (call->operands.values.count != 1)
        return err_set(err, ERR_USAGE, "watch takes one directory");
    watching.folder = call->operands.values.items[0];
    if (!file_is_directory(watching.folder)) {
        (void)err_set(err, ERR_INPUT, "%s is no directory", watching.folder);
        return err_advise(err, "tfprof advise looks at one recording");
    }
    if (!(values->interval_s >= 0.05 && values->interval_s <= 86400))
        return err_set(err, ERR_USAGE, "--interval takes 0.05 to 86400 seconds");
    while (is_done && !is_enough(&watching)) {
        is_done = look(&watching, err);
        if (is_done && !is_enough(&watching))
            wait_for(values->interval_s);
    }
    arena_free(&watching.arena);
    return is_done;
}

const struct command command_watch = {
    .name = "watch",
    .summary = "print a line of advice for each recording as it lands",
    .operands = "DIRECTORY",
    .description =
        "Looks at a log directory, or a folder of recordings, again and again, and reads what is "
        "new once it stopped growing: name, length of a step, what holds it up, what to do first. "
        "A line that cannot be made says why, and watching goes on. Ctrl-C ends it.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct watch_values),
    .run = run,
};
