/// An entry of `gateway.hosts`: a name by which the gateway is called, beside that of `publicOrigin`.
public struct HostSettings: Sendable {
    /// As clients send it in `Host`, without the port; lower case.
    public var name: String
    /// The beginning of the addresses in answers to this name: scheme, host and port, no slash at the end. The host may be another than `name`, where
    /// the name is for programs and people are to see a nicer one.
    public var origin: String
    /// PEM: shown to whom asks for this name in the handshake (RFC 6066 §3); `nil`: they see that of `gateway.tls`. Relative to the settings file.
    public var certificate: String?
    /// PEM, readable by the gateway alone.
    public var key: String?

    /// - Parameter origin: `https://` and the name when it is `nil`.
    public init(name: String, origin: String? = nil, certificate: String? = nil, key: String? = nil) {
        self.name = name.lowercased()
        self.origin = origin ?? "https://\(self.name)"
        self.certificate = certificate
        self.key = key
    }

    /// Each may have a certificate, which is a series of metrics.
    static let most = 100
    /// Octets of a name (RFC 1035 §2.3.4).
    private static let longest = 253

    /// The first problem: key below the entry and text.
    /// - Parameter hasHTTPS: There is a listener that shows certificates.
    func problem(hasHTTPS: Bool) -> (key: String, text: String)? {
        guard name.utf8.count <= Self.longest, let written = WebOrigin("https://\(name)"), written.port == nil, written.host == name else {
            return ("name", "must be a host name without scheme, port and path, for example api.tv.example; it is '\(name.prefix(Self.longest))'")
        }
        guard WebOrigin.isWhole(origin) else { return ("origin", "\(WebOrigin.rule); it is '\(origin.prefix(300))'") }
        guard (certificate == nil) == (key == nil) else {
            return ("certificate", "and key go together: give both, or neither to show that of gateway.tls")
        }
        guard certificate != nil else { return nil }
        guard hasHTTPS else { return ("certificate", "is shown by the listener of HTTPS only: there is no gateway.tls") }
        guard !isNumeric else {
            return (
                "certificate",
                "cannot be chosen by an address in numbers, which no client names in its handshake; gateway.tls has the certificate for it"
            )
        }
        return nil
    }

    var isNumeric: Bool { IPAddress(name.filter { $0 != "[" && $0 != "]" }) != nil }
}

extension HostSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case name, origin, certificate, key
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decode(String.self, forKey: .name), origin: try container.decodeIfPresent(String.self, forKey: .origin),
            certificate: try container.decodeIfPresent(String.self, forKey: .certificate),
            key: try container.decodeIfPresent(String.self, forKey: .key))
    }
}

extension GatewaySettings {
    /// Sign-ins begin and end here.
    public var originOfSignIns: String { signInOrigin ?? publicOrigin }

    /// The problem of the names: key and text.
    var hostProblem: (key: String, text: String)? {
        guard hosts.count <= HostSettings.most else { return ("hosts", "must be at most \(HostSettings.most) entries") }
        if let signInOrigin, !WebOrigin.isWhole(signInOrigin) { return ("signInOrigin", WebOrigin.rule) }
        var names: Set<OctetText> = []
        for host in hosts {
            if let problem = host.problem(hasHTTPS: tls != nil) { return ("hosts.\(problem.key)", problem.text) }
            guard names.insert(OctetText(host.name)).inserted else { return ("hosts.name", "'\(host.name)' has two entries; leave one of them out") }
            if host.name == WebOrigin(publicOrigin)?.host, host.origin.lowercased() != publicOrigin.lowercased() {
                return ("hosts.origin", "of '\(host.name)' must be publicOrigin, whose name it is: '\(publicOrigin)'")
            }
        }
        let origins = [publicOrigin, originOfSignIns] + hosts.map(\.origin)
        if insecureCookies, !origins.allSatisfy(WebOrigin.isPlainLoopback) {
            return ("insecureCookies", "is only allowed when publicOrigin, signInOrigin and the origins of hosts are plain HTTP on loopback")
        }
        return nil
    }

    /// Names that the certificate of `tls` stands for, as far as the settings tell.
    public var namesWithoutCertificate: [String] {
        let own = hosts.filter { $0.certificate != nil }.map(\.name)
        let home = WebOrigin(publicOrigin).flatMap { $0.scheme == "https" ? HostSettings(name: $0.host) : nil }
        let all = [home].compactMap(\.self) + hosts.filter { WebOrigin($0.origin)?.scheme == "https" }
        return all.filter { host in !host.isNumeric && !own.contains { $0 == host.name } }.map(\.name)
    }
}

extension WebOrigin {
    static let rule = "must be http(s)://host[:port] without a path or a slash at the end"

    /// True for a text that is an origin and nothing else.
    static func isWhole(_ text: String) -> Bool { WebOrigin(text).map { $0.description == text.lowercased() } ?? false }

    static func isPlainLoopback(_ text: String) -> Bool { WebOrigin(text).map { $0.scheme == "http" && $0.isLoopback } ?? false }
}
