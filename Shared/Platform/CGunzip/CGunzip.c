#include "CGunzip.h"

#include <limits.h>
#include <zlib.h>

long cgunzip(const uint8_t *input, size_t length, uint8_t *output, size_t room) {
    z_stream stream = {0};
    // 16 asks zlib for gzip alone.
    enum { GZIP_WINDOW = 15 + 16 };
    if (length == 0 || length > INT_MAX || room > INT_MAX || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) return -1;
    stream.next_in = (Bytef *)input;
    stream.avail_in = (uInt)length;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
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
