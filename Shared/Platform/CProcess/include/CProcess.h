#ifndef CPROCESS_H
#define CPROCESS_H

#include <stddef.h>

/// The commit that the program was built from, as hexadecimal digits; empty: a build of a working copy. See BOXOFFICE_COMMIT in Package.swift.
const char *boxoffice_build_commit(void);

/// What the C library keeps of memory that was freed, in octets; 0 where it does not tell.
size_t boxoffice_memory_free(void);

/// Gives whole pages of freed memory back to the system.
void boxoffice_memory_release(void);

#endif
