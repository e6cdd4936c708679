#include "internal.h"
#include <libxml/globals.h>
#include <libxml/parser.h>
#include <libxml/threads.h>
#include <pthread.h>
#include <xmlsec/crypto.h>
#include <xmlsec/errors.h>
#include <xmlsec/io.h>
#include <xmlsec/transforms.h>
#include <xmlsec/xmlsec.h>

static const char *outcome;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Another user of xmlsec in this process may have prepared it: doing so twice would empty the tables while they are in use.
static bool prepared(void) {
    return xmlSecTransformIdsGet()->id != NULL;
}

static void prepare(void) {
    xmlInitParser();
    xmlLockLibrary();
    if (!prepared()) {
        if (xmlSecInit() != 0 || xmlSecCheckVersion() != 1) outcome = "libxmlsec1 does not fit";
        else if (xmlSecOpenSSLAppInit(NULL) != 0 || xmlSecOpenSSLInit() != 0) outcome = "libxmlsec1-openssl does not start";
    }
    if (outcome == NULL) {
        xmlSecIOCleanupCallbacks();
        xmlSecErrorsDefaultCallbackEnableOutput(0);
    }
    xmlUnlockLibrary();
}

const char *csandbox_start(void) {
    pthread_once(&once, prepare);
    return outcome;
}
