#include "CXmlSec.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

uint8_t *cxs_deflate(const uint8_t *octets, size_t length, size_t *deflated_length) {
    z_stream stream = {0};
    enum { RAW_WINDOW = -15, DEFAULT_MEMORY = 8 };
    if (length > INT_MAX) return NULL;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, RAW_WINDOW, DEFAULT_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
    uLong capacity = deflateBound(&stream, (uLong)length);
    uint8_t *output = malloc(capacity);
    stream.next_in = (Bytef *)octets;
    stream.avail_in = (uInt)length;
    stream.next_out = output;
    stream.avail_out = (uInt)capacity;
    int done = output != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    *deflated_length = stream.total_out;
    deflateEnd(&stream);
    if (done) return output;
    free(output);
    return NULL;
}
