internal import NIOSSL

/// A certificate with its key that a server is shown (mutual TLS).
public struct ClientCertificate: Hashable, Sendable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// - Parameters:
    ///   - certificateFile: PEM, the leaf first.
    ///   - keyFile: PEM.
    /// - Throws: What is wrong with the files, or that they do not belong together.
    public init(certificateFile: String, keyFile: String) throws {
        chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
        key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
        _ = try NIOSSLContext(configuration: configuration)
    }
}
