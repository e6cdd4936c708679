#include "CProtobufC.h"

#include <stdlib.h>

struct boxoffice_arena_block {
    struct boxoffice_arena_block *next;
    size_t unused; // keeps what follows 16-byte aligned
};

static const size_t header_size = sizeof(uint64_t);
static const size_t smallest_block = 16 * 1024;

/// Memory of one thread's arenas, one at a time.
static _Thread_local uint64_t thread_memory[1024];
static _Thread_local int thread_memory_is_held;

void boxoffice_arena_begin(boxoffice_arena *arena, void *memory, size_t capacity, size_t limit)
{
    arena->cursor = memory;
    arena->end = arena->cursor + capacity;
    arena->blocks = NULL;
    arena->remaining = limit;
    arena->holds_thread_memory = 0;
}

void boxoffice_arena_begin_on_thread(boxoffice_arena *arena, size_t limit)
{
    int is_free = !thread_memory_is_held;
    boxoffice_arena_begin(arena, thread_memory, is_free ? sizeof(thread_memory) : 0, limit);
    arena->holds_thread_memory = is_free;
    thread_memory_is_held = 1;
}

static int grow(boxoffice_arena *arena, size_t needed)
{
    if (needed > arena->remaining)
        return 0;
    size_t size = needed > smallest_block ? needed : smallest_block;
    if (size > arena->remaining)
        size = arena->remaining;
    struct boxoffice_arena_block *block = malloc(sizeof(*block) + size);
    if (block == NULL)
        return 0;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->remaining -= size;
    arena->cursor = (uint8_t *)(block + 1);
    arena->end = arena->cursor + size;
    return 1;
}

void *boxoffice_arena_take(boxoffice_arena *arena, size_t size)
{
    if (size > SIZE_MAX - 2 * header_size)
        return NULL;
    size_t needed = header_size + ((size + header_size - 1) & ~(header_size - 1));
    if ((size_t)(arena->end - arena->cursor) < needed && !grow(arena, needed))
        return NULL;
    uint64_t *header = (uint64_t *)(void *)arena->cursor;
    *header = size;
    arena->cursor += needed;
    return header + 1;
}

size_t boxoffice_arena_size(const void *memory)
{
    return ((const uint64_t *)memory)[-1];
}

void boxoffice_arena_end(boxoffice_arena *arena)
{
    struct boxoffice_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct boxoffice_arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
    if (arena->holds_thread_memory)
        thread_memory_is_held = 0;
    arena->holds_thread_memory = 0;
}

static void *take(void *arena, size_t size)
{
    return boxoffice_arena_take(arena, size);
}

static void keep(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

ProtobufCMessage *boxoffice_arena_unpack(
    boxoffice_arena *arena, const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes, size_t count)
{
    ProtobufCAllocator allocator = {.alloc = take, .free = keep, .allocator_data = arena};
    return protobuf_c_message_unpack(descriptor, &allocator, count, bytes);
}

int boxoffice_is_absent_string(const char *text)
{
    return text == NULL || text == protobuf_c_empty_string;
}
