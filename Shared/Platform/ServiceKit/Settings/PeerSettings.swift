/// A peer is here, and its certificate must have this name.
public struct PeerSettings: Decodable, Sendable, Hashable {
    /// Each `host:port`, or `srv:NAME`: a name whose SRV records say where copies are.
    public let addresses: [String]
    /// DNS SAN, for example `config.boxoffice`.
    public let name: String

    private enum CodingKeys: String, CodingKey { case addresses, name }

    public init(addresses: [String], name: String) {
        self.addresses = addresses
        self.name = name
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        addresses = try container.decode([String].self, forKey: .addresses)
        guard !addresses.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .addresses, in: container, debugDescription: "must have at least one host:port or srv:name")
        }
        for address in addresses where Self.split(address) == nil && Self.serviceName(address) == nil {
            throw DecodingError.dataCorruptedError(
                forKey: .addresses, in: container,
                debugDescription: "must hold host:port with a port from 1 to 65535, or srv:name as srv:_config._tcp.example; one is '\(address)'")
        }
    }

    /// The names of `srv:` entries.
    var serviceNames: [String] { addresses.compactMap(Self.serviceName) }

    /// The name of `srv:NAME`: at least two labels of letters, digits, `-` and `_`.
    private static func serviceName(_ address: String) -> String? {
        guard address.hasPrefix("srv:") else { return nil }
        let name = address.dropFirst("srv:".count)
        guard name.utf8.count <= 253, name.wholeMatch(of: /[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})+\.?/) != nil else { return nil }
        return String(name)
    }

    /// Host and port of `host:port` or `[IPv6]:port`.
    static func split(_ address: String) -> (host: String, port: Int)? {
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]), port > 0 else { return nil }
        var host = address[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), Int(port))
    }
}
