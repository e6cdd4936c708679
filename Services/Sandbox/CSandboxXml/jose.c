#include "internal.h"
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

enum { prime_octets = 128, part = 32, exponent = 65537 };

const char *csandbox_key_load_public_p256(const uint8_t *pem, size_t count, CSandboxKey **out) {
    BIO *bio = count > INT_MAX ? NULL : BIO_new_mem_buf(pem, (int)count);
    EVP_PKEY *key = bio == NULL ? NULL : PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    BIO_free(bio);
    if (key == NULL) return "not a PEM public key";
    char group[32];
    size_t length = 0;
    const char *failure = NULL;
    if (EVP_PKEY_get_group_name(key, group, sizeof group, &length) != 1 || strcmp(group, SN_X9_62_prime256v1) != 0) failure = "not a key of P-256";
    else if ((*out = calloc(1, sizeof(CSandboxKey))) == NULL) failure = "out of memory";
    if (failure != NULL) {
        EVP_PKEY_free(key);
        return failure;
    }
    (*out)->key = key;
    return NULL;
}

// The signature of JWS is r and s side by side; OpenSSL takes the DER form.
static int der_signature(const uint8_t *signature, unsigned char **der) {
    BIGNUM *r = BN_bin2bn(signature, part, NULL), *s = BN_bin2bn(signature + part, part, NULL);
    ECDSA_SIG *pair = ECDSA_SIG_new();
    if (r == NULL || s == NULL || pair == NULL || ECDSA_SIG_set0(pair, r, s) != 1) {
        BN_free(r);
        BN_free(s);
        ECDSA_SIG_free(pair);
        return -1;
    }
    int count = i2d_ECDSA_SIG(pair, der);
    ECDSA_SIG_free(pair);
    return count;
}

const char *csandbox_verify_es256(
    const CSandboxKey *publicKey, const uint8_t *data, size_t count, const uint8_t *signature, size_t signatureCount) {
    if (signatureCount != 2 * part) return "the signature is not r and s of 32 octets each";
    unsigned char *der = NULL;
    int derCount = der_signature(signature, &der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool verified = context != NULL && derCount > 0 && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, publicKey->key) == 1
        && EVP_DigestVerify(context, der, (size_t)derCount, data, count) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    return verified ? NULL : "the signature does not verify";
}

// The first prime at or after a number that the seed and the label give, such that the exponent has an inverse.
static BIGNUM *seeded_prime(const uint8_t *seed, uint8_t label, BN_CTX *scratch) {
    uint8_t octets[prime_octets], block[SHA256_DIGEST_LENGTH + 2];
    memcpy(block, seed, SHA256_DIGEST_LENGTH);
    block[SHA256_DIGEST_LENGTH] = label;
    for (uint8_t index = 0; index < prime_octets / SHA256_DIGEST_LENGTH; index++) {
        block[SHA256_DIGEST_LENGTH + 1] = index;
        SHA256(block, sizeof block, octets + index * SHA256_DIGEST_LENGTH);
    }
    octets[0] |= 0xc0; // the product of two such numbers has its full length
    octets[prime_octets - 1] |= 1;
    BIGNUM *number = BN_bin2bn(octets, prime_octets, NULL);
    while (number != NULL) {
        if (BN_mod_word(number, exponent) != 1 && BN_check_prime(number, scratch, NULL) == 1) return number;
        if (BN_add_word(number, 2) != 1) break;
    }
    BN_free(number);
    return NULL;
}

typedef struct {
    BIGNUM *n, *e, *d, *p, *q, *dp, *dq, *inverse;
} RsaNumbers;

static bool fill(RsaNumbers *rsa, const uint8_t *seed, BN_CTX *scratch) {
    BIGNUM *phi = BN_new(), *p1 = BN_new(), *q1 = BN_new();
    rsa->p = seeded_prime(seed, 'p', scratch);
    rsa->q = seeded_prime(seed, 'q', scratch);
    rsa->n = BN_new(), rsa->e = BN_new(), rsa->dp = BN_new(), rsa->dq = BN_new();
    bool done = phi != NULL && p1 != NULL && q1 != NULL && rsa->p != NULL && rsa->q != NULL && rsa->n != NULL && rsa->e != NULL && rsa->dp != NULL
        && rsa->dq != NULL;
    if (done && BN_cmp(rsa->p, rsa->q) < 0) BN_swap(rsa->p, rsa->q);
    done = done && BN_set_word(rsa->e, exponent) == 1 && BN_mul(rsa->n, rsa->p, rsa->q, scratch) == 1
        && BN_sub(p1, rsa->p, BN_value_one()) == 1 && BN_sub(q1, rsa->q, BN_value_one()) == 1 && BN_mul(phi, p1, q1, scratch) == 1
        && (rsa->d = BN_mod_inverse(NULL, rsa->e, phi, scratch)) != NULL && BN_mod(rsa->dp, rsa->d, p1, scratch) == 1
        && BN_mod(rsa->dq, rsa->d, q1, scratch) == 1 && (rsa->inverse = BN_mod_inverse(NULL, rsa->q, rsa->p, scratch)) != NULL;
    BN_free(phi);
    BN_free(p1);
    BN_free(q1);
    return done;
}

static EVP_PKEY *assemble(const RsaNumbers *rsa) {
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;
    bool pushed = builder != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, rsa->n) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, rsa->e) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_D, rsa->d) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_FACTOR1, rsa->p) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_FACTOR2, rsa->q) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_EXPONENT1, rsa->dp) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_EXPONENT2, rsa->dq) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_COEFFICIENT1, rsa->inverse) == 1;
    if (pushed && context != NULL && (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1
        && EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1)
        key = NULL;
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    return key;
}

const char *csandbox_key_make_rsa(const uint8_t *seed, CSandboxKey **out) {
    BN_CTX *scratch = BN_CTX_new();
    RsaNumbers rsa = {0};
    EVP_PKEY *key = scratch != NULL && fill(&rsa, seed, scratch) ? assemble(&rsa) : NULL;
    BIGNUM *numbers[] = {rsa.n, rsa.e, rsa.d, rsa.p, rsa.q, rsa.dp, rsa.dq, rsa.inverse};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) BN_clear_free(numbers[index]);
    BN_CTX_free(scratch);
    if (key == NULL) return "no key can be made";
    *out = calloc(1, sizeof(CSandboxKey));
    if (*out == NULL) {
        EVP_PKEY_free(key);
        return "out of memory";
    }
    (*out)->key = key;
    return NULL;
}
