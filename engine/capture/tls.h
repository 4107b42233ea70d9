/* tls: encryption of a connected socket that does not block (OpenSSL), with the other side's
 * certificate checked. */
#ifndef TFPROF_CAPTURE_TLS_H
#define TFPROF_CAPTURE_TLS_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

struct tls_options {
    const char *authorities;       /* file of certificates to trust; NULL: those of the system */
    const char *certificate, *key; /* files of our own, for who asks for one; NULL: none */
    bool        is_unverified;     /* any certificate will do */
};
struct tls;
enum tls_step { TLS_SHAKE, TLS_READ, TLS_WRITE };

/* For gRPC with `host`, whose name the certificate must have. NULL: why not. Any thread may call
 * it. */
struct tls *tls_new(int file, const char *host, const struct tls_options *options, struct err *err);
/* Bytes that went (shaking hands: 1), 0: *events must happen first, -1: it is over (tls_say). */
ssize_t tls_run(struct tls *tls, enum tls_step step, void *bytes, size_t count, short *events);
/* What was wrong. Always false. */
bool tls_say(const struct tls *tls, const char *host, const char *port, struct err *err);
void tls_free(struct tls *tls); /* NULL is fine */

#endif
