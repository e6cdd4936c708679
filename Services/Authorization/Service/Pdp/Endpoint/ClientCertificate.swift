internal import NIOSSL

/// A certificate with its key that decision points are shown (mutual TLS).
public struct ClientCertificate: Sendable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// - Parameters:
    ///   - settings: What names the files.
    ///   - path: Makes a path of the settings absolute.
    /// - Returns: By their names.
    /// - Throws: `MediaTokenKeyProblem` naming the setting and what is wrong with its files.
    public static func all(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyProblem) -> [String: ClientCertificate] {
        var all: [String: ClientCertificate] = [:]
        for (name, files) in settings.clientCertificates {
            do {
                all[name] = try ClientCertificate(certificateFile: path(files.certificate), keyFile: path(files.key))
            } catch {
                throw MediaTokenKeyProblem(key: "clientCertificates.\(name)", problem: "names files that are of no use: \(error)")
            }
        }
        return all
    }

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
