#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import COpenSSL
internal import Cryptography
internal import NIOCore

/// The TLS protocol of one connection between buffers of ciphertext and plaintext; does no I/O of its own.
final class TlsSession {
    private let ssl: OpaquePointer
    private let memory: UnsafeMutablePointer<boxoffice_tls_io>

    /// Ciphertext beyond the plaintext, generously: header, content type and tag of a record take 22 bytes.
    private static let recordOverhead = 64
    private static let largestRecord = 16 * 1024

    /// - Throws: `out_of_memory`.
    init(context: TlsContext, side: TlsHandler.Side) throws(TlsError) {
        ssl = try context.makeConnection()
        memory = .allocate(capacity: 1)
        memory.initialize(to: boxoffice_tls_io())
        guard boxoffice_tls_attach(ssl, memory) == 1 else { throw TlsError(.outOfMemory, OpenSSLErrors.drain()) }
        switch side {
        case .server:
            SSL_set_accept_state(ssl)
        case .client(let name):
            guard boxoffice_tls_pin(ssl, name) == 1 else { throw TlsError(.wrongPeerName, "\(name) is no name of a peer") }
            SSL_set_connect_state(ssl)
        }
    }

    deinit {
        SSL_free(ssl)
        memory.deallocate()
    }

    /// Takes the handshake as far as the input allows.
    /// - Returns: True when it is complete.
    /// - Throws: `handshake_failed`, `untrusted_peer`, `wrong_peer_name`; `output` then holds the alert for the peer.
    func handshake(_ input: inout ByteBuffer, _ output: inout ByteBuffer) throws(TlsError) -> Bool {
        while true {
            let result = lend(&input, &output, room: 8 * 1024) { SSL_do_handshake(ssl) }
            if result == 1 { return true }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: return false
            case SSL_ERROR_WANT_WRITE: continue
            default: throw handshakeError()
            }
        }
    }

    /// Decrypts all input.
    /// - Returns: `false` once the peer sent close_notify.
    /// - Throws: `protocol_violation`; `plaintext` holds what came before.
    func decrypt(_ input: inout ByteBuffer, into plaintext: inout ByteBuffer, _ output: inout ByteBuffer) throws(TlsError) -> Bool {
        while true {
            let expected = max(input.readableBytes, 1024)
            var result: Int32 = 0
            plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: expected) { free in
                var count = 0
                result = lend(&input, &output, room: Self.recordOverhead) { SSL_read_ex(ssl, free.baseAddress, free.count, &count) }
                return count
            }
            if result == 1 {
                if input.readableBytes == 0, SSL_has_pending(ssl) == 0 { return true }
                continue
            }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: return true
            case SSL_ERROR_WANT_WRITE: output.reserveCapacity(minimumWritableBytes: Self.largestRecord)
            case SSL_ERROR_ZERO_RETURN: return false
            default: throw OpenSSLErrors.drain(as: .protocolViolation)
            }
        }
    }

    /// Encrypts all plaintext into as few records as it fits.
    /// - Throws: `protocol_violation` when the connection is beyond use.
    func encrypt(_ plaintext: inout ByteBuffer, into output: inout ByteBuffer) throws(TlsError) {
        var none = ByteBuffer()
        while plaintext.readableBytes > 0 {
            let records = plaintext.readableBytes / Self.largestRecord + 2
            let room = plaintext.readableBytes + records * Self.recordOverhead
            var result: Int32 = 0
            plaintext.readWithUnsafeReadableBytes { bytes in
                var count = 0
                result = lend(&none, &output, room: room) { SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count) }
                return count
            }
            guard result != 1 else { continue }
            guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_WRITE else { throw OpenSSLErrors.drain(as: .protocolViolation) }
        }
    }

    /// Writes close_notify.
    func close(_ output: inout ByteBuffer) {
        var none = ByteBuffer()
        _ = lend(&none, &output, room: Self.recordOverhead) { SSL_shutdown(ssl) }
        ERR_clear_error()
    }

    /// The DNS SANs of the peer's certificate.
    var peerNames: [String] { DnsNames.read { boxoffice_tls_peer_names(ssl, $0, $1) } }

    private func handshakeError() -> TlsError {
        let verdict = SSL_get_verify_result(ssl)
        let reason = OpenSSLErrors.drain(as: .handshakeFailed)
        guard verdict != Int(X509_V_OK) else { return reason }
        let text = X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? reason.message
        return TlsError(verdict == Int(X509_V_ERR_HOSTNAME_MISMATCH) ? .wrongPeerName : .untrustedPeer, text)
    }

    /// Lends the buffers to OpenSSL for one call; takes from the one what was read, adds to the other what was written.
    private func lend(_ input: inout ByteBuffer, _ output: inout ByteBuffer, room: Int, _ call: () -> Int32) -> Int32 {
        ERR_clear_error()
        var result: Int32 = 0
        input.readWithUnsafeReadableBytes { readable in
            memory.pointee.input = readable.baseAddress?.assumingMemoryBound(to: UInt8.self)
            memory.pointee.input_count = readable.count
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { free in
                memory.pointee.output = free.baseAddress?.assumingMemoryBound(to: UInt8.self)
                memory.pointee.output_count = 0
                memory.pointee.output_capacity = free.count
                result = call()
                return memory.pointee.output_count
            }
            return readable.count - memory.pointee.input_count
        }
        memory.pointee = boxoffice_tls_io()
        return result
    }
}

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

/// Collects DNS names that C code visits one by one.
enum DnsNames {
    /// - Parameter visit: Calls the function with the state for each name.
    static func read(_ visit: (UnsafeMutableRawPointer, boxoffice_name_visitor) -> Void) -> [String] {
        var names: [String] = []
        withUnsafeMutablePointer(to: &names) { target in
            visit(target) { state, name, count in
                guard let state, let name else { return }
                let text = UnsafeRawBufferPointer(start: name, count: count)
                state.assumingMemoryBound(to: [String].self).pointee.append(String(decoding: text, as: UTF8.self))
            }
        }
        return names
    }
}

/// The error queue that OpenSSL keeps per thread.
enum OpenSSLErrors {
    /// OpenSSL numbers a received alert as its own number plus this.
    private static let alertOffset: Int32 = 1000

    /// Takes what is in the queue: the text of the newest error.
    static func drain() -> String { drainReason().text }

    /// Takes what is in the queue.
    /// - Parameter code: The code unless the newest error is an alert that the peer sent.
    static func drain(as code: TlsError.Code) -> TlsError {
        let reason = drainReason()
        return TlsError(reason.isAlert ? .refusedByPeer : code, reason.text)
    }

    private static func drainReason() -> (text: String, isAlert: Bool) {
        let newest = ERR_peek_last_error()
        ERR_clear_error()
        guard newest != 0 else { return ("no reason given", false) }
        let isAlert = ERR_GET_LIB(newest) == ERR_LIB_SSL && ERR_GET_REASON(newest) > alertOffset
        guard let text = ERR_reason_error_string(newest) else { return ("error \(newest)", isAlert) }
        return (String(cString: text), isAlert)
    }
}
