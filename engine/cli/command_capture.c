/* capture: a recording of programs that run, from the profiler's service in them. */
#include "capture/kineto_daemon.h"
#include "capture/profiler_service.h"

#include "base/file.h"
#include "base/macros.h"
#include "base/parallel.h"
#include "cli/command.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct capture_values {
    const char        *log_directory, *question;
    int64_t            duration_ms, timeout_s, host_level, device_level;
    bool               has_python;
    const char        *authorities, *certificate, *key;
    bool               is_unverified;
    struct option_list headers;
};

#define CAPTURE(field) offsetof(struct capture_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "output", .short_name = "o", .kind = OPTION_TEXT, .offset = CAPTURE(log_directory), .choices = "LOGDIR",
      .help = "log directory for the recording, which gets a run of its own in plugins/profile" },
    { .name = "duration", .kind = OPTION_COUNT, .offset = CAPTURE(duration_ms), .preset = "1000", .choices = "MS",
      .help = "how long to record, in milliseconds" },
    { .name = "timeout", .kind = OPTION_COUNT, .offset = CAPTURE(timeout_s), .preset = "60", .choices = "S",
      .help = "how long to wait for somebody to listen, and for the answer beside the duration" },
    { .name = "host-level", .kind = OPTION_COUNT, .offset = CAPTURE(host_level), .preset = "2", .choices = "N",
      .help = "of events on the host: 0 none, 1 those of the program, 2 costly ops too, 3 all" },
    { .name = "device-level", .kind = OPTION_COUNT, .offset = CAPTURE(device_level), .preset = "1", .choices = "N",
      .help = "of events on accelerators: 0 none, 1 all" },
    { .name = "python", .kind = OPTION_FLAG, .offset = CAPTURE(has_python), .help = "calls of Python too, which costs time" },
    { .name = "ask", .kind = OPTION_ONE_OF, .offset = CAPTURE(question), .preset = "record",
      .choices = "record|monitor|begin|snapshot|end",
      .help = "monitor: print what the service says of the moment; begin, snapshot, end: a recording that goes on, the "
              "latest of it, and no more of it" },
    { .name = "header", .kind = OPTION_REPEAT, .offset = CAPTURE(headers), .choices = "NAME:VALUE",
      .help = "metadata for the service, as authorization; VALUE @FILE is what the file holds" },
    { .name = "ca", .kind = OPTION_TEXT, .offset = CAPTURE(authorities), .choices = "FILE",
      .help = "certificates to trust at grpcs://, instead of the system's" },
    { .name = "cert", .kind = OPTION_TEXT, .offset = CAPTURE(certificate), .choices = "FILE",
      .help = "certificate to show at grpcs://" },
    { .name = "key", .kind = OPTION_TEXT, .offset = CAPTURE(key), .choices = "FILE",
      .help = "its key, where --cert does not hold it" },
    { .name = "insecure", .kind = OPTION_FLAG, .offset = CAPTURE(is_unverified),
      .help = "take any certificate at grpcs://: nobody knows who answers" },
};
/* clang-format on */

enum { RUN_BYTES = 40 };

struct worker {
    const char           *name;
    struct arena          arena;
    struct capture_result result;
    struct err            err;
    bool                  is_done;
};
struct capturing {
    struct capture_options options;
    struct worker         *workers;
};

static void capture_one(void *shared, size_t index)
{
    struct capturing *capturing = shared;
    struct worker    *worker = &capturing->workers[index];

    worker->is_done = capture_worker(worker->name, &capturing->options, &worker->arena,
                                     &worker->result, &worker->err);
}

/* The service takes paths from where it was started. */
static char *whole_path(const char *path, struct arena *arena)
{
    char here[PATH_MAX];

    if (path[0] == '/')
        return arena_text(arena, "%s", path);
    return getcwd(here, sizeof here) ? arena_text(arena, "%s/%s", here, path) : NULL;
}

/* "2026_11_21_11_55_52", as TensorFlow names its runs. */
static void name_run(char run[RUN_BYTES])
{
    time_t    now = time(NULL);
    struct tm parts;

    if (!localtime_r(&now, &parts) || !strftime(run, RUN_BYTES, "%Y_%m_%d_%H_%M_%S", &parts))
        snprintf(run, RUN_BYTES, "run");
}

/* Recordings that are here, each a line; what went wrong with others on standard error. All workers
 * failed: the first's error is the command's. */
static bool conclude(struct call *call, const struct worker *workers, size_t count, struct err *err)
{
    size_t done = 0;

    for (size_t i = 0; i < count; i++)
        done += workers[i].is_done;
    for (size_t i = 0; i < count; i++) {
        char words[2 * ERR_TEXT_BYTES + ERR_SOURCE_BYTES];

        if (!workers[i].is_done && (done > 0 || i > 0)) {
            fprintf(stderr, "tfprof: %s\n", err_format(&workers[i].err, words, sizeof words));
            call->status = err_exit_code(workers[i].err.code);
        } else if (workers[i].is_done && workers[i].result.words) {
            printf("%s", workers[i].result.words);
        } else if (workers[i].is_done && workers[i].result.path) {
            printf("%s\n", workers[i].result.path);
        } else if (workers[i].is_done) {
            fprintf(stderr, "tfprof: %s wrote its recording on its own disk, as %s; copy it here\n",
                    workers[i].name, workers[i].result.told);
        }
    }
    if (done == 0)
        *err = workers[0].err;
    return done > 0;
}

static enum capture_question question_of(const struct capture_values *values)
{
    static const char *const names[] = { [CAPTURE_RECORD] = "record",
                                         [CAPTURE_MONITOR] = "monitor",
                                         [CAPTURE_BEGIN] = "begin",
                                         [CAPTURE_SNAPSHOT] = "snapshot",
                                         [CAPTURE_END] = "end" };
    size_t                   at = 0;

    while (at + 1 < ARRAY_COUNT(names) && strcmp(names[at], values->question) != 0)
        at++;
    return (enum capture_question)at;
}

static bool check(const struct capture_values *values, size_t workers, struct err *err)
{
    if (workers == 0)
        return err_set(err, ERR_USAGE,
                       "capture takes the HOST:PORT of each program to record, or pytorch");
    if (!values->log_directory && question_of(values) != CAPTURE_MONITOR &&
        question_of(values) != CAPTURE_END)
        return err_set(err, ERR_USAGE, "--output says where the recording goes");
    if (values->duration_ms < 1 || values->duration_ms > 3600000)
        return err_set(err, ERR_USAGE, "--duration takes 1 to 3600000 milliseconds");
    if (values->timeout_s < 1 || values->timeout_s > 86400)
        return err_set(err, ERR_USAGE, "--timeout takes 1 to 86400 seconds");
    return (values->host_level <= 3 && values->device_level <= 1) ||
           err_set(err, ERR_USAGE, "--host-level takes 0 to 3, --device-level 0 or 1");
}

/* As gRPC allows them: names are lower case, values printable ASCII. */
static bool is_header(struct str name, struct str value)
{
    bool is_good = name.len > 0 && !str_starts(name, STR("grpc-"));

    for (size_t i = 0; i < name.len; i++)
        is_good &= (name.data[i] >= 'a' && name.data[i] <= 'z') ||
                   (name.data[i] >= '0' && name.data[i] <= '9') || name.data[i] == '-' ||
                   name.data[i] == '_' || name.data[i] == '.';
    for (size_t i = 0; i < value.len; i++)
        is_good &= value.data[i] >= ' ' && value.data[i] <= '~';
    return is_good;
}

/* What a file holds, without the ends of lines behind it: so that no secret is on the command line.
 */
static bool read_value(const char *path, struct str *value, struct arena *arena, struct err *err)
{
    enum { MOST_BYTES = 8192 };
    struct file file;

    if (!file_open(&file, path, MOST_BYTES, err))
        return err_source(err, path);
    *value = arena_str(arena, str_trim(file.bytes));
    file_close(&file);
    return value->data || err_memory(err, "a header");
}

static bool add_header(const char *text, struct grpc_metadata *header, struct arena *arena,
                       struct err *err)
{
    struct str value = str_from(text), name = str_cut(&value, ':');

    value = str_trim(value);
    if (value.len && value.data[0] == '@' && !read_value(value.data + 1, &value, arena, err))
        return false;
    if (name.len == strlen(text) || !is_header(name, value)) {
        err_set(err, ERR_USAGE, "--header takes NAME:VALUE, not '%.*s:...'", STR_ARG(name));
        return err_advise(err, "names are lower case, and do not begin with grpc-");
    }
    header->name = arena_text(arena, "%.*s", STR_ARG(name));
    header->value = arena_text(arena, "%.*s", STR_ARG(value));
    return (header->name && header->value) || err_memory(err, "a header");
}

static bool add_headers(const struct option_list *list, struct capture_options *capture,
                        struct arena *arena, struct err *err)
{
    struct grpc_metadata *headers =
        arena_new_array(arena, struct grpc_metadata, list->values.count + 1);

    if (list->values.count > GRPC_MOST_METADATA)
        return err_set(err, ERR_USAGE, "at most %d headers are possible", GRPC_MOST_METADATA);
    if (!headers)
        return err_memory(err, "headers");
    for (size_t i = 0; i < list->values.count; i++)
        if (!add_header(list->values.items[i], &headers[i], arena, err))
            return false;
    capture->metadata = headers;
    capture->metadata_count = list->values.count;
    return true;
}

/* "pytorch" or "pytorch:PROCESS". */
static bool is_pytorch(const char *operand)
{
    return strcmp(operand, "pytorch") == 0 || strncmp(operand, "pytorch:", 8) == 0;
}

static bool choose_process(const char *operand, pid_t *process, struct err *err)
{
    int64_t number = 0;

    if (operand[7] &&
        (!str_to_int64(str_from(operand + 8), &number) || number < 1 || number > INT_MAX))
        return err_set(err, ERR_USAGE, "%s is no pytorch:PROCESS", operand);
    *process = (pid_t)number;
    return true;
}

/* Makes the folders of a run in the log directory. */
static char *make_run(const char *log_directory, struct arena *arena, struct err *err)
{
    char  name[RUN_BYTES];
    char *path;

    name_run(name);
    path = arena_text(arena, "%s/%s", log_directory, name);
    if (!path) {
        err_memory(err, "a path");
        return NULL;
    }
    if (file_make_directory(log_directory, err) && file_make_directory(path, err))
        return path;
    err_source(err, path);
    return NULL;
}

/* PyTorch programs of this machine. */
static bool capture_pytorch(struct call *call, struct err *err)
{
    const struct capture_values *values = call->values;
    struct kineto_options        how = { .duration_ms = values->duration_ms,
                                         .wait_ms = values->timeout_s * 1000,
                                         .has_python = values->has_python };
    struct kineto_results        results = { 0 };

    if (!choose_process(call->operands.values.items[0], &how.process, err))
        return false;
    how.directory = whole_path(values->log_directory, call->arena);
    how.directory = how.directory ? make_run(how.directory, call->arena, err) : NULL;
    if (!how.directory)
        return err->code == ERR_NONE ? err_memory(err, "a path") : false;
    if (!kineto_capture(&how, call->arena, &results, err)) {
        rmdir(how.directory); /* where it is empty */
        return false;
    }
    for (size_t i = 0; i < results.paths.count; i++)
        printf("%s\n", results.paths.items[i]);
    for (size_t i = 0; i < results.missing.count; i++) {
        fprintf(stderr, "tfprof: process %ld wrote no recording\n", (long)results.missing.items[i]);
        call->status = err_exit_code(ERR_INPUT);
    }
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct capture_values *values = call->values;
    size_t                       count = call->operands.values.count;
    char                         name[RUN_BYTES];
    struct capturing             capturing = {
                    .options = { .question = question_of(values),
                                 .duration_ms = values->duration_ms,
                                 .wait_ms = values->timeout_s * 1000,
                                 .host_level = (int)values->host_level,
                                 .device_level = (int)values->device_level,
                                 .has_python = values->has_python,
                                 .tls = { .authorities = values->authorities,
                                          .certificate = values->certificate,
                                          .key = values->key,
                                          .is_unverified = values->is_unverified },
                                 .run = name },
                    .workers = arena_new_array(call->arena, struct worker, count + 1),
    };
    bool is_done;

    if (!check(values, count, err))
        return false;
    if (is_pytorch(call->operands.values.items[0]))
        return count == 1
                   ? capture_pytorch(call, err)
                   : err_set(err, ERR_USAGE, "%s stands alone", call->operands.values.items[0]);
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to sockets that may be closed */
    if (!add_headers(&values->headers, &capturing.options, call->arena, err))
        return false;
    name_run(name);
    capturing.options.log_directory =
        whole_path(values->log_directory ? values->log_directory : ".", call->arena);
    if (!capturing.workers || !capturing.options.log_directory)
        return err_memory(err, "the workers");
    for (size_t i = 0; i < count; i++)
        capturing.workers[i].name = call->operands.values.items[i];
    parallel_for(count, (unsigned)count, capture_one, &capturing);
    is_done = conclude(call, capturing.workers, count, err);
    for (size_t i = 0; i < count; i++)
        arena_free(&capturing.workers[i].arena);
    return is_done;
}

const struct command command_capture = {
    .name = "capture",
    .summary = "record TensorFlow, JAX and PyTorch programs while they run",
    .operands = "HOST:PORT...|pytorch[:PROCESS]",
    .description = "Asks the profiler's service in each program for a recording, of all of them at "
                   "once, and prints where it lies; tfprof advise LOGDIR then says what to do. "
                   "tfprof howto server says how a program starts the service. The service "
                   "itself knows no encryption: forward the port with ssh -L to reach other "
                   "machines, or put a proxy before it and name that grpcs://HOST:PORT.\n"
                   "pytorch records the PyTorch programs of this machine that were started with "
                   "KINETO_USE_DAEMON=1, all for the same time; pytorch:PROCESS that one and those "
                   "that it started. They ask every few seconds whether they are to record.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct capture_values),
    .run = run,
};
