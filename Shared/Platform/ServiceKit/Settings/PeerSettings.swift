/// Where a peer is and which name its certificate must have.
public struct PeerSettings: Decodable, Sendable, Hashable {
    /// Each `host:port`; used in turn.
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
            throw DecodingError.dataCorruptedError(forKey: .addresses, in: container, debugDescription: "must have at least one host:port")
        }
        for address in addresses where Self.split(address) == nil {
            throw DecodingError.dataCorruptedError(
                forKey: .addresses, in: container, debugDescription: "must hold host:port with a port from 1 to 65535; one is '\(address)'")
        }
    }

    /// Host and port of `host:port` or `[IPv6]:port`.
    static func split(_ address: String) -> (host: String, port: Int)? {
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]), port > 0 else { return nil }
        var host = address[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), Int(port))
    }
}
