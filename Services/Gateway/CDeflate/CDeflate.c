#include "CDeflate.h"

#include <limits.h>
#include <zlib.h>

long cdeflate_gzip(const uint8_t *input, size_t length, uint8_t *output, size_t room, int level) {
    z_stream stream = {0};
    // 16 asks zlib for gzip around the stream.
    enum { GZIP_WINDOW = 15 + 16, USUAL_MEMORY = 8 };
    if (length > INT_MAX || room > INT_MAX) return -1;
    if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, USUAL_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
    stream.next_in = (Bytef *)input;
    stream.avail_in = (uInt)length;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
    int done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    long count = (long)stream.total_out;
    deflateEnd(&stream);
    return done ? count : -1;
}
