internal import CommandKit
internal import Foundation

/// Addresses of a cluster whose programs run in containers: from outside, as browsers and apps know them, and inside, by the programs' names.
package struct ContainerNetwork: Sendable, Equatable {
    /// Scheme, host and port of the gateway, of its HTTPS, of its administration, of the stand-in MVPD, Apple and upstream, as a browser on the host finds them.
    var gateway = "http://localhost:8080"
    var gatewayTLS = "https://localhost:8443"
    var admin = "http://localhost:8081"
    var sandbox = "http://localhost:8090"
    var apple = "http://localhost:8091"
    var upstream = "http://localhost:8092"

    /// Hosts with a copy of each program; the stand-ins are on the first of them. Empty: each program is found by its own name.
    var hosts: [HostPlan] = []

    /// The default ports are the same in every container, whatever the host publishes them as.
    private static let ports = PortPlan(base: nil)

    /// True for scheme, host and port alone.
    package static func isBase(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else { return false }
        return url.path.isEmpty && url.query == nil && url.fragment == nil
    }

    /// Where the programs of the network find one: `host:port`.
    func inside(_ service: ClusterService) -> String { "\(place(service)):\(Self.ports.main(service))" }
    func debug(_ service: ClusterService) -> String { "\(place(service)):\(Self.ports.debug(service))" }
    var appleInside: String { "\(place(.sandbox)):\(Self.ports.apple)" }
    var upstreamInside: String { "\(place(.sandbox)):\(Self.ports.upstream)" }

    private func place(_ service: ClusterService) -> String { hosts.first?.name ?? service.rawValue }

    /// Where all copies of one are.
    func copies(_ service: ClusterService) -> [String] {
        hosts.isEmpty ? [inside(service)] : hosts.map { "\($0.name):\(Self.ports.main(service))" }
    }

    /// An address of the documented settings, in this network.
    /// - Parameters:
    ///   - text: As it stands in `Services/<Name>/config.json`.
    ///   - key: Under which key.
    func address(_ text: String, key: String) -> String {
        // Apple's servers call this one, no browser does.
        let isBetweenServers = key == "notificationURL"
        let ports = Self.ports
        var table: [(from: String, to: String)] = [
            ("http://127.0.0.1:\(ports.main(.gateway))", isBetweenServers ? "http://\(inside(.gateway))" : gateway),
            ("http://127.0.0.1:\(ports.main(.sandbox))", sandbox), ("http://127.0.0.1:\(ports.apple)", "http://\(appleInside)"),
            ("http://127.0.0.1:\(ports.upstream)", upstream),
        ]
        table += ClusterService.allCases.map { ("127.0.0.1:\(ports.main($0))", inside($0)) }
        guard let entry = table.first(where: { text == $0.from || text.hasPrefix($0.from + "/") }) else { return text }
        return entry.to + text.dropFirst(entry.from.count)
    }
}
