#include "Internal.h"

#include <stdlib.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <xmlsec/openssl/evp.h>

/* Takes over the reference to `pair`. */
static cxs_key *wrap(EVP_PKEY *pair, int64_t not_after) {
    ERR_clear_error();
    if (pair == NULL) return NULL;
    int kind = EVP_PKEY_base_id(pair);
    cxs_key *key = kind == EVP_PKEY_RSA || kind == EVP_PKEY_EC ? malloc(sizeof *key) : NULL;
    if (key == NULL) {
        EVP_PKEY_free(pair);
        return NULL;
    }
    *key = (cxs_key){.pair = pair, .not_after = not_after};
    return key;
}

static int64_t seconds_since_1970(const ASN1_TIME *time) {
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0, seconds = 0;
    int known = epoch != NULL && ASN1_TIME_diff(&days, &seconds, epoch, time);
    ASN1_TIME_free(epoch);
    return known ? (int64_t)days * 86400 + seconds : 0;
}

cxs_key *cxs_key_from_certificate(const uint8_t *der, size_t length) {
    if (length == 0 || length > 1 << 20) return NULL;
    const unsigned char *end = der;
    X509 *certificate = d2i_X509(NULL, &end, (long)length);
    cxs_key *key = NULL;
    if (certificate != NULL && end == der + length) {
        key = wrap(X509_get_pubkey(certificate), seconds_since_1970(X509_get0_notAfter(certificate)));
    }
    X509_free(certificate);
    ERR_clear_error();
    return key;
}

/* A key that would need a passphrase is refused, instead of asking for one on the terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

cxs_key *cxs_key_from_pem(const uint8_t *pem, size_t length) {
    if (length == 0 || length > 1 << 20) return NULL;
    BIO *input = BIO_new_mem_buf(pem, (int)length);
    if (input == NULL) return NULL;
    EVP_PKEY *pair = PEM_read_bio_PrivateKey(input, NULL, no_passphrase, NULL);
    BIO_free(input);
    return wrap(pair, 0);
}

void cxs_key_free(cxs_key *key) {
    if (key == NULL) return;
    EVP_PKEY_free(key->pair);
    free(key);
}

cxs_key_kind cxs_key_get_kind(const cxs_key *key) {
    return EVP_PKEY_base_id(key->pair) == EVP_PKEY_RSA ? CXS_KEY_RSA : CXS_KEY_EC;
}

int cxs_key_get_bits(const cxs_key *key) {
    return EVP_PKEY_bits(key->pair);
}

int64_t cxs_key_get_not_after(const cxs_key *key) {
    return key->not_after;
}

int cxs_key_matches(const cxs_key *left, const cxs_key *right) {
    int same = EVP_PKEY_eq(left->pair, right->pair) == 1;
    ERR_clear_error();
    return same;
}

xmlSecKeyPtr cxs_key_lend(const cxs_key *key) {
    if (EVP_PKEY_up_ref(key->pair) != 1) return NULL;
    xmlSecKeyDataPtr value = xmlSecOpenSSLEvpKeyAdopt(key->pair);
    if (value == NULL) {
        EVP_PKEY_free(key->pair);
        return NULL;
    }
    xmlSecKeyPtr lent = xmlSecKeyCreate();
    if (lent != NULL && xmlSecKeySetValue(lent, value) == 0) return lent;
    xmlSecKeyDataDestroy(value);
    if (lent != NULL) xmlSecKeyDestroy(lent);
    return NULL;
}
