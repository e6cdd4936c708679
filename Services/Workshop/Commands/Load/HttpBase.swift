internal import CommandKit
internal import Foundation
internal import LoadTool
internal import NIOSSL

/// An HTTP server under load, plain or over TLS.
struct HttpBase {
    let target: HttpTarget
    /// Of the Host field.
    let host: String
    /// Its base URL.
    let url: String
    /// PEM file of the authority that is trusted beside the system's; `nil`: none.
    let authority: String?

    /// - Parameters:
    ///   - peer: With `--address` and the TLS files.
    ///   - cluster: For the gateway's address, where none is given, and the authority of that.
    /// - Throws: `BadOption` for what is no address, `CommandFailure` without an address or with unusable files.
    init(_ peer: PeerOptions, http: HttpOptions, _ cluster: ClusterFile?) throws {
        guard let text = peer.address ?? cluster?.gateway else {
            throw CommandFailure("no cluster runs", advice: "start one with ./Services/up, or pass --address http://HOST:PORT", exit: .unreachable)
        }
        url = text.contains("://") ? text : "http://\(text)"
        guard let parts = URLComponents(string: url), let name = parts.host, ["http", "https"].contains(parts.scheme) else {
            throw BadOption("--address '\(text)'", "give http://HOST:PORT or https://HOST:PORT")
        }
        let isSecure = parts.scheme == "https"
        // The local cluster's authority vouches for its gateway alone.
        authority = peer.ca ?? (peer.address == nil ? cluster?.pki.ca : nil)
        let tls = isSecure ? try NIOSSLContext(configuration: try Self.settings(peer, http, authority: authority)) : nil
        target = HttpTarget(host: name, port: parts.port ?? (isSecure ? 443 : 80), tls: tls, keepAlive: !http.noKeepAlive)
        host = parts.port.map { "\(name):\($0)" } ?? name
    }

    private static func settings(_ peer: PeerOptions, _ http: HttpOptions, authority: String?) throws -> TLSConfiguration {
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.applicationProtocols = ["http/1.1"]
        if let authority { settings.trustRoots = .file(authority) }
        if http.insecure { settings.certificateVerification = .none }
        if let certificate = peer.certificate, let key = peer.key {
            settings.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
            settings.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
        }
        return settings
    }
}
