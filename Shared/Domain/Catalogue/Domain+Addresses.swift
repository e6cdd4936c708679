public import Contracts

/// States whether a web address belongs to a requestor: pages to which its users are sent, or that may call for it (rest-v1 §2.1, §3.7).
extension Sequence where Element == Domain {
    /// - Parameters:
    ///   - scheme: Lower case.
    ///   - host: Lower case, without port.
    /// - Returns: True for HTTPS at or under one of the domains; for plain HTTP only where the domain is one for development.
    public func cover(scheme: String, host: String) -> Bool {
        contains { domain in
            let name = domain.name.lowercased()
            guard !name.isEmpty, host == name || host.hasSuffix("." + name) else { return false }
            return scheme == "https" || (scheme == "http" && domain.development)
        }
    }

    /// The same for the origin of a page: HTTPS at its own port, but for development.
    /// - Parameter port: `nil` when it is not written.
    public func coverOrigin(scheme: String, host: String, port: Int?) -> Bool {
        if scheme == "https", port == nil || port == 443 { return cover(scheme: scheme, host: host) }
        return filter(\.development).cover(scheme: scheme, host: host)
    }
}

extension Catalogue {
    /// True when the origin of a page is at a registered domain of any requestor, by the rules of `coverOrigin`. It is for calls that tell of no
    /// requestor. It costs the labels of the host and not the domains of the catalogue, as strangers choose when it is asked.
    /// - Parameters:
    ///   - scheme: Lower case.
    ///   - host: Lower case, without port.
    ///   - port: `nil` when it is not written.
    public func registersOrigin(scheme: String, host: String, port: Int?) -> Bool {
        guard scheme == "https" || scheme == "http", host.utf8.count <= Self.longestHost else { return false }
        let names = scheme == "https" && (port == nil || port == 443) ? index.domainNames : index.developmentDomainNames
        var rest = Substring(host)
        while true {
            if names.contains(String(rest)) { return true }
            guard let point = rest.firstIndex(of: ".") else { return false }
            rest = rest[rest.index(after: point)...]
        }
    }

    /// Octets of a name in the domain name system (RFC 1035 §2.3.4).
    private static let longestHost = 253
}
