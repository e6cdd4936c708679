// The limit that the service is measured against: epoll, OpenSSL on the socket, frames answered without protobuf.
//
//     server CERTIFICATE KEY ANCHORS ANSWER_BYTES
//
// Prints its port. ANSWER_BYTES 0 sends each frame back; otherwise each is answered by a response with that many bytes of payload.
#include "common.h"

static size_t answer_bytes;
static uint8_t *answer;

/// The call id, first field of the message that is the only field of the frame.
static uint64_t call_id(const uint8_t *frame)
{
    const uint8_t *p = frame + 5;
    while (*p++ & 0x80)
        ;
    p++;
    uint64_t id = 0;
    for (int shift = 0;; shift += 7) {
        id |= (uint64_t)(*p & 0x7f) << shift;
        if ((*p++ & 0x80) == 0)
            return id;
    }
}

static size_t put_varint(uint8_t *target, uint64_t value)
{
    size_t count = 0;
    do {
        target[count++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value > 0);
    return count;
}

static void respond(connection *c, uint64_t id)
{
    uint8_t head[64], fields[32];
    size_t count = 0;
    fields[count++] = 0x08;
    count += put_varint(fields + count, id);
    fields[count++] = 0x12;
    count += put_varint(fields + count, answer_bytes);
    size_t size = 5;
    head[4] = 0x1a;
    size += put_varint(head + size, count + answer_bytes);
    uint32_t prefix = htonl((uint32_t)(size - 4 + count + answer_bytes));
    memcpy(head, &prefix, 4);
    buffer_add(&c->out, head, size);
    buffer_add(&c->out, fields, count);
    buffer_add(&c->out, answer, answer_bytes);
}

static int serve(connection *c)
{
    if (fill(c) < 0)
        return -1;
    size_t size;
    while ((size = whole_frame(&c->in)) > 0) {
        const uint8_t *frame = c->in.bytes + c->in.start;
        if (frame[4] == 0x0a)
            buffer_add(&c->out, hello, sizeof hello);
        else if (frame[4] == 0x12 && answer_bytes > 0)
            respond(c, call_id(frame));
        else if (frame[4] == 0x12)
            buffer_add(&c->out, frame, size);
        c->in.start += size;
        if (buffer_count(&c->out) >= 64 * 1024 && drain(c) < 0)
            return -1;
    }
    return drain(c);
}

static connection *accept_one(int listener, SSL_CTX *context)
{
    int socket = accept(listener, NULL, NULL);
    if (socket < 0)
        return NULL;
    no_delay(socket);
    connection *c = calloc(1, sizeof *c);
    c->socket = socket;
    c->ssl = SSL_new(context);
    SSL_set_fd(c->ssl, socket);
    if (SSL_accept(c->ssl) != 1) {
        close(socket);
        SSL_free(c->ssl);
        free(c);
        return NULL;
    }
    non_blocking(socket);
    return c;
}

static void finish(connection *c)
{
    close(c->socket);
    SSL_free(c->ssl);
    free(c->in.bytes);
    free(c->out.bytes);
    free(c);
}

int main(int count, char **arguments)
{
    if (count != 5)
        return 2;
    SSL_CTX *context = tls_context(arguments[1], arguments[2], arguments[3]);
    answer_bytes = (size_t)atol(arguments[4]);
    answer = calloc(1, answer_bytes + 1);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 128) < 0
        || getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        die("listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    int poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[128];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, 128, -1);
        for (int i = 0; i < ready; i++) {
            connection *c = events[i].data.ptr;
            if (c == NULL) {
                c = accept_one(listener, context);
                struct epoll_event added = {.events = EPOLLIN, .data.ptr = c};
                if (c == NULL)
                    continue;
                epoll_ctl(poll, EPOLL_CTL_ADD, c->socket, &added);
                // OpenSSL may have read the first frame together with the end of the handshake: serve it now.
            }
            int state = serve(c);
            if (state < 0) {
                finish(c);
                continue;
            }
            struct epoll_event changed = {.events = EPOLLIN | (state == 1 ? EPOLLOUT : 0), .data.ptr = c};
            epoll_ctl(poll, EPOLL_CTL_MOD, c->socket, &changed);
        }
    }
}
