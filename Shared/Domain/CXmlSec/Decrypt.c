#include "Internal.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/rand.h>
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

/* Unwraps the session key, or leaves the random octets that are already in `session_key`. */
static void unwrap(xmlNodePtr encrypted_key, const cxs_key *key, unsigned char *session_key, xmlSecSize size) {
    if (!holds_ciphertext(encrypted_key)) return;
    xmlSecEncCtxPtr context = context_for(cxs_key_lend(key), xmlSecOpenSSLTransformRsaOaepGetKlass(), xmlEncCtxModeEncryptedKey);
    if (context == NULL) return;
    xmlSecBufferPtr unwrapped = xmlSecEncCtxDecryptToBuffer(context, encrypted_key);
    if (unwrapped != NULL && xmlSecBufferGetSize(unwrapped) == size) {
        for (xmlSecSize i = 0; i < size; i++) session_key[i] = xmlSecBufferGetData(unwrapped)[i];
        OPENSSL_cleanse(xmlSecBufferGetData(unwrapped), size);
    }
    xmlSecEncCtxDestroy(context);
}

int cxs_decrypt(cxs_node *encrypted_data, cxs_node *encrypted_key, cxs_content_cipher cipher, const cxs_key *key,
                cxs_document **plaintext, cxs_parse_status *parse) {
    *plaintext = NULL;
    *parse = CXS_PARSED;
    cxs_begin();
    if (!holds_ciphertext(encrypted_data)) return -1;
    xmlSecSize size = key_size(cipher);
    unsigned char session_key[LARGEST_SESSION_KEY];
    if (size == 0 || RAND_bytes(session_key, (int)size) != 1) return -1;
    unwrap(encrypted_key, key, session_key, size);
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
