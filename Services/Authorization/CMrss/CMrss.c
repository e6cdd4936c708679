#include "CMrss.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { deepest_level = 32 };

static const char *const mrss_namespaces[] = {
    "http://search.yahoo.com/mrss/",
    "http://video.search.yahoo.com/mrss/",
    "https://search.yahoo.com/mrss/",
};

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void start_library(void) { xmlInitParser(); }

// A DTD is refused by a flag of ours: after the stop, libxml2 still calls the document well-formed.
static void on_doctype(void *context, const xmlChar *name, const xmlChar *external_id, const xmlChar *system_id) {
    (void)name, (void)external_id, (void)system_id;
    xmlParserCtxtPtr parser = context;
    *(int *)parser->_private = 1;
    xmlStopParser(parser);
}

static xmlDocPtr parse(const char *text, size_t length) {
    int has_doctype = 0;
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (!parser) return NULL;
    parser->_private = &has_doctype;
    parser->sax->internalSubset = on_doctype;
    xmlDocPtr document = xmlCtxtReadMemory(
        parser, text, (int)length, NULL, "UTF-8", XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    int accepted = !has_doctype && document && parser->wellFormed && parser->nsWellFormed && !document->intSubset && !document->extSubset;
    xmlFreeParserCtxt(parser);
    if (accepted) return document;
    xmlFreeDoc(document);
    return NULL;
}

static int is_too_deep(const xmlNode *node, int level) {
    if (level > deepest_level) return 1;
    for (; node; node = node->next) {
        if (node->type == XML_ELEMENT_NODE && is_too_deep(node->children, level + 1)) return 1;
    }
    return 0;
}

static int is_plain(const xmlNode *node, const char *name) {
    return node->type == XML_ELEMENT_NODE && !node->ns && strcmp((const char *)node->name, name) == 0;
}

static int is_rating(const xmlNode *node) {
    if (node->type != XML_ELEMENT_NODE || !node->ns || strcmp((const char *)node->name, "rating") != 0) return 0;
    for (size_t index = 0; index < sizeof mrss_namespaces / sizeof *mrss_namespaces; index++) {
        if (strcmp((const char *)node->ns->href, mrss_namespaces[index]) == 0) return 1;
    }
    return 0;
}

// The only child of that name, NULL when there is none; `repeated` is set when there are more.
static xmlNode *only_child(const xmlNode *parent, const char *name, int *repeated) {
    xmlNode *found = NULL;
    for (xmlNode *node = parent->children; node; node = node->next) {
        if (!is_plain(node, name)) continue;
        if (found) *repeated = 1;
        found = node;
    }
    return found;
}

static xmlNode *rating_of(const xmlNode *parent) {
    if (!parent) return NULL;
    for (xmlNode *node = parent->children; node; node = node->next) {
        if (is_rating(node)) return node;
    }
    return NULL;
}

// The text of an element that holds nothing but text; NULL when it holds anything else.
static char *text_of(const xmlNode *element) {
    for (const xmlNode *node = element->children; node; node = node->next) {
        if (node->type != XML_TEXT_NODE && node->type != XML_CDATA_SECTION_NODE) return NULL;
    }
    xmlChar *content = xmlNodeGetContent(element);
    char *copy = content ? strdup((const char *)content) : NULL;
    xmlFree(content);
    return copy;
}

static int read_text(const xmlNode *parent, const char *name, char **text) {
    int repeated = 0;
    xmlNode *node = only_child(parent, name, &repeated);
    if (repeated) return 0;
    if (!node) return 1;
    *text = text_of(node);
    return *text != NULL;
}

static int read_rating(const xmlNode *item, const xmlNode *channel, MrssDescription *description) {
    xmlNode *rating = rating_of(item);
    if (!rating) rating = rating_of(channel);
    if (!rating) return 1;
    xmlChar *scheme = xmlGetNoNsProp(rating, (const xmlChar *)"scheme");
    description->rating_scheme = scheme ? strdup((const char *)scheme) : NULL;
    xmlFree(scheme);
    description->rating = text_of(rating);
    return description->rating != NULL;
}

static int describe(const xmlNode *root, MrssDescription *description) {
    int repeated = 0;
    if (!root || !is_plain(root, "rss") || is_too_deep(root, 0)) return 0;
    xmlNode *channel = only_child(root, "channel", &repeated);
    if (!channel || repeated) return 0;
    xmlNode *item = only_child(channel, "item", &repeated);
    if (repeated) return 0;
    description->has_item = item != NULL;
    if (!read_text(channel, "title", &description->channel_title) || !description->channel_title) return 0;
    if (item && (!read_text(item, "title", &description->item_title) || !read_text(item, "guid", &description->item_guid))) return 0;
    return read_rating(item, channel, description);
}

int mrss_read(const char *text, size_t length, MrssDescription *description) {
    pthread_once(&library_once, start_library);
    memset(description, 0, sizeof *description);
    if (length > INT_MAX) return 0;
    xmlDocPtr document = parse(text, length);
    if (!document) return 0;
    int understood = describe(xmlDocGetRootElement(document), description);
    xmlFreeDoc(document);
    if (!understood) mrss_clear(description);
    return understood;
}

void mrss_clear(MrssDescription *description) {
    free(description->channel_title);
    free(description->item_title);
    free(description->item_guid);
    free(description->rating_scheme);
    free(description->rating);
    memset(description, 0, sizeof *description);
}
