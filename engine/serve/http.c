#include "serve/http.h"

#include "base/library.h"
#include "base/macros.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS = 4, CONNECTIONS = 64, TIMEOUT_S = 60 };

#define MICROHTTPD(FUNCTION, table)                                                                \
    FUNCTION(MHD_start_daemon, table)                                                              \
    FUNCTION(MHD_stop_daemon, table)                                                               \
    FUNCTION(MHD_create_response_from_buffer, table)                                               \
    FUNCTION(MHD_add_response_header, table)                                                       \
    FUNCTION(MHD_queue_response, table)                                                            \
    FUNCTION(MHD_destroy_response, table)                                                          \
    FUNCTION(MHD_lookup_connection_value, table)
LIBRARY(mhd, TFPROF_MICROHTTPD, "to serve pages", MICROHTTPD);

const char *http_argument(const struct http_request *request, const char *name)
{
    return mhd.MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* "localhost:8420", "127.0.0.1", "[::1]:8420": names that only this machine has. */
static bool is_own_name(const char *host)
{
    static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

    for (size_t i = 0; host && i < ARRAY_COUNT(names); i++) {
        size_t len = strlen(names[i]);

        if (strncmp(host, names[i], len) == 0 && (host[len] == 0 || host[len] == ':'))
            return true;
    }
    return false;
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, const struct http_reply *reply)
{
    /* The library copies the bytes, and never writes to them. */
    struct MHD_Response *response = mhd.MHD_create_response_from_buffer(
        reply->body.len, (void *)(uintptr_t)reply->body.data, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    mhd.MHD_add_response_header(response, "Content-Type", reply->type);
    mhd.MHD_add_response_header(response, "Cache-Control", "no-store");
    mhd.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    mhd.MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    mhd.MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    result = mhd.MHD_queue_response(connection, reply->status, response);
    mhd.MHD_destroy_response(response);
    return result;
}

/* NOLINTNEXTLINE(readability-function-size): an MHD_AccessHandlerCallback, all of it */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    struct http_server *server = context;
    struct arena        arena = { 0 };
    struct http_request request = { path, connection };
    struct http_reply   reply = { .arena = &arena, .status = MHD_HTTP_OK, .type = "text/plain" };
    enum MHD_Result     result;

    (void)version, (void)upload, (void)upload_size, (void)state;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        reply.status = MHD_HTTP_METHOD_NOT_ALLOWED;
        reply.body = STR("only GET and HEAD are answered\n");
    } else if (server->is_loopback && !is_own_name(mhd.MHD_lookup_connection_value(
                                          connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST))) {
        reply.status = MHD_HTTP_FORBIDDEN;
        reply.body = STR("this server answers to localhost, 127.0.0.1 and [::1] alone\n");
    } else {
        server->answer(server->context, &request, &reply);
    }
    result = send_reply(connection, &reply);
    arena_free(&arena);
    return result;
}

union socket_address {
    struct sockaddr     any;
    struct sockaddr_in  v4;
    struct sockaddr_in6 v6;
};

static bool parse_address(const char *text, uint16_t port, union socket_address *address,
                          socklen_t *size, bool *is_loopback)
{
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(port);
        *size = sizeof address->v4;
        *is_loopback = ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) != 1)
        return false;
    address->v6.sin6_family = AF_INET6;
    address->v6.sin6_port = htons(port);
    *size = sizeof address->v6;
    *is_loopback = IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
    return true;
}

/* -1: errno says why not. */
static int listen_at(union socket_address *address, socklen_t size, uint16_t *port)
{
    int file = socket(address->any.sa_family, SOCK_STREAM, 0), yes = 1;

    if (file < 0)
        return -1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(file, &address->any, size) != 0 || listen(file, CONNECTIONS) != 0 ||
        getsockname(file, &address->any, &size) != 0) {
        close(file);
        return -1;
    }
    *port = ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
    return file;
}

bool http_start(struct http_server *server, const char *address, uint16_t port, struct err *err)
{
    union socket_address at;
    socklen_t            size;
    int                  file;

    if (!parse_address(address, port, &at, &size, &server->is_loopback))
        return err_set(err, ERR_USAGE, "--address takes an IP address, as 127.0.0.1 or ::1, not %s",
                       address);
    if (!library_need(&mhd_library, err))
        return false;
    file = listen_at(&at, size, &server->port);
    if (file < 0) {
        err_set(err, ERR_INPUT, "%s, port %u: %s", address, port, strerror(errno));
        return err_advise(err, "choose another --port; 0 takes one that is free");
    }
    server->daemon =
        mhd.MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle,
                             server, MHD_OPTION_LISTEN_SOCKET, file, MHD_OPTION_THREAD_POOL_SIZE,
                             (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                             MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_END);
    if (server->daemon)
        return true;
    close(file);
    return err_set(err, ERR_LIMIT, "the web server cannot be started");
}

void http_stop(struct http_server *server)
{
    mhd.MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
}
