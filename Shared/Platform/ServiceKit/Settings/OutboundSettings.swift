internal import Foundation
package import OutboundHttp
internal import StrictJson

/// Calls to servers of other organisations: who calls, and by which proxies. The defaults: `Boxoffice/VERSION`, and no proxy.
public struct OutboundSettings: Decodable, Sendable, Hashable {
    /// A proxy as the settings name it; its credentials are in a file.
    struct Proxy: Hashable, Sendable {
        let host: String
        let port: Int
        let credentialsFile: String?
        let resolvesNames: Bool
        /// It stands in the settings here.
        let key: String
    }

    private static let longestUserAgent = 256
    private static let longestCredentials = 1024

    let userAgent: String?
    let standard: Proxy?
    let rules: [(targets: [EgressTarget], proxy: Proxy)]
    let direct: [EgressTarget]

    private enum CodingKeys: String, CodingKey {
        case userAgent, proxy, proxyCredentials, proxyResolves, noProxy, proxies
    }

    private struct Rule: Decodable {
        let targets: [EgressTarget]
        let proxy: Proxy

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: RuleKeys.self)
            targets = try OutboundSettings.targets(container, .targets)
            guard !targets.isEmpty else {
                throw DecodingError.dataCorruptedError(forKey: .targets, in: container, debugDescription: "must name a server at least")
            }
            guard let proxy = try OutboundSettings.proxy(container, .proxy, .proxyCredentials, .proxyResolves) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .proxy, in: container, debugDescription: "is missing; servers without a proxy belong in outbound.noProxy")
            }
            self.proxy = proxy
        }
    }

    private enum RuleKeys: String, CodingKey { case targets, proxy, proxyCredentials, proxyResolves }

    init() { (userAgent, standard, rules, direct) = (nil, nil, [], []) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        userAgent = try container.decodeIfPresent(String.self, forKey: .userAgent)
        if let userAgent {
            let octets = Array(userAgent.utf8)
            guard (1...Self.longestUserAgent).contains(octets.count), octets.allSatisfy({ (0x20...0x7e).contains($0) }), octets.first != 0x20,
                octets.last != 0x20
            else {
                throw DecodingError.dataCorruptedError(
                    forKey: .userAgent, in: container,
                    debugDescription: "must be 1 to \(Self.longestUserAgent) printable ASCII characters, without a blank at either end")
            }
        }
        standard = try Self.proxy(container, .proxy, .proxyCredentials, .proxyResolves)
        direct = try Self.targets(container, .noProxy)
        rules = try (container.decodeIfPresent([Rule].self, forKey: .proxies) ?? []).map { ($0.targets, $0.proxy) }
        if standard == nil, rules.isEmpty, !direct.isEmpty {
            throw DecodingError.dataCorruptedError(
                forKey: .noProxy, in: container, debugDescription: "has no meaning without a proxy; give one, or remove it")
        }
    }

    public static func == (one: OutboundSettings, other: OutboundSettings) -> Bool {
        one.userAgent == other.userAgent && one.standard == other.standard && one.direct == other.direct
            && one.rules.count == other.rules.count && zip(one.rules, other.rules).allSatisfy { $0.targets == $1.targets && $0.proxy == $1.proxy }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(userAgent)
        hasher.combine(standard)
        hasher.combine(direct)
        hasher.combine(rules.map(\.proxy))
    }

    /// The effective options, with the contents of the files.
    /// - Throws: `StartFailure` naming the key and its file.
    func resolved(_ files: SettingsFiles) throws(StartFailure) -> OutboundOptions {
        var options = OutboundOptions(userAgent: userAgent ?? SoftwareVersion.userAgent)
        options.proxies.direct = direct
        if let standard { options.proxies.standard = try proxy(standard, files) }
        for rule in rules { options.proxies.rules.append(EgressProxies.Rule(targets: rule.targets, proxy: try proxy(rule.proxy, files))) }
        return options
    }

    private func proxy(_ proxy: Proxy, _ files: SettingsFiles) throws(StartFailure) -> EgressProxy {
        EgressProxy(
            host: proxy.host, port: proxy.port,
            credentials: try proxy.credentialsFile.map { file throws(StartFailure) in
                try credentials(file, key: proxy.key, files)
            }, resolvesNames: proxy.resolvesNames)
    }

    /// One line, `user:password` (RFC 7617 §2).
    private func credentials(_ file: String, key: String, _ files: SettingsFiles) throws(StartFailure) -> EgressProxy.Credentials {
        let line = try files.text(file, key: key).trimmingCharacters(in: .newlines)
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex, line.utf8.count <= Self.longestCredentials,
            line.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else {
            throw files.failure(key, "names the file \(files.path(file)), which must hold one line of the form 'user:password'")
        }
        return EgressProxy.Credentials(user: String(line[..<colon]), password: String(line[line.index(after: colon)...]))
    }

    private static func targets<Key: CodingKey>(_ container: KeyedDecodingContainer<Key>, _ key: Key) throws -> [EgressTarget] {
        try (container.decodeIfPresent([String].self, forKey: key) ?? []).map { text in
            guard let target = EgressTarget(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "holds '\(text)', which must be \(EgressTarget.accepted)")
            }
            return target
        }
    }

    private static func proxy<Key: CodingKey>(
        _ container: KeyedDecodingContainer<Key>, _ key: Key, _ credentials: Key, _ resolves: Key
    ) throws -> Proxy? {
        let file = try container.decodeIfPresent(String.self, forKey: credentials)
        let resolvesNames = try container.decodeIfPresent(Bool.self, forKey: resolves)
        guard let text = try container.decodeIfPresent(String.self, forKey: key) else {
            guard file == nil, resolvesNames == nil else {
                throw DecodingError.dataCorruptedError(
                    forKey: file == nil ? resolves : credentials, in: container,
                    debugDescription: "has no meaning without '\(key.stringValue)' beside it")
            }
            return nil
        }
        func refuse(_ problem: String) -> DecodingError { .dataCorruptedError(forKey: key, in: container, debugDescription: problem) }
        guard text.utf8.count <= 512, let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw refuse("must be an address of the form http://HOST:PORT")
        }
        // Whatever the text holds of a password is not repeated.
        guard parts.user == nil, parts.password == nil else {
            throw refuse("must not hold a user or a password; write them into a file, and name it in 'proxyCredentials'")
        }
        guard parts.scheme?.lowercased() == "http" else {
            throw refuse("must begin with http://: the proxy is asked by CONNECT, and TLS goes through it to the server")
        }
        guard let port = parts.port, (1...65_535).contains(port) else { throw refuse("must name the proxy's port, as in http://\(host):3128") }
        guard parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil else {
            throw refuse("must be an address of the form http://HOST:PORT, without a path")
        }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let path = (container.codingPath + [credentials]).reduce(into: "") { path, part in
            path += part.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + part.stringValue
        }
        return Proxy(host: bare, port: port, credentialsFile: file, resolvesNames: resolvesNames ?? false, key: path)
    }
}

extension OutboundOptions {
    private struct Part: Decodable { let outbound: OutboundSettings? }

    /// The options of a program by its settings file, for a command that does as the program does.
    /// - Returns: `nil` where the file, or one that it names, cannot be used; `--check-config` says why.
    package init?(settingsFile path: String) {
        guard let content = FileManager.default.contents(atPath: path), let document = try? JsonDocument(parsing: Array(content)),
            let part = try? StrictJsonDecoder(ignoresUnknownNames: true).decode(Part.self, from: document),
            let options = try? (part.outbound ?? OutboundSettings()).resolved(SettingsFiles(settingsFile: path))
        else { return nil }
        self = options
    }
}
