internal import FoundationEssentials
internal import NIOSSL
internal import Synchronization

/// As whom the gateway answers over HTTPS. Changed files are taken in without a restart: connections that are open keep what they began with, new
/// handshakes get the new certificate; files that cannot be used change nothing.
public final class HttpsCertificate: Sendable {
    private struct State {
        var content: [[UInt8]]
        var context: NIOSSLContext
        /// Content that was refused already.
        var refused: [[UInt8]]?
    }

    /// Path of the certificates, PEM.
    public let certificateFile: String
    private let keyFile: String
    private let state: Mutex<State>

    /// - Throws: `HttpsProblem`, naming the file.
    public init(certificateFile: String, keyFile: String) throws(HttpsProblem) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        let content = try Self.read(certificateFile, keyFile)
        state = Mutex(State(content: content, context: try Self.context(content, certificateFile, keyFile)))
    }

    /// For the next handshake.
    var context: NIOSSLContext { state.withLock { $0.context } }

    /// Takes in the files when their content is another than before.
    /// - Parameter again: True: says again what is wrong with files that were refused before.
    /// - Returns: True when there is a new certificate.
    /// - Throws: `HttpsProblem` when they cannot be used; the certificate stays.
    public func reload(again: Bool = false) throws(HttpsProblem) -> Bool {
        let content = try Self.read(certificateFile, keyFile)
        let (current, refused) = state.withLock { ($0.content, $0.refused) }
        guard content != current, again || content != refused else { return false }
        do throws(HttpsProblem) {
            let context = try Self.context(content, certificateFile, keyFile)
            state.withLock { $0 = State(content: content, context: context) }
            return true
        } catch {
            state.withLock { $0.refused = content }
            throw error
        }
    }

    private static func read(_ files: String...) throws(HttpsProblem) -> [[UInt8]] {
        var contents: [[UInt8]] = []
        for file in files {
            guard let content = FileManager.default.contents(atPath: file) else {
                throw HttpsProblem(description: "the file \(file) cannot be read; correct the path, or the file's owner and mode")
            }
            contents.append([UInt8](content))
        }
        return contents
    }

    private static func context(_ content: [[UInt8]], _ certificateFile: String, _ keyFile: String) throws(HttpsProblem) -> NIOSSLContext {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(content[0]), !chain.isEmpty else {
            throw HttpsProblem(description: "the file \(certificateFile) holds no PEM certificate")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: content[1], format: .pem) else {
            throw HttpsProblem(description: "the file \(keyFile) holds no PEM key")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        // Of TLS 1.2 only what has forward secrecy and authenticated encryption (RFC 9325 §4.2); those of 1.3 all have.
        configuration.cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
            .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
        ]
        configuration.applicationProtocols = ["h2", "http/1.1"]
        guard let context = try? NIOSSLContext(configuration: configuration) else {
            throw HttpsProblem(description: "the certificate in \(certificateFile) and the key in \(keyFile) do not belong together")
        }
        return context
    }
}

/// Why HTTPS cannot be served with the files that are there, in one line.
public struct HttpsProblem: Error, CustomStringConvertible {
    public let description: String
}
