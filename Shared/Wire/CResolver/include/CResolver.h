#pragma once

#include <stddef.h>
#include <stdint.h>

/// One SRV record.
typedef struct boxoffice_srv_record {
    uint32_t ttl;
    uint16_t priority;
    uint16_t weight;
    uint16_t port;
    /// Without the dot at its end, and NUL; "." for the root.
    char target[256];
} boxoffice_srv_record;

/// Asks for the SRV records of a complete name; waits for the answer.
/// `server`: an IPv4 address to ask at `port`; NULL: the system's name servers.
/// Returns how many records were written, at most `capacity`; a negative number names the failure.
int boxoffice_resolve_srv(const char *name, const char *server, uint16_t port, boxoffice_srv_record *records, size_t capacity);

/// What a negative result says.
const char *boxoffice_resolve_reason(int result);
