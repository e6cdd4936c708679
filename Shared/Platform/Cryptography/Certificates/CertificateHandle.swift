internal import Octets
internal import COpenSSL

/// Owns one `X509`.
///
/// `@unchecked Sendable`: the certificate is never changed after `init`; libcrypto guards what it caches in it by itself.
final class CertificateHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: Becomes this object's own.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }
}
