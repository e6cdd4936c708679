#include "Internal.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/SAX2.h>
#include <libxml/parser.h>

/* 2400 values of one attribute, each with a type and its namespaces, are five nodes each, and white space between them a sixth. */
enum { MAXIMUM_DEPTH = 64, MAXIMUM_NODES = 20000, MAXIMUM_ATTRIBUTES = 256, MAXIMUM_NAMESPACES = 512 };

/* What an open element was seen to hold. */
enum { HOLDS_TEXT = 1, HOLDS_ELEMENT = 2, HOLDS_COMMENT = 4 };

typedef struct {
    cxs_parse_status verdict;
    int depth;
    int nodes;
    int maximum_nodes;
    /* Of the open elements together: a name is looked up among all of them. */
    int namespaces;
    int namespaces_at[MAXIMUM_DEPTH + 1];
    /* Comments and processing instructions are read over, as in a file that people edit. */
    int skips_remarks;
    unsigned char holds[MAXIMUM_DEPTH + 1];
} parse_state;

static parse_state *state_of(void *context) {
    return ((xmlParserCtxtPtr)context)->_private;
}

/* The first objection counts. After xmlStopParser the document would still be called well-formed. */
static void stop(void *context, cxs_parse_status verdict) {
    parse_state *state = state_of(context);
    if (state->verdict == CXS_PARSED) state->verdict = verdict;
    xmlStopParser(context);
}

static int count_nodes(void *context, int nodes) {
    parse_state *state = state_of(context);
    if (nodes < 0 || nodes > state->maximum_nodes - state->nodes) {
        stop(context, CXS_OVER_LIMIT);
        return 0;
    }
    state->nodes += nodes;
    return 1;
}

/* Notes what the open element holds. Text beside an element or a comment is how values get split. */
static int hold(void *context, unsigned char what) {
    parse_state *state = state_of(context);
    unsigned char holds = state->holds[state->depth] |= what;
    if ((holds & HOLDS_TEXT) && (holds & (HOLDS_ELEMENT | HOLDS_COMMENT))) {
        stop(context, CXS_BAD_FORM);
        return 0;
    }
    return 1;
}

static void on_doctype(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
    (void)name;
    (void)external;
    (void)system;
    stop(context, CXS_HAS_DOCTYPE);
}

static void on_processing_instruction(void *context, const xmlChar *target, const xmlChar *content) {
    (void)target;
    (void)content;
    if (!state_of(context)->skips_remarks) stop(context, CXS_BAD_FORM);
    else count_nodes(context, 1);
}

static void on_comment(void *context, const xmlChar *value) {
    if (count_nodes(context, 1) && !state_of(context)->skips_remarks && hold(context, HOLDS_COMMENT)) xmlSAX2Comment(context, value);
}

static void on_text(void *context, const xmlChar *text, int length) {
    xmlNodePtr open = ((xmlParserCtxtPtr)context)->node;
    int continues = open != NULL && open->last != NULL && open->last->type == XML_TEXT_NODE;
    int i = 0;
    while (i < length && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t')) i++;
    if (!count_nodes(context, continues ? 0 : 1)) return;
    if (i == length || hold(context, HOLDS_TEXT)) xmlSAX2Characters(context, text, length);
}

/* A CDATA section is a way to write text, and canonical octets have no other (Canonical XML 1.0 §2.3): it becomes part of the text around it. */
static void on_cdata(void *context, const xmlChar *value, int length) {
    on_text(context, value, length);
}

static void on_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
                       const xmlChar **namespaces, int attribute_count, int default_count, const xmlChar **attributes) {
    parse_state *state = state_of(context);
    if (state->verdict != CXS_PARSED) return;
    if (!count_nodes(context, 1 + namespace_count) || !count_nodes(context, attribute_count)) return;
    if (namespace_count + attribute_count > MAXIMUM_ATTRIBUTES) {
        stop(context, CXS_OVER_LIMIT);
        return;
    }
    if (!hold(context, HOLDS_ELEMENT)) return;
    if (state->depth == MAXIMUM_DEPTH || namespace_count > MAXIMUM_NAMESPACES - state->namespaces) {
        stop(context, CXS_OVER_LIMIT);
        return;
    }
    state->holds[++state->depth] = 0;
    state->namespaces_at[state->depth] = namespace_count;
    state->namespaces += namespace_count;
    xmlSAX2StartElementNs(context, name, prefix, uri, namespace_count, namespaces, attribute_count, default_count, attributes);
}

static void on_element_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    parse_state *state = state_of(context);
    if (state->verdict != CXS_PARSED || state->depth == 0) return;
    state->namespaces -= state->namespaces_at[state->depth];
    state->depth--;
    xmlSAX2EndElementNs(context, name, prefix, uri);
}

static void harden(xmlParserCtxtPtr parser, parse_state *state) {
    parser->_private = state;
    parser->sax->internalSubset = on_doctype;
    parser->sax->externalSubset = on_doctype;
    parser->sax->processingInstruction = on_processing_instruction;
    parser->sax->cdataBlock = on_cdata;
    parser->sax->comment = on_comment;
    parser->sax->characters = on_text;
    parser->sax->ignorableWhitespace = on_text;
    parser->sax->startElementNs = on_element;
    parser->sax->endElementNs = on_element_end;
}

/* The width of the UTF-8 sequence at `octet`, 0 when it is not one. libxml2 falls back to Latin-1 on its own. */
static size_t sequence_width(const uint8_t *octet, size_t left) {
    if (octet[0] < 0x80) return octet[0] != 0;
    size_t width = octet[0] >= 0xF0 ? 4 : octet[0] >= 0xE0 ? 3 : 2;
    if (octet[0] < 0xC2 || octet[0] > 0xF4 || left < width) return 0;
    for (size_t i = 1; i < width; i++) {
        if ((octet[i] & 0xC0) != 0x80) return 0;
    }
    int is_overlong = (octet[0] == 0xE0 && octet[1] < 0xA0) || (octet[0] == 0xF0 && octet[1] < 0x90);
    int is_out_of_range = (octet[0] == 0xED && octet[1] > 0x9F) || (octet[0] == 0xF4 && octet[1] > 0x8F);
    return is_overlong || is_out_of_range ? 0 : width;
}

enum { BLOCK = 64 };

/* True for a block of ASCII without NUL; without a branch, so that the compiler looks at many octets at a time. */
static int is_plain(const uint8_t *octets) {
    uint8_t foreign = 0;
    for (size_t i = 0; i < BLOCK; i++) foreign |= (uint8_t)((octets[i] & 0x80) | (octets[i] == 0));
    return foreign == 0;
}

/* UTF-8 without NUL, at which libxml2 would end the document silently. */
static int is_text(const uint8_t *octets, size_t length) {
    size_t at = 0, width;
    while (at < length) {
        if (length - at >= BLOCK && is_plain(octets + at)) {
            at += BLOCK;
            continue;
        }
        for (size_t end = length - at < BLOCK ? length : at + BLOCK; at < end; at += width) {
            if ((width = sequence_width(octets + at, length - at)) == 0) return 0;
        }
    }
    return 1;
}

enum { MAXIMUM_SIGNS = 5000 };

/* The equals signs, counted in rows that a sum of one octet holds, so that the compiler counts many octets at a time. */
static size_t count_signs(const uint8_t *octets, size_t length) {
    enum { ROW = 240 };
    size_t signs = 0;
    for (size_t row = 0; row < length; row += ROW) {
        size_t end = length - row < ROW ? length : row + ROW;
        uint8_t sum = 0;
        for (size_t i = row; i < end; i++) sum += octets[i] == '=';
        signs += sum;
    }
    return signs;
}

/* An element with more attributes than any may have. libxml2 compares those of an element with each other before it reports it. The value of an
   attribute holds no `<`, so that all of an element's stand between two of them. */
static int has_too_many_attributes(const uint8_t *octets, size_t length) {
    if (count_signs(octets, length) <= MAXIMUM_SIGNS) return 0;
    size_t signs = 0;
    for (size_t i = 0; i < length; i++) {
        if (octets[i] == '<') signs = 0;
        else if (octets[i] == '=' && ++signs > MAXIMUM_SIGNS) return 1;
    }
    return 0;
}

static cxs_parse_status judge(xmlParserCtxtPtr parser, const parse_state *state, xmlDocPtr tree) {
    if (state->verdict != CXS_PARSED) return state->verdict;
    if (parser->lastError.code == XML_ERR_NO_MEMORY) return CXS_NO_MEMORY;
    if (tree == NULL || !parser->wellFormed || !parser->nsWellFormed) return CXS_BAD_FORM;
    if (tree->intSubset != NULL || tree->extSubset != NULL) return CXS_HAS_DOCTYPE;
    if (tree->encoding != NULL && xmlStrcasecmp(tree->encoding, BAD_CAST "UTF-8") != 0) return CXS_BAD_FORM;
    if (xmlDocGetRootElement(tree) == NULL) return CXS_BAD_FORM;
    return CXS_PARSED;
}

/* Each thread keeps the parser of its last document: making one costs as much as an eighth of a parse. */
static pthread_key_t kept;
static pthread_once_t kept_once = PTHREAD_ONCE_INIT;
static int keeps;

static void free_parser(void *parser) {
    xmlFreeParserCtxt(parser);
}

static void make_key(void) {
    keeps = pthread_key_create(&kept, free_parser) == 0;
}

/* The caller has it for itself until it gives it back. */
static xmlParserCtxtPtr take_parser(void) {
    pthread_once(&kept_once, make_key);
    xmlParserCtxtPtr parser = keeps ? pthread_getspecific(kept) : NULL;
    if (parser == NULL) return xmlNewParserCtxt();
    pthread_setspecific(kept, NULL);
    return parser;
}

/* Forgets the document, except for names in the parser's dictionary. A parser that has gathered many of them goes, and so does one that met
   anything unusual: what it leaves behind is nobody's concern. */
static void give_back(xmlParserCtxtPtr parser, cxs_parse_status verdict) {
    enum { MAXIMUM_NAMES = 1000 };
    xmlCtxtReset(parser);
    parser->_private = NULL;
    int is_good = keeps && verdict == CXS_PARSED && xmlDictSize(parser->dict) <= MAXIMUM_NAMES;
    if (!is_good || pthread_setspecific(kept, parser) != 0) xmlFreeParserCtxt(parser);
}

static cxs_parse_status parse(const uint8_t *octets, size_t length, int options, int maximum_nodes, int skips_remarks, cxs_document **document) {
    *document = NULL;
    if (length == 0 || length > INT_MAX || !is_text(octets, length)) return CXS_BAD_FORM;
    if (has_too_many_attributes(octets, length)) return CXS_OVER_LIMIT;
    if (cxs_initialize() != 0) return CXS_NO_MEMORY;
    cxs_begin();

    parse_state state = {.verdict = CXS_PARSED, .maximum_nodes = maximum_nodes, .skips_remarks = skips_remarks};
    xmlParserCtxtPtr parser = take_parser();
    if (parser == NULL) return CXS_NO_MEMORY;
    harden(parser, &state);
    xmlDocPtr tree = xmlCtxtReadMemory(parser, (const char *)octets, (int)length, NULL, NULL,
                                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | options);
    cxs_parse_status verdict = judge(parser, &state, tree);
    give_back(parser, verdict);

    if (verdict == CXS_PARSED) {
        *document = malloc(sizeof **document);
        if (*document != NULL) {
            (*document)->tree = tree;
            return CXS_PARSED;
        }
        verdict = CXS_NO_MEMORY;
    }
    if (tree != NULL) xmlFreeDoc(tree);
    return verdict;
}

cxs_parse_status cxs_parse(const uint8_t *octets, size_t length, cxs_document **document) {
    return parse(octets, length, 0, MAXIMUM_NODES, 0, document);
}

/* Short texts have no memory of their own in a compact tree, which for that must not be changed. */
cxs_parse_status cxs_parse_to_read(const uint8_t *octets, size_t length, cxs_document **document) {
    return parse(octets, length, XML_PARSE_COMPACT, MAXIMUM_NODES, 0, document);
}

cxs_parse_status cxs_parse_list(const uint8_t *octets, size_t length, cxs_document **document) {
    enum { MAXIMUM_LIST_NODES = 50000 };
    return parse(octets, length, XML_PARSE_COMPACT, MAXIMUM_LIST_NODES, 0, document);
}

cxs_parse_status cxs_parse_metadata(const uint8_t *octets, size_t length, cxs_document **document) {
    return parse(octets, length, XML_PARSE_COMPACT, MAXIMUM_NODES, 1, document);
}

void cxs_document_free(cxs_document *document) {
    if (document == NULL) return;
    xmlFreeDoc(document->tree);
    free(document);
}
