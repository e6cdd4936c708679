#ifndef CINFLATE_H
#define CINFLATE_H

#include <stddef.h>
#include <stdint.h>

/// Inflates a raw deflate stream (RFC 1951) that must end with the input.
///
/// Returns the number of octets written to `output`, or -1 when the stream is broken, goes on after its end, or holds more than `room` octets.
long cinflate(const uint8_t *input, size_t length, uint8_t *output, size_t room);

#endif
