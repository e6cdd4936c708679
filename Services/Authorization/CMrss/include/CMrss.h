#pragma once
#include <stddef.h>

/// What a Media RSS resource says; texts are UTF-8, owned by this struct, NULL where absent.
typedef struct {
    char *channel_title;
    int has_item;
    char *item_title;
    char *item_guid;
    /// Of the item, else of the channel.
    char *rating_scheme;
    char *rating;
} MrssDescription;

/// Reads one `rss` document. Returns 1 when it is well-formed, has no DTD and a channel with a title; else 0 and `description` is empty.
/// Opens no file and no connection, whatever the document says.
int mrss_read(const char *text, size_t length, MrssDescription *description);

/// Frees the texts.
void mrss_clear(MrssDescription *description);
