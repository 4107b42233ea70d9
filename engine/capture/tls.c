#include "capture/tls.h"

#include "base/library.h"
#include "base/macros.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <stdlib.h>

#define OPENSSL(FUNCTION, table)                                                                   \
    FUNCTION(TLS_client_method, table)                                                             \
    FUNCTION(SSL_CTX_new, table)                                                                   \
    FUNCTION(SSL_CTX_free, table)                                                                  \
    FUNCTION(SSL_CTX_set_default_verify_paths, table)                                              \
    FUNCTION(SSL_CTX_load_verify_locations, table)                                                 \
    FUNCTION(SSL_CTX_set_verify, table)                                                            \
    FUNCTION(SSL_CTX_use_certificate_chain_file, table)                                            \
    FUNCTION(SSL_CTX_use_PrivateKey_file, table)                                                   \
    FUNCTION(SSL_CTX_ctrl, table)                                                                  \
    FUNCTION(SSL_new, table)                                                                       \
    FUNCTION(SSL_free, table)                                                                      \
    FUNCTION(SSL_set_fd, table)                                                                    \
    FUNCTION(SSL_set1_host, table)                                                                 \
    FUNCTION(SSL_ctrl, table)                                                                      \
    FUNCTION(SSL_set_alpn_protos, table)                                                           \
    FUNCTION(SSL_get0_alpn_selected, table)                                                        \
    FUNCTION(SSL_connect, table)                                                                   \
    FUNCTION(SSL_read, table)                                                                      \
    FUNCTION(SSL_write, table)                                                                     \
    FUNCTION(SSL_get_error, table)                                                                 \
    FUNCTION(SSL_get_verify_result, table)                                                         \
    FUNCTION(X509_verify_cert_error_string, table)                                                 \
    FUNCTION(ERR_get_error, table)                                                                 \
    FUNCTION(ERR_reason_error_string, table)                                                       \
    FUNCTION(ERR_clear_error, table)
LIBRARY(open_ssl, TFPROF_OPENSSL, "for encryption", OPENSSL);

struct tls {
    SSL_CTX      *context;
    SSL          *ssl;
    bool          is_foreign; /* it does not want to speak HTTP/2 */
    unsigned long error;      /* of OpenSSL; 0: the other side hung up */
};

static const char *words_of(unsigned long error)
{
    const char *words = error ? open_ssl.ERR_reason_error_string(error) : NULL;

    return words ? words : "it hung up";
}

static bool refuse_file(const char *file, struct err *err)
{
    err_set(err, ERR_INPUT, "cannot be used: %s", words_of(open_ssl.ERR_get_error()));
    return err_source(err, file);
}

/* Whom to trust, and who we are. */
static bool set_files(SSL_CTX *context, const struct tls_options *options, struct err *err)
{
    const char *key = options->key ? options->key : options->certificate;

    if (options->authorities
            ? open_ssl.SSL_CTX_load_verify_locations(context, options->authorities, NULL) != 1
            : open_ssl.SSL_CTX_set_default_verify_paths(context) != 1)
        return refuse_file(
            options->authorities ? options->authorities : "the system's certificates", err);
    if (options->certificate &&
        open_ssl.SSL_CTX_use_certificate_chain_file(context, options->certificate) != 1)
        return refuse_file(options->certificate, err);
    return !key || open_ssl.SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 ||
           refuse_file(key, err);
}

static bool start(struct tls *tls, int file, const char *host, const struct tls_options *options,
                  struct err *err)
{
    static const unsigned char http2[] = { 2, 'h', '2' };

    tls->context = open_ssl.SSL_CTX_new(open_ssl.TLS_client_method());
    if (!tls->context)
        return err_memory(err, "encryption");
    /* SSL_CTX_set_min_proto_version, SSL_set_tlsext_host_name: macros that would be linked. */
    open_ssl.SSL_CTX_ctrl(tls->context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    open_ssl.SSL_CTX_set_verify(tls->context,
                                options->is_unverified ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (!set_files(tls->context, options, err))
        return false;
    tls->ssl = open_ssl.SSL_new(tls->context);
    if (tls->ssl && open_ssl.SSL_set_fd(tls->ssl, file) == 1 &&
        open_ssl.SSL_set1_host(tls->ssl, host) == 1 &&
        open_ssl.SSL_ctrl(tls->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                          (void *)(uintptr_t)host) == 1 &&
        open_ssl.SSL_set_alpn_protos(tls->ssl, http2, sizeof http2) == 0)
        return true;
    return err_set(err, ERR_INPUT, "%s: %s", host, words_of(open_ssl.ERR_get_error()));
}

struct tls *tls_new(int file, const char *host, const struct tls_options *options, struct err *err)
{
    struct tls *tls;

    if (!library_need(&open_ssl_library, err))
        return NULL;
    tls = calloc(1, sizeof *tls);
    if (!tls) {
        err_memory(err, "encryption");
        return NULL;
    }
    if (start(tls, file, host, options, err))
        return tls;
    tls_free(tls);
    return NULL;
}

/* The other side has to choose HTTP/2, as gRPC wants it. */
static bool speaks_http2(struct tls *tls)
{
    const unsigned char *protocol = NULL;
    unsigned             len = 0;

    open_ssl.SSL_get0_alpn_selected(tls->ssl, &protocol, &len);
    tls->is_foreign = len != 2 || protocol[0] != 'h' || protocol[1] != '2';
    return !tls->is_foreign;
}

ssize_t tls_run(struct tls *tls, enum tls_step step, void *bytes, size_t count, short *events)
{
    int most = count < INT_MAX ? (int)count : INT_MAX, result;

    open_ssl.ERR_clear_error();
    result = step == TLS_SHAKE  ? open_ssl.SSL_connect(tls->ssl)
             : step == TLS_READ ? open_ssl.SSL_read(tls->ssl, bytes, most)
                                : open_ssl.SSL_write(tls->ssl, bytes, most);
    if (result > 0)
        return step == TLS_SHAKE && !speaks_http2(tls) ? -1 : result;
    switch (open_ssl.SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *events = POLLIN;
        return 0;
    case SSL_ERROR_WANT_WRITE:
        *events = POLLOUT;
        return 0;
    default:
        tls->error = open_ssl.ERR_get_error();
        return -1;
    }
}

bool tls_say(const struct tls *tls, const char *host, const char *port, struct err *err)
{
    long check = open_ssl.SSL_get_verify_result(tls->ssl);

    if (tls->is_foreign)
        return err_set(err, ERR_INPUT, "%s:%s does not speak HTTP/2: it is no gRPC service", host,
                       port);
    if (check == X509_V_OK || !tls->error)
        return err_set(err, ERR_INPUT, "%s:%s: no encryption: %s", host, port,
                       words_of(tls->error));
    err_set(err, ERR_INPUT, "%s:%s: its certificate is not trusted: %s", host, port,
            open_ssl.X509_verify_cert_error_string(check));
    return err_advise(err, "--ca names a file of certificates to trust");
}

void tls_free(struct tls *tls)
{
    if (tls && tls->ssl)
        open_ssl.SSL_free(tls->ssl);
    if (tls && tls->context)
        open_ssl.SSL_CTX_free(tls->context);
    free(tls);
}
