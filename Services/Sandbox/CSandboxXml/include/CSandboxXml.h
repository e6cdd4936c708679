// XML, XML signatures and keys for the stand-in MVPD. Deliberately its own code: the stand-in must not share a mistake with the
// service provider it tests (mvpd §5).
//
// Each function that can fail returns NULL on success, else a short constant text that names the reason. Octets in `out` are
// allocated and released with csandbox_octets_free.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CSandboxOctets {
    uint8_t *_Nullable bytes;
    size_t count;
} CSandboxOctets;

void csandbox_octets_free(CSandboxOctets *_Nonnull octets);

/// Prepares libxml2 and libxmlsec1, once per process; the other functions need it.
const char *_Nullable csandbox_start(void);

// Keys. Immutable after loading, so usable from several threads.

typedef struct CSandboxKey CSandboxKey;

/// Reads an unencrypted PEM private key.
const char *_Nullable csandbox_key_load_private(
    const uint8_t *_Nonnull pem, size_t count, CSandboxKey *_Nullable *_Nonnull out);

/// Reads the first certificate of a PEM text; only RSA of 2048 bits and more.
const char *_Nullable csandbox_key_load_certificate(
    const uint8_t *_Nonnull pem, size_t count, CSandboxKey *_Nullable *_Nonnull out);

void csandbox_key_free(CSandboxKey *_Nonnull key);

/// Whether both hold the same public key.
bool csandbox_key_matches(const CSandboxKey *_Nonnull privateKey, const CSandboxKey *_Nonnull certificate);

/// The certificate's DER octets.
const char *_Nullable csandbox_certificate_der(const CSandboxKey *_Nonnull certificate, CSandboxOctets *_Nonnull out);

/// A number of an RSA key, big-endian: "n" (the modulus) or "e" (the public exponent).
const char *_Nullable csandbox_key_number(
    const CSandboxKey *_Nonnull key, const char *_Nonnull name, CSandboxOctets *_Nonnull out);

/// SHA-256 of octets; `out` has 32 octets.
void csandbox_sha256(const uint8_t *_Nonnull data, size_t count, uint8_t *_Nonnull out);

/// HMAC-SHA-256 of `data` under a secret taken from the private key and `purpose`; `out` has 32 octets.
const char *_Nullable csandbox_key_mac(
    const CSandboxKey *_Nonnull privateKey, const char *_Nonnull purpose, const uint8_t *_Nonnull data, size_t count, uint8_t *_Nonnull out);

/// Verifies an RSA PKCS #1 v1.5 signature over octets; `digest` is "SHA256", "SHA384" or "SHA512".
const char *_Nullable csandbox_verify_octets(
    const CSandboxKey *_Nonnull certificate, const char *_Nonnull digest, const uint8_t *_Nonnull data, size_t count,
    const uint8_t *_Nonnull signature, size_t signatureCount);

/// Signs octets by RSA PKCS #1 v1.5; `digest` as above.
const char *_Nullable csandbox_sign_octets(
    const CSandboxKey *_Nonnull privateKey, const char *_Nonnull digest, const uint8_t *_Nonnull data, size_t count,
    CSandboxOctets *_Nonnull out);

// Keys and signatures of JWS, for the stand-in Apple (apple §3).

/// Reads a PEM public key (SubjectPublicKeyInfo) of P-256.
const char *_Nullable csandbox_key_load_public_p256(
    const uint8_t *_Nonnull pem, size_t count, CSandboxKey *_Nullable *_Nonnull out);

/// Verifies ES256: the signature is r and s of 32 octets each (RFC 7518 §3.4); any other form, DER too, does not verify.
const char *_Nullable csandbox_verify_es256(
    const CSandboxKey *_Nonnull publicKey, const uint8_t *_Nonnull data, size_t count, const uint8_t *_Nonnull signature, size_t signatureCount);

/// Makes the RSA key of 2048 bits that a seed of 32 octets gives: the same one each time. Good for tests only.
const char *_Nullable csandbox_key_make_rsa(const uint8_t *_Nonnull seed, CSandboxKey *_Nullable *_Nonnull out);

// Parsing (mvpd §6).

typedef struct CSandboxDocument CSandboxDocument;
typedef struct CSandboxNode CSandboxNode;

/// Parses with no DTD, entity, processing instruction or network; at most 256 KiB, 64 levels, 5000 nodes.
const char *_Nullable csandbox_document_parse(
    const uint8_t *_Nonnull xml, size_t count, CSandboxDocument *_Nullable *_Nonnull out);
void csandbox_document_free(CSandboxDocument *_Nonnull document);
const CSandboxNode *_Nonnull csandbox_document_root(const CSandboxDocument *_Nonnull document);

/// The first child element, and the next sibling element.
const CSandboxNode *_Nullable csandbox_node_first(const CSandboxNode *_Nonnull node);
const CSandboxNode *_Nullable csandbox_node_next(const CSandboxNode *_Nonnull node);
const char *_Nonnull csandbox_node_name(const CSandboxNode *_Nonnull node);
const char *_Nullable csandbox_node_namespace(const CSandboxNode *_Nonnull node);

/// The text of an element without child elements; no octets (NULL) when it has some, or comments or CDATA.
void csandbox_node_text(const CSandboxNode *_Nonnull node, CSandboxOctets *_Nonnull out);

/// The number of attributes without a namespace, and the one at an index.
size_t csandbox_node_attribute_count(const CSandboxNode *_Nonnull node);
const char *_Nonnull csandbox_node_attribute_name(const CSandboxNode *_Nonnull node, size_t index);
void csandbox_node_attribute_value(const CSandboxNode *_Nonnull node, size_t index, CSandboxOctets *_Nonnull out);

/// The one message in the body of a SOAP 1.1 envelope, as a document of its own.
const char *_Nullable csandbox_soap_content(const uint8_t *_Nonnull xml, size_t count, CSandboxOctets *_Nonnull out);

// Signatures and encryption. Results hold no line breaks inside base64 values.

/// Fills the ds:Signature template that is a child of the element whose ID is `identifier`.
const char *_Nullable csandbox_sign(
    const uint8_t *_Nonnull xml, size_t count, const char *_Nonnull identifier, const CSandboxKey *_Nonnull privateKey,
    CSandboxOctets *_Nonnull out);

/// Verifies the one signature of the root element; `out` is what was digested, in canonical form: read nothing else.
const char *_Nullable csandbox_verify_root(
    const uint8_t *_Nonnull xml, size_t count, const CSandboxKey *_Nonnull certificate, CSandboxOctets *_Nonnull out);

/// Encrypts octets into the xenc:EncryptedData template inside `xml`, with a fresh AES key of `keyBits` bits wrapped for the certificate.
const char *_Nullable csandbox_encrypt(
    const uint8_t *_Nonnull xml, size_t count, const uint8_t *_Nonnull plain, size_t plainCount, unsigned keyBits,
    const CSandboxKey *_Nonnull certificate, CSandboxOctets *_Nonnull out);

/// Inflates raw DEFLATE (SAML bindings §3.4.4.1); more than `limit` octets of result is an error.
const char *_Nullable csandbox_inflate(
    const uint8_t *_Nonnull data, size_t count, size_t limit, CSandboxOctets *_Nonnull out);

/// The reverse of csandbox_inflate.
const char *_Nullable csandbox_deflate(const uint8_t *_Nonnull data, size_t count, CSandboxOctets *_Nonnull out);
