internal import Cryptography
internal import Foundation

/// A server of another organisation, as the catalogue names it: an MVPD's or an upstream's.
struct PeerServer: Sendable, Hashable {
    /// Who calls there.
    enum Caller: Sendable, Hashable {
        /// Services of this cluster.
        case services
        /// Browsers of viewers; this machine need not reach it.
        case browsers
    }

    /// Scheme, host, and the port where the catalogue writes one.
    let origin: String
    /// DER; empty: the system's.
    let trustAnchors: [[UInt8]]
    let caller: Caller
    /// A client certificate is shown there, which is not at hand here.
    let asksForCertificate: Bool

    /// The servers of a catalogue, each once, and to whom each belongs; by their origins.
    /// - Parameters:
    ///   - mvpds: Entries of `GET /admin/v1/mvpds`.
    ///   - upstreams: Entries of `GET /admin/v1/upstreams`.
    static func all(mvpds: [[String: Any]], upstreams: [[String: Any]]) -> [(server: PeerServer, owners: [String])] {
        var owners: [PeerServer: [String]] = [:]
        func add(_ address: Any?, _ owner: String, in entry: [String: Any], _ caller: Caller) {
            guard let address = address as? String, let origin = origin(of: address) else { return }
            let certificate = entry["clientCertificate"] as? String ?? ""
            let server = PeerServer(
                origin: origin, trustAnchors: caller == .services ? anchors(entry["trustAnchors"]) : [], caller: caller,
                asksForCertificate: caller == .services && !certificate.isEmpty)
            if owners[server]?.contains(owner) != true { owners[server, default: []].append(owner) }
        }
        for mvpd in mvpds {
            let owner = "MVPD \(mvpd["id"] as? String ?? "")"
            if let saml = mvpd["saml"] as? [String: Any] { add(saml["ssoUrl"], owner, in: saml, .browsers) }
            if let oauth = mvpd["oauth"] as? [String: Any] {
                add(oauth["authorizeUrl"], owner, in: oauth, .browsers)
                for name in ["tokenUrl", "profileUrl", "jwksUrl"] { add(oauth[name], owner, in: oauth, .services) }
            }
            if let point = mvpd["authorization"] as? [String: Any] { add(point["url"], owner, in: point, .services) }
        }
        for upstream in upstreams {
            let owner = "upstream \(upstream["id"] as? String ?? "")"
            add(upstream["baseUrl"], owner, in: upstream, .services)
            add((upstream["management"] as? [String: Any])?["baseUrl"], owner, in: upstream, .services)
            add(upstream["userAgentBaseUrl"], owner, in: upstream, .browsers)
        }
        let ofServices = Set(owners.keys.filter { $0.caller == .services }.map(\.origin))
        return owners.filter { $0.key.caller == .services || !ofServices.contains($0.key.origin) }
            .map { (server: $0.key, owners: $0.value) }.sorted { ($0.server.origin, $0.owners[0]) < ($1.server.origin, $1.owners[0]) }
    }

    private static func origin(of address: String) -> String? {
        guard let parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = parts.host?.lowercased(), !host.isEmpty
        else { return nil }
        return "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
    }

    private static func anchors(_ value: Any?) -> [[UInt8]] {
        (value as? [String] ?? []).compactMap { try? Certificate(pem: $0).der }
    }
}
