package import CommandKit
package import Foundation

/// Writes the settings of each program for this cluster, from the documented ones in the checkout.
///
/// `Services/<Name>/config.json` describes the default local cluster. Here its ports become those of the port plan, and its folders those of the
/// home. The paths of the checkout become absolute; all else is taken as it stands there.
package struct SettingsWriter {
    let home: ClusterHome
    let ports: PortPlan
    let checkout: URL
    let pki: LocalPki
    /// Given for HTTPS; `nil`: of the local PKI.
    var https: HttpsFiles?
    /// Services that are somebody's own: the others' settings have their addresses.
    let replacements: [Replacement]
    /// The stores are to be here.
    var store: StoreChoice = .asBefore
    /// The copies of the services that others call.
    var copies = ClusterCopies()
    /// This machine's address in its network, where phones are to reach the cluster.
    var lan: String?
    /// True when the demo's MVPDs are tried on a schedule.
    var hasTestUsers = true

    package init(home: ClusterHome, ports: PortPlan, checkout: URL, pki: LocalPki) {
        self.init(home: home, ports: ports, checkout: checkout, pki: pki, replacements: [])
    }

    init(
        home: ClusterHome, ports: PortPlan, checkout: URL, pki: LocalPki, https: HttpsFiles? = nil, replacements: [Replacement],
        store: StoreChoice = .asBefore, copies: ClusterCopies = ClusterCopies(), lan: String? = nil
    ) {
        (self.home, self.ports, self.checkout, self.pki, self.https, self.replacements) = (home, ports, checkout, pki, https, replacements)
        (self.store, self.copies, self.lan) = (store, copies, lan)
    }

    /// Writes the settings and the catalogue that are missing, and those that are as this command left them; what somebody has changed stays.
    /// - Returns: The files that stayed and say something else than would be written.
    /// - Throws: `CommandFailure` naming the file that is missing or damaged.
    @discardableResult
    package func write() throws -> [URL] {
        var files = WrittenFiles(record: home.writtenFiles)
        var kept: [URL] = []
        func write(_ content: Data, to file: URL) throws {
            if try files.write(content, to: file) == .kept { kept.append(file) }
        }
        try write(try catalogue(), to: home.catalogue)
        let stores = ClusterStore(home: home, ports: ports, choice: store)
        for service in ClusterService.allCases {
            let source = checkout.appendingPathComponent("Services/\(service.folder)/config.json")
            let text = try TextFile.read(source.path)
            guard let documented = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
                var settings = moved(opened(documented), of: service) as? [String: Any]
            else { throw CommandFailure("\(source.path) is not a JSON object", advice: "restore it from the repository") }
            if service != .sandbox {
                settings["debug"] = ["address": "127.0.0.1", "port": ports.debug(service)]
                settings["data"] = home.data.appendingPathComponent(service.rawValue).path
            }
            if let storage = stores.settings(of: service) { settings["storage"] = storage }
            if service == .gateway { settings["gateway"] = withCertificate(settings["gateway"]) }
            DemoLimits.set(in: &settings, of: service)
            for (name, port) in [("apple", ports.apple), ("upstream", ports.upstream)] {
                guard var standIn = settings[name] as? [String: Any] else { continue }
                standIn["listen"] = ["address": "127.0.0.1", "port": port]
                settings[name] = standIn
            }
            if settings["listen"] != nil { settings["listen"] = ["address": "127.0.0.1", "port": ports.main(service)] }
            open(&settings, of: service)
            try write(try Self.content(settings), to: home.settings(of: service))
        }
        try files.save()
        return kept
    }

    /// The same for a home that no person changes: each file anew.
    package func writeAnew() throws {
        try? FileManager.default.removeItem(at: home.writtenFiles)
        for file in ClusterService.allCases.map(home.settings(of:)) + [home.catalogue] { try? FileManager.default.removeItem(at: file) }
        try write()
    }

    /// The demo catalogue, pointed at this cluster's sandbox.
    package func catalogue() throws -> Data {
        var template = try TextFile.read(checkout.appendingPathComponent("Services/Config/demo-catalogue.json").path)
        if !hasTestUsers { template = DemoCatalogue.untested(template) }
        let sandbox = ClusterAddresses(ports: ports).sandbox
        if let lan, let object = try? JSONSerialization.jsonObject(with: Data(template.utf8)) as? [String: Any],
            let placed = DemoCatalogue.placed(object, browsers: "https://\(lan):\(ports.main(.sandbox))", services: sandbox) as? [String: Any]
        {
            return try Self.content(placed)
        }
        return Data(template.replacingOccurrences(of: "${SANDBOX_MVPD}", with: sandbox).utf8)
    }

    private func withCertificate(_ value: Any?) -> Any? {
        guard let https, var gateway = value as? [String: Any], var tls = gateway["tls"] as? [String: Any] else { return value }
        tls["certificate"] = https.certificate
        tls["key"] = https.key
        gateway["tls"] = tls
        return gateway
    }

    private func moved(_ value: Any, of service: ClusterService) -> Any {
        switch value {
        case let object as [String: Any]:
            Dictionary(
                uniqueKeysWithValues: object.map { key, value in
                    (key, key == "pages" ? checkout.appendingPathComponent("Services/\(service.folder)/Pages").path : moved(value, of: service))
                })
        case let list as [Any]: list.flatMap { entries(for: $0, of: service) }
        case let text as String: moved(text)
        default: value
        }
    }

    /// The entries of a list: for the address of a service those of all its copies.
    private func entries(for item: Any, of service: ClusterService) -> [Any] {
        guard let address = item as? String, let all = allCopies[address] else { return [moved(item, of: service)] }
        return all
    }

    private func moved(_ text: String) -> String {
        if text == "pki" { return pki.folder.path }
        if text.hasPrefix("pki/") { return pki.path(String(text.dropFirst(4))) }
        if text == "catalogue.json" || text.hasSuffix("demo-catalogue.json") { return home.catalogue.path }
        return text.replacing(/127\.0\.0\.1:([0-9]+)/) { match in
            Int(match.1).flatMap { planned[$0] } ?? String(match.0)
        }
    }

    /// The address in this cluster for each port of the default plan.
    private var planned: [Int: String] {
        let standard = PortPlan(base: nil)
        let addresses = ClusterAddresses(ports: ports, replacements: replacements)
        let others = [
            (standard.apple, ports.apple), (standard.upstream, ports.upstream), (standard.https, ports.https), (standard.admin, ports.admin),
        ].map { ($0.0, "127.0.0.1:\($0.1)") }
        return Dictionary(uniqueKeysWithValues: ClusterService.allCases.map { (standard.main($0), addresses.main($0)) } + others)
    }

    /// The addresses of all copies, for that of a service in the default plan; only of services with several.
    private var allCopies: [String: [String]] {
        let standard = PortPlan(base: nil)
        let addresses = ClusterAddresses(ports: ports, replacements: replacements, copies: copies)
        return ClusterService.allCases.reduce(into: [:]) { known, service in
            let all = addresses.all(service)
            if all.count > 1 { known["127.0.0.1:\(standard.main(service))"] = all }
        }
    }

    /// JSON as all settings are written.
    static func content(_ settings: [String: Any]) throws -> Data {
        try JSONSerialization.data(withJSONObject: settings, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }
}

/// Limits of a cluster for development, whose load tests come from one client, one device and one application. In the half hour that a code lives such a test
/// makes more of them than production allows a client (100,000) and a device (100). `EdgeTests` tries production's limits on a cluster without these.
enum DemoLimits {
    private static func limits(of service: ClusterService) -> [String: Any]? {
        switch service {
        case .authentication: ["codesPerClient": 10_000_000, "codesPerDevice": 10_000_000]
        case .gateway: ["shares": ["perApplication": 0, "perRequestor": 0]]
        default: nil
        }
    }

    /// Adds those of a service to its own object.
    static func set(in settings: inout [String: Any], of service: ClusterService) {
        guard let limits = limits(of: service), let own = settings[service.rawValue] as? [String: Any] else { return }
        settings[service.rawValue] = own.merging(limits) { $1 }
    }
}

/// A cluster that phones and televisions of its network can open. Its gateway for browsers and apps is HTTPS at the machine's address, and so is the
/// stand-in MVPD. The gateway's plain HTTP, administration, metrics and the services stay on loopback.
///
/// It is HTTPS because a browser keeps no cookie of a sign-in that comes over plain HTTP from another machine, and the gateway sends none.
extension SettingsWriter {
    /// Addresses that only servers of this machine call.
    private static let betweenServers = ["notificationURL"]

    /// Documented settings in which browsers find the gateway at its address in the network.
    func opened(_ value: Any, key: String = "") -> Any {
        guard let lan else { return value }
        switch value {
        case let object as [String: Any]: return Dictionary(uniqueKeysWithValues: object.map { ($0, opened($1, key: $0)) })
        case let list as [Any]: return list.map { opened($0, key: key) }
        case let text as String:
            let inside = "http://127.0.0.1:\(PortPlan(base: nil).main(.gateway))"
            guard text == inside || text.hasPrefix(inside + "/"), !Self.betweenServers.contains(key) else { return text }
            return "https://\(lan):\(ports.https)" + text.dropFirst(inside.count)
        default: return value
        }
    }

    /// Gives the programs that browsers reach their listeners in the network.
    func open(_ settings: inout [String: Any], of service: ClusterService) {
        guard let lan else { return }
        let name = LocalPki.lanName(lan)
        switch service {
        case .gateway:
            var own = settings["gateway"] as? [String: Any] ?? [:]
            own["insecureCookies"] = nil
            var tls = own["tls"] as? [String: Any] ?? [:]
            tls["listen"] = "\(lan):\(ports.https)"
            if https == nil { (tls["certificate"], tls["key"]) = (pki.path("\(name).crt"), pki.path("\(name).key")) }
            own["tls"] = tls
            var throttle = own["throttle"] as? [String: Any] ?? [:]
            // The simulated devices of this machine come from there, too.
            throttle["exempt"] = (throttle["exempt"] as? [String] ?? []) + [lan]
            own["throttle"] = throttle
            // Browsers and the gateway reach the stand-in for the staff's sign-in by two names, which one issuer cannot have.
            own["admin"] = (own["admin"] as? [String: Any])?.filter { $0.key != "openIDConnect" }
            settings["gateway"] = own
        case .sandbox:
            settings["listen"] = ["address": "0.0.0.0", "port": ports.main(.sandbox)]
            settings["publicURL"] = "https://\(lan):\(ports.main(.sandbox))"
            settings["serviceURL"] = "http://127.0.0.1:\(ports.main(.sandbox))"
            settings["tls"] = ["certificate": pki.path("\(name).crt"), "key": pki.path("\(name).key")]
            settings["staff"] = nil
        default: break
        }
    }
}

/// The demo catalogue in a network in which browsers and services reach the stand-in MVPD at two addresses.
enum DemoCatalogue {
    /// The key for an MVPD's test user and schedule.
    private static let testSignIn = "testSignIn"

    /// The same text without scheduled sign-ins, each of which is a line there.
    static func untested(_ template: String) -> String {
        template.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("\"\(testSignIn)\":") }.joined(separator: "\n")
    }

    /// Addresses that services call.
    private static let ofServices = ["url", "tokenUrl", "profileUrl", "jwksUrl"]

    /// - Parameters:
    ///   - template: JSON with `${SANDBOX_MVPD}` in place of the stand-in's base URL.
    ///   - browsers: Base URL for browsers.
    ///   - services: Base URL for services.
    static func placed(_ template: Any, browsers: String, services: String, key: String = "") -> Any {
        switch template {
        case let object as [String: Any]:
            // Services there do not reach what browsers do: nobody could play a test user's.
            Dictionary(
                uniqueKeysWithValues: object.filter { $0.key != testSignIn }.map { ($0, placed($1, browsers: browsers, services: services, key: $0)) }
            )
        case let list as [Any]: list.map { placed($0, browsers: browsers, services: services, key: key) }
        case let text as String:
            text.replacingOccurrences(of: "${SANDBOX_MVPD}", with: ofServices.contains(key) ? services : browsers)
        default: template
        }
    }
}
