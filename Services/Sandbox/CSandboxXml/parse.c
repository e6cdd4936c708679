#include "internal.h"
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <string.h>

enum { maximumSize = 256 * 1024, maximumDepth = 64, maximumNodes = 5000 };

// libxml2 would print parts of the message on standard error; the reason codes say enough.
static void stay_silent(void *context, const char *format, ...) {
    (void)context, (void)format;
}

static void refuse_dtd(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
    (void)name, (void)external, (void)system;
    xmlParserCtxtPtr parser = context;
    *(bool *)parser->_private = true;
    xmlStopParser(parser);
}

// Depth first, without recursion: the message decides the depth.
static const char *examine(xmlNodePtr root) {
    int depth = 1, nodes = 0;
    xmlNodePtr node = root;
    while (node != NULL) {
        if (++nodes > maximumNodes || depth > maximumDepth) return "xml.limit";
        if (node->type == XML_PI_NODE || node->type == XML_ENTITY_REF_NODE) return "xml.form";
        if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
            node = node->children;
            depth++;
            continue;
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
            depth--;
        }
        node = node == root ? NULL : node->next;
    }
    return NULL;
}

static const char *judge(xmlParserCtxtPtr parser, bool dtd) {
    xmlDocPtr document = parser->myDoc;
    if (dtd) return "xml.dtd";
    if (document == NULL || !parser->wellFormed || !parser->nsWellFormed) return "xml.form";
    if (document->encoding != NULL && xmlStrcasecmp(document->encoding, BAD_CAST "UTF-8") != 0) return "xml.form";
    xmlNodePtr root = xmlDocGetRootElement(document);
    if (root == NULL || root->next != NULL || root->prev != NULL) return "xml.form";
    return examine(root);
}

const char *csandbox_document_parse(const uint8_t *xml, size_t count, CSandboxDocument **out) {
    if (count > maximumSize) return "xml.limit";
    xmlSetGenericErrorFunc(NULL, stay_silent); // a setting of the thread
    // UTF-16 and UTF-32 spell every mark of XML with a zero octet; UTF-8 text has none.
    if (count == 0 || memchr(xml, 0, count) != NULL) return "xml.form";
    xmlParserCtxtPtr parser = xmlCreateMemoryParserCtxt((const char *)xml, (int)count);
    if (parser == NULL) return "xml.form";
    bool dtd = false;
    parser->_private = &dtd;
    xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    parser->sax->internalSubset = refuse_dtd;
    xmlParseDocument(parser);
    const char *failure = judge(parser, dtd);
    if (failure == NULL) *out = (CSandboxDocument *)parser->myDoc;
    else if (parser->myDoc != NULL) xmlFreeDoc(parser->myDoc);
    xmlFreeParserCtxt(parser);
    return failure;
}

void csandbox_document_free(CSandboxDocument *document) {
    xmlFreeDoc((xmlDocPtr)document);
}
