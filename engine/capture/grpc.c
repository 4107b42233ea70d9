#include "capture/grpc.h"

#include "base/library.h"
#include "base/macros.h"
#include "base/trace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_HEADERS = 8 + GRPC_MOST_METADATA };
enum { PREFIX = 5, MOST_WORDS = 2000 }; /* of a frame: whether it is compressed, and its length */

#define NGHTTP2(FUNCTION, table)                                                                   \
    FUNCTION(nghttp2_session_callbacks_new, table)                                                 \
    FUNCTION(nghttp2_session_callbacks_del, table)                                                 \
    FUNCTION(nghttp2_session_callbacks_set_on_data_chunk_recv_callback, table)                     \
    FUNCTION(nghttp2_session_callbacks_set_on_header_callback, table)                              \
    FUNCTION(nghttp2_session_callbacks_set_on_stream_close_callback, table)                        \
    FUNCTION(nghttp2_session_client_new, table)                                                    \
    FUNCTION(nghttp2_session_del, table)                                                           \
    FUNCTION(nghttp2_submit_settings, table)                                                       \
    FUNCTION(nghttp2_submit_request, table)                                                        \
    FUNCTION(nghttp2_session_mem_send, table)                                                      \
    FUNCTION(nghttp2_session_mem_recv, table)                                                      \
    FUNCTION(nghttp2_session_want_read, table)                                                     \
    FUNCTION(nghttp2_strerror, table)
LIBRARY(http2, TFPROF_NGHTTP2, "to call profiler services", NGHTTP2);

struct calling {
    const struct grpc_call *call;
    struct grpc_answer     *answer;
    struct text             body; /* of the answer, with its frames' prefixes */
    size_t                  sent; /* of the prefix and the request */
    uint8_t                 prefix[PREFIX];
    int                     http_status, file;
    struct tls             *tls; /* NULL: not encrypted */
    bool                    is_closed, is_large, has_status;
    uint32_t                close_error;
    int64_t                 deadline_ns;
};

static int64_t left_ms(const struct calling *calling)
{
    int64_t ms = (calling->deadline_ns - trace_now_ns()) / 1000000;

    return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : ms;
}

/* nghttp2_data_source_read_callback. */
/* NOLINTNEXTLINE(readability-function-size): all of its arguments are the library's */
static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *into, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct calling *calling = context;
    size_t          count = 0;

    (void)session, (void)stream, (void)source;
    for (; count < room && calling->sent < PREFIX; calling->sent++)
        into[count++] = calling->prefix[calling->sent];
    if (calling->sent >= PREFIX) {
        size_t      at = calling->sent - PREFIX, left = calling->call->request.len - at;
        size_t      part = left < room - count ? left : room - count;
        const char *bytes = calling->call->request.data;

        if (part > 0)
            memcpy(into + count, bytes + at, part);
        count += part;
        calling->sent += part;
    }
    if (calling->sent == PREFIX + calling->call->request.len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t count, void *context)
{
    struct calling *calling = context;

    (void)session, (void)flags, (void)stream;
    if (count > calling->call->most_bytes + PREFIX - calling->body.len) {
        calling->is_large = true;
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    text_add(&calling->body, (struct str) { (const char *)bytes, count });
    return 0;
}

/* nghttp2_on_header_callback. */
/* NOLINTNEXTLINE(readability-function-size): all of its arguments are the library's */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *context)
{
    struct calling *calling = context;
    struct str key = { (const char *)name, name_len }, text = { (const char *)value, value_len };
    int64_t    number;

    (void)session, (void)frame, (void)flags;
    if (str_equal(key, STR(":status")) && str_to_int64(text, &number) && number >= 0 &&
        number < 1000)
        calling->http_status = (int)number;
    if (str_equal(key, STR("grpc-status")) && str_to_int64(text, &number) && number >= 0 &&
        number < 1000) {
        calling->answer->status = (int)number;
        calling->has_status = true;
    }
    if (str_equal(key, STR("grpc-message")) && calling->answer->words.len == 0)
        grpc_decode_words(str_slice(text, 0, MOST_WORDS), &calling->answer->words);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    struct calling *calling = context;

    (void)session, (void)stream;
    calling->is_closed = true;
    calling->close_error = error;
    return 0;
}

void grpc_decode_words(struct str encoded, struct text *words)
{
    for (size_t i = 0; i < encoded.len; i++) {
        const char *at = encoded.data + i;

        if (*at == '%' && i + 2 < encoded.len && isxdigit((unsigned char)at[1]) &&
            isxdigit((unsigned char)at[2])) {
            char hex[] = { at[1], at[2], 0 };

            text_add_byte(words, (char)strtol(hex, NULL, 16));
            i += 2;
        } else {
            text_add_byte(words, *at);
        }
    }
}

bool grpc_unframe(struct str bytes, struct str *message)
{
    const uint8_t *at = (const uint8_t *)bytes.data;
    uint32_t       len;

    if (bytes.len < PREFIX || at[0] != 0)
        return false;
    len = (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 8 | at[4];
    *message = str_slice(bytes, PREFIX, bytes.len);
    return message->len == len;
}

/* A connected socket that does not block, or -1. */
static int connect_to(const struct calling *calling, const struct addrinfo *address)
{
    int           file = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), error = 0;
    socklen_t     size = sizeof error;
    struct pollfd wait = { .fd = file, .events = POLLOUT };

    if (file < 0)
        return -1;
    if (fcntl(file, F_SETFL, O_NONBLOCK) == 0 &&
        (connect(file, address->ai_addr, address->ai_addrlen) == 0 ||
         (errno == EINPROGRESS && poll(&wait, 1, (int)left_ms(calling)) == 1 &&
          getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)))
        return file;
    if (error == 0)
        error = errno ? errno : ETIMEDOUT;
    close(file);
    errno = error;
    return -1;
}

static bool open_connection(struct calling *calling, struct err *err)
{
    const struct grpc_call *call = calling->call;
    struct addrinfo         hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    int                     error = getaddrinfo(call->host, call->port, &hints, &found);

    if (error != 0)
        return err_set(err, ERR_INPUT, "%s:%s: %s", call->host, call->port, gai_strerror(error));
    calling->file = -1;
    for (struct addrinfo *one = found; one && calling->file < 0; one = one->ai_next)
        calling->file = connect_to(calling, one);
    error = errno;
    freeaddrinfo(found);
    if (calling->file >= 0)
        return true;
    calling->answer->is_refused = error == ECONNREFUSED;
    err_set(err, ERR_INPUT, "%s:%s: %s", call->host, call->port,
            error == EINPROGRESS ? strerror(ETIMEDOUT) : strerror(error));
    return err_advise(
        err, "start the profiler's service in the job first; tfprof howto server says how");
}

#define HEADER(name_, value_)                                                                      \
    (nghttp2_nv)                                                                                   \
    {                                                                                              \
        .name = (uint8_t *)(uintptr_t)(name_), .value = (uint8_t *)(uintptr_t)(value_),            \
        .namelen = strlen(name_), .valuelen = strlen(value_)                                       \
    }

/* Those that every call has, and the user's. */
static size_t add_headers(const struct grpc_call *call, const char *authority, const char *timeout,
                          nghttp2_nv headers[MOST_HEADERS])
{
    const nghttp2_nv fixed[] = {
        HEADER(":method", "POST"),
        HEADER(":scheme", call->tls ? "https" : "http"),
        HEADER(":path", call->path),
        HEADER(":authority", authority),
        HEADER("te", "trailers"),
        HEADER("content-type", "application/grpc"),
        HEADER("user-agent", "tfprof/" TFPROF_VERSION),
        HEADER("grpc-timeout", timeout),
    };
    size_t count = ARRAY_COUNT(fixed);

    memcpy(headers, fixed, sizeof fixed);
    for (size_t i = 0; i < call->metadata_count && count < MOST_HEADERS; i++)
        headers[count++] = HEADER(call->metadata[i].name, call->metadata[i].value);
    return count;
}

static int submit(struct calling *calling, nghttp2_session *session)
{
    const struct grpc_call *call = calling->call;
    char                    authority[512], timeout[32];
    nghttp2_nv              headers[MOST_HEADERS];
    nghttp2_data_provider   body = { .read_callback = read_body };
    int    error = http2.nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, NULL, 0);
    size_t count;

    snprintf(authority, sizeof authority, strchr(call->host, ':') ? "[%s]:%s" : "%s:%s", call->host,
             call->port);
    snprintf(timeout, sizeof timeout, "%lldm", (long long)left_ms(calling));
    count = add_headers(call, authority, timeout, headers);
    if (error == 0)
        error = http2.nghttp2_submit_request(session, NULL, headers, count, &body, NULL);
    return error < 0 ? error : 0;
}

static bool wait_for(const struct calling *calling, short events, struct err *err)
{
    struct pollfd wait = { .fd = calling->file, .events = events };
    int           ready;

    do
        ready = poll(&wait, 1, (int)left_ms(calling));
    while (ready < 0 && errno == EINTR);
    return ready > 0 || err_set(err, ERR_INPUT, "%s:%s: no answer in %lld ms", calling->call->host,
                                calling->call->port, (long long)calling->call->wait_ms);
}

static bool say_gone(const struct grpc_call *call, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s:%s hung up: it is no gRPC service, or ended", call->host,
                   call->port);
}

/* Bytes that went, 0: *events must happen first, -1: the other side is gone. */
static ssize_t send_some(const struct calling *calling, const uint8_t *bytes, size_t count,
                         short *events)
{
    ssize_t sent;

    if (calling->tls)
        return tls_run(calling->tls, TLS_WRITE, (void *)(uintptr_t)bytes, count, events);
    sent = send(calling->file, bytes, count, MSG_NOSIGNAL);
    *events = POLLOUT;
    return sent < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : sent;
}

static ssize_t receive_some(const struct calling *calling, uint8_t *bytes, size_t count,
                            short *events)
{
    ssize_t got;

    if (calling->tls)
        return tls_run(calling->tls, TLS_READ, bytes, count, events);
    got = recv(calling->file, bytes, count, 0);
    *events = POLLIN;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : got > 0 ? got : -1;
}

static bool send_all(const struct calling *calling, nghttp2_session *session, struct err *err)
{
    const uint8_t *bytes;
    ssize_t        count;

    while ((count = http2.nghttp2_session_mem_send(session, &bytes)) > 0) {
        for (ssize_t at = 0; at < count;) {
            short   events = POLLOUT;
            ssize_t sent = send_some(calling, bytes + at, (size_t)(count - at), &events);

            if (sent > 0)
                at += sent;
            else if (sent < 0)
                return say_gone(calling->call, err);
            else if (!wait_for(calling, events, err))
                return false;
        }
    }
    return count == 0 || err_set(err, ERR_INPUT, "%s:%s: %s", calling->call->host,
                                 calling->call->port, http2.nghttp2_strerror((int)count));
}

static bool say_foreign(const struct grpc_call *call, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s:%s does not speak HTTP/2: it is no gRPC service", call->host,
                   call->port);
}

/* What comes next, waiting for it. */
static bool receive(struct calling *calling, nghttp2_session *session, struct err *err)
{
    const struct grpc_call *call = calling->call;
    uint8_t                 bytes[16384];
    short                   events = POLLIN;
    ssize_t                 count, taken;

    while ((count = receive_some(calling, bytes, sizeof bytes, &events)) == 0)
        if (!wait_for(calling, events, err))
            return false;
    if (count < 0)
        return say_gone(call, err);
    taken = http2.nghttp2_session_mem_recv(session, bytes, (size_t)count);
    if (calling->is_large)
        return err_set(err, ERR_LIMIT, "%s:%s: the answer is larger than %zu bytes", call->host,
                       call->port, call->most_bytes);
    return taken >= 0 || say_foreign(call, err);
}

/* Until the stream is closed, by what came or by what is sent about it. */
static bool exchange(struct calling *calling, nghttp2_session *session, struct err *err)
{
    while (send_all(calling, session, err)) {
        if (calling->is_closed)
            return true;
        if (!http2.nghttp2_session_want_read(session))
            return say_foreign(calling->call, err);
        if (!receive(calling, session, err))
            return false;
    }
    return false;
}

/* What came, once the stream is closed. */
static bool conclude(struct calling *calling, struct err *err)
{
    const struct grpc_call *call = calling->call;
    struct str              message;

    if (calling->http_status != 200 || !calling->has_status) {
        err_set(err, ERR_INPUT, "%s:%s answers, but not as gRPC does (HTTP status %d, error %u)",
                call->host, call->port, calling->http_status, calling->close_error);
        return err_advise(err, "is that the profiler's port?");
    }
    if (calling->answer->status != 0)
        return true;
    if (!text_is_whole(&calling->body))
        return err_set(err, ERR_LIMIT, "%s:%s: the answer does not fit the memory", call->host,
                       call->port);
    if (!grpc_unframe(text_str(&calling->body), &message))
        return err_set(err, ERR_FORMAT, "%s:%s: %zu bytes that are no message of gRPC", call->host,
                       call->port, calling->body.len);
    text_add(&calling->answer->message, message);
    return true;
}

static bool make_session(struct calling *calling, nghttp2_session **session, struct err *err)
{
    nghttp2_session_callbacks *callbacks;
    int                        error = http2.nghttp2_session_callbacks_new(&callbacks);

    if (error != 0)
        return err_set(err, ERR_LIMIT, "HTTP/2: %s", http2.nghttp2_strerror(error));
    http2.nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    http2.nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    http2.nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    error = http2.nghttp2_session_client_new(session, callbacks, calling);
    http2.nghttp2_session_callbacks_del(callbacks);
    if (error == 0)
        error = submit(calling, *session);
    return error == 0 || err_set(err, ERR_LIMIT, "HTTP/2: %s", http2.nghttp2_strerror(error));
}

static bool encrypt(struct calling *calling, struct err *err)
{
    const struct grpc_call *call = calling->call;
    short                   events = 0;
    ssize_t                 result;

    if (!call->tls)
        return true;
    calling->tls = tls_new(calling->file, call->host, call->tls, err);
    if (!calling->tls)
        return false;
    while ((result = tls_run(calling->tls, TLS_SHAKE, NULL, 0, &events)) == 0)
        if (!wait_for(calling, events, err))
            return false;
    return result > 0 || tls_say(calling->tls, call->host, call->port, err);
}

bool grpc_call_run(const struct grpc_call *call, struct grpc_answer *answer, struct err *err)
{
    struct calling   calling = { .call = call,
                                 .answer = answer,
                                 .body.arena = answer->message.arena,
                                 .deadline_ns = trace_now_ns() + call->wait_ms * 1000000 };
    nghttp2_session *session = NULL;
    bool             is_done;

    for (int i = 1; i < PREFIX; i++)
        calling.prefix[i] = (uint8_t)(call->request.len >> 8 * (PREFIX - 1 - i));
    if (!library_need(&http2_library, err) || !open_connection(&calling, err))
        return false;
    is_done = encrypt(&calling, err) && make_session(&calling, &session, err) &&
              exchange(&calling, session, err) && conclude(&calling, err);
    if (session)
        http2.nghttp2_session_del(session);
    tls_free(calling.tls);
    close(calling.file);
    return is_done;
}
