internal import COpenSSL
internal import Cryptography

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
        let chain = try Self.chain(files)
        let (areTaken, isKeyTaken) = chain.withPointers { certificates, key in
            let areTaken = certificates.enumerated().allSatisfy { place, certificate in
                place == 0
                    ? SSL_CTX_use_certificate(raw, certificate) == 1
                    : SSL_CTX_ctrl(raw, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)) == 1
            }
            return (areTaken, areTaken && SSL_CTX_use_PrivateKey(raw, key) == 1)
        }
        guard areTaken else { throw Self.unusable(files.certificate, "certificate") }
        guard isKeyTaken else { throw Self.unusable(files.key, "private key") }
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

    private static func chain(_ files: TlsFiles) throws(TlsError) -> CertifiedChain {
        let certificates: [Certificate]
        do throws(CryptographyError) {
            certificates = try Certificate.all(pemFile: files.certificate)
        } catch {
            throw TlsError(.unusableFile, "the certificate file \(files.certificate) cannot be used: it \(error)")
        }
        do throws(CryptographyError) {
            return try CertifiedChain(certificates, keyFile: files.key)
        } catch {
            let whose = error == .keyOfAnother ? " in \(files.certificate)" : ""
            throw TlsError(.unusableFile, "the private key file \(files.key) cannot be used: it \(error)\(whose)")
        }
    }

    private static func requireReadable(_ path: String, _ role: String) throws(TlsError) {
        guard access(path, R_OK) != 0 else { return }
        throw TlsError(.unusableFile, "cannot read the \(role) file \(path): \(String(cString: strerror(errno)))")
    }

    private static func unusable(_ path: String, _ role: String) -> TlsError {
        TlsError(.unusableFile, "the \(role) file \(path) cannot be used: \(OpenSSLErrors.drain())")
    }
}
