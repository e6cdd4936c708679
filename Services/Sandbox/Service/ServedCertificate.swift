internal import SandboxKit
internal import Foundation
internal import NIOSSL
internal import Synchronization

/// The certificate of the HTTPS address. Files that have changed are taken in without a restart; those that cannot be used change nothing.
final class ServedCertificate: Sendable {
    private struct State {
        var context: NIOSSLContext
        var content: [Data]
        var looked = ContinuousClock.now
    }

    /// How often the files are looked at, while connections come.
    private static let interval: Duration = .seconds(2)

    private let files: SandboxSettings.Tls
    private let state: Mutex<State>

    /// - Throws: `SettingsFault`, naming the file.
    init(_ files: SandboxSettings.Tls) throws(SettingsFault) {
        self.files = files
        let content = Self.content(files)
        state = Mutex(State(context: try Self.load(files), content: content))
    }

    /// For the next handshake.
    var context: NIOSSLContext {
        state.withLock { state in
            guard state.looked + Self.interval <= .now else { return state.context }
            state.looked = .now
            let content = Self.content(files)
            if content != state.content, let context = try? Self.load(files) { (state.context, state.content) = (context, content) }
            return state.context
        }
    }

    /// The identity of the HTTPS server.
    private static func load(_ files: SandboxSettings.Tls) throws(SettingsFault) -> NIOSSLContext {
        let certificates = try KeyFile.read(files.certificate, key: "tls.certificate")
        let key = try KeyFile.read(files.key, key: "tls.key")
        if let reason = SigningKey.encryption(key) { throw SettingsFault(key: "tls.key", problem: "cannot be used: \(reason): \(files.key)") }
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(certificates).map { NIOSSLCertificateSource.certificate($0) }
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: chain, privateKey: .privateKey(NIOSSLPrivateKey(bytes: key, format: .pem))))
        } catch {
            throw SettingsFault(key: "tls", problem: "cannot be used: \(error): \(files.certificate), \(files.key)")
        }
    }

    private static func content(_ files: SandboxSettings.Tls) -> [Data] {
        [files.certificate, files.key].map { FileManager.default.contents(atPath: $0) ?? Data() }
    }
}
