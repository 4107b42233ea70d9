/* http: answers to GET and HEAD from browsers on this machine or a network, over libmicrohttpd. */
#ifndef TFPROF_SERVE_HTTP_H
#define TFPROF_SERVE_HTTP_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct MHD_Connection;
struct http_request {
    const char            *path;       /* "/report", decoded */
    struct MHD_Connection *connection; /* for http_argument */
};
struct http_reply {
    struct arena *arena; /* for what the reply points at: freed once it is sent */
    unsigned      status;
    const char   *type; /* Content-Type */
    struct str    body;
};
/* Called by several threads at once. */
typedef void http_answer(void *context, const struct http_request *request, struct http_reply *reply);

struct http_server {
    http_answer       *answer;
    void              *context;
    bool               is_loopback;
    uint16_t           port; /* that it listens on */
    struct MHD_Daemon *daemon;
};

/* "?NAME=…" of the address, decoded; NULL: not there. */
const char *http_argument(const struct http_request *request, const char *name);
/* `address` as numbers, of IPv4 or IPv6; port 0: any that is free. With answer and context set. At a
 * loopback address requests that name another host are refused, so that no page from elsewhere can
 * read answers under a name of its own. */
bool http_start(struct http_server *server, const char *address, uint16_t port, struct err *err);
void http_stop(struct http_server *server); /* waits for answers that are being made */

#endif
