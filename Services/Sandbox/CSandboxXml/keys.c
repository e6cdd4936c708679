#include "internal.h"
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <xmlsec/openssl/evp.h>

static const char memory[] = "out of memory";

// Without it OpenSSL asks the terminal for the password of an encrypted key.
static int no_password(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

static BIO *reader(const uint8_t *pem, size_t count) {
    return count > INT_MAX ? NULL : BIO_new_mem_buf(pem, (int)count);
}

const char *csandbox_key_load_private(const uint8_t *pem, size_t count, CSandboxKey **out) {
    BIO *bio = reader(pem, count);
    EVP_PKEY *key = bio == NULL ? NULL : PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    BIO_free(bio);
    if (key == NULL) return "not an unencrypted PEM private key";
    *out = calloc(1, sizeof(CSandboxKey));
    if (*out == NULL) {
        EVP_PKEY_free(key);
        return memory;
    }
    (*out)->key = key;
    return NULL;
}

const char *csandbox_key_load_certificate(const uint8_t *pem, size_t count, CSandboxKey **out) {
    BIO *bio = reader(pem, count);
    X509 *certificate = bio == NULL ? NULL : PEM_read_bio_X509(bio, NULL, no_password, NULL);
    BIO_free(bio);
    if (certificate == NULL) return "not a PEM certificate";
    EVP_PKEY *key = X509_get_pubkey(certificate);
    const char *failure = NULL;
    if (key == NULL || EVP_PKEY_base_id(key) != EVP_PKEY_RSA) failure = "the certificate's key is not RSA";
    else if (EVP_PKEY_bits(key) < 2048) failure = "the certificate's RSA key is shorter than 2048 bits";
    else if ((*out = calloc(1, sizeof(CSandboxKey))) == NULL) failure = memory;
    if (failure != NULL) {
        EVP_PKEY_free(key);
        X509_free(certificate);
        return failure;
    }
    (*out)->key = key;
    (*out)->certificate = certificate;
    return NULL;
}

void csandbox_key_free(CSandboxKey *key) {
    EVP_PKEY_free(key->key);
    X509_free(key->certificate);
    free(key);
}

bool csandbox_key_matches(const CSandboxKey *privateKey, const CSandboxKey *certificate) {
    return EVP_PKEY_eq(privateKey->key, certificate->key) == 1;
}

const char *csandbox_certificate_der(const CSandboxKey *certificate, CSandboxOctets *out) {
    unsigned char *der = NULL;
    int count = i2d_X509(certificate->certificate, &der);
    if (count < 0) return "not a certificate";
    bool copied = csandbox_octets_set(out, der, (size_t)count);
    OPENSSL_free(der);
    return copied ? NULL : memory;
}

const char *csandbox_key_number(const CSandboxKey *key, const char *name, CSandboxOctets *out) {
    BIGNUM *number = NULL;
    unsigned char octets[1024];
    if (EVP_PKEY_get_bn_param(key->key, name, &number) != 1) return "not an RSA key";
    int count = BN_num_bytes(number);
    bool copied = count <= (int)sizeof octets && BN_bn2bin(number, octets) == count && csandbox_octets_set(out, octets, (size_t)count);
    BN_free(number);
    return copied ? NULL : memory;
}

void csandbox_sha256(const uint8_t *data, size_t count, uint8_t *out) {
    SHA256(data, count, out);
}

const char *csandbox_key_mac(const CSandboxKey *privateKey, const char *purpose, const uint8_t *data, size_t count, uint8_t *out) {
    unsigned char *der = NULL, secret[EVP_MAX_MD_SIZE];
    unsigned secretCount = 0, macCount = 0;
    int derCount = i2d_PrivateKey(privateKey->key, &der);
    if (derCount < 0) return "not a private key";
    bool done = HMAC(EVP_sha256(), der, derCount, (const unsigned char *)purpose, strlen(purpose), secret, &secretCount) != NULL
        && HMAC(EVP_sha256(), secret, (int)secretCount, data, count, out, &macCount) != NULL;
    OPENSSL_clear_free(der, (size_t)derCount);
    OPENSSL_cleanse(secret, sizeof secret);
    return done ? NULL : memory;
}

const char *csandbox_verify_octets(
    const CSandboxKey *certificate, const char *digest, const uint8_t *data, size_t count, const uint8_t *signature, size_t signatureCount) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const EVP_MD *method = EVP_get_digestbyname(digest);
    bool verified = context != NULL && method != NULL
        && EVP_DigestVerifyInit(context, NULL, method, NULL, certificate->key) == 1
        && EVP_DigestVerify(context, signature, signatureCount, data, count) == 1;
    EVP_MD_CTX_free(context);
    return verified ? NULL : "the signature does not verify";
}

const char *csandbox_sign_octets(
    const CSandboxKey *privateKey, const char *digest, const uint8_t *data, size_t count, CSandboxOctets *out) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const EVP_MD *method = EVP_get_digestbyname(digest);
    size_t size = 0;
    unsigned char *signature = NULL;
    bool done = context != NULL && method != NULL
        && EVP_DigestSignInit(context, NULL, method, NULL, privateKey->key) == 1
        && EVP_DigestSign(context, NULL, &size, data, count) == 1
        && (signature = malloc(size)) != NULL
        && EVP_DigestSign(context, signature, &size, data, count) == 1
        && csandbox_octets_set(out, signature, size);
    free(signature);
    EVP_MD_CTX_free(context);
    return done ? NULL : "the key cannot sign";
}

xmlSecKeyPtr csandbox_xmlsec_key(const CSandboxKey *key) {
    if (EVP_PKEY_up_ref(key->key) != 1) return NULL;
    xmlSecKeyDataPtr value = xmlSecOpenSSLEvpKeyAdopt(key->key);
    if (value == NULL) {
        EVP_PKEY_free(key->key);
        return NULL;
    }
    xmlSecKeyPtr result = xmlSecKeyCreate();
    if (result == NULL || xmlSecKeySetValue(result, value) != 0) {
        xmlSecKeyDataDestroy(value);
        if (result != NULL) xmlSecKeyDestroy(result);
        return NULL;
    }
    return result;
}
