#ifndef BOXOFFICE_MEMORY_H
#define BOXOFFICE_MEMORY_H

#include <stddef.h>

/// What the C library keeps of memory that was freed, in octets; 0 where it does not tell.
size_t boxoffice_memory_free(void);

/// Gives whole pages of freed memory back to the system.
void boxoffice_memory_release(void);

#endif
