#include "capture/tls.h"

#include "base/library.h"
#include "base/macros.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <stdlib.h>

static struct {
    const SSL_METHOD *(*client_method)(void);
    SSL_CTX *(*ctx_new)(const SSL_METHOD *method);
    void (*ctx_free)(SSL_CTX *context);
    int (*trust_system)(SSL_CTX *context);
    int (*trust_file)(SSL_CTX *context, const char *file, const char *folder);
    void (*set_verify)(SSL_CTX *context, int mode, SSL_verify_cb callback);
    int (*use_certificate)(SSL_CTX *context, const char *file);
    int (*use_key)(SSL_CTX *context, const char *file, int type);
    long (*ctx_ctrl)(SSL_CTX *context, int command, long number, void *pointer);
    SSL *(*ssl_new)(SSL_CTX *context);
    void (*ssl_free)(SSL *ssl);
    int (*set_fd)(SSL *ssl, int file);
    int (*set_host)(SSL *ssl, const char *host);
    long (*ctrl)(SSL *ssl, int command, long number, void *pointer);
    int (*set_protocols)(SSL *ssl, const unsigned char *protocols, unsigned count);
    void (*get_protocol)(const SSL *ssl, const unsigned char **protocol, unsigned *len);
    int (*connect)(SSL *ssl);
    int (*read)(SSL *ssl, void *bytes, int count);
    int (*write)(SSL *ssl, const void *bytes, int count);
    int (*get_error)(const SSL *ssl, int result);
    long (*verify_result)(const SSL *ssl);
    const char *(*verify_words)(long result);
    unsigned long (*last_error)(void);
    const char *(*error_words)(unsigned long error);
    void (*clear_errors)(void);
} open_ssl;
static const struct library_symbol symbols[] = {
    { "TLS_client_method", &open_ssl.client_method, NULL },
    { "SSL_CTX_new", &open_ssl.ctx_new, NULL },
    { "SSL_CTX_free", &open_ssl.ctx_free, NULL },
    { "SSL_CTX_set_default_verify_paths", &open_ssl.trust_system, NULL },
    { "SSL_CTX_load_verify_locations", &open_ssl.trust_file, NULL },
    { "SSL_CTX_set_verify", &open_ssl.set_verify, NULL },
    { "SSL_CTX_use_certificate_chain_file", &open_ssl.use_certificate, NULL },
    { "SSL_CTX_use_PrivateKey_file", &open_ssl.use_key, NULL },
    { "SSL_CTX_ctrl", &open_ssl.ctx_ctrl, NULL },
    { "SSL_new", &open_ssl.ssl_new, NULL },
    { "SSL_free", &open_ssl.ssl_free, NULL },
    { "SSL_set_fd", &open_ssl.set_fd, NULL },
    { "SSL_set1_host", &open_ssl.set_host, NULL },
    { "SSL_ctrl", &open_ssl.ctrl, NULL },
    { "SSL_set_alpn_protos", &open_ssl.set_protocols, NULL },
    { "SSL_get0_alpn_selected", &open_ssl.get_protocol, NULL },
    { "SSL_connect", &open_ssl.connect, NULL },
    { "SSL_read", &open_ssl.read, NULL },
    { "SSL_write", &open_ssl.write, NULL },
    { "SSL_get_error", &open_ssl.get_error, NULL },
    { "SSL_get_verify_result", &open_ssl.verify_result, NULL },
    { "X509_verify_cert_error_string", &open_ssl.verify_words, NULL },
    { "ERR_get_error", &open_ssl.last_error, NULL },
    { "ERR_reason_error_string", &open_ssl.error_words, NULL },
    { "ERR_clear_error", &open_ssl.clear_errors, NULL },
};
static struct library library = {
    .soname = TFPROF_OPENSSL,
    .purpose = "for encryption",
    .symbols = symbols,
    .symbol_count = ARRAY_COUNT(symbols),
};

struct tls {
    SSL_CTX      *context;
    SSL          *ssl;
    bool          is_foreign; /* it does not want to speak HTTP/2 */
    unsigned long error;      /* of OpenSSL; 0: the other side hung up */
};

static const char *words_of(unsigned long error)
{
    const char *words = error ? open_ssl.error_words(error) : NULL;

    return words ? words : "it hung up";
}

static bool refuse_file(const char *file, struct err *err)
{
    err_set(err, ERR_INPUT, "cannot be used: %s", words_of(open_ssl.last_error()));
    return err_source(err, file);
}

/* Whom to trust, and who we are. */
static bool set_files(SSL_CTX *context, const struct tls_options *options, struct err *err)
{
    const char *key = options->key ? options->key : options->certificate;

    if (options->authorities ? open_ssl.trust_file(context, options->authorities, NULL) != 1
                             : open_ssl.trust_system(context) != 1)
        return refuse_file(
            options->authorities ? options->authorities : "the system's certificates", err);
    if (options->certificate && open_ssl.use_certificate(context, options->certificate) != 1)
        return refuse_file(options->certificate, err);
    return !key || open_ssl.use_key(context, key, SSL_FILETYPE_PEM) == 1 || refuse_file(key, err);
}

static bool start(struct tls *tls, int file, const char *host, const struct tls_options *options,
                  struct err *err)
{
    static const unsigned char http2[] = { 2, 'h', '2' };

    tls->context = open_ssl.ctx_new(open_ssl.client_method());
    if (!tls->context)
        return err_memory(err, "encryption");
    /* SSL_CTX_set_min_proto_version, SSL_set_tlsext_host_name: macros that would be linked. */
    open_ssl.ctx_ctrl(tls->context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    open_ssl.set_verify(tls->context, options->is_unverified ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                        NULL);
    if (!set_files(tls->context, options, err))
        return false;
    tls->ssl = open_ssl.ssl_new(tls->context);
    if (tls->ssl && open_ssl.set_fd(tls->ssl, file) == 1 &&
        open_ssl.set_host(tls->ssl, host) == 1 &&
        open_ssl.ctrl(tls->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                      (void *)(uintptr_t)host) == 1 &&
        open_ssl.set_protocols(tls->ssl, http2, sizeof http2) == 0)
        return true;
    return err_set(err, ERR_INPUT, "%s: %s", host, words_of(open_ssl.last_error()));
}

struct tls *tls_new(int file, const char *host, const struct tls_options *options, struct err *err)
{
    struct tls *tls;

    if (!library_need(&library, err))
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

    open_ssl.get_protocol(tls->ssl, &protocol, &len);
    tls->is_foreign = len != 2 || protocol[0] != 'h' || protocol[1] != '2';
    return !tls->is_foreign;
}

ssize_t tls_run(struct tls *tls, enum tls_step step, void *bytes, size_t count, short *events)
{
    int most = count < INT_MAX ? (int)count : INT_MAX, result;

    open_ssl.clear_errors();
    result = step == TLS_SHAKE  ? open_ssl.connect(tls->ssl)
             : step == TLS_READ ? open_ssl.read(tls->ssl, bytes, most)
                                : open_ssl.write(tls->ssl, bytes, most);
    if (result > 0)
        return step == TLS_SHAKE && !speaks_http2(tls) ? -1 : result;
    switch (open_ssl.get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *events = POLLIN;
        return 0;
    case SSL_ERROR_WANT_WRITE:
        *events = POLLOUT;
        return 0;
    default:
        tls->error = open_ssl.last_error();
        return -1;
    }
}

bool tls_say(const struct tls *tls, const char *host, const char *port, struct err *err)
{
    long check = open_ssl.verify_result(tls->ssl);

    if (tls->is_foreign)
        return err_set(err, ERR_INPUT, "%s:%s does not speak HTTP/2: it is no gRPC service", host,
                       port);
    if (check == X509_V_OK || !tls->error)
        return err_set(err, ERR_INPUT, "%s:%s: no encryption: %s", host, port,
                       words_of(tls->error));
    err_set(err, ERR_INPUT, "%s:%s: its certificate is not trusted: %s", host, port,
            open_ssl.verify_words(check));
    return err_advise(err, "--ca names a file of certificates to trust");
}

void tls_free(struct tls *tls)
{
    if (tls && tls->ssl)
        open_ssl.ssl_free(tls->ssl);
    if (tls && tls->context)
        open_ssl.ctx_free(tls->context);
    free(tls);
}
