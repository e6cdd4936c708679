#include "CProcess.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

size_t boxoffice_memory_free(void) {
#ifdef __GLIBC__
    return mallinfo2().fordblks;
#else
    return 0;
#endif
}

void boxoffice_memory_release(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
