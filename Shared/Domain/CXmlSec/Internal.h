#ifndef CXMLSEC_INTERNAL_H
#define CXMLSEC_INTERNAL_H

#include "CXmlSec.h"

#include <libxml/tree.h>
#include <openssl/evp.h>
#include <xmlsec/xmlsec.h>
#include <xmlsec/keys.h>
#include <xmlsec/transforms.h>

struct cxs_document {
    xmlDocPtr tree;
};

struct cxs_key {
    EVP_PKEY *pair;
    int64_t not_after;
};

/* Forgets the complaint of an earlier call on this thread and keeps libxml2 off stderr. */
void cxs_begin(void);

/* A key for one xmlsec context, which will own it. */
xmlSecKeyPtr cxs_key_lend(const cxs_key *key);

/* Makes the element's own `ID` attribute, and nothing else, known as an XML ID. 0 on success. */
int cxs_register_id(xmlDocPtr tree, xmlNodePtr element);

xmlSecTransformId cxs_signature_transform(cxs_signature_method method);
xmlSecTransformId cxs_digest_transform(cxs_digest_method method);

#endif
