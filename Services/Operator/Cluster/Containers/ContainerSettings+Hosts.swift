internal import CommandKit
internal import Cryptography
internal import Foundation

/// On several hosts nothing of a demo is left: administration has a certificate, the public comes over HTTPS, and there are no stand-ins.
extension ContainerSettings {
    /// Files in `pki` of a host's gateway: its certificate for browsers and apps. It comes from the authority of the cluster until somebody puts
    /// another in its place.
    private static let publicHTTPS = "https"
    /// The certificate of its listener for administration.
    private static let administration = "administration"
    /// Longer than a balancer needs that asks each second and turns away after two failures; see Shared/Documents/Operations/Hosts.md.
    static let gatewayStopDelay = 5

    /// True when the `config` of that host has the catalogue's file. Where all copies have one store, one of them brings it.
    func bringsCatalogue(_ host: HostPlan) -> Bool { database == nil || host == network.hosts.first }

    /// Files of catalogues that somebody has to put there before the first start.
    var missingCatalogues: [String] {
        network.hosts.filter(bringsCatalogue).map { folder.appendingPathComponent("\($0.name)/config/catalogue.json").path }
            .filter { !FileManager.default.fileExists(atPath: $0) }
    }

    /// A host has a zone, and each peer has a copy on every host. Its data folder is its own, so no copy may make keys there.
    func adapt(_ settings: inout [String: Any], _ service: ClusterService, to host: HostPlan) {
        settings["zone"] = host.zone
        // Programs on one host share no container, and so no folder.
        settings["data"] = "\(Self.data)/\(service.rawValue)"
        settings["debug"] = (settings["debug"] as? [String: Any])?.merging(["address": host.debugAddress ?? host.name]) { $1 }
        if let database, HostDatabase.services.contains(service) { settings["storage"] = database.settings(of: service) }
        var own = settings[service.rawValue] as? [String: Any] ?? [:]
        for key in LocalPki.sharedKeys[service.rawValue] ?? [] where own[key.setting] == nil { own[key.setting] = "pki/\(key.file)" }
        switch service {
        case .authentication: own["clientSecrets"] = "secrets"
        case .autosignin:
            own["apple"] = nil
            own["secrets"] = "secrets"
        case .gateway:
            settings["limits"] = ["stopDelaySeconds": Self.gatewayStopDelay]
            adaptListeners(&own, host)
        default: break
        }
        settings[service.rawValue] = own
        guard let peers = settings["peers"] as? [String: Any] else { return }
        settings["peers"] = peers.reduce(into: [String: Any]()) { all, peer in
            var object = peer.value as? [String: Any] ?? [:]
            if let service = ClusterService(rawValue: peer.key) { object["addresses"] = network.copies(service) }
            all[peer.key] = object
        }
    }

    private func adaptListeners(_ own: inout [String: Any], _ host: HostPlan) {
        let ports = PortPlan(base: nil)
        own["insecureCookies"] = nil
        own["allowPlainHTTP"] = nil
        if isPlainBehindProxy { own["allowPlainHTTP"] = true }
        // Calls of the proxy that is named do not count as plain (clients §1.11); those of others do.
        own["signedPlainHTTP"] = "strict"
        own["listen"] = "\(isPlainBehindProxy ? "0.0.0.0" : "127.0.0.1"):\(ports.main(.gateway))"
        own["tls"] =
            [
                "listen": "0.0.0.0:\(ports.https)", "certificate": "pki/\(Self.publicHTTPS).crt", "key": "pki/\(Self.publicHTTPS).key",
                "strictTransportSeconds": 31_536_000,
            ] as [String: Any]
        own["admin"] =
            [
                "listen": "0.0.0.0:\(ports.admin)", "certificate": "pki/\(Self.administration).crt", "key": "pki/\(Self.administration).key",
                "hosts": names(network.admin, host).dns,
            ] as [String: Any]
    }

    /// The names of a host's certificate: that of a base URL, and the host's own.
    private func names(_ base: String, _ host: HostPlan) -> CertificateNames {
        let name = (URLComponents(string: base)?.host ?? "").filter { $0 != "[" && $0 != "]" }.lowercased()
        if HostPlan.isNumeric(name) { return CertificateNames(dns: [host.name], addresses: [name]) }
        let isOfHosts = name.isEmpty || network.hosts.contains { $0.name == name }
        return CertificateNames(dns: isOfHosts ? [host.name] : [name, host.name])
    }

    /// Issues the certificates of a service on a host.
    /// - Parameters:
    ///   - settings: Those that the service will read: what is there stays, and what it does not name nobody needs.
    ///   - files: In `pki` that come from the folder of all keys; without those that are issued.
    func issue(
        _ service: ClusterService, at host: HostPlan, to place: URL, named settings: [String: Any], _ files: inout Set<String>
    ) throws {
        let keys = place.appendingPathComponent("pki")
        _ = try pki.issue(service.rawValue, host: host.name, to: keys)
        files.subtract(["\(service.rawValue).crt", "\(service.rawValue).key", "ca.crt"])
        let own = settings[service.rawValue] as? [String: Any] ?? [:]
        for (file, base) in [(Self.publicHTTPS, network.gateway), (Self.administration, network.admin)] {
            files.subtract(["\(file).crt", "\(file).key"])
            let isNamed = ["tls", "admin"].contains { (own[$0] as? [String: Any])?["certificate"] as? String == "pki/\(file).crt" }
            if isNamed { _ = try pki.issueHTTPS(file, names: names(base, host), to: keys) }
        }
        // For secrets of MVPDs and of Apple, which nobody but the operator knows.
        if [own["clientSecrets"], own["secrets"]].contains(where: { $0 as? String == "secrets" }) {
            try FileManager.default.createDirectory(
                at: place.appendingPathComponent("secrets"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// The entry in the command line's file for all copies of a service; `nil` where there are no hosts.
    func hostEntry(_ service: ClusterService) -> ClusterFile.Entry? {
        let ports = PortPlan(base: nil)
        let port = service == .gateway ? ports.https : ports.main(service)
        let entries = network.hosts.map { host in
            let debug = host.debugAddress.flatMap { ["0.0.0.0", "::"].contains($0) ? nil : $0 } ?? host.name
            return ClusterFile.Entry(
                address: "\(host.name):\(port)",
                debug: debug.contains(":") ? "[\(debug)]:\(ports.debug(service))" : "\(debug):\(ports.debug(service))",
                pid: 0, host: host.name)
        }
        guard var first = entries.first else { return nil }
        if entries.count > 1 { first.copies = Array(entries.dropFirst()) }
        return first
    }
}
