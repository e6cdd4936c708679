internal import GatewayEdge
internal import ServiceKit

/// The certificates that the settings name.
struct GatewayCertificates {
    /// The certificate of the HTTPS listener; `nil`: there is none.
    let https: HttpsCertificate?
    /// The certificate of the listener for administration; `nil`: it speaks plain HTTP.
    let administration: HttpsCertificate?
    /// The certificates of single names.
    private let hosts: [(name: String, certificate: HttpsCertificate)]

    /// - Throws: The setting whose files cannot be used, or are for another name.
    init(_ settings: GatewaySettings, _ files: SettingsFiles) throws {
        var hosts: [(name: String, certificate: HttpsCertificate)] = []
        for host in settings.hosts {
            guard let certificate = host.certificate, let key = host.key else { continue }
            hosts.append((host.name, try Self.load("gateway.hosts", certificate, key, files, use: Self.use(host.name), name: host.name)))
        }
        self.hosts = hosts
        https = try settings.tls.map { tls in
            try Self.load(
                "gateway.tls", tls.certificate, tls.key, files, use: "https", served: settings.namesWithoutCertificate,
                others: Dictionary(uniqueKeysWithValues: hosts.map { ($0.name, $0.certificate) }))
        }
        let admin = settings.admin
        administration = try admin.certificate.flatMap { certificate in
            try admin.key.map {
                try Self.load("gateway.admin", certificate, $0, files, use: "administration", served: admin.hosts.map { $0.lowercased() })
            }
        }
    }

    /// Follows the files, and has Prometheus told when the certificates end.
    func attend(_ environment: ServiceEnvironment<GatewaySettings>) {
        let all = [https, administration].compactMap(\.self) + hosts.map(\.certificate)
        guard !all.isEmpty else { return }
        let watch = CertificateWatch(certificates: all, logger: environment.logger)
        environment.background("certificates") { try await watch.run() }
        environment.onReload { watch.reload(again: true) }
        environment.tellEnds(of: ["https": https?.certificateFile, "administration": administration?.certificateFile])
        for (name, certificate) in hosts { environment.tellEnds(of: [Self.use(name): certificate.certificateFile]) }
    }

    private static func use(_ name: String) -> String { "https \(name)" }

    /// - Parameter setting: The setting that names the files.
    private static func load(
        _ setting: String, _ certificate: String, _ key: String, _ files: SettingsFiles, use: String, name: String? = nil, served: [String] = [],
        others: [String: HttpsCertificate] = [:]
    ) throws -> HttpsCertificate {
        do {
            return try HttpsCertificate(
                certificateFile: files.path(certificate), keyFile: files.path(key), use: use, name: name, served: served, others: others)
        } catch {
            throw files.failure(setting, "cannot be used: \(error)")
        }
    }
}
