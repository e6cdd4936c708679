/*
 * XML, XML signatures and XML encryption for the SAML service provider profile: a narrow, hardened use of
 * libxml2 and libxmlsec1 (mvpd §6).
 *
 * Every object belongs to one thread at a time, except keys: they do not change after they were made and
 * may be used by many threads. Nothing here reads a file or opens a connection.
 */
#ifndef CXMLSEC_H
#define CXMLSEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cxs_document cxs_document;
typedef struct _xmlNode cxs_node;
typedef struct cxs_key cxs_key;

/* Prepares the libraries, once per process, from whichever thread comes first. 0 when they are usable. */
int cxs_initialize(void);

/* The library's first complaint during the last call on this thread; "" when it had none. For logs only. */
const char *cxs_last_complaint(void);

/* ---- Documents ---------------------------------------------------------------------------------------- */

typedef enum {
    CXS_PARSED = 0,
    CXS_HAS_DOCTYPE, /* a document type declaration, whatever it holds */
    CXS_BAD_FORM,    /* not well-formed, not UTF-8, a processing instruction, mixed content, ... */
    CXS_OVER_LIMIT,  /* deeper than 64 elements, more than 20000 nodes, 256 attributes at an element, or 512 namespaces in scope */
    CXS_NO_MEMORY
} cxs_parse_status;

/* Parses a whole document with a fresh, hardened parser. The caller frees `*document`. */
cxs_parse_status cxs_parse(const uint8_t *octets, size_t length, cxs_document **document);

/* As cxs_parse, for a tree that is only read. */
cxs_parse_status cxs_parse_to_read(const uint8_t *octets, size_t length, cxs_document **document);

/* As cxs_parse_to_read, for a list of records, which may have 50000 nodes. */
cxs_parse_status cxs_parse_list(const uint8_t *octets, size_t length, cxs_document **document);

/* As cxs_parse_to_read, without the comments and processing instructions that people and tools leave in their metadata. */
cxs_parse_status cxs_parse_metadata(const uint8_t *octets, size_t length, cxs_document **document);

/* The octets in UTF-8, of text in the encoding of that name. NULL when the encoding is not known (`*is_known` is then 0), the text is not in it, or is longer
 * than `largest` octets; the caller frees it with cxs_free. */
uint8_t *cxs_recode(const char *encoding, const uint8_t *octets, size_t length, size_t largest, size_t *recoded_length, int *is_known);

void cxs_document_free(cxs_document *document);
cxs_node *cxs_document_root(const cxs_document *document);

/* The tree; all results live as long as the document. */
cxs_node *cxs_first_element(const cxs_node *parent);
cxs_node *cxs_next_element(const cxs_node *element);
const char *cxs_local_name(const cxs_node *element);
/* "" when the element is in no namespace. */
const char *cxs_namespace(const cxs_node *element);
/* The value of the attribute in no namespace of that name, NULL when there is none. */
const char *cxs_attribute(const cxs_node *element, const char *name);
/* The text of an element that holds nothing else ("" when it is empty); NULL when it holds anything else. */
const char *cxs_text(const cxs_node *element);

/* The attributes of an element that are named like an identifier: `ID`, `Id`, `id`, `xml:id`, `wsu:Id`, ...
 * Returns false after the last. `is_plain_ID` tells the exact name `ID` in no namespace. */
int cxs_next_identifier(const cxs_node *element, const void **cursor, const char **value, int *is_plain_ID);

/* ---- Keys --------------------------------------------------------------------------------------------- */

typedef enum { CXS_KEY_RSA = 1, CXS_KEY_EC = 2 } cxs_key_kind;

/* The public key of an X.509 certificate (DER, nothing behind it); NULL when it cannot be used. */
cxs_key *cxs_key_from_certificate(const uint8_t *der, size_t length);
/* A private key (PEM, not encrypted); NULL when it cannot be used. */
cxs_key *cxs_key_from_pem(const uint8_t *pem, size_t length);
void cxs_key_free(cxs_key *key);
cxs_key_kind cxs_key_get_kind(const cxs_key *key);
int cxs_key_get_bits(const cxs_key *key);
/* Seconds since 1970 at which the certificate ends; 0 for a private key. */
int64_t cxs_key_get_not_after(const cxs_key *key);
/* True when both are halves of one pair. */
int cxs_key_matches(const cxs_key *left, const cxs_key *right);

/* ---- Signatures --------------------------------------------------------------------------------------- */

typedef enum {
    CXS_RSA_SHA1 = 1, CXS_RSA_SHA256, CXS_RSA_SHA384, CXS_RSA_SHA512,
    CXS_ECDSA_SHA256, CXS_ECDSA_SHA384, CXS_ECDSA_SHA512
} cxs_signature_method;

typedef enum { CXS_SHA1 = 1, CXS_SHA256, CXS_SHA384, CXS_SHA512 } cxs_digest_method;

typedef enum {
    CXS_VERIFIED = 0,
    CXS_NOT_VERIFIED,       /* the signature or the digest is wrong, or the library refused to process it */
    CXS_REFERENCE_MISMATCH, /* not exactly one reference to the element */
    CXS_DIGEST_MISMATCH     /* the content is not what was signed */
} cxs_verify_status;

/*
 * Verifies the enveloped `signature` of its parent element with the first of `keys` that fits, allowing only
 * the two named algorithms, the enveloped-signature transform and exclusive canonicalization.
 *
 * `*verified` receives the canonical octets that were digested, parsed again: only that tree may be trusted.
 * The caller frees it. `*parse` tells how that parsing went; CXS_NOT_VERIFIED is returned when it failed.
 */
cxs_verify_status cxs_verify(const cxs_document *document, cxs_node *signature, cxs_signature_method signature_method,
                             cxs_digest_method digest_method, const cxs_key *const *keys, size_t key_count,
                             cxs_document **verified, cxs_parse_status *parse);

/* Fills the signature template that is a child of the root element, whose `ID` it must refer to (RSA-SHA256),
 * and writes the document without XML declaration. NULL on failure; the caller frees it with cxs_free. */
char *cxs_sign(const uint8_t *octets, size_t length, const cxs_key *key, size_t *signed_length);

/* RSASSA-PKCS1-v1_5 with SHA-256 over `octets`. NULL on failure; the caller frees it with cxs_free. */
uint8_t *cxs_sign_octets(const cxs_key *key, const uint8_t *octets, size_t length, size_t *signature_length);

/* True when `signature` is one of `key` over `octets`: RSASSA-PKCS1-v1_5, or ECDSA with both numbers one behind the other. */
int cxs_verify_octets(const cxs_key *key, cxs_signature_method method, const uint8_t *octets, size_t length,
                      const uint8_t *signature, size_t signature_length);

/* ---- Encryption --------------------------------------------------------------------------------------- */

typedef enum {
    CXS_AES128_GCM = 1, CXS_AES192_GCM, CXS_AES256_GCM, CXS_AES128_CBC, CXS_AES192_CBC, CXS_AES256_CBC
} cxs_content_cipher;

/* A session key: RSAES-OAEP with that digest, and with MGF1 of the other as its mask function. */
typedef struct {
    cxs_node *encrypted_key;
    cxs_digest_method digest;
    cxs_digest_method mask;
} cxs_wrapped_key;

/*
 * Decrypts `encrypted_data` with the session key in `wrapped`, and parses the
 * plaintext as a document of its own. A session key that cannot be unwrapped is replaced by a random one, so that
 * all failures take the same way and the same time. Returns 0 when `*plaintext` was parsed; the caller frees it.
 */
int cxs_decrypt(cxs_node *encrypted_data, const cxs_wrapped_key *wrapped, cxs_content_cipher cipher, const cxs_key *key,
                cxs_document **plaintext, cxs_parse_status *parse);

/* ---- Compression -------------------------------------------------------------------------------------- */

/* Raw DEFLATE (RFC 1951). NULL on failure; the caller frees it with cxs_free. */
uint8_t *cxs_deflate(const uint8_t *octets, size_t length, size_t *deflated_length);

/* The whole content of one raw DEFLATE stream with nothing behind it. NULL when it is not that, or holds more than `largest`
 * octets; the caller frees it with cxs_free. */
uint8_t *cxs_inflate(const uint8_t *octets, size_t length, size_t largest, size_t *inflated_length);

void cxs_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
