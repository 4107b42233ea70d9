/* grpc: one unary call of gRPC over HTTP/2, plain or encrypted, as profilers' services answer it
 * (libnghttp2). */
#ifndef TFPROF_CAPTURE_GRPC_H
#define TFPROF_CAPTURE_GRPC_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "capture/tls.h"

enum { GRPC_MOST_METADATA = 32 };
struct grpc_metadata { /* a header of the user's */
    const char *name, *value;
};
struct grpc_call {
    const char               *host, *port; /* as users write them: a name or an address, a number */
    const char               *path;        /* "/tensorflow.ProfilerService/Profile" */
    struct str                request;     /* the message, without gRPC's prefix */
    int64_t                   wait_ms;     /* for all of it */
    size_t                    most_bytes;  /* of the answer */
    const struct tls_options *tls;         /* NULL: plain */
    const struct grpc_metadata *metadata;
    size_t                      metadata_count; /* at most GRPC_MOST_METADATA */
};
struct grpc_answer {
    struct text message;    /* in the arena that the caller put there */
    int         status;     /* grpc-status; 0: done */
    struct text words;      /* grpc-message, decoded */
    bool        is_refused; /* nobody listens there yet: may be tried again */
};

/* False: no answer, and why. A status other than 0 is an answer. Any thread may call it. */
bool grpc_call_run(const struct grpc_call *call, struct grpc_answer *answer, struct err *err);
/* The message of an answer's bytes: one frame that is not compressed. False: something else. */
bool grpc_unframe(struct str bytes, struct str *message);
/* grpc-message is percent-encoded UTF-8. */
void grpc_decode_words(struct str encoded, struct text *words);

#endif
