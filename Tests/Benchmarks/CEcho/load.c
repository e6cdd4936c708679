// The load: keeps a number of calls in flight on each of a number of connections, the same for every server. As any peer must, it encodes
// each request and decodes each answer with protobuf-c.
//
//     load HOST PORT NAME CERTIFICATE KEY ANCHORS SERVICE METHOD PAYLOAD_BYTES CONNECTIONS IN_FLIGHT SECONDS [single]
//
// Requests that are due at the same time share a TLS record; with `single` each has one of its own. One write takes them all in both cases.
//
// Prints calls per second, p50 and p99 in microseconds, bytes of one answer, all calls, its own CPU time per call in microseconds, requests per
// TLS record and answers per TLS record. Warms up for a fifth of the time.
#include "common.h"
#include "frame.pb-c.h"
#include "platform.pb-c.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/resource.h>

static Boxoffice__Wire__V1__Frame frame;
static Boxoffice__Wire__V1__Request request;
static uint64_t next_id = 1;
static uint32_t *samples;
static size_t sample_count, sample_capacity = 1 << 22;
static uint64_t warm_until;
static uint64_t calls, all_calls;
static size_t answer_bytes;
enum { ring = 1 << 16 };
static uint64_t sent_at[ring];

/// A request like a real one: deadline, trace, and a message whose only field has so many bytes.
static void make_request(char *service, char *method, size_t payload_bytes)
{
    boxoffice__wire__v1__frame__init(&frame);
    boxoffice__wire__v1__request__init(&request);
    frame.kind_case = BOXOFFICE__WIRE__V1__FRAME__KIND_REQUEST;
    frame.request = &request;
    request.service = service;
    request.method = method;
    request.timeout_us = 10000000;
    request.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    if (payload_bytes == 0)
        return;
    Boxoffice__Platform__V1__EchoMessage message = BOXOFFICE__PLATFORM__V1__ECHO_MESSAGE__INIT;
    message.content.len = payload_bytes;
    message.content.data = calloc(1, payload_bytes);
    request.payload.len = boxoffice__platform__v1__echo_message__get_packed_size(&message);
    request.payload.data = malloc(request.payload.len);
    boxoffice__platform__v1__echo_message__pack(&message, request.payload.data);
    free(message.content.data);
}

static void call(connection *c, uint64_t now)
{
    request.call_id = next_id;
    size_t size = boxoffice__wire__v1__frame__get_packed_size(&frame);
    uint8_t *target = buffer_reserve(&c->out, 4 + size);
    uint32_t prefix = htonl((uint32_t)size);
    memcpy(target, &prefix, 4);
    boxoffice__wire__v1__frame__pack(&frame, target + 4);
    c->out.end += 4 + size;
    sent_at[next_id % ring] = now;
    next_id++;
}

/// The call that an answer belongs to: a response, or the request itself from a server that sends it back.
static uint64_t answered_call(const Boxoffice__Wire__V1__Frame *answer)
{
    if (answer->kind_case == BOXOFFICE__WIRE__V1__FRAME__KIND_REQUEST)
        return answer->request->call_id;
    if (answer->kind_case != BOXOFFICE__WIRE__V1__FRAME__KIND_RESPONSE
        || answer->response->outcome_case != BOXOFFICE__WIRE__V1__RESPONSE__OUTCOME_PAYLOAD) {
        fprintf(stderr, "an answer that is no good response\n");
        exit(1);
    }
    return answer->response->call_id;
}

static void answered(const uint8_t *bytes, size_t size, uint64_t now)
{
    Boxoffice__Wire__V1__Frame *answer = boxoffice__wire__v1__frame__unpack(NULL, size - 4, bytes + 4);
    if (answer == NULL)
        die("an answer that does not decode");
    uint64_t took = now - sent_at[answered_call(answer) % ring];
    boxoffice__wire__v1__frame__free_unpacked(answer, NULL);
    all_calls++;
    if (now < warm_until)
        return;
    calls++;
    answer_bytes = size;
    if (sample_count < sample_capacity)
        samples[sample_count++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
}

/// Keeps the records of several SSL_write calls for one write.
static void gather_records(connection *c)
{
    BIO *gathered = BIO_new(BIO_f_buffer());
    if (gathered == NULL || BIO_set_write_buffer_size(gathered, 256 * 1024) != 1)
        die("a buffer for records");
    SSL_set_bio(c->ssl, BIO_new_socket(c->socket, BIO_NOCLOSE), BIO_push(gathered, BIO_new_socket(c->socket, BIO_NOCLOSE)));
}

static void write_gathered(connection *c)
{
    while (BIO_flush(SSL_get_wbio(c->ssl)) <= 0) {
        struct pollfd room = {.fd = c->socket, .events = POLLOUT};
        if (!BIO_should_retry(SSL_get_wbio(c->ssl)) || poll(&room, 1, 10000) != 1)
            die("the server takes nothing");
    }
}

static connection *open_connection(SSL_CTX *context, const char *host, int port, const char *name, bool single)
{
    connection *c = calloc(1, sizeof *c);
    c->socket = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1 || connect(c->socket, (struct sockaddr *)&address, sizeof address) < 0)
        die("connect");
    no_delay(c->socket);
    c->ssl = SSL_new(context);
    SSL_set1_host(c->ssl, name);
    if (single)
        gather_records(c);
    else
        SSL_set_fd(c->ssl, c->socket);
    if (SSL_connect(c->ssl) != 1 || SSL_write(c->ssl, hello, sizeof hello) != sizeof hello)
        die("handshake");
    if (single)
        write_gathered(c);
    non_blocking(c->socket);
    return c;
}

static void send_call(connection *c, uint64_t now, bool single)
{
    call(c, now);
    if (single && drain(c) < 0)
        die("the server closed the connection");
}

static double cpu_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// Takes what came and asks as often again. The first frame of a connection is the server's hello.
static void step(connection *c, int in_flight, bool single)
{
    if (fill(c) < 0)
        die("the server closed the connection");
    uint64_t now = nanoseconds();
    size_t size;
    while ((size = whole_frame(&c->in)) > 0) {
        const uint8_t *bytes = c->in.bytes + c->in.start;
        if (bytes[4] == 0x0a) {
            for (int i = 0; i < in_flight; i++)
                send_call(c, now, single);
        } else if (bytes[4] != 0x3a) { // a ping needs no answer in so short a time
            answered(bytes, size, now);
            send_call(c, now, single);
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
    bool single = count == 14 && strcmp(arguments[13], "single") == 0;
    if (count != 13 && !single)
        return 2;
    SSL_CTX *context = tls_context(arguments[4], arguments[5], arguments[6]);
    make_request(arguments[7], arguments[8], (size_t)atol(arguments[9]));
    int connections = atoi(arguments[10]), in_flight = atoi(arguments[11]);
    double seconds = atof(arguments[12]);
    samples = malloc(sample_capacity * sizeof *samples);
    int ready_list = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        connection *c = open_connection(context, arguments[1], atoi(arguments[2]), arguments[3], single);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(ready_list, EPOLL_CTL_ADD, c->socket, &event);
    }
    uint64_t start = nanoseconds();
    double cpu = cpu_us();
    warm_until = start + (uint64_t)(seconds * 0.2e9);
    uint64_t end = warm_until + (uint64_t)(seconds * 1e9);
    struct epoll_event events[128];
    while (nanoseconds() < end) {
        int ready = epoll_wait(ready_list, events, 128, 1000);
        for (int i = 0; i < ready; i++) {
            connection *c = events[i].data.ptr;
            step(c, in_flight, single);
            int state = drain(c);
            if (single)
                write_gathered(c);
            if (state < 0)
                die("the server closed the connection");
            struct epoll_event changed = {.events = EPOLLIN | (state == 1 ? EPOLLOUT : 0), .data.ptr = c};
            if (state == 1 || (events[i].events & EPOLLOUT))
                epoll_ctl(ready_list, EPOLL_CTL_MOD, c->socket, &changed);
        }
    }
    cpu = cpu_us() - cpu;
    qsort(samples, sample_count, sizeof *samples, ascending);
    if (sample_count == 0)
        die("no answers");
    printf("%.0f %.1f %.1f %zu %lu %.3f %.2f %.2f\n", (double)calls / seconds, samples[sample_count / 2] / 1000.0,
        samples[sample_count * 99 / 100] / 1000.0, answer_bytes, (unsigned long)all_calls, cpu / (double)all_calls,
        (double)all_calls / (double)written_records, (double)all_calls / (double)read_records);
    return 0;
}
