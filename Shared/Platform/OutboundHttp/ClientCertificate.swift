internal import Cryptography
internal import NIOSSL

/// A certificate with its key that a server is shown (mutual TLS).
public struct ClientCertificate: Hashable, Sendable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// - Parameters:
    ///   - certificateFile: PEM.
    ///   - keyFile: PEM, not encrypted.
    /// - Throws: The fault of the files, or that they do not belong together.
    public init(certificateFile: String, keyFile: String) throws {
        let certificates: [Certificate]
        do throws(CryptographyError) {
            certificates = try Certificate.all(pemFile: certificateFile)
        } catch {
            throw ClientCertificateError(description: "the file \(certificateFile) \(error)")
        }
        let certified: CertifiedChain
        do throws(CryptographyError) {
            certified = try CertifiedChain(certificates, keyFile: keyFile)
        } catch {
            throw ClientCertificateError(
                description: "the file \(keyFile) \(error)" + (error == .keyOfAnother ? " in \(certificateFile)" : ""))
        }
        chain = try certified.certificates.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
        key = try NIOSSLPrivateKey(bytes: Array(certified.keyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
        _ = try NIOSSLContext(configuration: configuration)
    }
}

/// Why a client certificate cannot be used, in one line.
public struct ClientCertificateError: Error, CustomStringConvertible {
    public let description: String
}
