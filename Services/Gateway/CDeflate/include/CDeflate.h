#ifndef CDEFLATE_H
#define CDEFLATE_H

#include <stddef.h>
#include <stdint.h>

/// Compresses to the gzip format (RFC 1952), at a level from 1 (fast) to 9 (small).
///
/// Returns the number of octets written to `output`, or -1 when `room` octets do not hold it.
long cdeflate_gzip(const uint8_t *input, size_t length, uint8_t *output, size_t room, int level);

#endif
