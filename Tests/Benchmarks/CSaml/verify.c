// What libxmlsec1 alone does with a signed assertion, as fast as a C program can ask it: `verify FILE CERTIFICATE SECONDS`.
// For each octet of its standard input it prints a line with two rates per second on one core: the signature of a tree that is parsed already, and
// with the parsing of the document.
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xmlsec/crypto.h>
#include <xmlsec/keys.h>
#include <xmlsec/xmldsig.h>
#include <xmlsec/xmlsec.h>
#include <xmlsec/xmltree.h>

/* Of processor time: what other programs do to this one does not count. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what) {
    fprintf(stderr, "verify: %s\n", what);
    exit(1);
}

static void name_ids(xmlDocPtr tree, xmlNodePtr node) {
    for (; node != NULL; node = node->next) {
        xmlAttrPtr id = node->type == XML_ELEMENT_NODE ? xmlHasProp(node, BAD_CAST "ID") : NULL;
        if (id != NULL) xmlAddID(NULL, tree, id->children->content, id);
        name_ids(tree, node->children);
    }
}

static xmlDocPtr parse(const char *text, int length) {
    xmlDocPtr tree = xmlReadMemory(text, length, NULL, NULL, XML_PARSE_NONET);
    if (tree == NULL) fail("the document is not well-formed");
    name_ids(tree, xmlDocGetRootElement(tree));
    return tree;
}

static void check(xmlDocPtr tree, const char *certificate) {
    static xmlSecKeyPtr pinned;
    if (pinned == NULL) pinned = xmlSecCryptoAppKeyLoad(certificate, xmlSecKeyDataFormatCertPem, NULL, NULL, NULL);
    xmlNodePtr signature = xmlSecFindNode(xmlDocGetRootElement(tree), xmlSecNodeSignature, xmlSecDSigNs);
    xmlSecDSigCtxPtr context = xmlSecDSigCtxCreate(NULL);
    if (pinned == NULL || signature == NULL || context == NULL) fail("no key or no signature");
    /* The public key alone: a whole duplicate would copy the certificate each time. */
    context->signKey = xmlSecKeyCreate();
    if (context->signKey == NULL || xmlSecKeySetValue(context->signKey, xmlSecKeyDataDuplicate(xmlSecKeyGetValue(pinned))) < 0) fail("no key");
    if (xmlSecDSigCtxVerify(context, signature) < 0 || context->status != xmlSecDSigStatusSucceeded) fail("the signature does not verify");
    xmlSecDSigCtxDestroy(context);
}

/* Verifications per second of processor time; each of a tree of its own if `parses`. */
static double rate(xmlDocPtr tree, const char *text, int length, const char *certificate, double seconds, int parses) {
    long done = 0;
    double start = now(), end = start;
    for (; end - start < seconds; end = now()) {
        for (int i = 0; i < 10; i++, done++) {
            xmlDocPtr own = parses ? parse(text, length) : tree;
            check(own, certificate);
            if (parses) xmlFreeDoc(own);
        }
    }
    return (double)done / (end - start);
}

int main(int count, char **arguments) {
    if (count != 4) fail("usage: verify FILE CERTIFICATE SECONDS");
    static char text[1 << 20];
    FILE *file = fopen(arguments[1], "rb");
    size_t length = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (length == 0) fail("the file cannot be read");
    fclose(file);
    double seconds = atof(arguments[3]);
    xmlInitParser();
    if (xmlSecInit() < 0 || xmlSecCryptoAppInit(NULL) < 0 || xmlSecCryptoInit() < 0) fail("libxmlsec1 does not start");

    xmlDocPtr tree = parse(text, (int)length);
    rate(tree, text, (int)length, arguments[2], seconds, 1); /* warms up */
    while (getchar() != EOF) {
        double signature = rate(tree, text, (int)length, arguments[2], seconds, 0);
        printf("%.0f %.0f\n", signature, rate(tree, text, (int)length, arguments[2], seconds, 1));
        fflush(stdout);
    }
    xmlFreeDoc(tree);
    return 0;
}
