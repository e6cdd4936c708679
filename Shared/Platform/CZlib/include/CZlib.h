#ifndef CZLIB_H
#define CZLIB_H

#include <stddef.h>
#include <stdint.h>

/* Each function writes at most `room` octets to `output` and returns how many it wrote, or a negative number. */

/// Compresses to the gzip format (RFC 1952), at a level from 1 (fast) to 9 (small).
///
/// Returns -1 when `room` octets do not hold it.
long czlib_gzip(const uint8_t *input, size_t length, uint8_t *output, size_t room, int level);

/// Decodes all members of a gzip file (RFC 1952).
///
/// Returns -1 when the input is none, breaks off, or has something behind it, and -2 when it needs more room.
long czlib_gunzip(const uint8_t *input, size_t length, uint8_t *output, size_t room);

/// Inflates a raw deflate stream (RFC 1951) that must end with the input.
///
/// Returns -1 when the stream is broken, goes on after its end, or holds more than `room` octets.
long czlib_inflate(const uint8_t *input, size_t length, uint8_t *output, size_t room);

#endif
