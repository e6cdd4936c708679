#include "Internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/threads.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlmemory.h>
#include <xmlsec/errors.h>
#include <xmlsec/io.h>
#include <xmlsec/openssl/app.h>
#include <xmlsec/openssl/crypto.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int usable;
static _Thread_local char complaint[256];

static void keep_first_complaint(const char *file, int line, const char *function, const char *object,
                                 const char *subject, int reason, const char *message) {
    (void)file;
    (void)message; /* may quote the document */
    if (complaint[0] != 0) return;
    snprintf(complaint, sizeof complaint, "%s:%d %s %s reason %d", function ? function : "?", line,
             object ? object : "-", subject ? subject : "-", reason);
}

static void stay_silent(void *context, const char *format, ...) {
    (void)context;
    (void)format;
}

/* Another part of the process may use xmlsec as well; its tables must not be filled twice. */
static int start_xmlsec(void) {
    if (xmlSecTransformIdsGet()->id != NULL) return 0;
    if (xmlSecInit() < 0 || xmlSecCheckVersion() != 1) return -1;
    return xmlSecOpenSSLAppInit(NULL) < 0 || xmlSecOpenSSLInit() < 0 ? -1 : 0;
}

static void prepare(void) {
    xmlInitParser();
    xmlThrDefSetGenericErrorFunc(NULL, stay_silent);
    /* The one lock that every user of libxml2 in the process shares. */
    xmlLockLibrary();
    usable = start_xmlsec() == 0;
    xmlSecErrorsSetCallback(keep_first_complaint);
    xmlSecIOCleanupCallbacks();
    xmlUnlockLibrary();
}

int cxs_initialize(void) {
    return pthread_once(&once, prepare) == 0 && usable ? 0 : -1;
}

void cxs_begin(void) {
    complaint[0] = 0;
    xmlSetGenericErrorFunc(NULL, stay_silent);
}

const char *cxs_last_complaint(void) {
    return complaint;
}

void cxs_free(void *memory) {
    free(memory);
}
