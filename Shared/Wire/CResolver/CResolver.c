#include "CResolver.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

// The largest message: res_nquery asks again over TCP when an answer is cut off.
#define ANSWER_SIZE 65535

enum { NO_SERVER = -1, NO_NAME = -2, NO_RECORDS = -3, NO_ANSWER = -4, BROKEN = -5, NO_MEMORY = -6 };

const char *boxoffice_resolve_reason(int result)
{
    switch (result) {
    case NO_SERVER: return "the resolver cannot be set up";
    case NO_NAME: return "the name does not exist";
    case NO_RECORDS: return "the name has no SRV records";
    case NO_ANSWER: return "no name server answers";
    case BROKEN: return "the answer is no DNS message";
    case NO_MEMORY: return "out of memory";
    default: return "unknown";
    }
}

static int use_server(res_state state, const char *server, uint16_t port)
{
    struct in_addr address;
    if (inet_pton(AF_INET, server, &address) != 1)
        return 0;
    state->nscount = 1;
    state->nsaddr_list[0].sin_family = AF_INET;
    state->nsaddr_list[0].sin_addr = address;
    state->nsaddr_list[0].sin_port = htons(port);
    return 1;
}

static int failure(const struct __res_state *state)
{
    switch (state->res_h_errno) {
    case HOST_NOT_FOUND: return NO_NAME;
    case NO_DATA: return NO_RECORDS;
    default: return NO_ANSWER;
    }
}

static int read_record(ns_msg *message, const ns_rr *entry, boxoffice_srv_record *record)
{
    const unsigned char *data = ns_rr_rdata(*entry);
    if (ns_rr_rdlen(*entry) < 7)
        return 0;
    memset(record, 0, sizeof *record);
    record->ttl = ns_rr_ttl(*entry);
    record->priority = (uint16_t)ns_get16(data);
    record->weight = (uint16_t)ns_get16(data + 2);
    record->port = (uint16_t)ns_get16(data + 4);
    if (ns_name_uncompress(ns_msg_base(*message), ns_msg_end(*message), data + 6, record->target, sizeof record->target) < 0)
        return 0;
    if (record->target[0] == '\0')
        strcpy(record->target, ".");
    return 1;
}

static int read_answer(const unsigned char *answer, int size, boxoffice_srv_record *records, size_t capacity)
{
    ns_msg message;
    if (ns_initparse(answer, size, &message) < 0)
        return BROKEN;
    size_t count = 0;
    for (int index = 0; index < ns_msg_count(message, ns_s_an) && count < capacity; index++) {
        ns_rr entry;
        if (ns_parserr(&message, ns_s_an, index, &entry) < 0)
            return BROKEN;
        // A name may lead to another (CNAME) before the records.
        if (ns_rr_type(entry) != ns_t_srv)
            continue;
        if (!read_record(&message, &entry, &records[count]))
            return BROKEN;
        count++;
    }
    return count > 0 ? (int)count : NO_RECORDS;
}

int boxoffice_resolve_srv(const char *name, const char *server, uint16_t port, boxoffice_srv_record *records, size_t capacity)
{
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0)
        return NO_SERVER;
    int result = NO_SERVER;
    unsigned char *answer = malloc(ANSWER_SIZE);
    if (answer == NULL) {
        result = NO_MEMORY;
    } else if (server == NULL || use_server(&state, server, port)) {
        // Two tries of two seconds: the next look-up comes soon enough.
        state.retrans = 2;
        state.retry = 2;
        int size = res_nquery(&state, name, ns_c_in, ns_t_srv, answer, ANSWER_SIZE);
        result = size < 0 ? failure(&state) : read_answer(answer, size, records, capacity);
    }
    free(answer);
    res_nclose(&state);
    return result;
}
