// The load: keeps a number of calls in flight on each of a number of connections, the same for every server.
//
//     load HOST PORT NAME CERTIFICATE KEY ANCHORS SERVICE METHOD PAYLOAD_BYTES CONNECTIONS IN_FLIGHT SECONDS
//
// Prints calls per second, p50 and p99 in microseconds, and bytes of one answer. Warms up for a fifth of the time.
#include "common.h"

static buffer request;
static size_t id_offset;
static uint64_t next_id = 1;
static uint32_t *samples;
static size_t sample_count, sample_capacity = 1 << 22;
static uint64_t warm_until;
static uint64_t calls;
static size_t answer_bytes;
enum { ring = 1 << 16 };
static uint64_t sent_at[ring];

static void put_field(buffer *b, uint8_t tag, const void *bytes, size_t count)
{
    uint8_t head[11] = {tag};
    size_t size = 1, rest = count;
    do {
        head[size++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
        rest >>= 7;
    } while (rest > 0);
    buffer_add(b, head, size);
    buffer_add(b, bytes, count);
}

/// The request once, with a call id of fixed width to be overwritten for each call, a deadline and a trace like a real one.
static void make_request(const char *service, const char *method, size_t payload_bytes)
{
    buffer message = {0}, frame = {0};
    const uint8_t id[] = {0x08, 0x80, 0x80, 0x80, 0x80, 0x00}, timeout[] = {0x20, 0x80, 0xad, 0xe2, 0x04};
    const char *trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    buffer_add(&message, id, sizeof id);
    put_field(&message, 0x12, service, strlen(service));
    put_field(&message, 0x1a, method, strlen(method));
    buffer_add(&message, timeout, sizeof timeout);
    put_field(&message, 0x2a, trace, strlen(trace));
    if (payload_bytes > 0) {
        uint8_t *content = calloc(1, payload_bytes);
        buffer payload = {0};
        put_field(&payload, 0x0a, content, payload_bytes);
        put_field(&message, 0x42, payload.bytes, buffer_count(&payload));
    }
    put_field(&frame, 0x12, message.bytes, buffer_count(&message));
    uint32_t prefix = htonl((uint32_t)buffer_count(&frame));
    buffer_add(&request, &prefix, 4);
    buffer_add(&request, frame.bytes, buffer_count(&frame));
    id_offset = 4 + buffer_count(&frame) - buffer_count(&message) + 1;
}

static void call(connection *c, uint64_t now)
{
    uint8_t *target = buffer_reserve(&c->out, buffer_count(&request));
    memcpy(target, request.bytes, buffer_count(&request));
    for (int i = 0; i < 5; i++)
        target[id_offset + (size_t)i] = (uint8_t)(((next_id >> (7 * i)) & 0x7f) | (i < 4 ? 0x80 : 0));
    c->out.end += buffer_count(&request);
    sent_at[next_id % ring] = now;
    next_id++;
}

static void answered(const uint8_t *frame, size_t size, uint64_t now)
{
    if (now < warm_until)
        return;
    calls++;
    answer_bytes = size;
    uint64_t took = now - sent_at[call_id(frame) % ring];
    if (sample_count < sample_capacity)
        samples[sample_count++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
}

static connection *open_connection(SSL_CTX *context, const char *host, int port, const char *name)
{
    connection *c = calloc(1, sizeof *c);
    c->socket = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1 || connect(c->socket, (struct sockaddr *)&address, sizeof address) < 0)
        die("connect");
    no_delay(c->socket);
    c->ssl = SSL_new(context);
    SSL_set1_host(c->ssl, name);
    SSL_set_fd(c->ssl, c->socket);
    if (SSL_connect(c->ssl) != 1 || SSL_write(c->ssl, hello, sizeof hello) != sizeof hello)
        die("handshake");
    non_blocking(c->socket);
    return c;
}

/// Takes what came and asks as often again. The first frame of a connection is the server's hello.
static void step(connection *c, int in_flight)
{
    if (fill(c) < 0)
        die("the server closed the connection");
    uint64_t now = nanoseconds();
    size_t size;
    while ((size = whole_frame(&c->in)) > 0) {
        const uint8_t *frame = c->in.bytes + c->in.start;
        if (frame[4] == 0x0a) {
            for (int i = 0; i < in_flight; i++)
                call(c, now);
        } else if (frame[4] == 0x1a || frame[4] == 0x12) {
            answered(frame, size, now);
            call(c, now);
        } else if (frame[4] != 0x3a) {
            fprintf(stderr, "unexpected frame 0x%02x\n", frame[4]);
            exit(1);
        }
        c->in.start += size;
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

int main(int count, char **arguments)
{
    if (count != 13)
        return 2;
    SSL_CTX *context = tls_context(arguments[4], arguments[5], arguments[6]);
    make_request(arguments[7], arguments[8], (size_t)atol(arguments[9]));
    int connections = atoi(arguments[10]), in_flight = atoi(arguments[11]);
    double seconds = atof(arguments[12]);
    samples = malloc(sample_capacity * sizeof *samples);
    int poll = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        connection *c = open_connection(context, arguments[1], atoi(arguments[2]), arguments[3]);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(poll, EPOLL_CTL_ADD, c->socket, &event);
    }
    uint64_t start = nanoseconds();
    warm_until = start + (uint64_t)(seconds * 0.2e9);
    uint64_t end = warm_until + (uint64_t)(seconds * 1e9);
    struct epoll_event events[128];
    while (nanoseconds() < end) {
        int ready = epoll_wait(poll, events, 128, 1000);
        for (int i = 0; i < ready; i++) {
            connection *c = events[i].data.ptr;
            step(c, in_flight);
            int state = drain(c);
            if (state < 0)
                die("the server closed the connection");
            struct epoll_event changed = {.events = EPOLLIN | (state == 1 ? EPOLLOUT : 0), .data.ptr = c};
            if (state == 1 || (events[i].events & EPOLLOUT))
                epoll_ctl(poll, EPOLL_CTL_MOD, c->socket, &changed);
        }
    }
    qsort(samples, sample_count, sizeof *samples, ascending);
    if (sample_count == 0)
        die("no answers");
    printf("%.0f %.1f %.1f %zu\n", (double)calls / seconds, samples[sample_count / 2] / 1000.0, samples[sample_count * 99 / 100] / 1000.0,
        answer_bytes);
    return 0;
}
