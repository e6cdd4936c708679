#include "BoxofficeTls.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
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

static int no_passphrase(char *buffer, int size, int writes, void *state)
{
    (void)buffer;
    (void)size;
    (void)writes;
    (void)state;
    return 0;
}

/* Behind the mark that some editors put before a text. */
static BIO *open_text(const char *path)
{
    unsigned char mark[3];
    BIO *file = BIO_new_file(path, "r");
    if (file == NULL)
        return NULL;
    if (BIO_read(file, mark, 3) != 3 || memcmp(mark, "\xEF\xBB\xBF", 3) != 0)
        (void)BIO_reset(file);
    return file;
}

int boxoffice_tls_trust(SSL_CTX *context, const char *path)
{
    BIO *file = open_text(path);
    if (file == NULL)
        return 0;
    STACK_OF(X509_INFO) *found = PEM_X509_INFO_read_bio(file, NULL, no_passphrase, NULL);
    BIO_free(file);
    if (found == NULL)
        return 0;
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    int anchors = 0, good = 1;
    for (int i = 0; good && i < sk_X509_INFO_num(found); i++) {
        const X509_INFO *entry = sk_X509_INFO_value(found, i);
        if (entry->x509 != NULL) {
            good = X509_STORE_add_cert(store, entry->x509) && SSL_CTX_add_client_CA(context, entry->x509);
            anchors++;
        }
        if (good && entry->crl != NULL)
            good = X509_STORE_add_crl(store, entry->crl);
    }
    sk_X509_INFO_pop_free(found, X509_INFO_free);
    return good && anchors > 0;
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

static void visit_names(const X509 *certificate, void *state, boxoffice_name_visitor visit)
{
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

void boxoffice_tls_peer_names(const SSL *ssl, void *state, boxoffice_name_visitor visit)
{
    visit_names(SSL_get0_peer_certificate(ssl), state, visit);
}

void boxoffice_tls_own_names(const SSL_CTX *context, void *state, boxoffice_name_visitor visit)
{
    visit_names(SSL_CTX_get0_certificate(context), state, visit);
}

#define DIGEST_SIZE 32

typedef struct refused_list {
    size_t count;
    uint8_t digests[];
} refused_list;

static pthread_once_t refused_once = PTHREAD_ONCE_INIT;
static int refused_index = -1;

static void free_refused(void *parent, void *list, CRYPTO_EX_DATA *data, int index, long argument, void *pointer)
{
    (void)parent;
    (void)data;
    (void)index;
    (void)argument;
    (void)pointer;
    free(list);
}

static void make_refused_index(void) { refused_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_refused); }

static int is_refused(const refused_list *list, const X509 *certificate)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    // What cannot be compared is not let in.
    if (!X509_digest(certificate, EVP_sha256(), digest, &size) || size != DIGEST_SIZE)
        return 1;
    for (size_t i = 0; i < list->count; i++)
        if (memcmp(list->digests + i * DIGEST_SIZE, digest, DIGEST_SIZE) == 0)
            return 1;
    return 0;
}

// Called for each certificate of the chain.
static int check_refused(int verified, X509_STORE_CTX *store)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const refused_list *list = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), refused_index);
    const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    if (!verified || list == NULL || certificate == NULL || !is_refused(list, certificate))
        return verified;
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED);
    return 0;
}

int boxoffice_tls_refuse(SSL_CTX *context, const uint8_t *digests, size_t count)
{
    if (count == 0)
        return 1;
    pthread_once(&refused_once, make_refused_index);
    refused_list *list = refused_index < 0 ? NULL : malloc(sizeof(refused_list) + count * DIGEST_SIZE);
    if (list == NULL)
        return 0;
    list->count = count;
    memcpy(list->digests, digests, count * DIGEST_SIZE);
    if (!SSL_CTX_set_ex_data(context, refused_index, list)) {
        free(list);
        return 0;
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, check_refused);
    return 1;
}
