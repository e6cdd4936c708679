/*
 * Feeds arbitrary octets to the C library of the SAML profile: parse, walk, verify, decrypt.
 *
 * A crash, a leak, a report of AddressSanitizer, and a verified tree that is not the element that was asked about are findings.
 * The folder in SAML_FUZZ_KEYS holds `certificate.der` (its key signed the corpus) and `decryption.pem`.
 */
#include "CXmlSec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cxs_key *certificate;
static cxs_key *decryption;

static size_t load(const char *name, uint8_t *octets, size_t capacity) {
    char path[1024];
    const char *folder = getenv("SAML_FUZZ_KEYS");
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : ".", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    size_t length = fread(octets, 1, capacity, file);
    fclose(file);
    return length;
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    static uint8_t octets[1 << 16];
    if (cxs_initialize() != 0) abort();
    certificate = cxs_key_from_certificate(octets, load("certificate.der", octets, sizeof octets));
    decryption = cxs_key_from_pem(octets, load("decryption.pem", octets, sizeof octets));
    if (certificate == NULL || decryption == NULL) abort();
    return 0;
}

static cxs_node *find(cxs_node *element, const char *name) {
    if (strcmp(cxs_local_name(element), name) == 0) return element;
    for (cxs_node *child = cxs_first_element(element); child != NULL; child = cxs_next_element(child)) {
        cxs_node *found = find(child, name);
        if (found != NULL) return found;
    }
    return NULL;
}

static size_t touch(cxs_node *element) {
    const void *cursor = NULL;
    const char *value = NULL;
    int is_plain_ID = 0;
    size_t sum = strlen(cxs_local_name(element)) + strlen(cxs_namespace(element));
    while (cxs_next_identifier(element, &cursor, &value, &is_plain_ID)) sum += strlen(value) + (size_t)is_plain_ID;
    const char *text = cxs_text(element);
    const char *attribute = cxs_attribute(element, "Name");
    return sum + (text != NULL ? strlen(text) : 0) + (attribute != NULL ? strlen(attribute) : 0);
}

static void verify(cxs_document *document, cxs_node *parent, cxs_node *signature) {
    const cxs_key *keys[] = {decryption, certificate};
    cxs_document *verified = NULL;
    cxs_parse_status parse;
    cxs_verify_status status = cxs_verify(document, signature, CXS_RSA_SHA256, CXS_SHA256, keys, 2, &verified, &parse);
    if ((status == CXS_VERIFIED) != (verified != NULL)) abort();
    if (verified == NULL) return;
    cxs_node *root = cxs_document_root(verified);
    if (strcmp(cxs_local_name(root), cxs_local_name(parent)) != 0) abort();
    if (strcmp(cxs_namespace(root), cxs_namespace(parent)) != 0) abort();
    if (strcmp(cxs_attribute(root, "ID"), cxs_attribute(parent, "ID")) != 0) abort();
    cxs_document_free(verified);
}

static void decrypt(cxs_node *element) {
    cxs_node *key = find(element, "EncryptedKey");
    if (key == NULL) return;
    static const cxs_content_cipher ciphers[] = {CXS_AES128_GCM, CXS_AES256_CBC};
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++) {
        cxs_document *plaintext = NULL;
        cxs_parse_status parse;
        if ((cxs_decrypt(element, key, ciphers[i], decryption, &plaintext, &parse) == 0) != (plaintext != NULL)) abort();
        cxs_document_free(plaintext);
    }
}

/* Verifies a few signatures at most: a document may hold thousands. */
static void visit(cxs_document *document, cxs_node *parent, cxs_node *element, int *budget) {
    touch(element);
    if (parent != NULL && *budget > 0 && strcmp(cxs_local_name(element), "Signature") == 0) {
        (*budget)--;
        verify(document, parent, element);
    }
    if (*budget > 0 && strcmp(cxs_local_name(element), "EncryptedData") == 0) {
        (*budget)--;
        decrypt(element);
    }
    for (cxs_node *child = cxs_first_element(element); child != NULL; child = cxs_next_element(child)) visit(document, element, child, budget);
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t length) {
    cxs_document *document = NULL;
    if (cxs_parse_to_read(octets, length, &document) != CXS_PARSED) {
        if (document != NULL) abort();
        return 0;
    }
    int budget = 4;
    visit(document, NULL, cxs_document_root(document), &budget);
    cxs_document_free(document);
    return 0;
}
