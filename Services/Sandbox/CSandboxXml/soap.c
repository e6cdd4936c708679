#include "internal.h"
#include <libxml/tree.h>

static const char soap[] = "http://schemas.xmlsoap.org/soap/envelope/";

// The one child element; NULL when there is none or more.
static xmlNodePtr only_element(xmlNodePtr parent) {
    xmlNodePtr found = NULL;
    for (xmlNodePtr child = parent->children; child != NULL; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) continue;
        if (found != NULL) return NULL;
        found = child;
    }
    return found;
}

static xmlNodePtr content_of(xmlNodePtr root) {
    if (!csandbox_is(root, "Envelope", soap)) return NULL;
    xmlNodePtr body = NULL;
    for (xmlNodePtr child = root->children; child != NULL; child = child->next) {
        if (!csandbox_is(child, "Body", soap)) continue;
        if (body != NULL) return NULL;
        body = child;
    }
    return body == NULL ? NULL : only_element(body);
}

const char *csandbox_soap_content(const uint8_t *xml, size_t count, CSandboxOctets *out) {
    CSandboxDocument *parsed = NULL;
    const char *failure = csandbox_document_parse(xml, count, &parsed);
    if (failure != NULL) return failure;
    xmlNodePtr content = content_of(xmlDocGetRootElement((xmlDocPtr)parsed));
    xmlDocPtr alone = content == NULL ? NULL : xmlNewDoc(BAD_CAST "1.0");
    failure = content == NULL ? "xml.root" : "out of memory";
    if (alone != NULL) {
        // A copy takes along the namespaces that it uses from around it.
        xmlNodePtr copy = xmlDocCopyNode(content, alone, 1);
        if (copy != NULL) {
            xmlDocSetRootElement(alone, copy);
            failure = csandbox_write(alone, out);
        }
        xmlFreeDoc(alone);
    }
    xmlFreeDoc((xmlDocPtr)parsed);
    return failure;
}
