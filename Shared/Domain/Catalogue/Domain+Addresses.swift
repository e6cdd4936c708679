public import Contracts

/// Whether a web address belongs to a requestor: pages to which its users are sent, or that may call for it (rest-v1 §2.1, §3.7).
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
