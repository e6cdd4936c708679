#include "Internal.h"

#include <stdlib.h>

#include <openssl/ecdsa.h>
#include <openssl/err.h>

static const EVP_MD *digest_of(cxs_signature_method method) {
    switch (method) {
    case CXS_RSA_SHA1: return EVP_sha1();
    case CXS_RSA_SHA256: case CXS_ECDSA_SHA256: return EVP_sha256();
    case CXS_RSA_SHA384: case CXS_ECDSA_SHA384: return EVP_sha384();
    case CXS_RSA_SHA512: case CXS_ECDSA_SHA512: return EVP_sha512();
    }
    return NULL;
}

static int is_elliptic(cxs_signature_method method) {
    return method == CXS_ECDSA_SHA256 || method == CXS_ECDSA_SHA384 || method == CXS_ECDSA_SHA512;
}

/* The DER form of the two numbers that XML signatures write one behind the other (RFC 4050 §3.3). */
static unsigned char *der_of(const uint8_t *signature, size_t length, int bits, size_t *der_length) {
    size_t half = ((size_t)bits + 7) / 8;
    if (length != 2 * half) return NULL;
    ECDSA_SIG *numbers = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature, (int)half, NULL), *s = BN_bin2bn(signature + half, (int)half, NULL);
    unsigned char *der = NULL;
    if (numbers != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(numbers, r, s) == 1) {
        int size = i2d_ECDSA_SIG(numbers, &der);
        *der_length = size > 0 ? (size_t)size : 0;
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(numbers);
    return der;
}

int cxs_verify_octets(const cxs_key *key, cxs_signature_method method, const uint8_t *octets, size_t length,
                      const uint8_t *signature, size_t signature_length) {
    const EVP_MD *digest = digest_of(method);
    if (digest == NULL || is_elliptic(method) != (EVP_PKEY_base_id(key->pair) == EVP_PKEY_EC)) return 0;
    unsigned char *der = NULL;
    size_t der_length = 0;
    if (is_elliptic(method)) {
        der = der_of(signature, signature_length, EVP_PKEY_bits(key->pair), &der_length);
        if (der == NULL) return 0;
        signature = der;
        signature_length = der_length;
    }
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int verified = context != NULL && EVP_DigestVerifyInit(context, NULL, digest, NULL, key->pair) == 1 &&
                   EVP_DigestVerify(context, signature, signature_length, octets, length) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    ERR_clear_error();
    return verified;
}
