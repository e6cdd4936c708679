#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stddef.h>
#include <stdint.h>

/// The memory between OpenSSL and the socket's owner, lent for the duration of one SSL call: OpenSSL reads ciphertext from `input` and writes
/// ciphertext to `output`, without a copy of its own.
typedef struct boxoffice_tls_io {
    const uint8_t *input;
    size_t input_count;
    uint8_t *output;
    size_t output_count;
    size_t output_capacity;
} boxoffice_tls_io;

/// Lets `ssl` read and write through `io`, which must outlive it. 1 on success.
int boxoffice_tls_attach(SSL *ssl, boxoffice_tls_io *io);

/// A context for TLS 1.3 only, mutual: the peer must show a certificate. NULL when out of memory.
SSL_CTX *boxoffice_tls_context(void);

/// Trust anchors from a PEM file, also named to clients as acceptable. 1 on success.
int boxoffice_tls_trust(SSL_CTX *context, const char *path);

/// Demands that the peer's certificate has exactly this DNS SAN: no wildcard, no common name. 1 on success.
int boxoffice_tls_pin(SSL *ssl, const char *name);

/// Refuses each certificate of a peer's chain whose SHA-256 is among `count` digests of 32 bytes, one behind the other. Once per context. 1 on success.
int boxoffice_tls_refuse(SSL_CTX *context, const uint8_t *digests, size_t count);

typedef void (*boxoffice_name_visitor)(void *state, const char *name, size_t count);

/// Calls `visit` for each DNS SAN of the peer's certificate; a name with a NUL or a byte beyond ASCII is left out.
void boxoffice_tls_peer_names(const SSL *ssl, void *state, boxoffice_name_visitor visit);

/// The same for this end's certificate.
void boxoffice_tls_own_names(const SSL_CTX *context, void *state, boxoffice_name_visitor visit);
