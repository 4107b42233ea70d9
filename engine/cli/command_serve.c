/*
 * serve: the page of each recording of a folder, for browsers. Pages are made by this program once
 * more, in a process of its own, when somebody asks for one: a recording that is damaged or does
 * not fit into memory ends that process and not the server.
 */
#include "base/file.h"
#include "base/macros.h"
#include "base/process.h"
#include "cli/command.h"
#include "read/read.h"
#include "report/page/runs_page.h"
#include "serve/http.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_TEXTS = 8, PATH_BYTES = 4096 };

struct serve_values {
    const char *address, *config;
    int64_t     port, most_rows, most_slices;
    bool        has_full_paths;
};

#define SERVE(field) offsetof(struct serve_values, field)
/* clang-format off */
static const struct option options[] = {
    { .name = "port", .kind = OPTION_COUNT, .offset = SERVE(port), .preset = "8420",
      .choices = "N", .help = "listen there; 0: any port that is free" },
    { .name = "address", .kind = OPTION_TEXT, .offset = SERVE(address), .preset = "127.0.0.1",
      .choices = "IP", .help = "listen at this address; others than those of this machine let everybody read "
      "the recordings who can reach it" },
    { .name = "rows", .kind = OPTION_COUNT, .offset = SERVE(most_rows), .preset = "1000",
      .choices = "N", .help = "rows of each table; 0: all" },
    { .name = "slices", .kind = OPTION_COUNT, .offset = SERVE(most_slices), .preset = "200000",
      .choices = "N", .help = "slices of the timeline, the shorter ones stand together; 0: no timeline" },
    { .name = "full-paths", .kind = OPTION_FLAG, .offset = SERVE(has_full_paths),
      .help = "keep the folders of the recording's files, which pages leave out otherwise" },
    { .name = "config", .kind = OPTION_TEXT, .offset = SERVE(config), .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
};
/* clang-format on */

struct server {
    const struct serve_values *values;
    const char                *folder;
    char                       program[PATH_BYTES]; /* this one's file */
};

struct found_run {
    struct run_entry entry;
    VEC(char *) files;
};
struct found_runs {
    VEC(struct found_run) list;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the list of recordings does not fit the memory");
}

static bool add_file(struct found_run *run, const struct read_listing_row *row, struct arena *arena,
                     struct err *err)
{
    struct stat about;

    if (stat(row->path, &about) == 0 && about.st_mtime > run->entry.modified_s)
        run->entry.modified_s = about.st_mtime;
    run->entry.bytes += row->bytes;
    run->entry.files++;
    return vec_push(&run->files, arena, row->path) || no_memory(err);
}

static struct found_run *run_called(struct found_runs *runs, const char *title, const char *format,
                                    struct arena *arena)
{
    struct found_run fresh = { .entry = { .title = title, .format = format } };

    if (runs->list.count > 0 &&
        strcmp(runs->list.items[runs->list.count - 1].entry.title, title) == 0)
        return &runs->list.items[runs->list.count - 1];
    return vec_push(&runs->list, arena, fresh) ? &runs->list.items[runs->list.count - 1] : NULL;
}

/* Newest first; of those that were written at once the last by name. */
static int compare_runs(const void *a, const void *b)
{
    const struct run_entry *left = &((const struct found_run *)a)->entry,
                           *right = &((const struct found_run *)b)->entry;

    if (left->modified_s != right->modified_s)
        return left->modified_s > right->modified_s ? -1 : 1;
    return -strcmp(left->title, right->title);
}

/* Runs of a log directory; what lies in a plain folder is a run a file. */
static bool find_runs(const char *folder, struct arena *arena, struct found_runs *runs,
                      struct err *err)
{
    struct read_listing listing = { 0 };

    if (!read_list(folder, arena, &listing, err))
        return false;
    for (size_t i = 0; i < listing.rows.count; i++) {
        const struct read_listing_row *row = &listing.rows.items[i];
        struct found_run              *run =
            run_called(runs, *row->run ? row->run : row->name, row->format, arena);

        if (!run || !add_file(run, row, arena, err))
            return err->code ? false : no_memory(err);
    }
    if (runs->list.count > 1)
        qsort(runs->list.items, runs->list.count, sizeof *runs->list.items, compare_runs);
    return true;
}

static const struct found_run *find_run(const struct found_runs *runs, const char *title)
{
    for (size_t i = 0; title && i < runs->list.count; i++)
        if (strcmp(runs->list.items[i].entry.title, title) == 0)
            return &runs->list.items[i];
    return NULL;
}

static struct run_entry *entries(const struct found_runs *runs, struct arena *arena)
{
    struct run_entry *entry = arena_new_array(arena, struct run_entry, runs->list.count + 1);

    for (size_t i = 0; entry && i < runs->list.count; i++)
        entry[i] = runs->list.items[i].entry;
    return entry;
}

/* Reply with what is in the text, which lives in the reply's arena. */
static void give(struct http_reply *reply, const char *type, const struct text *text)
{
    if (!text_is_whole(text)) {
        reply->status = 500;
        reply->body = STR("the answer does not fit the memory\n");
        return;
    }
    reply->type = type;
    reply->body = text_str(text);
}

static void give_runs(const struct server *server, bool is_json, struct http_reply *reply)
{
    struct text       text = { .arena = reply->arena };
    struct found_runs runs = { 0 };
    struct err        err = { 0 };
    char              words[2 * ERR_TEXT_BYTES + ERR_SOURCE_BYTES];
    bool              is_done = find_runs(server->folder, reply->arena, &runs, &err);
    struct run_entry *entry = entries(&runs, reply->arena);

    if (!entry) {
        reply->status = 500;
        return;
    }
    if (!is_done && err.code != ERR_INPUT) /* which a folder is where nothing lies yet */
        reply->status = 500;
    if (is_json)
        runs_json(entry, runs.list.count, &text);
    else
        runs_page(server->folder, entry, runs.list.count,
                  is_done ? NULL : err_format(&err, words, sizeof words), &text);
    give(reply, is_json ? "application/json" : "text/html; charset=utf-8", &text);
}

struct making {
    const char *command, *type;
    const char *format; /* of --format, or NULL */
    bool        is_page;
};

static bool add_options(const struct server *server, const struct making *making, char **arguments,
                        size_t *count, struct arena *arena)
{
    const struct serve_values *values = server->values;
    size_t                     first = *count;

    if (values->config)
        arguments[(*count)++] = arena_text(arena, "--config=%s", values->config);
    if (making->format)
        arguments[(*count)++] = arena_text(arena, "--format=%s", making->format);
    if (making->is_page) {
        arguments[(*count)++] = arena_text(arena, "--rows=%lld", (long long)values->most_rows);
        arguments[(*count)++] = arena_text(arena, "--slices=%lld", (long long)values->most_slices);
        if (values->has_full_paths)
            arguments[(*count)++] = arena_text(arena, "--full-paths");
    }
    arguments[(*count)++] = arena_text(arena, "--output=-");
    arguments[(*count)++] = arena_text(arena, "--");
    for (size_t i = first; i < *count; i++)
        if (!arguments[i])
            return false;
    return true;
}

static char **command_line(struct server *server, const struct making *making,
                           const struct found_run *run, struct arena *arena)
{
    char **arguments = arena_new_array(arena, char *, run->files.count + 4 + OPTION_TEXTS);
    size_t count = 0;

    if (!arguments)
        return NULL;
    arguments[count++] = server->program;
    arguments[count++] = arena_text(arena, "%s", making->command);
    if (!arguments[1] || !add_options(server, making, arguments, &count, arena))
        return NULL;
    for (size_t i = 0; i < run->files.count; i++)
        arguments[count++] = run->files.items[i];
    arguments[count] = NULL;
    return arguments;
}

static void give_made(struct server *server, const struct making *making,
                      const struct found_run *run, struct http_reply *reply)
{
    struct process_output output = { .out = { .arena = reply->arena },
                                     .err = { .arena = reply->arena } };
    struct text           page = { .arena = reply->arena };
    struct err            err = { 0 };
    char                **arguments = command_line(server, making, run, reply->arena);

    if (!arguments || !process_run(arguments, &output, &err)) {
        reply->status = 500;
        reply->body = STR("no process can be started\n");
        return;
    }
    if (output.status <= 1) { /* 1: something was found */
        give(reply, making->type, &output.out);
        return;
    }
    reply->status = 500;
    trouble_page(run->entry.title, text_str(&output.err), &page);
    give(reply, "text/html; charset=utf-8", &page);
}

static void answer(void *context, const struct http_request *request, struct http_reply *reply)
{
    static const struct making page = { "report", "text/html; charset=utf-8", NULL, true };
    static const struct making advice = { "advise", "application/json", "json", false };
    struct server             *server = context;
    bool                       is_page = strcmp(request->path, "/report") == 0;
    struct found_runs          runs = { 0 };
    struct err                 err = { 0 };
    const struct found_run    *run;

    if (strcmp(request->path, "/") == 0 || strcmp(request->path, "/runs.json") == 0) {
        give_runs(server, request->path[1] != 0, reply);
        return;
    }
    if (!is_page && strcmp(request->path, "/advice") != 0) {
        reply->status = 404;
        reply->body = STR("there is no such page; / has all recordings\n");
        return;
    }
    run = find_runs(server->folder, reply->arena, &runs, &err)
              ? find_run(&runs, http_argument(request, "run"))
              : NULL;
    if (run) {
        give_made(server, is_page ? &page : &advice, run, reply);
        return;
    }
    reply->status = 404;
    reply->body = STR("there is no such recording; / has all of them\n");
}

static bool find_program(struct server *server, struct err *err)
{
    ssize_t len = readlink("/proc/self/exe", server->program, sizeof server->program - 1);

    if (len <= 0)
        return err_set(err, ERR_INPUT, "/proc/self/exe does not tell where this program lies");
    server->program[len] = 0;
    return true;
}

/* Until Ctrl-C, or somebody ends the program. */
static bool serve(struct server *server, struct err *err)
{
    struct http_server http = { .answer = answer, .context = server };
    const char        *address = server->values->address;
    sigset_t           ends;
    int                signal_number;

    /* Before there are threads, so that all of them leave the signals to this one. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    if (!http_start(&http, address, (uint16_t)server->values->port, err))
        return false;
    printf(strchr(address, ':') ? "http://[%s]:%u/ shows %s; Ctrl-C ends it\n"
                                : "http://%s:%u/ shows %s; Ctrl-C ends it\n",
           address, http.port, server->folder);
    fflush(stdout);
    sigwait(&ends, &signal_number);
    http_stop(&http);
    return true;
}

static bool run(struct call *call, struct err *err)
{
    struct server server = { .values = call->values };

    if (call->operands.values.count != 1)
        return err_set(err, ERR_USAGE, "serve takes one directory");
    server.folder = call->operands.values.items[0];
    if (!file_is_directory(server.folder)) {
        (void)err_set(err, ERR_INPUT, "%s is no directory", server.folder);
        return err_advise(err, "tfprof report makes the page of one recording");
    }
    if (server.values->port > UINT16_MAX)
        return err_set(err, ERR_USAGE, "--port takes 0 to 65535, not %lld",
                       (long long)server.values->port);
    return find_program(&server, err) && serve(&server, err);
}

const struct command command_serve = {
    .name = "serve",
    .summary = "show the pages of a folder's recordings to browsers",
    .operands = "DIRECTORY",
    .description =
        "Lists the runs of a log directory, or the recordings in a folder, newest first, with the "
        "page of each as tfprof report makes it, and its advice as JSON. It looks again whenever a "
        "page is asked for. It listens on this machine alone unless --address says otherwise.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct serve_values),
    .run = run,
};
