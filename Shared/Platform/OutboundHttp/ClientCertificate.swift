internal import Cryptography
internal import NIOSSL
internal import Synchronization

/// A certificate with its key that a server is shown (mutual TLS).
public struct ClientCertificate: Hashable, Sendable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// - Parameters:
    ///   - certificateFile: PEM.
    ///   - keyFile: PEM, not encrypted.
    /// - Throws: The fault of the files, or that they do not belong together.
    public init(certificateFile: String, keyFile: String) throws(ClientCertificateError) {
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
        do {
            chain = try certified.certificates.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
            key = try NIOSSLPrivateKey(bytes: Array(certified.keyPEM.utf8), format: .pem)
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.certificateChain = chain.map { .certificate($0) }
            configuration.privateKey = .privateKey(key)
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw ClientCertificateError(description: "the files \(certificateFile) and \(keyFile) cannot be used for TLS: \(error)")
        }
    }
}

/// The files of a client certificate, PEM, as an object of the settings names them.
public struct ClientCertificateFiles: Decodable, Sendable {
    public let certificate: String
    public let key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// - Parameter path: Makes a path of the settings absolute.
    /// - Throws: What is wrong with the files.
    public func load(path: (String) -> String) throws(ClientCertificateError) -> ClientCertificate {
        try ClientCertificate(certificateFile: path(certificate), keyFile: path(key))
    }
}

/// The client certificates of a service, by the names that the catalogue's records use.
public final class ClientCertificates: Sendable {
    public typealias Loaded = [String: Result<ClientCertificate, ClientCertificateError>]

    private let setting: String
    private let known: Mutex<Loaded>

    /// - Parameters:
    ///   - certificates: A name whose files could not be read has the reason in place of a certificate.
    ///   - setting: The object of the settings that has the names, for messages.
    public init(_ certificates: Loaded = [:], setting: String = "clientCertificates") {
        self.setting = setting
        known = Mutex(certificates)
    }

    /// Shows others from the next call on. A certificate whose files can no longer be read stays as it is.
    /// - Returns: The names that could not be read, in their order, with the reason.
    @discardableResult
    public func replace(_ certificates: Loaded) -> [(name: String, reason: ClientCertificateError)] {
        known.withLock { known in
            var problems: [(name: String, reason: ClientCertificateError)] = []
            known = certificates.reduce(into: [:]) { all, entry in
                all[entry.key] = entry.value
                guard case .failure(let reason) = entry.value else { return }
                problems.append((entry.key, reason))
                if case .success(let former)? = known[entry.key] { all[entry.key] = .success(former) }
            }
            return problems.sorted { $0.name < $1.name }
        }
    }

    /// - Throws: `noCertificate`, which names the setting and what is wrong with its files; nothing may be sent without the certificate.
    public func certificate(_ name: String) throws(OutboundFailure) -> ClientCertificate {
        switch known.withLock({ $0[name] }) {
        case .success(let certificate)?: return certificate
        case .failure(let reason)?: throw OutboundFailure(.noCertificate, cause: "\(setting).\(name) cannot be used: \(reason)")
        case nil: throw OutboundFailure(.noCertificate, cause: "the settings have no \(setting).\(name)")
        }
    }
}

/// Why a client certificate cannot be used, in one line.
public struct ClientCertificateError: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}
