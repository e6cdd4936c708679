#include "internal.h"
#include <stdlib.h>
#include <string.h>

bool csandbox_octets_set(CSandboxOctets *out, const void *bytes, size_t count) {
    out->count = 0;
    out->bytes = malloc(count == 0 ? 1 : count);
    if (out->bytes == NULL) return false;
    if (count > 0) memcpy(out->bytes, bytes, count);
    out->count = count;
    return true;
}

void csandbox_octets_free(CSandboxOctets *octets) {
    free(octets->bytes);
    octets->bytes = NULL;
    octets->count = 0;
}
