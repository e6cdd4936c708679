#include "CProcess.h"

#ifndef BOXOFFICE_COMMIT
#define BOXOFFICE_COMMIT ""
#endif

const char *boxoffice_build_commit(void) {
    return BOXOFFICE_COMMIT;
}
