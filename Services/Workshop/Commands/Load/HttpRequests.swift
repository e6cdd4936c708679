internal import CommandKit
internal import Foundation
internal import LoadTool
internal import NIOSSL
internal import ServiceKit

/// The load of `--path`: the given requests, to the gateway or to any HTTP server.
struct HttpRequests {
    let options: HttpOptions
    let target: LoadTargetOptions
    let data: DataOptions

    /// - Parameter cluster: For the gateway's address, where none is given.
    func prepare(_ cluster: ClusterFile?, plan: RunPlan) throws -> LoadPreparation.Prepared {
        let base = try HttpBase(target.peer, http: options, cluster)
        let requests = try requests(host: base.host, plan)
        let load = HttpLoad(base.target, plan: plan) { worker, workers in RequestList(requests, worker: worker, workers: workers) }
        return LoadPreparation.Prepared(
            load: load, service: .gateway, targets: [base.url], workload: "\(options.verb) \(options.path.joined(separator: ", "))")
    }

    private func requests(host: String, _ plan: RunPlan) throws -> [(name: String, payload: [UInt8])] {
        let rows = try data.file()
        var headers = try options.header.map(Self.field)
        if !headers.contains(where: { $0.0.lowercased() == "user-agent" }) {
            headers.append(("User-Agent", "boxoffice-load/\(SoftwareVersion.current)"))
        }
        let body = try options.body.map { $0.hasPrefix("@") ? try TextFile.read(String($0.dropFirst())) : $0 }
        let whole = try options.path.map { path in
            guard path.hasPrefix("/") else { throw OptionRejection("--path '\(path)'", "it must begin with /") }
            let head = headers.map { "\($0.0): \($0.1)\u{0}" }.joined()
            return (
                path, try RequestTemplate([path, head, body ?? ""].joined(separator: "\u{1}"), columns: rows.columns, option: "--path '\(path)'")
            )
        }
        var random = SplitMix(seed: plan.seed)
        let isConstant = rows.columns.isEmpty && whole.allSatisfy(\.1.isConstant)
        let count = isConstant ? 1 : max(rows.rows.count, data.requests)
        return (0..<count).flatMap { sequence in
            whole.map { name, template in
                let text = template.filled(sequence: sequence, row: rows.rows[sequence % rows.rows.count], random: &random)
                let parts = text.split(separator: "\u{1}", omittingEmptySubsequences: false).map(String.init)
                let fields = parts[1].split(separator: "\u{0}").map { try? Self.field(String($0)) }.compactMap(\.self)
                return (
                    name, HttpRequestText.bytes(method: options.verb, path: parts[0], host: host, headers: fields, body: body == nil ? nil : parts[2])
                )
            }
        }
    }

    private static func field(_ text: String) throws -> (String, String) {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex, !text.contains(where: \.isNewline) else {
            throw OptionRejection("--header '\(text)'", "give 'Name: value'")
        }
        return (String(text[..<colon]), text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces))
    }
}

/// An HTTP server under load, plain or over TLS.
struct HttpBase {
    let target: HttpTarget
    /// The value of the Host field.
    let host: String
    /// Its base URL.
    let url: String
    /// PEM file of the authority that is trusted beside the system's; `nil`: none.
    let authority: String?

    /// - Parameters:
    ///   - peer: With `--address` and the TLS files.
    ///   - cluster: For the gateway's address, where none is given, and the authority of that.
    /// - Throws: `OptionRejection` for what is no address, `CommandFailure` without an address or with unusable files.
    init(_ peer: PeerOptions, http: HttpOptions, _ cluster: ClusterFile?) throws {
        guard let text = peer.address ?? cluster?.gateway else {
            throw CommandFailure("no cluster runs", advice: "start one with ./Services/up, or pass --address http://HOST:PORT", exit: .unreachable)
        }
        url = text.contains("://") ? text : "http://\(text)"
        guard let parts = URLComponents(string: url), let name = parts.host, ["http", "https"].contains(parts.scheme) else {
            throw OptionRejection("--address '\(text)'", "give http://HOST:PORT or https://HOST:PORT")
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
