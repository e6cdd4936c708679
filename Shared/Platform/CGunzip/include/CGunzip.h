#ifndef CGUNZIP_H
#define CGUNZIP_H

#include <stddef.h>
#include <stdint.h>

/* Decodes all members of a gzip file (RFC 1952) into `output`.
 * The count of octets; -1 when the input is none, breaks off, or has something behind it; -2 when it needs more room. */
long cgunzip(const uint8_t *input, size_t length, uint8_t *output, size_t room);

#endif
