#include "capture/profiler_service.h"

#include "base/file.h"
#include "base/macros.h"
#include "base/trace.h"
#include "base/wire_out.h"
#include "capture/grpc.h"
#include "read/proto/wire.h"

#include "profiler_service.pb-c.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Fields of ProfileResponse in tsl/profiler/protobuf/profiler_service.proto: recordings are long
 * and not copied. */
enum { RESPONSE_IS_EMPTY = 7, RESPONSE_XSPACE = 8 };
enum { MOST_EVENTS = 1000000, MOST_BYTES = 1 << 30, RETRY_MS = 200 };
enum { GRPC_UNIMPLEMENTED = 12, GRPC_ALREADY_EXISTS = 6, GRPC_UNAVAILABLE = 14 };

struct address {
    char host[256], port[8];
    bool is_encrypted;
};

/* What stands behind grpc:// and grpcs://. */
static const char *without_scheme(const char *worker)
{
    return strncmp(worker, "grpc://", 7) == 0    ? worker + 7
           : strncmp(worker, "grpcs://", 8) == 0 ? worker + 8
                                                 : worker;
}

/* "localhost:6009", "grpcs://10.0.0.1:6009", "[::1]:6009". */
static bool parse(const char *worker, struct address *address, struct err *err)
{
    const char *at = without_scheme(worker);
    const char *colon = strrchr(at, ':');
    size_t      host = colon ? (size_t)(colon - at) : 0, port = colon ? strlen(colon + 1) : 0;

    if (host == 0 || host >= sizeof address->host || port == 0 || port >= sizeof address->port ||
        strspn(colon + 1, "0123456789") != port || strtoul(colon + 1, NULL, 10) > UINT16_MAX ||
        memchr(at, '/', host)) {
        err_set(err, ERR_USAGE, "%s is no HOST:PORT", worker);
        return err_advise(err, "as in localhost:6009");
    }
    address->is_encrypted = strncmp(worker, "grpcs://", 8) == 0;
    if (at[0] == '[' && colon[-1] == ']')
        at++, host -= 2;
    memcpy(address->host, at, host);
    address->host[host] = 0;
    memcpy(address->port, colon + 1, port + 1);
    return true;
}

static int64_t unix_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void build_request(const struct capture_options *options, const char *worker,
                          const char *root, struct text *request)
{
    char                           *tools[] = { (char *)"xplane.pb" };
    Tfprof__Service__ProfileOptions inner = TFPROF__SERVICE__PROFILE_OPTIONS__INIT;
    Tfprof__Service__ProfileRequest outer = TFPROF__SERVICE__PROFILE_REQUEST__INIT;
    uint8_t                        *bytes;

    inner.include_dataset_ops = true;
    inner.host_tracer_level = (uint32_t)options->host_level;
    inner.device_tracer_level = (uint32_t)options->device_level;
    inner.python_tracer_level = options->has_python;
    inner.version = 1;
    inner.enable_hlo_proto = true;
    inner.start_timestamp_ns = (uint64_t)unix_now_ns();
    inner.duration_ms = (uint64_t)options->duration_ms;
    inner.repository_path = (char *)options->log_directory;
    outer.duration_ms = (uint64_t)options->duration_ms;
    outer.max_events = MOST_EVENTS;
    outer.tools = tools;
    outer.n_tools = ARRAY_COUNT(tools);
    outer.opts = &inner;
    outer.repository_root = (char *)root;
    outer.session_id = (char *)options->run;
    outer.host_name = (char *)worker;
    outer.emit_xspace = true;
    bytes = arena_alloc(request->arena, tfprof__service__profile_request__get_packed_size(&outer));
    request->is_cut = request->is_cut || !bytes;
    if (bytes)
        text_add(request, (struct str) { (const char *)bytes,
                                         tfprof__service__profile_request__pack(&outer, bytes) });
}

bool capture_response_read(struct str message, struct str *xspace, bool *is_empty)
{
    struct wire field = wire_start(message);

    *xspace = (struct str) { 0 };
    *is_empty = false;
    while (wire_next(&field)) {
        if (field.number == RESPONSE_XSPACE && field.type == WIRE_BYTES)
            *xspace = field.bytes;
        else if (field.number == RESPONSE_IS_EMPTY && field.type == WIRE_VARINT)
            *is_empty = field.value != 0;
    }
    return !field.is_broken;
}

/* MonitorRequest: duration_ms = 1, monitoring_level = 2, timestamp = 3. */
static void build_monitor_request(const struct capture_options *options, struct text *request)
{
    enum { LEVEL = 2 };

    wire_out_number(request, 1, (uint64_t)options->duration_ms);
    wire_out_number(request, 2, LEVEL);
    wire_out_number(request, 3, 1);
}

static double real_of(const struct wire *field)
{
    double value = 0;

    if (field->type == WIRE_64)
        memcpy(&value, &field->value, sizeof value);
    return value;
}

/* ProfilerServiceMonitorResult. */
static void add_result(struct str message, struct text *words)
{
    static const char *const names[] = { NULL,
                                         NULL,
                                         "device idle, %",
                                         "matrix units used, %",
                                         "step, mean ms",
                                         "step, least ms",
                                         "step, most ms",
                                         "infeed, mean %",
                                         "infeed, least %",
                                         "infeed, most %" };
    struct wire              field = wire_start(message);

    while (wire_next(&field))
        if (field.number < ARRAY_COUNT(names) && names[field.number])
            text_print(words, "%s: %.3g\n", names[field.number], real_of(&field));
}

/* MonitorResponse: data = 1, monitor_result = 10. False: damaged. */
static bool monitor_read(struct str message, struct text *words)
{
    struct wire field = wire_start(message);

    while (wire_next(&field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == 1)
            text_print(words, "%.*s\n", STR_ARG(str_trim(field.bytes)));
        else if (field.number == 10)
            add_result(field.bytes, words);
    }
    return !field.is_broken;
}

static void pause_ms(int64_t ms)
{
    struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&time, NULL);
}

/* Tries again where nobody listens yet, or another recording is being made. */
static bool ask(const struct grpc_call *call, const struct capture_options *options,
                struct grpc_answer *answer, struct err *err)
{
    int64_t until_ns = trace_now_ns() + options->wait_ms * 1000000;
    bool    is_answered, may_try;

    do {
        struct arena *arena = answer->message.arena;

        *answer = (struct grpc_answer) { .message.arena = arena, .words.arena = arena };
        *err = (struct err) { 0 };
        is_answered = grpc_call_run(call, answer, err);
        may_try = (is_answered
                       ? answer->status == GRPC_ALREADY_EXISTS || answer->status == GRPC_UNAVAILABLE
                       : answer->is_refused) &&
                  trace_now_ns() < until_ns;
        if (may_try)
            pause_ms(RETRY_MS);
    } while (may_try);
    return is_answered;
}

static bool say_status(const char *worker, const struct grpc_answer *answer, struct err *err)
{
    struct str words = str_slice(text_str(&answer->words), 0, 200);

    err_set(err, ERR_INPUT, "%s: the service refuses with gRPC status %d%s%.*s", worker,
            answer->status, words.len > 0 ? ": " : "", STR_ARG(words));
    return err_advise(
        err, answer->status == GRPC_UNIMPLEMENTED
                 ? "is that the port of a profiler's service, and one that knows the question?"
             : answer->status == GRPC_ALREADY_EXISTS ? "another recording is being made"
                                                     : "see the log of that program");
}

/* "localhost:6009" -> ".../localhost_6009.xplane.pb", as the service names it. */
static char *recording_path(const struct capture_options *options, const char *worker,
                            const char *root, struct arena *arena)
{
    char *path = arena_text(arena, "%s/%s/%s.xplane.pb", root, options->run, worker);

    for (char *at = path ? strrchr(path, '/') : NULL; at && *at; at++)
        if (*at == ':')
            *at = '_';
    return path;
}

static bool make_folders(char *path, struct err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        bool is_made;

        *slash = 0;
        is_made = file_is_directory(path) || file_make_directory(path, err);
        *slash = '/';
        if (!is_made)
            return false;
    }
    return file_is_directory(path) || file_make_directory(path, err);
}

static bool keep(const struct capture_options *options, const char *root, struct str xspace,
                 const char *path, struct arena *arena, struct err *err)
{
    char *run = arena_text(arena, "%s/%s", root, options->run);

    if (!run)
        return err_memory(err, "a path");
    return make_folders(run, err) && file_write(path, xspace, err);
}

static bool take(const char *worker, const struct capture_options *options, const char *root,
                 const struct grpc_answer *answer, struct capture_result *result,
                 struct arena *arena, struct err *err)
{
    char      *path = recording_path(options, worker, root, arena);
    struct str xspace;
    bool       is_empty;

    if (!path || !text_is_whole(&answer->message))
        return err_set(err, ERR_LIMIT, "%s: the answer does not fit the memory", worker);
    if (answer->status != 0)
        return say_status(worker, answer, err);
    if (!capture_response_read(text_str(&answer->message), &xspace, &is_empty))
        return err_set(err, ERR_FORMAT, "%s: the answer is no ProfileResponse", worker);
    if (is_empty) {
        err_set(err, ERR_INPUT, "%s: nothing happened while it was recorded", worker);
        return err_advise(err, "record longer, or while the program works");
    }
    if (xspace.len > 0 && !keep(options, root, xspace, path, arena, err))
        return false;
    *(xspace.len > 0 || file_exists(path) ? &result->path : &result->told) = path;
    return true;
}

/* Of questions that are answered by no recording. */
static bool take_words(const char *worker, const struct capture_options *options,
                       const struct grpc_answer *answer, struct capture_result *result,
                       struct err *err)
{
    struct text words = { .arena = answer->message.arena };

    if (answer->status != 0)
        return say_status(worker, answer, err);
    if (options->question == CAPTURE_MONITOR && !monitor_read(text_str(&answer->message), &words))
        return err_set(err, ERR_FORMAT, "%s: the answer is no MonitorResponse", worker);
    text_print(&words, "%s", ""); /* an empty one is a text, too */
    result->words = words.data;
    return text_is_whole(&words) || err_memory(err, "the answer");
}

bool capture_worker(const char *worker, const struct capture_options *options, struct arena *arena,
                    struct capture_result *result, struct err *err)
{
    static const char *const methods[] = { [CAPTURE_RECORD] = "Profile",
                                           [CAPTURE_MONITOR] = "Monitor",
                                           [CAPTURE_BEGIN] = "StartContinuousProfiling",
                                           [CAPTURE_SNAPSHOT] = "GetSnapshot",
                                           [CAPTURE_END] = "StopContinuousProfiling" };
    struct text              request = { .arena = arena };
    struct grpc_answer       answer = { .message.arena = arena };
    struct address           address = { 0 };
    struct grpc_call         call = { .host = address.host,
                                      .port = address.port,
                                      .path = arena_text(arena, "/tensorflow.ProfilerService/%s",
                                                         methods[options->question]),
                                      .wait_ms = options->duration_ms + options->wait_ms,
                                      .metadata = options->metadata,
                                      .metadata_count = options->metadata_count,
                                      .most_bytes = MOST_BYTES };
    char                    *root = arena_text(arena, "%s/plugins/profile", options->log_directory);

    *result = (struct capture_result) { 0 };
    if (!parse(worker, &address, err))
        return false;
    worker = without_scheme(worker);
    call.tls = address.is_encrypted ? &options->tls : NULL;
    if (root && (options->question == CAPTURE_RECORD || options->question == CAPTURE_BEGIN))
        build_request(options, worker, root, &request);
    else if (options->question == CAPTURE_MONITOR)
        build_monitor_request(options, &request);
    if (!root || !call.path || !text_is_whole(&request))
        return err_memory(err, "the request");
    call.request = text_str(&request);
    if (!ask(&call, options, &answer, err))
        return false;
    return options->question == CAPTURE_RECORD || options->question == CAPTURE_SNAPSHOT
               ? take(worker, options, root, &answer, result, arena, err)
               : take_words(worker, options, &answer, result, err);
}
