#include "Internal.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <xmlsec/buffer.h>
#include <xmlsec/xmlenc.h>
#include <xmlsec/xmltree.h>
#include <xmlsec/openssl/crypto.h>

enum { LARGEST_SESSION_KEY = 32 };

static xmlSecTransformId content_transform(cxs_content_cipher cipher) {
    switch (cipher) {
    case CXS_AES128_GCM: return xmlSecOpenSSLTransformAes128GcmGetKlass();
    case CXS_AES192_GCM: return xmlSecOpenSSLTransformAes192GcmGetKlass();
    case CXS_AES256_GCM: return xmlSecOpenSSLTransformAes256GcmGetKlass();
    case CXS_AES128_CBC: return xmlSecOpenSSLTransformAes128CbcGetKlass();
    case CXS_AES192_CBC: return xmlSecOpenSSLTransformAes192CbcGetKlass();
    case CXS_AES256_CBC: return xmlSecOpenSSLTransformAes256CbcGetKlass();
    }
    return NULL;
}

static xmlSecSize key_size(cxs_content_cipher cipher) {
    switch (cipher) {
    case CXS_AES128_GCM: case CXS_AES128_CBC: return 16;
    case CXS_AES192_GCM: case CXS_AES192_CBC: return 24;
    case CXS_AES256_GCM: case CXS_AES256_CBC: return 32;
    }
    return 0;
}

/* A context that takes over `key` and allows one transform; it has no other source of keys and follows no reference. */
static xmlSecEncCtxPtr context_for(xmlSecKeyPtr key, xmlSecTransformId transform, xmlEncCtxMode mode) {
    xmlSecEncCtxPtr context = key != NULL ? xmlSecEncCtxCreate(NULL) : NULL;
    if (context == NULL) {
        if (key != NULL) xmlSecKeyDestroy(key);
        return NULL;
    }
    context->encKey = key;
    context->mode = mode;
    context->transformCtx.enabledUris = xmlSecTransformUriTypeNone;
    if (transform != NULL && xmlSecPtrListAdd(&context->transformCtx.enabledTransforms, (void *)transform) == 0) return context;
    xmlSecEncCtxDestroy(context);
    return NULL;
}

/* Whether the ciphertext is in the element itself. Of one without, the library would make the canonical form of the whole document and lose memory with each. */
static int holds_ciphertext(xmlNodePtr encrypted) {
    xmlNodePtr data = xmlSecFindChild(encrypted, xmlSecNodeCipherData, xmlSecEncNs);
    return data != NULL && xmlSecFindChild(data, xmlSecNodeCipherValue, xmlSecEncNs) != NULL;
}

static const EVP_MD *digest_of(cxs_digest_method method) {
    switch (method) {
    case CXS_SHA1: return EVP_sha1();
    case CXS_SHA256: return EVP_sha256();
    case CXS_SHA384: return EVP_sha384();
    case CXS_SHA512: return EVP_sha512();
    }
    return NULL;
}

/* RSAES-OAEP, of which xmlsec 1.2 has no digest but SHA-1. Returns how many octets came out, 0 when none did. */
static size_t open_oaep(const cxs_key *key, cxs_digest_method digest, cxs_digest_method mask, const unsigned char *wrapped, size_t length,
                        unsigned char *opened, size_t room) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key->pair, NULL);
    size_t size = room;
    int is_opened = context != NULL && EVP_PKEY_decrypt_init(context) == 1 && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1 &&
                    EVP_PKEY_CTX_set_rsa_oaep_md(context, digest_of(digest)) == 1 &&
                    EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest_of(mask)) == 1 && EVP_PKEY_decrypt(context, opened, &size, wrapped, length) == 1;
    EVP_PKEY_CTX_free(context);
    return is_opened ? size : 0;
}

/* Unwraps the session key, or leaves the random octets that are already in `session_key`. */
static void unwrap(const cxs_wrapped_key *wrapped, const cxs_key *key, unsigned char *session_key, xmlSecSize size) {
    enum { LARGEST_MODULUS = 2048 };
    if (!holds_ciphertext(wrapped->encrypted_key) || EVP_PKEY_base_id(key->pair) != EVP_PKEY_RSA || EVP_PKEY_size(key->pair) > LARGEST_MODULUS) return;
    xmlNodePtr data = xmlSecFindChild(wrapped->encrypted_key, xmlSecNodeCipherData, xmlSecEncNs);
    xmlSecBufferPtr ciphertext = xmlSecBufferCreate(0);
    if (ciphertext == NULL) return;
    unsigned char opened[LARGEST_MODULUS];
    if (xmlSecBufferBase64NodeContentRead(ciphertext, xmlSecFindChild(data, xmlSecNodeCipherValue, xmlSecEncNs)) == 0) {
        size_t length = open_oaep(key, wrapped->digest, wrapped->mask, xmlSecBufferGetData(ciphertext), xmlSecBufferGetSize(ciphertext), opened,
                                  sizeof opened);
        if (length == size) memcpy(session_key, opened, size);
        OPENSSL_cleanse(opened, sizeof opened);
    }
    xmlSecBufferDestroy(ciphertext);
}

int cxs_decrypt(cxs_node *encrypted_data, const cxs_wrapped_key *wrapped, cxs_content_cipher cipher, const cxs_key *key,
                cxs_document **plaintext, cxs_parse_status *parse) {
    *plaintext = NULL;
    *parse = CXS_PARSED;
    cxs_begin();
    if (!holds_ciphertext(encrypted_data)) return -1;
    xmlSecSize size = key_size(cipher);
    unsigned char session_key[LARGEST_SESSION_KEY];
    if (size == 0 || RAND_bytes(session_key, (int)size) != 1) return -1;
    unwrap(wrapped, key, session_key, size);
    xmlSecKeyPtr content_key = xmlSecKeyReadMemory(xmlSecOpenSSLKeyDataAesGetKlass(), session_key, size);
    OPENSSL_cleanse(session_key, sizeof session_key);

    xmlSecEncCtxPtr context = context_for(content_key, content_transform(cipher), xmlEncCtxModeEncryptedData);
    int outcome = -1;
    if (context != NULL) {
        xmlSecBufferPtr octets = xmlSecEncCtxDecryptToBuffer(context, encrypted_data);
        if (octets != NULL && xmlSecBufferGetData(octets) != NULL) {
            *parse = cxs_parse(xmlSecBufferGetData(octets), xmlSecBufferGetSize(octets), plaintext);
            outcome = *parse == CXS_PARSED ? 0 : -1;
        }
        xmlSecEncCtxDestroy(context);
    }
    ERR_clear_error();
    return outcome;
}
