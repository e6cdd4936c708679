#include "Internal.h"

#include <string.h>

#include <openssl/err.h>
#include <xmlsec/xmldsig.h>
#include <xmlsec/openssl/crypto.h>

xmlSecTransformId cxs_signature_transform(cxs_signature_method method) {
    switch (method) {
    case CXS_RSA_SHA1: return xmlSecOpenSSLTransformRsaSha1GetKlass();
    case CXS_RSA_SHA256: return xmlSecOpenSSLTransformRsaSha256GetKlass();
    case CXS_RSA_SHA384: return xmlSecOpenSSLTransformRsaSha384GetKlass();
    case CXS_RSA_SHA512: return xmlSecOpenSSLTransformRsaSha512GetKlass();
    case CXS_ECDSA_SHA256: return xmlSecOpenSSLTransformEcdsaSha256GetKlass();
    case CXS_ECDSA_SHA384: return xmlSecOpenSSLTransformEcdsaSha384GetKlass();
    case CXS_ECDSA_SHA512: return xmlSecOpenSSLTransformEcdsaSha512GetKlass();
    }
    return NULL;
}

xmlSecTransformId cxs_digest_transform(cxs_digest_method method) {
    switch (method) {
    case CXS_SHA1: return xmlSecOpenSSLTransformSha1GetKlass();
    case CXS_SHA256: return xmlSecOpenSSLTransformSha256GetKlass();
    case CXS_SHA384: return xmlSecOpenSSLTransformSha384GetKlass();
    case CXS_SHA512: return xmlSecOpenSSLTransformSha512GetKlass();
    }
    return NULL;
}

/* A context without key sources that allows the two algorithms and nothing else; an empty list would allow everything. */
static xmlSecDSigCtxPtr context_for(const cxs_key *key, xmlSecTransformId signature, xmlSecTransformId digest) {
    xmlSecDSigCtxPtr context = xmlSecDSigCtxCreate(NULL);
    if (context == NULL) return NULL;
    context->flags = XMLSEC_DSIG_FLAGS_IGNORE_MANIFESTS | XMLSEC_DSIG_FLAGS_STORE_SIGNEDINFO_REFERENCES;
    context->enabledReferenceUris = xmlSecTransformUriTypeSameDocument;
    context->signKey = cxs_key_lend(key);
    if (context->signKey != NULL && signature != NULL && digest != NULL &&
        xmlSecDSigCtxEnableReferenceTransform(context, xmlSecTransformEnvelopedGetKlass()) == 0 &&
        xmlSecDSigCtxEnableReferenceTransform(context, xmlSecTransformExclC14NGetKlass()) == 0 &&
        xmlSecDSigCtxEnableReferenceTransform(context, digest) == 0 &&
        xmlSecDSigCtxEnableSignatureTransform(context, xmlSecTransformExclC14NGetKlass()) == 0 &&
        xmlSecDSigCtxEnableSignatureTransform(context, signature) == 0) {
        return context;
    }
    xmlSecDSigCtxDestroy(context);
    return NULL;
}

static xmlSecDSigReferenceCtxPtr only_reference(xmlSecDSigCtxPtr context) {
    if (xmlSecPtrListGetSize(&context->signedInfoReferences) != 1) return NULL;
    return xmlSecPtrListGetItem(&context->signedInfoReferences, 0);
}

/* The library looks targets up by XML ID and accepts several spellings of a reference: compare its text. */
static int refers_to(xmlSecDSigReferenceCtxPtr reference, xmlNodePtr element) {
    const char *id = cxs_attribute(element, "ID");
    const char *uri = (const char *)reference->uri;
    return id != NULL && uri != NULL && uri[0] == '#' && strcmp(uri + 1, id) == 0;
}

/* Reads the digested octets; only after everything else succeeded, for a failed canonicalization leaves partial ones. */
static cxs_verify_status take_octets(xmlSecDSigCtxPtr context, xmlNodePtr element, cxs_document **verified, cxs_parse_status *parse) {
    xmlSecDSigReferenceCtxPtr reference = only_reference(context);
    if (reference == NULL || !refers_to(reference, element)) return CXS_REFERENCE_MISMATCH;
    if (reference->status != xmlSecDSigStatusSucceeded) return CXS_NOT_VERIFIED;
    xmlSecBufferPtr octets = xmlSecDSigReferenceCtxGetPreDigestBuffer(reference);
    if (octets == NULL) return CXS_NOT_VERIFIED;
    *parse = cxs_parse_to_read(xmlSecBufferGetData(octets), xmlSecBufferGetSize(octets), verified);
    return *parse == CXS_PARSED ? CXS_VERIFIED : CXS_NOT_VERIFIED;
}

cxs_verify_status cxs_verify(const cxs_document *document, cxs_node *signature, cxs_signature_method signature_method,
                             cxs_digest_method digest_method, const cxs_key *const *keys, size_t key_count,
                             cxs_document **verified, cxs_parse_status *parse) {
    *verified = NULL;
    *parse = CXS_PARSED;
    cxs_begin();
    if (signature->parent == NULL || cxs_register_id(document->tree, signature->parent) != 0) return CXS_REFERENCE_MISMATCH;

    cxs_verify_status status = CXS_NOT_VERIFIED;
    int digest_is_wrong = 0, content_differs = 0;
    for (size_t i = 0; i < key_count && status == CXS_NOT_VERIFIED && !digest_is_wrong; i++) {
        xmlSecDSigCtxPtr context = context_for(keys[i], cxs_signature_transform(signature_method), cxs_digest_transform(digest_method));
        if (context == NULL) continue;
        /* A wrong signature is reported by the status, not by the return code. */
        if (xmlSecDSigCtxVerify(context, signature) == 0) {
            xmlSecDSigReferenceCtxPtr reference = only_reference(context);
            content_differs = reference != NULL && reference->status != xmlSecDSigStatusSucceeded;
            digest_is_wrong = reference == NULL || content_differs;
            if (context->status == xmlSecDSigStatusSucceeded) status = take_octets(context, signature->parent, verified, parse);
        }
        xmlSecDSigCtxDestroy(context);
        if (*parse != CXS_PARSED) break;
    }
    ERR_clear_error();
    return status == CXS_NOT_VERIFIED && content_differs ? CXS_DIGEST_MISMATCH : status;
}
