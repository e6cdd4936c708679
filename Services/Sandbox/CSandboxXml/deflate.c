#include "internal.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { rawDeflate = -15, memoryLevel = 8 };

const char *csandbox_inflate(const uint8_t *data, size_t count, size_t limit, CSandboxOctets *out) {
    if (count > UINT_MAX || limit >= UINT_MAX) return "not DEFLATE data";
    z_stream stream = {0};
    if (inflateInit2(&stream, rawDeflate) != Z_OK) return "out of memory";
    // One octet more than allowed tells a message at the limit from one over it.
    out->bytes = malloc(limit + 1);
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)count;
    stream.next_out = out->bytes;
    stream.avail_out = (uInt)limit + 1;
    int status = out->bytes == NULL ? Z_MEM_ERROR : inflate(&stream, Z_FINISH);
    out->count = stream.total_out;
    bool complete = status == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    if (complete && out->count <= limit) return NULL;
    bool excessive = out->count > limit;
    csandbox_octets_free(out);
    return excessive ? "larger than allowed after inflating" : "not DEFLATE data";
}

const char *csandbox_deflate(const uint8_t *data, size_t count, CSandboxOctets *out) {
    z_stream stream = {0};
    if (count > UINT_MAX / 2 || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, rawDeflate, memoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
        return "out of memory";
    }
    uLong bound = deflateBound(&stream, count);
    out->bytes = malloc(bound);
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)count;
    stream.next_out = out->bytes;
    stream.avail_out = (uInt)bound;
    int status = out->bytes == NULL ? Z_MEM_ERROR : deflate(&stream, Z_FINISH);
    out->count = stream.total_out;
    deflateEnd(&stream);
    if (status == Z_STREAM_END) return NULL;
    csandbox_octets_free(out);
    return "out of memory";
}
