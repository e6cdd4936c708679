/// The settings of the name that a request came to. The addresses in an answer are made of this. A request chooses among them, and nothing of its own
/// text is written into one.
package final class ServedHost: Sendable {
    /// The beginning of these addresses.
    package let origin: String
    /// Where sign-ins begin that are asked for here, as the cookie that the MVPD's answer brings belongs to one name; `nil`: here.
    let signInOrigin: String?
    /// `nil`: the settings do not know the name.
    private let name: String?

    /// Before a request is known.
    static let none = ServedHost(origin: "")

    init(origin: String, name: String? = nil, signInOrigin: String? = nil) {
        self.origin = origin
        self.name = name
        self.signInOrigin = signInOrigin
    }

    /// `helpUrl` of an error code.
    package func help(_ code: String) -> String { "\(origin)/help/errors#\(code)" }

    /// True when a page of the gateway itself, under this name, has that origin.
    /// - Parameters:
    ///   - page: The header `Origin`.
    ///   - authority: Host and port that the request was sent to.
    package func serves(_ page: String, authority: String) -> Bool {
        let page = page.lowercased()
        guard let name else { return page == origin.lowercased() }
        guard let own = WebOrigin(origin) else { return false }
        return page == "\(own.scheme)://\(authority.lowercased())" || own.host == name && page == own.description
    }
}

/// The names of `publicOrigin` and `hosts`.
struct PublicHosts: Sendable {
    /// The settings of every other name.
    let standard: ServedHost
    private let known: [OctetText: ServedHost]
    /// The part of `Host` that is read, in octets.
    private static let longestAuthority = 300

    init(_ settings: GatewaySettings) {
        standard = ServedHost(origin: settings.publicOrigin)
        let signIns = WebOrigin(settings.originOfSignIns)?.host ?? ""
        var known: [OctetText: ServedHost] = [:]
        func add(_ name: String, _ origin: String) {
            // Cookies know no ports.
            known[OctetText(name)] = ServedHost(origin: origin, name: name, signInOrigin: name == signIns ? nil : settings.originOfSignIns)
        }
        if !settings.hosts.isEmpty || settings.signInOrigin != nil, let home = WebOrigin(settings.publicOrigin) {
            add(home.host, settings.publicOrigin)
        }
        for host in settings.hosts { add(host.name, host.origin) }
        self.known = known
    }

    /// - Parameter authority: Host and port, as the request says; `nil`: it does not say.
    func host(_ authority: String?) -> ServedHost {
        guard !known.isEmpty, let authority, authority.utf8.count <= Self.longestAuthority, let name = WebOrigin("http://\(authority)")?.host else {
            return standard
        }
        return known[OctetText(name)] ?? standard
    }
}
