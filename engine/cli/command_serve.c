/*
 * serve: the page of each recording of a folder, for browsers. Pages are made by this program once
 * more, in a process of its own, when somebody asks for one: a recording that is damaged or does
 * not fit into memory ends that process and not the server. The process stays for what a page asks
 * for later, until others are looked at.
 */
#include "base/file.h"
#include "base/macros.h"
#include "base/process.h"
#include "base/sort.h"
#include "cli/command.h"
#include "read/read.h"
#include "report/page/runs_page.h"
#include "serve/http.h"
#include "serve/keeper.h"

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
    struct keeper              keeper;              /* of what makes pages */
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

    return IN_ORDER(COMPARE(right->modified_s, left->modified_s),
                    -strcmp(left->title, right->title));
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

/* What this program is started as. */
struct making {
    const char *command;
    bool        is_page; /* it stays and answers requests; else it writes JSON and ends */
};
static const struct making page_making = { "report", true }, advice_making = { "advise", false };

static bool add_options(const struct server *server, const struct making *making, char **arguments,
                        size_t *count, struct arena *arena)
{
    const struct serve_values *values = server->values;
    size_t                     first = *count;

    if (values->config)
        arguments[(*count)++] = arena_text(arena, "--config=%s", values->config);
    if (making->is_page) {
        arguments[(*count)++] = arena_text(arena, "--requests");
        arguments[(*count)++] = arena_text(arena, "--rows=%lld", (long long)values->most_rows);
        arguments[(*count)++] = arena_text(arena, "--slices=%lld", (long long)values->most_slices);
        if (values->has_full_paths)
            arguments[(*count)++] = arena_text(arena, "--full-paths");
    } else {
        arguments[(*count)++] = arena_text(arena, "--format=json");
        arguments[(*count)++] = arena_text(arena, "--output=-");
    }
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

static void give_trouble(const struct found_run *run, struct str words, struct http_reply *reply)
{
    struct text page = { .arena = reply->arena };

    trouble_page(run->entry.title, words, &page);
    give(reply, "text/html; charset=utf-8", &page);
    reply->status = 500;
}

static void give_advice(struct server *server, const struct found_run *run,
                        struct http_reply *reply)
{
    struct process_output output = { .out = { .arena = reply->arena },
                                     .err = { .arena = reply->arena } };
    struct err            err = { 0 };
    char                **arguments = command_line(server, &advice_making, run, reply->arena);

    if (!arguments || !process_run(arguments, &output, &err))
        give_trouble(run, STR("no process can be started"), reply);
    else if (output.status > 1) /* 1: something was found */
        give_trouble(run, text_str(&output.err), reply);
    else
        give(reply, "application/json", &output.out);
}

/* A recording that was written anew since is another one. */
static char *key_of(const struct found_run *run, struct arena *arena)
{
    return arena_text(arena, "%lld %llu %zu %s", (long long)run->entry.modified_s,
                      (unsigned long long)run->entry.bytes, run->entry.files, run->entry.title);
}

/* What the program that read the recording answers to a line. */
static void give_asked(struct server *server, const struct found_run *run, const char *line,
                       const char *type, struct http_reply *reply)
{
    struct process_answer answer = { .bytes = { .arena = reply->arena } };
    struct text           trouble = { .arena = reply->arena };
    char                **arguments = command_line(server, &page_making, run, reply->arena);
    char                 *key = key_of(run, reply->arena);

    if (!arguments || !key || !line)
        reply->status = 500;
    else if (!keeper_ask(&server->keeper, key, arguments, str_from(line), &answer, &trouble))
        give_trouble(run, text_str(&trouble), reply);
    else if (strcmp(answer.word, "ok") == 0)
        give(reply, type, &answer.bytes);
    else {
        give(reply, "text/plain", &answer.bytes);
        reply->status = 404;
    }
}

/* An argument of digits, so that no line can be made of it; else "". */
static const char *time_argument(const struct http_request *request, const char *name)
{
    const char *text = http_argument(request, name);

    return text && text[strspn(text, "-0123456789")] == 0 ? text : "";
}

static const char *name_argument(const struct http_request *request, const char *name)
{
    const char *text = http_argument(request, name);

    return text && text[strcspn(text, "\r\n")] == 0 ? text : "";
}

static void answer_page(struct server *server, const struct found_run *run,
                        const struct http_request *request, struct http_reply *reply)
{
    (void)request;
    give_asked(server, run, "page", "text/html; charset=utf-8", reply);
}

static void answer_advice(struct server *server, const struct found_run *run,
                          const struct http_request *request, struct http_reply *reply)
{
    (void)request;
    give_advice(server, run, reply);
}

static void answer_slices(struct server *server, const struct found_run *run,
                          const struct http_request *request, struct http_reply *reply)
{
    give_asked(server, run,
               arena_text(reply->arena, "slices %s %s", time_argument(request, "from"),
                          time_argument(request, "to")),
               "application/json", reply);
}

static void answer_table(struct server *server, const struct found_run *run,
                         const struct http_request *request, struct http_reply *reply)
{
    give_asked(server, run, arena_text(reply->arena, "table %s", name_argument(request, "name")),
               "application/json", reply);
}

static const struct of_run { /* addresses that take a recording */
    const char *path;
    void (*answer)(struct server *server, const struct found_run *run,
                   const struct http_request *request, struct http_reply *reply);
} of_runs[] = {
    { "/report", answer_page },
    { "/advice", answer_advice },
    { "/slices", answer_slices },
    { "/table", answer_table },
};

static const struct of_run *find_address(const char *path)
{
    for (size_t i = 0; i < ARRAY_COUNT(of_runs); i++)
        if (strcmp(of_runs[i].path, path) == 0)
            return &of_runs[i];
    return NULL;
}

static void answer(void *context, const struct http_request *request, struct http_reply *reply)
{
    struct server          *server = context;
    const struct of_run    *address = find_address(request->path);
    struct found_runs       runs = { 0 };
    struct err              err = { 0 };
    const struct found_run *run;

    if (strcmp(request->path, "/") == 0 || strcmp(request->path, "/runs.json") == 0) {
        give_runs(server, request->path[1] != 0, reply);
        return;
    }
    if (!address) {
        reply->status = 404;
        reply->body = STR("there is no such page; / has all recordings\n");
        return;
    }
    run = find_runs(server->folder, reply->arena, &runs, &err)
              ? find_run(&runs, http_argument(request, "run"))
              : NULL;
    if (run) {
        address->answer(server, run, request, reply);
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
    keeper_start(&server->keeper);
    if (!http_start(&http, address, (uint16_t)server->values->port, err)) {
        keeper_end(&server->keeper);
        return false;
    }
    printf(strchr(address, ':') ? "http://[%s]:%u/ shows %s; Ctrl-C ends it\n"
                                : "http://%s:%u/ shows %s; Ctrl-C ends it\n",
           address, http.port, server->folder);
    fflush(stdout);
    sigwait(&ends, &signal_number);
    http_stop(&http);
    keeper_end(&server->keeper);
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
