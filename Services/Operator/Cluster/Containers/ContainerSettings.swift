internal import CommandKit
internal import Foundation
internal import PrivatePostgres

/// Writes the files that each program needs in a container of its own, or on each of several hosts. They are a folder with its settings, and the keys
/// and certificates that it reads. It gets no other program's and no other host's files.
///
/// The settings come from the documented ones, `Services/<Name>/config.json`, as those of a local cluster do.
struct ContainerSettings {
    let network: ContainerNetwork
    let pki: LocalPki
    let checkout: URL
    /// Gets a folder per program, in one per host if there are hosts, and `operator` for the command line.
    let folder: URL

    /// Address or block of the one proxy whose `X-Forwarded-For` counts; empty: none does.
    var trustedProxy = ""
    /// Calls that one address may make at once.
    var burst = 10
    /// Services on several hosts keep their stores here; `nil`: in files.
    var database: HostDatabase?
    /// True when the gateways of hosts serve plain HTTP to the proxy; otherwise it reaches them by HTTPS.
    var isPlainBehindProxy = false

    /// Where the images have their settings and the pages, and keep state.
    static let settings = "/etc/boxoffice"
    static func pages(_ service: ClusterService) -> String { "/usr/share/boxoffice/\(service.folder)/Pages" }
    static let data = "/var/lib/boxoffice"

    /// Files that a program finds by a name in the catalogue, beside those that its settings name.
    private static func secrets(of service: ClusterService) -> [String] {
        switch service {
        case .authentication: ["openfiber.secret", "acme-legacy.secret"]
        case .autosignin: LocalPki.appleKeys.map { "\($0).key" }
        default: []
        }
    }

    /// Writes what is missing; settings and catalogues that are there are somebody's, and stay as they are. Keys follow the folder of all keys.
    /// - Returns: Files that differ from what this release writes.
    /// - Throws: `CommandFailure` naming the file that is missing, damaged or cannot be written.
    @discardableResult
    func write() throws -> [KeptSettings] {
        var kept: [KeptSettings] = []
        guard !network.hosts.isEmpty else {
            for service in ClusterService.allCases { try write(service, at: nil, &kept) }
            try writeOperator()
            try writeServer()
            return kept
        }
        for host in network.hosts {
            for service in ClusterService.allCases where service != .sandbox { try write(service, at: host, &kept) }
        }
        try writeOperator()
        if database != nil { try writeScript() }
        return kept
    }

    private func writeScript() throws {
        let passwords = try HostDatabase.services.map { service in
            (service, try TextFile.read(pki.path(HostDatabase.passwordFile(service))).trimmingCharacters(in: .whitespacesAndNewlines))
        }
        let text = HostDatabase.script(passwords: Dictionary(uniqueKeysWithValues: passwords))
        try replace(folder.appendingPathComponent(HostDatabase.script), with: Data(text.utf8), mode: 0o600)
    }

    private func write(_ service: ClusterService, at host: HostPlan?, _ kept: inout [KeptSettings]) throws {
        let place = try prepared((host.map { $0.name + "/" } ?? "") + service.rawValue)
        var settings = try documented(service)
        adapt(&settings, service)
        if host == nil, service == .authentication { DemoLimits.set(in: &settings, of: service) }
        guard var adapted = moved(settings, key: "", service) as? [String: Any] else { return }
        if service == .gateway { adaptListeners(&adapted) }
        if let host { adapt(&adapted, service, to: host) }
        var files = host == nil ? Set(Self.secrets(of: service)) : []
        Self.collectFiles(adapted, into: &files)
        if service == .config, let host {
            if !bringsCatalogue(host) {
                adapted[service.rawValue] = (adapted[service.rawValue] as? [String: Any])?.filter { $0.key != "catalogue" }
            }
        } else if service == .config {
            let catalogue = try catalogue()
            Self.collectFiles(catalogue, into: &files)
            try write(catalogue, to: place.appendingPathComponent("catalogue.json"), &kept)
        }
        let file = place.appendingPathComponent("config.json")
        if let host { try issue(service, at: host, to: place, named: Self.object(there: file) ?? adapted, &files) }
        try copy(files, to: place)
        try write(adapted, to: file, &kept)
    }

    private func documented(_ service: ClusterService) throws -> [String: Any] {
        try object(at: checkout.appendingPathComponent("Services/\(service.folder)/config.json"))
    }

    /// - Returns: `nil` where nothing is, or no JSON object.
    private static func object(there file: URL) -> [String: Any]? {
        FileManager.default.contents(atPath: file.path).flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
    }

    private func object(at file: URL) throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: Data(try TextFile.read(file.path).utf8)) as? [String: Any] else {
            throw CommandFailure("\(file.path) is not a JSON object", advice: "restore it from the repository")
        }
        return object
    }

    /// Changes the settings that differ from a local cluster beside addresses.
    private func adapt(_ settings: inout [String: Any], _ service: ClusterService) {
        for key in ["listen", "debug"] where settings[key] is [String: Any] { settings[key] = anyAddress(settings[key]) }
        if service != .sandbox { settings["data"] = Self.data }
        switch service {
        case .config:
            // The secrets lie with who uses them; this program could not look for them. Nobody vouches for people where no identity provider is set
            // up.
            settings[service.rawValue] = (settings[service.rawValue] as? [String: Any])?.filter {
                $0.key != "clientSecrets" && $0.key != "sessionCallers"
            }
        case .autosignin:
            var own = settings[service.rawValue] as? [String: Any] ?? [:]
            var apple = own["apple"] as? [String: Any] ?? [:]
            apple["browserURL"] = network.apple + "/appleid"
            own["apple"] = apple
            settings[service.rawValue] = own
        case .gateway:
            var own = settings[service.rawValue] as? [String: Any] ?? [:]
            own["allowPlainHTTP"] = true
            if network.gateway.hasPrefix("https:") { own["insecureCookies"] = nil }
            own["signedPlainHTTP"] = "all"
            var throttle = own["throttle"] as? [String: Any] ?? [:]
            // Everybody comes from another container or through the published port: nobody is this machine's own.
            throttle["exempt"] = [String]()
            throttle["burst"] = burst
            own["throttle"] = throttle
            own["trustedProxies"] = trustedProxy.isEmpty ? [] : [trustedProxy]
            // Browsers and the gateway reach the stand-in for the staff's sign-in by two names, which one issuer cannot have.
            own["admin"] = (own["admin"] as? [String: Any])?.filter { $0.key != "openIDConnect" }
            settings[service.rawValue] = own
        case .sandbox:
            settings["trustPrivateNetworks"] = true
            settings["staff"] = nil
            settings["publicURL"] = network.sandbox
            settings["serviceURL"] = "http://\(network.inside(.sandbox))"
            for name in ["apple", "upstream"] {
                guard var standIn = settings[name] as? [String: Any] else { continue }
                standIn["listen"] = anyAddress(standIn["listen"])
                settings[name] = standIn
            }
        default: break
        }
    }

    private func anyAddress(_ listener: Any?) -> Any? {
        var listener = listener as? [String: Any] ?? [:]
        listener["address"] = "0.0.0.0"
        return listener
    }

    /// The gateway's listeners are written as one text.
    private func adaptListeners(_ settings: inout [String: Any]) {
        guard var own = settings["gateway"] as? [String: Any] else { return }
        let ports = PortPlan(base: nil)
        own["listen"] = "0.0.0.0:\(ports.main(.gateway))"
        var tls = own["tls"] as? [String: Any] ?? [:]
        tls["listen"] = "0.0.0.0:\(ports.https)"
        own["tls"] = tls
        var admin = own["admin"] as? [String: Any] ?? [:]
        admin["listen"] = "0.0.0.0:\(ports.admin)"
        // By its name in the network other containers reach it; no browser of the host knows that name.
        admin["hosts"] = [ClusterService.gateway.rawValue]
        own["admin"] = admin
        settings["gateway"] = own
    }

    private func moved(_ value: Any, key: String, _ service: ClusterService) -> Any {
        switch value {
        case let object as [String: Any]:
            Dictionary(uniqueKeysWithValues: object.map { ($0, $0 == "pages" ? Self.pages(service) : moved($1, key: $0, service)) })
        case let list as [Any]: list.map { moved($0, key: key, service) }
        case let text as String: network.address(text, key: key)
        default: value
        }
    }

    /// The demo catalogue: browsers go to the sandbox's outer address, the services' own calls to its inner one.
    private func catalogue() throws -> [String: Any] {
        let template = try object(at: checkout.appendingPathComponent("Services/Config/demo-catalogue.json"))
        let services = "http://\(network.inside(.sandbox))"
        return DemoCatalogue.placed(template, browsers: network.sandbox, services: services) as? [String: Any] ?? [:]
    }

    /// Names of files that are given as `pki/name`.
    private static func collectFiles(_ value: Any, into files: inout Set<String>) {
        switch value {
        case let object as [String: Any]: for value in object.values { collectFiles(value, into: &files) }
        case let list as [Any]: for value in list { collectFiles(value, into: &files) }
        case let text as String where text.hasPrefix("pki/"): files.insert(String(text.dropFirst(4)))
        default: break
        }
    }

    private func writeOperator() throws {
        let place = try prepared("operator")
        try copy(
            ["ca.crt", "operator.crt", "operator.key", "media-token.crt", "admin.token", "gateway-https.crt", "sandbox-upstream.crt"], to: place)
        // As `upstream try` left it.
        let isBridged = FileManager.default.fileExists(atPath: place.appendingPathComponent("pki/\(ClusterFile.verifiersName)").path)
        let services = ClusterService.allCases.filter { $0 != .sandbox }
        let files = network.hosts.isEmpty ? Self.settings : place.path
        let file = ClusterFile(
            // As browsers know it, since the gateway compares addresses with that; BOXOFFICE_CONNECT_TO leads there within the network.
            gateway: network.gateway, gatewayTLS: network.gatewayTLS, admin: network.admin, console: "\(network.admin)/console",
            services: Dictionary(
                uniqueKeysWithValues: services.map {
                    ($0.rawValue, hostEntry($0) ?? ClusterFile.Entry(address: network.inside($0), debug: network.debug($0), pid: 0))
                }),
            sandbox: network.hosts.isEmpty
                ? ClusterFile.Sandbox(
                    mvpd: network.sandbox, apple: "http://\(network.appleInside)", upstream: "http://\(network.upstreamInside)", pid: 0)
                : ClusterFile.Sandbox(mvpd: "", apple: "", pid: 0),
            adminToken: try pki.adminToken(),
            pki: ClusterFile.Pki(
                ca: files + "/pki/ca.crt", clientCert: files + "/pki/operator.crt", clientKey: files + "/pki/operator.key"),
            softwareStatements: [:], signedRequests: try network.hosts.isEmpty ? pki.demoPairs() : nil,
            mediaTokenCertificate: files + "/pki/" + (isBridged ? ClusterFile.verifiersName : "media-token.crt"))
        try file.write(ClusterHome(root: place))
    }

    /// The password of PostgreSQL's own user, for who wants that in place of files.
    private func writeServer() throws {
        let file = try prepared("postgres").appendingPathComponent("pki/postgres.password")
        guard !FileManager.default.fileExists(atPath: file.path) else { return }
        try replace(file, with: Data(StoreRole("postgres").password.utf8), mode: 0o600)
    }

    private func prepared(_ name: String) throws -> URL {
        let place = folder.appendingPathComponent(name)
        do {
            try FileManager.default.createDirectory(
                at: place.appendingPathComponent("pki"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("cannot make the folder \(place.path)", advice: "check its owner and permissions (\(PlainReason.of(error)))")
        }
        return place
    }

    private func copy(_ names: Set<String>, to place: URL) throws {
        for name in names {
            guard let content = FileManager.default.contents(atPath: pki.path(name)) else {
                throw CommandFailure("\(pki.path(name)) is missing, and the settings name it", advice: "run 'boxoffice pki' again")
            }
            try replace(place.appendingPathComponent("pki/\(name)"), with: content, mode: name.hasSuffix(".crt") ? 0o644 : 0o600)
        }
    }

    private func write(_ object: [String: Any], to file: URL, _ kept: inout [KeptSettings]) throws {
        guard let there = FileManager.default.contents(atPath: file.path) else {
            return try replace(file, with: try SettingsWriter.content(object), mode: 0o600)
        }
        let differences = KeptSettings.differences(of: there, from: object)
        if !differences.isEmpty { kept.append(KeptSettings(file: file.path, differences: differences)) }
    }

    /// As a whole, so that a program that reloads never reads half of a file; what is the same stays untouched.
    private func replace(_ file: URL, with content: Data, mode: Int) throws {
        guard FileManager.default.contents(atPath: file.path) != content else { return }
        let temporary = file.path + ".new"
        let isWritten = FileManager.default.createFile(atPath: temporary, contents: content, attributes: [.posixPermissions: mode])
        guard isWritten, rename(temporary, file.path) == 0 else {
            throw CommandFailure("cannot write \(file.path)", advice: "check the folder's owner and permissions, and the free space")
        }
    }
}
