package import Foundation

/// Writes the settings of each program for this cluster, from the documented ones in the checkout.
///
/// `Services/<Name>/config.json` describes the default local cluster. Here its ports become those of the port plan, its folders those of the home, and
/// what it names of the checkout an absolute path; all else is taken as it stands there.
package struct SettingsWriter {
    let home: ClusterHome
    let ports: PortPlan
    let checkout: URL
    let pki: LocalPki
    /// Given for HTTPS; `nil`: of the local PKI.
    var https: HttpsFiles?
    /// Services that are somebody's own: the others' settings have their addresses.
    let replacements: [Replacement]

    package init(home: ClusterHome, ports: PortPlan, checkout: URL, pki: LocalPki) {
        self.init(home: home, ports: ports, checkout: checkout, pki: pki, replacements: [])
    }

    init(home: ClusterHome, ports: PortPlan, checkout: URL, pki: LocalPki, https: HttpsFiles? = nil, replacements: [Replacement]) {
        (self.home, self.ports, self.checkout, self.pki, self.https, self.replacements) = (home, ports, checkout, pki, https, replacements)
    }

    /// - Throws: `CommandFailure` naming the file that is missing or damaged.
    package func write() throws {
        _ = try writeCatalogue()
        for service in ClusterService.allCases {
            let source = checkout.appendingPathComponent("Services/\(service.folder)/config.json")
            let text = try TextFile.read(source.path)
            guard let documented = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
                var settings = moved(documented, of: service) as? [String: Any]
            else { throw CommandFailure("\(source.path) is no JSON object", advice: "restore it from the repository") }
            if service != .sandbox {
                settings["debug"] = ["address": "127.0.0.1", "port": ports.debug(service)]
                settings["data"] = home.data.appendingPathComponent(service.rawValue).path
            }
            if service == .gateway { settings["gateway"] = withCertificate(settings["gateway"]) }
            if var apple = settings["apple"] as? [String: Any] {
                apple["listen"] = ["address": "127.0.0.1", "port": ports.apple]
                settings["apple"] = apple
            }
            if settings["listen"] != nil { settings["listen"] = ["address": "127.0.0.1", "port": ports.main(service)] }
            try write(settings, to: home.settings(of: service))
        }
    }

    /// The demo catalogue, pointed at this cluster's sandbox.
    /// - Returns: The file.
    func writeCatalogue() throws -> URL {
        let template = try TextFile.read(checkout.appendingPathComponent("Services/Config/demo-catalogue.json").path)
        let sandbox = ClusterAddresses(ports: ports).sandbox
        let text = template.replacingOccurrences(of: "${SANDBOX_MVPD}", with: sandbox)
        if (try? TextFile.read(home.catalogue.path)) != text { try replace(home.catalogue, with: Data(text.utf8)) }
        return home.catalogue
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
        case let list as [Any]: list.map { moved($0, of: service) }
        case let text as String: moved(text)
        default: value
        }
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
        let others = [(standard.apple, ports.apple), (standard.https, ports.https)].map { ($0.0, "127.0.0.1:\($0.1)") }
        return Dictionary(uniqueKeysWithValues: ClusterService.allCases.map { (standard.main($0), addresses.main($0)) } + others)
    }

    private func write(_ settings: [String: Any], to file: URL) throws {
        try replace(file, with: JSONSerialization.data(withJSONObject: settings, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]))
    }

    private func replace(_ file: URL, with content: Data) throws {
        do {
            try content.write(to: file, options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(file.path)", advice: "check its permissions and the free space (\(error.localizedDescription))")
        }
    }
}
