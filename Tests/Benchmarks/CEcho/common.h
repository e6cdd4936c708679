// What the C echo server and the load client share: TLS 1.3 over non-blocking sockets, buffers, frames.
#pragma once

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static inline void die(const char *what)
{
    perror(what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static inline uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

typedef struct {
    uint8_t *bytes;
    size_t start, end, capacity;
} buffer;

static inline size_t buffer_count(const buffer *b) { return b->end - b->start; }

static inline uint8_t *buffer_reserve(buffer *b, size_t room)
{
    if (b->start == b->end)
        b->start = b->end = 0;
    if (b->capacity - b->end < room) {
        memmove(b->bytes, b->bytes + b->start, buffer_count(b));
        b->end -= b->start;
        b->start = 0;
        if (b->capacity - b->end < room) {
            b->capacity = (b->end + room) * 2;
            b->bytes = realloc(b->bytes, b->capacity);
            if (b->bytes == NULL)
                die("realloc");
        }
    }
    return b->bytes + b->end;
}

static inline void buffer_add(buffer *b, const void *bytes, size_t count)
{
    memcpy(buffer_reserve(b, count), bytes, count);
    b->end += count;
}

typedef struct {
    int socket;
    SSL *ssl;
    buffer in, out;
} connection;

/// TLS records with frames in them, as SSL_read and SSL_write made them: a call of either is one record of at most 16 KiB.
static uint64_t read_records, written_records;

/// -1 when the connection is over, otherwise 0 with all that could be read in `in`.
static inline int fill(connection *c)
{
    for (;;) {
        uint8_t *room = buffer_reserve(&c->in, 16 * 1024);
        int count = SSL_read(c->ssl, room, (int)(c->in.capacity - c->in.end));
        if (count <= 0)
            return SSL_get_error(c->ssl, count) == SSL_ERROR_WANT_READ ? 0 : -1;
        read_records++;
        c->in.end += (size_t)count;
    }
}

/// -1 when the connection is over, 1 when bytes are left.
static inline int drain(connection *c)
{
    while (buffer_count(&c->out) > 0) {
        int count = SSL_write(c->ssl, c->out.bytes + c->out.start, (int)buffer_count(&c->out));
        if (count <= 0)
            return SSL_get_error(c->ssl, count) == SSL_ERROR_WANT_WRITE ? 1 : -1;
        written_records += ((uint64_t)count + 16383) / 16384;
        c->out.start += (size_t)count;
    }
    return 0;
}

/// Bytes of the whole frame at the front of the buffer with its prefix; 0 when it is not whole.
static inline size_t whole_frame(const buffer *b)
{
    if (buffer_count(b) < 4)
        return 0;
    uint32_t count;
    memcpy(&count, b->bytes + b->start, 4);
    size_t size = 4 + (size_t)ntohl(count);
    return buffer_count(b) >= size ? size : 0;
}

static inline SSL_CTX *tls_context(const char *certificate, const char *key, const char *anchors)
{
    SSL_CTX *context = SSL_CTX_new(TLS_method());
    if (context == NULL || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)
        || !SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") || !SSL_CTX_set_num_tickets(context, 0)
        || SSL_CTX_use_certificate_chain_file(context, certificate) != 1
        || SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_load_verify_file(context, anchors) != 1)
        die("TLS files");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    return context;
}

static inline void no_delay(int socket)
{
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static inline void non_blocking(int socket) { fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK); }

/// Hello { protocol_version: 1, software: "c", max_frame_bytes: 64 MiB, max_calls_in_flight: 1000 }
static const uint8_t hello[] = {0, 0, 0, 15, 0x0a, 13, 0x08, 1, 0x12, 1, 'c', 0x20, 0x80, 0x80, 0x80, 0x20, 0x28, 0xe8, 0x07};
