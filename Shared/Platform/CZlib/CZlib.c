#include "CZlib.h"

#include <limits.h>
#include <zlib.h>

// What zlib's `windowBits` says of the format: 16 asks for gzip alone, a negative number for no header at all.
enum { GZIP_WINDOW = 15 + 16, RAW_WINDOW = -15, USUAL_MEMORY = 8 };

static int is_too_long(size_t length, size_t room) { return length > INT_MAX || room > INT_MAX; }

static z_stream stream_over(const uint8_t *input, size_t length, uint8_t *output, size_t room) {
    z_stream stream = {0};
    stream.next_in = (Bytef *)input;
    stream.avail_in = (uInt)length;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
    return stream;
}

long czlib_gzip(const uint8_t *input, size_t length, uint8_t *output, size_t room, int level) {
    if (is_too_long(length, room)) return -1;
    z_stream stream = stream_over(input, length, output, room);
    if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, USUAL_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
    int done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    long count = (long)stream.total_out;
    deflateEnd(&stream);
    return done ? count : -1;
}

long czlib_gunzip(const uint8_t *input, size_t length, uint8_t *output, size_t room) {
    if (length == 0 || is_too_long(length, room)) return -1;
    z_stream stream = stream_over(input, length, output, room);
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) return -1;
    long count = 0;
    int status;
    while ((status = inflate(&stream, Z_FINISH)) == Z_STREAM_END) {
        // inflateReset begins to count anew.
        count += (long)stream.total_out;
        if (stream.avail_in == 0) break;
        if (inflateReset(&stream) != Z_OK) break;
    }
    int is_full = status != Z_STREAM_END && stream.avail_out == 0 && status != Z_DATA_ERROR;
    int is_done = status == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    return is_done ? count : is_full ? -2 : -1;
}

long czlib_inflate(const uint8_t *input, size_t length, uint8_t *output, size_t room) {
    if (is_too_long(length, room)) return -1;
    z_stream stream = stream_over(input, length, output, room);
    if (inflateInit2(&stream, RAW_WINDOW) != Z_OK) return -1;
    int done = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0;
    long count = (long)stream.total_out;
    inflateEnd(&stream);
    return done ? count : -1;
}
