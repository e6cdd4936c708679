#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

/// A bump allocator for the messages of one frame: one release instead of one `free` per field, and one bound for all of them.
///
/// Each allocation remembers its size, which tells the true length of a string field: protobuf-c ends strings at the first NUL.
typedef struct boxoffice_arena {
    uint8_t *cursor;
    uint8_t *end;
    struct boxoffice_arena_block *blocks;
    size_t remaining;
    int holds_thread_memory;
} boxoffice_arena;

/// Starts on memory of the caller (8-byte aligned); grows on the heap, by at most `limit` bytes in all.
void boxoffice_arena_begin(boxoffice_arena *arena, void *memory, size_t capacity, size_t limit);
/// The same on memory that the thread keeps for this, so that a message costs no `malloc`; on the heap alone while an earlier arena of the
/// thread has it. To be ended on the same thread.
void boxoffice_arena_begin_on_thread(boxoffice_arena *arena, size_t limit);
/// 8-byte aligned memory that lives until `boxoffice_arena_end`; NULL when the limit is reached.
void *boxoffice_arena_take(boxoffice_arena *arena, size_t size);
/// The size that was asked for with `boxoffice_arena_take`.
size_t boxoffice_arena_size(const void *memory);
void boxoffice_arena_end(boxoffice_arena *arena);

/// Decodes with the arena as allocator; NULL when the bytes are no such message or the limit is reached.
ProtobufCMessage *boxoffice_arena_unpack(
    boxoffice_arena *arena, const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes, size_t count);

/// True for the shared text that protobuf-c uses for an absent string field: it is in no arena.
int boxoffice_is_absent_string(const char *text);
