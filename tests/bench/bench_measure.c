/*
 * Measures; prints one line of numbers.
 *   usage: bench_measure run REPEATS COMMAND...      best seconds, most anonymous bytes
 *          bench_measure decode REPEATS FILE         best seconds from bytes to the model, of
 *                                                    protobuf-c's unpack, of decoding alone
 *          bench_measure stages REPEATS PATH...      best seconds of read, analyses, rules; of
 *                                                    order and critical path of the op graph
 *          bench_measure schedule REPEATS PATH...    nodes of the event graph of the steps; best
 *                                                    seconds of scheduling it
 */
#include "bench_process.h"

#include "analyze/analysis.h"
#include "analyze/schedule/event_schedule.h"
#include "base/trace.h"
#include "read/read.h"
#include "read/xspace/xspace_planes.h"
#include "rules/advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xplane.pb-c.h>

static void fail(const struct err *err)
{
    char text[2048];

    fprintf(stderr, "bench_measure: %s\n", err_format(err, text, sizeof text));
    exit(1);
}

static double seconds_since(int64_t start_ns)
{
    return (double)(trace_now_ns() - start_ns) / 1e9;
}

static void keep_least(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

static int measure_run(int repeats, char *const *arguments)
{
    struct process_cost best = { 0 };

    for (int i = 0; i < repeats; i++) {
        struct process_cost cost = process_run(arguments);

        if (cost.status > 1) {
            fprintf(stderr, "bench_measure: %s ended with status %d\n", arguments[0], cost.status);
            return 1;
        }
        keep_least(&best.wall_s, cost.wall_s);
        if (cost.anonymous_bytes > best.anonymous_bytes)
            best.anonymous_bytes = cost.anonymous_bytes;
    }
    printf("%.6f %llu\n", best.wall_s, (unsigned long long)best.anonymous_bytes);
    return 0;
}

/* The whole way from bytes to the model, on one thread. */
static double read_seconds(const char *path)
{
    struct read_options options = { .threads = 1 };
    struct arena        arena = { 0 };
    struct profile      profile;
    struct err          err = { 0 };
    int64_t             start_ns = trace_now_ns();
    double              seconds;

    if (!profile_init(&profile, &arena) || !read_profile(&path, 1, &options, &profile, &err))
        fail(&err);
    seconds = seconds_since(start_ns);
    arena_free(&arena);
    return seconds;
}

static bool plan(struct xhost *host, struct xspace_tasks *tasks, struct profile *profile,
                 struct arena *scratch, struct err *err)
{
    struct host row = { .rank = -1 };

    tasks->ops.arena = scratch;
    if (!xspace_index(host->input->file.bytes, scratch, &host->space, err) ||
        !vec_push(&profile->hosts, profile->arena, row))
        return false;
    xspace_environment(host, profile);
    return xspace_plan(host, tasks, profile, scratch);
}

/* The decoder alone, from bytes to rows of events and stats, as unpacking is from bytes to structs:
 * no line is put into order and no column into the model. */
static double decode_seconds(const char *path)
{
    struct read_input   input = { .path = path };
    struct xhost        host = { .input = &input };
    struct xspace_tasks tasks = { 0 };
    struct sink         sink = { 0 };
    struct arena        arena = { 0 }, scratch = { 0 };
    struct profile      profile;
    struct err          err = { 0 };
    int64_t             start_ns = trace_now_ns();
    double              seconds;

    if (!file_open(&input.file, path, 0, &err) || !profile_init(&profile, &arena) ||
        !plan(&host, &tasks, &profile, &scratch, &err) ||
        !sink_init(&sink, &profile, tasks.type_count))
        fail(&err);
    for (size_t i = 0; i < tasks.list.count; i++) {
        struct line_task *task = &tasks.list.items[i];
        struct chunk      chunk = { .task = task, .bytes = task->line.bytes };

        while (!chunk.is_last) {
            size_t done = (size_t)(chunk.bytes.data - task->line.bytes.data);

            chunk.bytes.len = task->line.bytes.len - done;
            file_want(task->file, (size_t)(chunk.bytes.data - input.file.bytes.data),
                      (size_t)(chunk.bytes.data - input.file.bytes.data) +
                          (chunk.bytes.len < CHUNK_BYTES ? chunk.bytes.len : CHUNK_BYTES));
            sink_clear(&sink);
            xspace_chunk_decode(&chunk, &sink);
            chunk.bytes.data += chunk.bytes.len;
        }
    }
    seconds = seconds_since(start_ns);
    sink_free(&sink);
    arena_free(&scratch);
    arena_free(&arena);
    file_close(&input.file);
    return seconds;
}

static double unpack_seconds(const char *path)
{
    struct file                   file = { 0 };
    struct err                    err = { 0 };
    Tensorflow__Profiler__XSpace *space;
    int64_t                       start_ns = trace_now_ns();
    double                        seconds;

    if (!file_open(&file, path, 0, &err))
        fail(&err);
    space = tensorflow__profiler__xspace__unpack(NULL, file.bytes.len,
                                                 (const uint8_t *)file.bytes.data);
    seconds = seconds_since(start_ns);
    if (!space) {
        fprintf(stderr, "bench_measure: protobuf-c refuses %s\n", path);
        exit(1);
    }
    tensorflow__profiler__xspace__free_unpacked(space, NULL);
    file_close(&file);
    return seconds;
}

static int measure_decode(int repeats, const char *path)
{
    double model_s = 0, decode_s = 0, library_s = 0;

    for (int i = 0; i < repeats; i++) {
        keep_least(&model_s, read_seconds(path));
        keep_least(&decode_s, decode_seconds(path));
        keep_least(&library_s, unpack_seconds(path));
    }
    printf("%.6f %.6f %.6f\n", model_s, library_s, decode_s);
    return 0;
}

struct stages {
    double read_s, analyses_s, rules_s, graph_s;
};

static double graph_seconds(struct study *study, struct err *err)
{
    int64_t start_ns = trace_now_ns();

    if (study->profile->graph && !analysis_op_graph.run(study, err))
        fail(err);
    return seconds_since(start_ns);
}

static void measure_once(const char *const *paths, size_t count, struct stages *best)
{
    struct read_options   options = { 0 };
    struct study_options  all = { .first_step = INT64_MIN, .last_step = INT64_MAX };
    struct advise_options rules = { 0 };
    struct arena          arena = { 0 }, report = { 0 };
    struct profile        profile;
    struct study          study;
    struct advice         advice = { 0 };
    struct err            err = { 0 };
    int64_t               start_ns = trace_now_ns();

    if (!profile_init(&profile, &arena) || !read_profile(paths, count, &options, &profile, &err))
        fail(&err);
    keep_least(&best->read_s, seconds_since(start_ns));
    start_ns = trace_now_ns();
    if (!study_run(&study, &profile, &all, &report, &err))
        fail(&err);
    keep_least(&best->analyses_s, seconds_since(start_ns));
    start_ns = trace_now_ns();
    if (!advise_run(&study, &rules, &report, &advice, &err))
        fail(&err);
    keep_least(&best->rules_s, seconds_since(start_ns));
    keep_least(&best->graph_s, graph_seconds(&study, &err));
    arena_free(&report);
    arena_free(&arena);
}

static int measure_stages(int repeats, char *const *paths, size_t count)
{
    struct stages best = { 0 };

    for (int i = 0; i < repeats; i++)
        measure_once((const char *const *)paths, count, &best);
    printf("%.6f %.6f %.6f %.6f\n", best.read_s, best.analyses_s, best.rules_s, best.graph_s);
    return 0;
}

static int measure_schedule(int repeats, const char *const *paths, size_t count)
{
    struct read_options  options = { 0 };
    struct study_options all = { .first_step = INT64_MIN, .last_step = INT64_MAX };
    struct arena         arena = { 0 }, report = { 0 };
    struct profile       profile;
    struct study         study;
    struct event_graph   graph = { 0 };
    struct err           err = { 0 };
    double               best_s = 0;

    if (!profile_init(&profile, &arena) || !read_profile(paths, count, &options, &profile, &err) ||
        !study_run(&study, &profile, &all, &report, &err) ||
        !event_graph_make(&graph, &study, NO_ID, &report, &err))
        fail(&err);
    for (int i = 0; i < repeats; i++) {
        struct arena    scratch = { 0 };
        struct schedule schedule;
        int64_t         start_ns = trace_now_ns();

        if (!schedule_make(&schedule, &graph, NULL, &scratch))
            return 1;
        keep_least(&best_s, seconds_since(start_ns));
        arena_free(&scratch);
    }
    printf("%zu %.6f\n", graph.nodes.count, best_s);
    arena_free(&report);
    arena_free(&arena);
    return 0;
}

int main(int argument_count, char **arguments)
{
    const char *kind = argument_count > 3 ? arguments[1] : "";
    int         repeats = argument_count > 3 ? atoi(arguments[2]) : 0;

    if (strcmp(kind, "run") == 0 && repeats > 0)
        return measure_run(repeats, arguments + 3);
    if (strcmp(kind, "decode") == 0 && repeats > 0)
        return measure_decode(repeats, arguments[3]);
    if (strcmp(kind, "stages") == 0 && repeats > 0)
        return measure_stages(repeats, arguments + 3, (size_t)argument_count - 3);
    if (strcmp(kind, "schedule") == 0 && repeats > 0)
        return measure_schedule(repeats, (const char *const *)arguments + 3,
                                (size_t)argument_count - 3);
    fprintf(stderr, "usage: bench_measure run|decode|stages|schedule REPEATS WHAT...\n");
    return 2;
}
