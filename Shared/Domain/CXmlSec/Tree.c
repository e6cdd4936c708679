#include "Internal.h"

#include <string.h>
#include <strings.h>

#include <libxml/hash.h>

enum { FEW_IDS = 8 };

cxs_node *cxs_document_root(const cxs_document *document) {
    return xmlDocGetRootElement(document->tree);
}

static cxs_node *element_from(xmlNodePtr node) {
    while (node != NULL && node->type != XML_ELEMENT_NODE) node = node->next;
    return node;
}

cxs_node *cxs_first_element(const cxs_node *parent) {
    return element_from(parent->children);
}

cxs_node *cxs_next_element(const cxs_node *element) {
    return element_from(element->next);
}

const char *cxs_local_name(const cxs_node *element) {
    return (const char *)element->name;
}

const char *cxs_namespace(const cxs_node *element) {
    return element->ns != NULL && element->ns->href != NULL ? (const char *)element->ns->href : "";
}

/* The text of a node whose only child is text; NULL when there are others. */
static const char *only_text(xmlNodePtr child) {
    if (child == NULL) return "";
    if (child->next != NULL || child->type != XML_TEXT_NODE) return NULL;
    return child->content != NULL ? (const char *)child->content : "";
}

const char *cxs_attribute(const cxs_node *element, const char *name) {
    for (xmlAttrPtr attribute = element->properties; attribute != NULL; attribute = attribute->next) {
        if (attribute->ns == NULL && strcmp((const char *)attribute->name, name) == 0) return only_text(attribute->children);
    }
    return NULL;
}

const char *cxs_text(const cxs_node *element) {
    return only_text(element->children);
}

int cxs_next_identifier(const cxs_node *element, const void **cursor, const char **value, int *is_plain_ID) {
    xmlAttrPtr attribute = *cursor == NULL ? element->properties : ((const xmlAttr *)*cursor)->next;
    while (attribute != NULL && strcasecmp((const char *)attribute->name, "id") != 0) attribute = attribute->next;
    if (attribute == NULL) return 0;
    const char *text = only_text(attribute->children);
    *cursor = attribute;
    *value = text != NULL ? text : "";
    *is_plain_ID = attribute->ns == NULL && strcmp((const char *)attribute->name, "ID") == 0;
    return 1;
}

int cxs_register_id(xmlDocPtr tree, xmlNodePtr element) {
    for (xmlAttrPtr attribute = element->properties; attribute != NULL; attribute = attribute->next) {
        if (attribute->ns != NULL || strcmp((const char *)attribute->name, "ID") != 0) continue;
        const char *value = only_text(attribute->children);
        if (value == NULL || value[0] == 0) return -1;
        /* The table that the library would make has room for 256 and costs 12 KiB. */
        if (tree->ids == NULL) tree->ids = xmlHashCreateDict(FEW_IDS, tree->dict);
        xmlAttrPtr known = xmlGetID(tree, BAD_CAST value);
        if (known == attribute) return 0;
        return known == NULL && xmlAddID(NULL, tree, BAD_CAST value, attribute) != NULL ? 0 : -1;
    }
    return -1;
}
