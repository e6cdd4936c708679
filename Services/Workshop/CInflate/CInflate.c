#include "CInflate.h"

#include <limits.h>
#include <zlib.h>

long cinflate(const uint8_t *input, size_t length, uint8_t *output, size_t room) {
    z_stream stream = {0};
    enum { RAW_WINDOW = -15 };
    if (length > INT_MAX || room > INT_MAX || inflateInit2(&stream, RAW_WINDOW) != Z_OK) return -1;
    stream.next_in = (Bytef *)input;
    stream.avail_in = (uInt)length;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
    int done = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0;
    long count = (long)stream.total_out;
    inflateEnd(&stream);
    return done ? count : -1;
}
