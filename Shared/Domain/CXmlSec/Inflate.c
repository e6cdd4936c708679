#include "CXmlSec.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

uint8_t *cxs_inflate(const uint8_t *octets, size_t length, size_t largest, size_t *inflated_length) {
    z_stream stream = {0};
    enum { RAW_WINDOW = -15 };
    if (length > INT_MAX || largest > INT_MAX || inflateInit2(&stream, RAW_WINDOW) != Z_OK) return NULL;
    uint8_t *output = malloc(largest + 1);
    stream.next_in = (Bytef *)octets;
    stream.avail_in = (uInt)length;
    stream.next_out = output;
    stream.avail_out = (uInt)largest;
    /* What follows the stream would be read by nobody. */
    int done = output != NULL && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0;
    *inflated_length = stream.total_out;
    inflateEnd(&stream);
    if (done) return output;
    free(output);
    return NULL;
}
