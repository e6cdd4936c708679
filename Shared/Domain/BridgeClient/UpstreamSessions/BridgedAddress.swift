/// An answer of upstream may send a browser here (bridge §14.3).
public struct BridgedAddress: Sendable {
    private let origin: String
    private let hosts: Set<OctetText>

    /// - Parameters:
    ///   - origin: For root-relative addresses: scheme and host, without a slash at the end.
    ///   - hosts: Further hosts, in lower case.
    public init(origin: String, hosts: [String]) {
        self.origin = origin
        self.hosts = Set(texts: hosts + [Self.host(of: origin)].compactMap { $0 })
    }

    /// The absolute address.
    /// - Returns: `nil` when a browser must not be sent there.
    public func absolute(_ address: String) -> String? {
        guard (1...4096).contains(address.utf8.count), address.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x5c }) else { return nil }
        if address.hasPrefix("/") { return address.hasPrefix("//") ? nil : origin + address }
        guard address.hasPrefix("https://") || address.hasPrefix("http://") && origin.hasPrefix("http://") else { return nil }
        guard let host = Self.host(of: address), hosts.contains(host) else { return nil }
        return address
    }

    /// Host and port; `nil` with user info, or without a host.
    private static func host(of address: String) -> String? {
        guard let start = address.firstRange(of: "://")?.upperBound else { return nil }
        let authority = address[start...].prefix { !["/", "?", "#"].contains($0) }
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        return authority.lowercased()
    }
}
