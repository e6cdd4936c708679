#include "BoxofficeTls.h"

#include <openssl/bio.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t method_once = PTHREAD_ONCE_INIT;
static BIO_METHOD *method;

static int io_read(BIO *bio, char *target, size_t capacity, size_t *count)
{
    boxoffice_tls_io *io = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *count = capacity < io->input_count ? capacity : io->input_count;
    if (*count == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(target, io->input, *count);
    io->input += *count;
    io->input_count -= *count;
    return 1;
}

static int io_write(BIO *bio, const char *source, size_t count, size_t *written)
{
    boxoffice_tls_io *io = BIO_get_data(bio);
    size_t room = io->output_capacity - io->output_count;
    BIO_clear_retry_flags(bio);
    *written = count < room ? count : room;
    if (*written == 0) {
        BIO_set_retry_write(bio);
        return 0;
    }
    memcpy(io->output + io->output_count, source, *written);
    io->output_count += *written;
    return 1;
}

static long io_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static void make_method(void)
{
    BIO_METHOD *fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "boxoffice memory");
    if (fresh == NULL)
        return;
    BIO_meth_set_read_ex(fresh, io_read);
    BIO_meth_set_write_ex(fresh, io_write);
    BIO_meth_set_ctrl(fresh, io_control);
    method = fresh;
}

int boxoffice_tls_attach(SSL *ssl, boxoffice_tls_io *io)
{
    pthread_once(&method_once, make_method);
    BIO *bio = method == NULL ? NULL : BIO_new(method);
    if (bio == NULL)
        return 0;
    BIO_set_data(bio, io);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return 1;
}

SSL_CTX *boxoffice_tls_context(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_method());
    if (context == NULL)
        return NULL;
    int ready = SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)
        && SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION)
        && SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
        && SSL_CTX_set_num_tickets(context, 0);
    if (!ready) {
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return context;
}

int boxoffice_tls_trust(SSL_CTX *context, const char *path)
{
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(path);
    if (names == NULL)
        return 0;
    SSL_CTX_set_client_CA_list(context, names);
    return SSL_CTX_load_verify_file(context, path);
}

int boxoffice_tls_pin(SSL *ssl, const char *name)
{
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set1_host(ssl, name);
}

static int is_plain(const unsigned char *name, int count)
{
    for (int i = 0; i < count; i++)
        if (name[i] <= ' ' || name[i] >= 0x7f)
            return 0;
    return count > 0;
}

void boxoffice_tls_peer_names(const SSL *ssl, void *state, void (*visit)(void *state, const char *name, size_t count))
{
    const X509 *certificate = SSL_get0_peer_certificate(ssl);
    GENERAL_NAMES *names = certificate == NULL ? NULL : X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    if (names == NULL)
        return;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS)
            continue;
        const unsigned char *text = ASN1_STRING_get0_data(name->d.dNSName);
        int count = ASN1_STRING_length(name->d.dNSName);
        if (is_plain(text, count))
            visit(state, (const char *)text, (size_t)count);
    }
    GENERAL_NAMES_free(names);
}
