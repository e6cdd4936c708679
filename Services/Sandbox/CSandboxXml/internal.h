#pragma once
#include "CSandboxXml.h"
#include <libxml/tree.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <xmlsec/keys.h>

struct CSandboxKey {
    EVP_PKEY *key;
    X509 *certificate; // NULL for a private key
};

/// Copies octets into `out`; false when memory is short.
bool csandbox_octets_set(CSandboxOctets *out, const void *bytes, size_t count);

/// A new xmlsec key over the same OpenSSL key; NULL when memory is short.
xmlSecKeyPtr csandbox_xmlsec_key(const CSandboxKey *key);

/// The first element of this name in this namespace at or below `node`.
xmlNodePtr csandbox_find(xmlNodePtr node, const char *name, const char *space);

bool csandbox_is(xmlNodePtr node, const char *name, const char *space);

/// Takes white space out of the base64 values (SignatureValue, DigestValue, CipherValue) at or below `node`.
const char *csandbox_compact(xmlNodePtr node);

/// The document's text in UTF-8, without declaration and without added white space.
const char *csandbox_write(xmlDocPtr document, CSandboxOctets *out);
