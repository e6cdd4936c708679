#include "Internal.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <xmlsec/xmldsig.h>
#include <xmlsec/xmltree.h>

static int fill_template(xmlDocPtr tree, const cxs_key *key) {
    xmlNodePtr root = xmlDocGetRootElement(tree);
    xmlNodePtr signature = xmlSecFindChild(root, xmlSecNodeSignature, xmlSecDSigNs);
    if (signature == NULL || cxs_register_id(tree, root) != 0) return -1;
    xmlSecDSigCtxPtr context = xmlSecDSigCtxCreate(NULL);
    if (context == NULL) return -1;
    context->enabledReferenceUris = xmlSecTransformUriTypeSameDocument;
    context->signKey = cxs_key_lend(key);
    int outcome = context->signKey != NULL ? xmlSecDSigCtxSign(context, signature) : -1;
    if (context->status != xmlSecDSigStatusSucceeded) outcome = -1;
    xmlSecDSigCtxDestroy(context);
    return outcome;
}

static char *copy_of(const void *octets, size_t length) {
    char *copy = malloc(length + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, octets, length);
    copy[length] = 0;
    return copy;
}

static char *write_root(xmlDocPtr tree, size_t *length) {
    xmlBufferPtr output = xmlBufferCreate();
    if (output == NULL) return NULL;
    char *text = NULL;
    if (xmlNodeDump(output, tree, xmlDocGetRootElement(tree), 0, 0) >= 0) {
        *length = (size_t)xmlBufferLength(output);
        text = copy_of(xmlBufferContent(output), *length);
    }
    xmlBufferFree(output);
    return text;
}

char *cxs_sign(const uint8_t *octets, size_t length, const cxs_key *key, size_t *signed_length) {
    cxs_document *document = NULL;
    if (cxs_parse(octets, length, &document) != CXS_PARSED) return NULL;
    char *text = fill_template(document->tree, key) == 0 ? write_root(document->tree, signed_length) : NULL;
    cxs_document_free(document);
    ERR_clear_error();
    return text;
}

uint8_t *cxs_sign_octets(const cxs_key *key, const uint8_t *octets, size_t length, size_t *signature_length) {
    if (EVP_PKEY_base_id(key->pair) != EVP_PKEY_RSA) return NULL;
    size_t capacity = (size_t)EVP_PKEY_size(key->pair);
    uint8_t *signature = malloc(capacity);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int done = signature != NULL && context != NULL &&
               EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key->pair) == 1 &&
               EVP_DigestSign(context, signature, &capacity, octets, length) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    if (done) {
        *signature_length = capacity;
        return signature;
    }
    free(signature);
    return NULL;
}
