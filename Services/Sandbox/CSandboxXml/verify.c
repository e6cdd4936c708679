#include "internal.h"
#include <libxml/valid.h>
#include <string.h>
#include <xmlsec/buffer.h>
#include <xmlsec/openssl/crypto.h>
#include <xmlsec/strings.h>
#include <xmlsec/xmldsig.h>

static const char dsig[] = "http://www.w3.org/2000/09/xmldsig#";

static size_t count_elements(xmlNodePtr node, const char *name) {
    size_t count = csandbox_is(node, name, dsig) ? 1 : 0;
    for (xmlNodePtr child = node->children; child != NULL; child = child->next) {
        if (child->type == XML_ELEMENT_NODE) count += count_elements(child, name);
    }
    return count;
}

static size_t count_identifiers(xmlNodePtr node, const xmlChar *value) {
    size_t count = 0;
    for (xmlAttrPtr attribute = node->properties; attribute != NULL; attribute = attribute->next) {
        if (xmlStrcasecmp(attribute->name, BAD_CAST "ID") != 0) continue;
        xmlChar *text = xmlNodeListGetString(node->doc, attribute->children, 1);
        if (xmlStrEqual(text, value)) count++;
        xmlFree(text);
    }
    for (xmlNodePtr child = node->children; child != NULL; child = child->next) {
        if (child->type == XML_ELEMENT_NODE) count += count_identifiers(child, value);
    }
    return count;
}

static xmlNodePtr child_of(xmlNodePtr parent, const char *name) {
    for (xmlNodePtr child = parent->children; child != NULL; child = child->next) {
        if (csandbox_is(child, name, dsig)) return child;
    }
    return NULL;
}

// One signature, a child of the root; one reference, to the root's own ID written out; nothing inside the signature but itself.
static const char *examine(xmlNodePtr root, xmlNodePtr *signature, xmlChar **identifier) {
    *identifier = xmlGetNoNsProp(root, BAD_CAST "ID");
    if (*identifier == NULL || xmlValidateNCName(*identifier, 0) != 0) return "xml.form";
    if (count_identifiers(root, *identifier) != 1) return "xml.dupid";
    size_t signatures = count_elements(root, "Signature");
    if (signatures == 0) return "sig.missing";
    *signature = child_of(root, "Signature");
    if (signatures > 1 || *signature == NULL) return "xsw.sigposition";
    if (count_elements(*signature, "Object") + count_elements(*signature, "Manifest") > 0) return "sig.object";
    xmlNodePtr information = child_of(*signature, "SignedInfo");
    xmlNodePtr reference = information == NULL ? NULL : child_of(information, "Reference");
    if (reference == NULL || count_elements(*signature, "Reference") != 1) return "sig.reference";
    xmlChar *uri = xmlGetNoNsProp(reference, BAD_CAST "URI");
    bool own = uri != NULL && uri[0] == '#' && xmlStrEqual(uri + 1, *identifier);
    xmlFree(uri);
    return own ? NULL : "sig.reference";
}

static bool allow(xmlSecDSigCtxPtr context) {
    const xmlSecTransformId reference[] = {
        xmlSecTransformEnvelopedId, xmlSecTransformExclC14NId, xmlSecOpenSSLTransformSha256Id, xmlSecOpenSSLTransformSha384Id,
        xmlSecOpenSSLTransformSha512Id,
    };
    const xmlSecTransformId signature[] = {
        xmlSecTransformExclC14NId, xmlSecOpenSSLTransformRsaSha256Id, xmlSecOpenSSLTransformRsaSha384Id, xmlSecOpenSSLTransformRsaSha512Id,
    };
    for (size_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        if (xmlSecDSigCtxEnableReferenceTransform(context, reference[i]) != 0) return false;
    }
    for (size_t i = 0; i < sizeof signature / sizeof *signature; i++) {
        if (xmlSecDSigCtxEnableSignatureTransform(context, signature[i]) != 0) return false;
    }
    return true;
}

static const char *check(xmlSecDSigCtxPtr context, xmlNodePtr signature, CSandboxOctets *out) {
    if (xmlSecDSigCtxVerify(context, signature) != 0 || context->status != xmlSecDSigStatusSucceeded) return "sig.invalid";
    if (xmlSecPtrListGetSize(&context->signedInfoReferences) != 1) return "sig.invalid";
    xmlSecDSigReferenceCtxPtr reference = xmlSecPtrListGetItem(&context->signedInfoReferences, 0);
    if (reference == NULL || reference->status != xmlSecDSigStatusSucceeded) return "sig.invalid";
    xmlSecBufferPtr digested = xmlSecDSigReferenceCtxGetPreDigestBuffer(reference);
    if (digested == NULL) return "sig.invalid";
    return csandbox_octets_set(out, xmlSecBufferGetData(digested), xmlSecBufferGetSize(digested)) ? NULL : "out of memory";
}

static const char *verify(xmlNodePtr signature, const CSandboxKey *certificate, CSandboxOctets *out) {
    xmlSecDSigCtxPtr context = xmlSecDSigCtxCreate(NULL);
    if (context == NULL) return "out of memory";
    context->signKey = csandbox_xmlsec_key(certificate);
    context->enabledReferenceUris = xmlSecTransformUriTypeSameDocument;
    context->flags |= XMLSEC_DSIG_FLAGS_IGNORE_MANIFESTS | XMLSEC_DSIG_FLAGS_STORE_SIGNEDINFO_REFERENCES;
    const char *failure = context->signKey == NULL || !allow(context) ? "out of memory" : check(context, signature, out);
    xmlSecDSigCtxDestroy(context);
    return failure;
}

const char *csandbox_verify_root(const uint8_t *xml, size_t count, const CSandboxKey *certificate, CSandboxOctets *out) {
    CSandboxDocument *parsed = NULL;
    const char *failure = csandbox_document_parse(xml, count, &parsed);
    if (failure != NULL) return failure;
    xmlNodePtr root = xmlDocGetRootElement((xmlDocPtr)parsed), signature = NULL;
    xmlChar *identifier = NULL;
    failure = examine(root, &signature, &identifier);
    if (failure == NULL) {
        xmlAddID(NULL, root->doc, identifier, xmlHasNsProp(root, BAD_CAST "ID", NULL));
        failure = verify(signature, certificate, out);
    }
    xmlFree(identifier);
    xmlFreeDoc((xmlDocPtr)parsed);
    return failure;
}
