#include "internal.h"
#include <libxml/valid.h>
#include <string.h>
#include <xmlsec/keysmngr.h>
#include <xmlsec/openssl/app.h>
#include <xmlsec/openssl/crypto.h>
#include <xmlsec/strings.h>
#include <xmlsec/xmldsig.h>
#include <xmlsec/xmlenc.h>

static xmlNodePtr with_identifier(xmlNodePtr node, const char *identifier) {
    xmlAttrPtr attribute = xmlHasNsProp(node, BAD_CAST "ID", NULL);
    if (attribute != NULL) {
        xmlChar *value = xmlNodeListGetString(node->doc, attribute->children, 1);
        bool same = value != NULL && strcmp((const char *)value, identifier) == 0;
        if (same) xmlAddID(NULL, node->doc, value, attribute);
        xmlFree(value);
        if (same) return node;
    }
    for (xmlNodePtr child = node->children; child != NULL; child = child->next) {
        xmlNodePtr found = child->type == XML_ELEMENT_NODE ? with_identifier(child, identifier) : NULL;
        if (found != NULL) return found;
    }
    return NULL;
}

static xmlNodePtr template_of(xmlNodePtr parent) {
    for (xmlNodePtr child = parent->children; child != NULL; child = child->next) {
        if (csandbox_is(child, "Signature", (const char *)xmlSecDSigNs)) return child;
    }
    return NULL;
}

static const char *fill(xmlNodePtr template, const CSandboxKey *privateKey) {
    xmlSecDSigCtxPtr context = xmlSecDSigCtxCreate(NULL);
    if (context == NULL) return "out of memory";
    context->signKey = csandbox_xmlsec_key(privateKey);
    const char *failure = context->signKey == NULL ? "the key cannot be used" : NULL;
    if (failure == NULL && xmlSecDSigCtxSign(context, template) != 0) failure = "signing failed";
    xmlSecDSigCtxDestroy(context);
    return failure == NULL ? csandbox_compact(template) : failure;
}

const char *csandbox_sign(
    const uint8_t *xml, size_t count, const char *identifier, const CSandboxKey *privateKey, CSandboxOctets *out) {
    CSandboxDocument *parsed = NULL;
    const char *failure = csandbox_document_parse(xml, count, &parsed);
    if (failure != NULL) return failure;
    xmlDocPtr document = (xmlDocPtr)parsed;
    xmlNodePtr parent = with_identifier(xmlDocGetRootElement(document), identifier);
    xmlNodePtr template = parent == NULL ? NULL : template_of(parent);
    failure = template == NULL ? "no signature template" : fill(template, privateKey);
    if (failure == NULL) failure = csandbox_write(document, out);
    xmlFreeDoc(document);
    return failure;
}

// A manager that holds nothing but the recipient's key, which wraps the content key.
static xmlSecKeysMngrPtr recipient(const CSandboxKey *certificate) {
    xmlSecKeysMngrPtr manager = xmlSecKeysMngrCreate();
    if (manager == NULL) return NULL;
    xmlSecKeyPtr key = xmlSecOpenSSLAppDefaultKeysMngrInit(manager) == 0 ? csandbox_xmlsec_key(certificate) : NULL;
    if (key != NULL && xmlSecOpenSSLAppDefaultKeysMngrAdoptKey(manager, key) == 0) return manager;
    if (key != NULL) xmlSecKeyDestroy(key);
    xmlSecKeysMngrDestroy(manager);
    return NULL;
}

static const char *seal(
    xmlNodePtr template, const uint8_t *plain, size_t plainCount, unsigned keyBits, const CSandboxKey *certificate) {
    xmlSecKeysMngrPtr manager = recipient(certificate);
    if (manager == NULL) return "the encryption certificate cannot be used";
    const char *failure = NULL;
    xmlSecEncCtxPtr context = xmlSecEncCtxCreate(manager);
    if (context == NULL) failure = "out of memory";
    else {
        context->encKey = xmlSecKeyGenerate(xmlSecOpenSSLKeyDataAesId, keyBits, xmlSecKeyDataTypeSession);
        if (context->encKey == NULL || xmlSecEncCtxBinaryEncrypt(context, template, plain, (xmlSecSize)plainCount) != 0) {
            failure = "encryption failed";
        }
        xmlSecEncCtxDestroy(context);
    }
    xmlSecKeysMngrDestroy(manager);
    return failure == NULL ? csandbox_compact(template) : failure;
}

const char *csandbox_encrypt(
    const uint8_t *xml, size_t count, const uint8_t *plain, size_t plainCount, unsigned keyBits, const CSandboxKey *certificate,
    CSandboxOctets *out) {
    CSandboxDocument *parsed = NULL;
    const char *failure = csandbox_document_parse(xml, count, &parsed);
    if (failure != NULL) return failure;
    xmlDocPtr document = (xmlDocPtr)parsed;
    xmlNodePtr template = csandbox_find(xmlDocGetRootElement(document), "EncryptedData", (const char *)xmlSecEncNs);
    failure = template == NULL ? "no encryption template" : seal(template, plain, plainCount, keyBits, certificate);
    if (failure == NULL) failure = csandbox_write(document, out);
    xmlFreeDoc(document);
    return failure;
}
