#include "internal.h"
#include <string.h>

static const CSandboxNode *element(xmlNodePtr node) {
    while (node != NULL && node->type != XML_ELEMENT_NODE) node = node->next;
    return (const CSandboxNode *)node;
}

const CSandboxNode *csandbox_document_root(const CSandboxDocument *document) {
    return (const CSandboxNode *)xmlDocGetRootElement((xmlDocPtr)document);
}

const CSandboxNode *csandbox_node_first(const CSandboxNode *node) {
    return element(((xmlNodePtr)node)->children);
}

const CSandboxNode *csandbox_node_next(const CSandboxNode *node) {
    return element(((xmlNodePtr)node)->next);
}

const char *csandbox_node_name(const CSandboxNode *node) {
    return (const char *)((xmlNodePtr)node)->name;
}

const char *csandbox_node_namespace(const CSandboxNode *node) {
    xmlNsPtr space = ((xmlNodePtr)node)->ns;
    return space == NULL ? NULL : (const char *)space->href;
}

static void set(CSandboxOctets *out, xmlChar *text) {
    out->bytes = NULL;
    out->count = 0;
    if (text == NULL) return;
    csandbox_octets_set(out, text, strlen((const char *)text));
    xmlFree(text);
}

void csandbox_node_text(const CSandboxNode *node, CSandboxOctets *out) {
    for (xmlNodePtr child = ((xmlNodePtr)node)->children; child != NULL; child = child->next) {
        if (child->type != XML_TEXT_NODE) return set(out, NULL);
    }
    set(out, xmlNodeGetContent((xmlNodePtr)node));
}

static xmlAttrPtr attribute(const CSandboxNode *node, size_t index) {
    xmlAttrPtr found = ((xmlNodePtr)node)->properties;
    for (;; found = found->next) {
        while (found != NULL && found->ns != NULL) found = found->next;
        if (found == NULL || index == 0) return found;
        index--;
    }
}

size_t csandbox_node_attribute_count(const CSandboxNode *node) {
    size_t count = 0;
    while (attribute(node, count) != NULL) count++;
    return count;
}

const char *csandbox_node_attribute_name(const CSandboxNode *node, size_t index) {
    return (const char *)attribute(node, index)->name;
}

void csandbox_node_attribute_value(const CSandboxNode *node, size_t index, CSandboxOctets *out) {
    set(out, xmlNodeListGetString(((xmlNodePtr)node)->doc, attribute(node, index)->children, 1));
    if (out->bytes == NULL) csandbox_octets_set(out, "", 0);
}

bool csandbox_is(xmlNodePtr node, const char *name, const char *space) {
    return node->type == XML_ELEMENT_NODE && node->ns != NULL && strcmp((const char *)node->name, name) == 0
        && strcmp((const char *)node->ns->href, space) == 0;
}

xmlNodePtr csandbox_find(xmlNodePtr node, const char *name, const char *space) {
    if (csandbox_is(node, name, space)) return node;
    for (xmlNodePtr child = node->children; child != NULL; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) continue;
        xmlNodePtr found = csandbox_find(child, name, space);
        if (found != NULL) return found;
    }
    return NULL;
}

static bool holds_base64(xmlNodePtr node) {
    const char *name = (const char *)node->name;
    return strcmp(name, "SignatureValue") == 0 || strcmp(name, "DigestValue") == 0 || strcmp(name, "CipherValue") == 0;
}

const char *csandbox_compact(xmlNodePtr node) {
    if (node->type != XML_ELEMENT_NODE) return NULL;
    if (holds_base64(node)) {
        xmlChar *text = xmlNodeGetContent(node);
        if (text == NULL) return "out of memory";
        xmlChar *write = text;
        for (const xmlChar *read = text; *read != 0; read++) {
            if (*read != ' ' && *read != '\n' && *read != '\r' && *read != '\t') *write++ = *read;
        }
        *write = 0;
        xmlNodeSetContent(node, text);
        xmlFree(text);
        return NULL;
    }
    for (xmlNodePtr child = node->children; child != NULL; child = child->next) {
        const char *failure = csandbox_compact(child);
        if (failure != NULL) return failure;
    }
    return NULL;
}

const char *csandbox_write(xmlDocPtr document, CSandboxOctets *out) {
    xmlBufferPtr buffer = xmlBufferCreate();
    if (buffer == NULL) return "out of memory";
    int count = xmlNodeDump(buffer, document, xmlDocGetRootElement(document), 0, 0);
    bool written = count >= 0 && csandbox_octets_set(out, xmlBufferContent(buffer), (size_t)count);
    xmlBufferFree(buffer);
    return written ? NULL : "out of memory";
}
