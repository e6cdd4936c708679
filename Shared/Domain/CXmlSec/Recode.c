#include "Internal.h"

#include <iconv.h>
#include <stdlib.h>

uint8_t *cxs_recode(const char *encoding, const uint8_t *octets, size_t length, size_t largest, size_t *recoded_length, int *is_known) {
    iconv_t converter = iconv_open("UTF-8", encoding);
    *is_known = converter != (iconv_t)-1;
    if (!*is_known) return NULL;
    uint8_t *recoded = malloc(largest > 0 ? largest : 1);
    if (recoded != NULL) {
        char *input = (char *)octets, *output = (char *)recoded;
        size_t left = length, room = largest;
        int is_whole = iconv(converter, &input, &left, &output, &room) != (size_t)-1 && left == 0 &&
                       iconv(converter, NULL, NULL, &output, &room) != (size_t)-1;
        *recoded_length = largest - room;
        if (!is_whole) {
            free(recoded);
            recoded = NULL;
        }
    }
    iconv_close(converter);
    return recoded;
}
