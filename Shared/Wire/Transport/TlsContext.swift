internal import COpenSSL

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One loaded version of an identity: an `SSL_CTX` that no longer changes.
///
/// `@unchecked Sendable`: the pointer is set once; after `init` OpenSSL only reads the context and counts references to it atomically.
final class TlsContext: @unchecked Sendable {
    private let raw: OpaquePointer

    /// - Throws: `unusable_file` naming the file; `out_of_memory`.
    init(files: TlsFiles, refused: [CertificateDigest] = []) throws(TlsError) {
        ERR_clear_error()
        guard let raw = boxoffice_tls_context() else { throw TlsError(.outOfMemory, OpenSSLErrors.drain()) }
        self.raw = raw
        try Self.requireReadable(files.certificate, "certificate")
        try Self.requireReadable(files.key, "private key")
        try Self.requireReadable(files.trustAnchors, "trust anchor")
        guard SSL_CTX_use_certificate_chain_file(raw, files.certificate) == 1 else {
            throw Self.unusable(files.certificate, "certificate")
        }
        guard SSL_CTX_use_PrivateKey_file(raw, files.key, SSL_FILETYPE_PEM) == 1, SSL_CTX_check_private_key(raw) == 1 else {
            throw Self.unusable(files.key, "private key")
        }
        guard boxoffice_tls_trust(raw, files.trustAnchors) == 1 else { throw Self.unusable(files.trustAnchors, "trust anchor") }
        let digests = refused.flatMap(\.bytes)
        guard boxoffice_tls_refuse(raw, digests, refused.count) == 1 else { throw TlsError(.outOfMemory, OpenSSLErrors.drain()) }
    }

    deinit { SSL_CTX_free(raw) }

    /// A new `SSL` object, owned by the caller.
    func makeConnection() throws(TlsError) -> OpaquePointer {
        guard let connection = SSL_new(raw) else { throw TlsError(.outOfMemory, OpenSSLErrors.drain()) }
        return connection
    }

    /// The DNS SANs of this end's certificate.
    var names: [String] { DnsNames.read { boxoffice_tls_own_names(raw, $0, $1) } }

    private static func requireReadable(_ path: String, _ role: String) throws(TlsError) {
        guard access(path, R_OK) != 0 else { return }
        throw TlsError(.unusableFile, "cannot read the \(role) file \(path): \(String(cString: strerror(errno)))")
    }

    private static func unusable(_ path: String, _ role: String) -> TlsError {
        TlsError(.unusableFile, "the \(role) file \(path) cannot be used: \(OpenSSLErrors.drain())")
    }
}
