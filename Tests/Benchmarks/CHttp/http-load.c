// HTTP/1.1 load from prebuilt requests, and the least server that can answer it.
//
//     http-load load PORT CONNECTIONS SECONDS STATUS REQUESTS [TEXT]
//     http-load flood PORT CONNECTIONS SECONDS RATE REQUESTS
//     http-load pace PORT CONNECTIONS SECONDS RATE STATUS REQUESTS
//     http-load serve BODY_BYTES
//
// `load` keeps one request in flight on each of a number of keep-alive connections to 127.0.0.1. REQUESTS is a file of requests, each behind its
// length in four bytes, big-endian; they are sent in turn. Where a request holds the address 150.100.100.100, each sending puts another one of
// 200000 there, so that every request comes from an address of its own; where it holds QEBAQEBAQEBA, each sending puts the Base64 of nine other
// digits there, so that every request comes from a device of its own. Prints: calls per second, p50 and p99 in microseconds, answers whose status
// was not STATUS or that had no TEXT in them, all calls sent, its own CPU time per call in microseconds. Warms up for a fifth of the time.
//
// `flood` makes RATE calls a second, due at random instants whatever became of those before, each timed from when it was due, also while it waits for a
// free connection; with a RATE of 0 each connection calls again as soon as it has its answer. Prints, in microseconds: accepted answers (200) per
// second, their p50 and p99; the number of refusals (503 with Retry-After), their p50, p99 and maximum; the number of other answers and of broken
// connections; of calls that had no answer 10 s after the end; how late calls were begun at p99; the share of a processor that it needed
// itself. The first second does not count. A connection whose answer says that it is the last one is replaced by another one, which is in the times.
//
// `pace` calls as `flood` does, and expects STATUS. Prints: p50 and p99 of those answers in microseconds, the number of all other outcomes, all calls
// sent, those of the first second included, how late calls were begun at p99 in microseconds.
//
// `serve` prints the port it chose and answers every request with 200: what `load` reaches with it is the load's own ceiling.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { largest_answer = 256 * 1024, addresses = 200000, most_events = 256, most_marks = 4 };

static const char mark[] = "QEBAQEBAQEBA";

typedef struct {
    char *bytes;
    size_t size;
    char *address; // where the address of the device stands; NULL: nowhere
    char *marks[most_marks]; // where digits of its own stand; NULL: nowhere
} request;

typedef struct {
    int socket;
    uint64_t sent_at;
    size_t filled;
    char *answer;
    bool is_waiting; // of `flood`: for an answer
} connection;

static request *requests;
static size_t request_count;
static uint64_t next_request, next_number, sent;
static int port_of_server;
static int expected_status;
static const char *expected_text = "";
static uint64_t warm_until;
static uint64_t all_calls, calls, unexpected;
static uint32_t *samples;
static const size_t sample_capacity = 1 << 22;

static void die(const char *what)
{
    fprintf(stderr, "http-load: %s (%s)\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void read_requests(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        die(path);
    uint32_t prefix;
    while (fread(&prefix, 4, 1, file) == 1) {
        requests = realloc(requests, (request_count + 1) * sizeof *requests);
        request *r = &requests[request_count++];
        r->size = ntohl(prefix);
        r->bytes = malloc(r->size + 1);
        if (fread(r->bytes, 1, r->size, file) != r->size)
            die("the file of requests is cut short");
        r->bytes[r->size] = 0;
        r->address = strstr(r->bytes, "150.100.100.100");
        char *place = r->bytes;
        for (int i = 0; i < most_marks; i++) {
            place = place == NULL ? NULL : strstr(place, mark);
            r->marks[i] = place;
            place = place == NULL ? NULL : place + 1;
        }
    }
    fclose(file);
    if (request_count == 0)
        die("no requests");
}

/// 150.1xx.1xx.1xx: always as long, so that nothing else of the request moves.
static void write_address(char *place, uint64_t number)
{
    for (int i = 0; i < 6; i++) {
        place[14 - i - (i / 2) * 2] = (char)('0' + number % 10);
        number /= 10;
    }
}

/// Base64 of nine digits.
static void write_digits(char *place, uint64_t number)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int group = 0; group < 3; group++) {
        uint32_t bits = 0;
        for (int i = 0; i < 3; i++) {
            bits = bits << 8 | (uint32_t)('0' + number % 10);
            number /= 10;
        }
        for (int i = 0; i < 4; i++)
            *place++ = alphabet[bits >> (18 - 6 * i) & 63];
    }
}

static void send_next(connection *c, uint64_t now)
{
    request *r = &requests[next_request % request_count];
    if (r->address != NULL)
        write_address(r->address, next_request % addresses);
    for (int i = 0; i < most_marks && r->marks[i] != NULL; i++)
        write_digits(r->marks[i], next_number);
    next_request++;
    next_number++;
    sent++;
    c->sent_at = now;
    c->filled = 0;
    if (send(c->socket, r->bytes, r->size, MSG_NOSIGNAL) != (ssize_t)r->size)
        die("a request could not be sent at once");
}

static void check(connection *c)
{
    int status = atoi(c->answer + 9);
    c->answer[c->filled] = 0;
    if (status == expected_status && strstr(c->answer, expected_text) != NULL)
        return;
    if (unexpected++ == 0)
        fprintf(stderr, "http-load: an answer with %d instead of %d %s:\n%.600s\n", status, expected_status, expected_text, c->answer);
}

/// Bytes of the whole answer, or 0 while some are missing.
static size_t answer_size(connection *c)
{
    c->answer[c->filled] = 0;
    char *end = memmem(c->answer, c->filled, "\r\n\r\n", 4);
    if (end == NULL)
        return 0;
    size_t head = (size_t)(end - c->answer) + 4, body = 0;
    for (char *line = c->answer; (line = memchr(line, '\n', (size_t)(end - line))) != NULL;) {
        line++;
        if ((*line | 32) == 'c' && strncasecmp(line, "content-length:", 15) == 0) {
            body = strtoul(line + 15, NULL, 10);
            break;
        }
    }
    return c->filled < head + body ? 0 : head + body;
}

static void receive(connection *c)
{
    ssize_t count = recv(c->socket, c->answer + c->filled, largest_answer - c->filled, 0);
    if (count < 0 && errno == EAGAIN)
        return;
    if (count <= 0)
        die("the server closed a connection");
    c->filled += (size_t)count;
    size_t size = answer_size(c);
    if (size == 0)
        return;
    if (c->filled > size)
        die("more than one answer to a request");
    uint64_t now = now_us();
    check(c);
    all_calls++;
    if (now >= warm_until) {
        if (calls < sample_capacity)
            samples[calls] = (uint32_t)(now - c->sent_at);
        calls++;
    }
    send_next(c, now);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int connect_to(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0)
        die("cannot connect");
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(s, F_SETFL, O_NONBLOCK);
    return s;
}

static int load(char **arguments)
{
    int port = atoi(arguments[0]), connection_count = atoi(arguments[1]);
    double seconds = atof(arguments[2]);
    expected_status = atoi(arguments[3]);
    read_requests(arguments[4]);
    if (arguments[5] != NULL)
        expected_text = arguments[5];
    samples = malloc(sample_capacity * sizeof *samples);
    connection *connections = calloc((size_t)connection_count, sizeof *connections);
    int poll = epoll_create1(0);
    for (int i = 0; i < connection_count; i++) {
        connections[i].socket = connect_to(port);
        connections[i].answer = malloc(largest_answer + 1);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].socket, &event);
    }
    // Runs begin at different devices and addresses.
    next_request = (uint64_t)getpid() * 7919;
    // More than any run sends in the time: no number comes twice in an hour.
    next_number = now_us() / 10 % 1000000000;
    uint64_t start = now_us(), end = start + (uint64_t)(seconds * 1e6), now = start;
    warm_until = start + (uint64_t)(seconds * 2e5);
    double cpu = cpu_us();
    for (int i = 0; i < connection_count; i++)
        send_next(&connections[i], now);
    struct epoll_event events[most_events];
    while ((now = now_us()) < end) {
        int count = epoll_wait(poll, events, most_events, 100);
        for (int i = 0; i < count; i++)
            receive(events[i].data.ptr);
    }
    cpu = cpu_us() - cpu;
    size_t kept = calls < sample_capacity ? calls : sample_capacity;
    if (kept == 0)
        die("no answers");
    qsort(samples, kept, sizeof *samples, compare);
    printf("%.1f %u %u %lu %lu %.3f\n", (double)calls * 1e6 / (double)(now - warm_until), samples[kept / 2], samples[kept * 99 / 100],
        (unsigned long)unexpected, (unsigned long)all_calls, cpu / (double)all_calls);
    return 0;
}

// MARK: flood

enum { most_waiting = 1 << 20 };

typedef struct {
    uint32_t *microseconds;
    size_t count;
} times;

static times new_times(void) { return (times){.microseconds = malloc(sample_capacity * sizeof(uint32_t))}; }

static void keep(times *t, uint64_t microseconds)
{
    if (t->count < sample_capacity)
        t->microseconds[t->count++] = (uint32_t)microseconds;
}

static uint32_t at_percent(times *t, size_t percent)
{
    if (t->count == 0)
        return 0;
    qsort(t->microseconds, t->count, sizeof *t->microseconds, compare);
    size_t place = t->count * percent / 100;
    return t->microseconds[place < t->count ? place : t->count - 1];
}

typedef struct {
    connection **free;
    size_t capacity, first, count;
} free_connections;

static void give_back(free_connections *f, connection *c) { f->free[(f->first + f->count++) % f->capacity] = c; }

static connection *take(free_connections *f)
{
    connection *c = f->free[f->first];
    f->first = (f->first + 1) % f->capacity;
    f->count--;
    return c;
}

static times accepted, refused, late;
static uint64_t odd, last_answer_at;

static void classify(connection *c, uint64_t now)
{
    last_answer_at = now;
    int status = atoi(c->answer + 9);
    if (c->sent_at < warm_until)
        return;
    if (status == expected_status)
        keep(&accepted, now - c->sent_at);
    else if (status == 503 && strcasestr(c->answer, "\r\nretry-after:") != NULL)
        keep(&refused, now - c->sent_at);
    else if (odd++ == 0)
        fprintf(stderr, "an answer with %d: %.300s\n", status, c->answer);
}

/// Another connection in place of one that is over.
static void renew(connection *c, int poll)
{
    // A reset leaves no port behind that waits.
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(c->socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(c->socket);
    c->socket = connect_to(port_of_server);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(poll, EPOLL_CTL_ADD, c->socket, &event);
}

/// Whether the answer is the last one of its connection.
static bool says_close(connection *c)
{
    char *end = memmem(c->answer, c->filled, "\r\n\r\n", 4), *found = strcasestr(c->answer, "\r\nconnection: close\r\n");
    return found != NULL && found <= end;
}

/// Returns whether the connection is free again: it has its answer, or broke while it waited for one and is another one now.
static bool has_answer(connection *c, int poll)
{
    ssize_t count = recv(c->socket, c->answer + c->filled, largest_answer - c->filled, 0);
    if (count < 0 && errno == EAGAIN)
        return false;
    if (count <= 0) {
        if (odd++ == 0)
            fprintf(stderr, "a connection was closed\n");
        renew(c, poll);
        bool was_waiting = c->is_waiting;
        c->is_waiting = false;
        return was_waiting;
    }
    if (!c->is_waiting)
        die("an answer without a request");
    c->filled += (size_t)count;
    if (answer_size(c) == 0)
        return false;
    classify(c, now_us());
    c->is_waiting = false;
    if (says_close(c))
        renew(c, poll);
    return true;
}

static void wait_until(int poll, double due, uint64_t now, struct epoll_event *events, int *count)
{
    double left = due > (double)now ? due - (double)now : 0;
    if (left > 100000)
        left = 100000;
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)(left * 1000)};
    *count = epoll_pwait2(poll, events, most_events, &time, NULL);
}

typedef struct {
    double seconds; // from the end of the first second to the last answer
    size_t unanswered;
    double busy;
} outcome;

static outcome offer(size_t connection_count, double seconds, double rate)
{
    accepted = new_times(), refused = new_times(), late = new_times();
    // When the calls that wait for a free connection were due.
    uint64_t *waiting = malloc(most_waiting * sizeof *waiting);
    size_t first = 0, waiting_count = 0;
    free_connections free = {.free = calloc(connection_count, sizeof(connection *)), .capacity = connection_count};
    int poll = epoll_create1(0), count = 0;
    for (size_t i = 0; i < connection_count; i++) {
        connection *c = calloc(1, sizeof *c);
        c->socket = connect_to(port_of_server);
        c->answer = malloc(largest_answer + 1);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(poll, EPOLL_CTL_ADD, c->socket, &event);
        give_back(&free, c);
    }
    prctl(PR_SET_TIMERSLACK, 1);
    srand48(1);
    next_request = (uint64_t)getpid() * 7919;
    uint64_t start = now_us(), end = start + (uint64_t)((seconds + 1) * 1e6), now = start;
    warm_until = start + 1000000;
    double due = (double)start, cpu = cpu_us();
    double spent = 0;
    struct epoll_event events[most_events];
    for (;;) {
        now = now_us();
        if (now >= end && spent == 0)
            spent = (cpu_us() - cpu) / (double)(now - start);
        bool all_answered = free.count == connection_count && waiting_count == 0;
        if (now >= end && (all_answered || now >= end + 10000000))
            break;
        while (rate > 0 && due <= (double)now && due < (double)end) {
            if (due >= (double)warm_until)
                keep(&late, now - (uint64_t)due);
            if (waiting_count == most_waiting)
                die("more calls wait than there is room for");
            waiting[(first + waiting_count++) % most_waiting] = (uint64_t)due;
            due -= log(1 - drand48()) * 1e6 / rate;
        }
        while (free.count > 0 && (rate > 0 ? waiting_count > 0 : now < end)) {
            connection *c = take(&free);
            uint64_t since = now;
            if (rate > 0) {
                since = waiting[first];
                first = (first + 1) % most_waiting;
                waiting_count--;
            }
            c->is_waiting = true;
            send_next(c, since);
        }
        wait_until(poll, rate > 0 && due < (double)end ? due : (double)now + 100000, now, events, &count);
        for (int i = 0; i < count; i++) {
            if (has_answer(events[i].data.ptr, poll))
                give_back(&free, events[i].data.ptr);
        }
    }
    // Calls that were due before the end may have been answered long after it: they do not make the server faster.
    double measured = (double)((last_answer_at > end ? last_answer_at : end) - warm_until) / 1e6;
    return (outcome){.seconds = measured, .unanswered = connection_count - free.count + waiting_count, .busy = spent};
}

static int flood(char **arguments)
{
    port_of_server = atoi(arguments[0]);
    expected_status = 200;
    read_requests(arguments[4]);
    outcome o = offer((size_t)atoi(arguments[1]), atof(arguments[2]), atof(arguments[3]));
    printf("%.1f %u %u %zu %u %u %u %lu %zu %u %.3f\n", (double)accepted.count / o.seconds, at_percent(&accepted, 50), at_percent(&accepted, 99),
        refused.count, at_percent(&refused, 50), at_percent(&refused, 99), at_percent(&refused, 100), (unsigned long)odd, o.unanswered,
        at_percent(&late, 99), o.busy);
    return 0;
}

static int pace(char **arguments)
{
    port_of_server = atoi(arguments[0]);
    expected_status = atoi(arguments[4]);
    read_requests(arguments[5]);
    outcome o = offer((size_t)atoi(arguments[1]), atof(arguments[2]), atof(arguments[3]));
    printf("%u %u %zu %lu %u\n", at_percent(&accepted, 50), at_percent(&accepted, 99), refused.count + odd + o.unanswered, (unsigned long)sent,
        at_percent(&late, 99));
    return 0;
}

static char reply[4096];

static void answer(connection *c, int poll)
{
    ssize_t count = recv(c->socket, c->answer, largest_answer, 0);
    if (count < 0 && errno == EAGAIN)
        return;
    if (count <= 0) {
        epoll_ctl(poll, EPOLL_CTL_DEL, c->socket, NULL);
        close(c->socket);
        free(c->answer);
        free(c);
        return;
    }
    // The load sends no second request before the answer, and each fits one segment of the loopback device.
    if (send(c->socket, reply, strlen(reply), MSG_NOSIGNAL) < 0)
        die("cannot answer");
}

_Noreturn static void serve(char **arguments)
{
    int bytes = atoi(arguments[0]);
    if (bytes < 0 || bytes > 2048)
        die("the body has 0 to 2048 bytes");
    int used = snprintf(reply, sizeof reply, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: text/plain\r\n\r\n", bytes);
    memset(reply + used, 'x', (size_t)bytes);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, poll = epoll_create1(0);
    if (bind(listener, (struct sockaddr *)&at, size) != 0 || listen(listener, 1024) != 0)
        die("cannot listen");
    getsockname(listener, (struct sockaddr *)&at, &size);
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[most_events];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(poll, events, most_events, -1);
        for (int i = 0; i < count; i++) {
            connection *c = events[i].data.ptr;
            if (c != NULL) {
                answer(c, poll);
                continue;
            }
            c = calloc(1, sizeof *c);
            c->socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
            c->answer = malloc(largest_answer + 1);
            setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            event.data.ptr = c;
            epoll_ctl(poll, EPOLL_CTL_ADD, c->socket, &event);
        }
    }
}

int main(int count, char **arguments)
{
    if ((count == 7 || count == 8) && strcmp(arguments[1], "load") == 0)
        return load(arguments + 2);
    if (count == 3 && strcmp(arguments[1], "serve") == 0)
        serve(arguments + 2);
    if (count == 7 && strcmp(arguments[1], "flood") == 0)
        return flood(arguments + 2);
    if (count == 8 && strcmp(arguments[1], "pace") == 0)
        return pace(arguments + 2);
    fprintf(stderr, "http-load load PORT CONNECTIONS SECONDS STATUS REQUESTS [TEXT] |\n"
                    "http-load flood PORT CONNECTIONS SECONDS RATE REQUESTS |\n"
                    "http-load pace PORT CONNECTIONS SECONDS RATE STATUS REQUESTS | http-load serve BODY_BYTES\n");
    return 2;
}
