#pragma once
// What of libcrypto Swift cannot call itself (macros, generated stacks, unions).
#include <stddef.h>
#include <stdint.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// What a certificate may be used for.
typedef enum {
    /// Signs other certificates; nothing else.
    BoxofficeProfileAuthority = 0,
    /// Both ends of a TLS connection.
    BoxofficeProfilePeer = 1,
    /// Digital signatures over documents.
    BoxofficeProfileSigning = 2,
    /// Receives encrypted keys.
    BoxofficeProfileEncryption = 3,
} BoxofficeCertificateProfile;

typedef struct {
    /// NULL: self-signed, `issuer_key` is then the subject's own key.
    X509 *issuer;
    EVP_PKEY *issuer_key;
    EVP_PKEY *subject_key;
    /// UTF-8, at most 64 characters.
    const char *common_name;
    /// May be NULL.
    GENERAL_NAMES *alternative_names;
    BoxofficeCertificateProfile profile;
    /// Seconds since 1970.
    int64_t not_before;
    int64_t not_after;
    /// Big-endian serial number.
    const uint8_t *serial;
    size_t serial_length;
} BoxofficeCertificateRequest;

/// A signed certificate, or NULL (see the OpenSSL error queue). The caller frees it with X509_free.
X509 *boxoffice_issue_certificate(const BoxofficeCertificateRequest *request);

GENERAL_NAMES *boxoffice_names_new(void);
void boxoffice_names_free(GENERAL_NAMES *names);
/// 1 on success.
int boxoffice_names_add_dns(GENERAL_NAMES *names, const char *name);
/// `address` is IPv4 or IPv6 text. 1 on success.
int boxoffice_names_add_address(GENERAL_NAMES *names, const char *address);

/// The subject alternative names of a certificate, or NULL when it has none. Free with boxoffice_names_free.
GENERAL_NAMES *boxoffice_names_of(const X509 *certificate);
int boxoffice_names_count(const GENERAL_NAMES *names);
/// Bytes of the name at `index` when it is a DNS name, else NULL; they live as long as `names`.
const uint8_t *boxoffice_names_dns(const GENERAL_NAMES *names, int index, size_t *length);

/// Bytes that a memory BIO holds; they live as long as the BIO is not written to.
const uint8_t *boxoffice_bio_bytes(BIO *bio, size_t *length);
/// Writes a distinguished name as RFC 2253 text. 1 on success.
int boxoffice_print_name(BIO *bio, const X509_NAME *name);
/// A public key from its big-endian numbers, or NULL. Free with EVP_PKEY_free.
EVP_PKEY *boxoffice_rsa_public_key(const uint8_t *modulus, size_t modulus_length, const uint8_t *exponent, size_t exponent_length);
/// A public key on P-256 from its uncompressed point, or NULL. Free with EVP_PKEY_free.
EVP_PKEY *boxoffice_p256_public_key(const uint8_t *point, size_t length);
