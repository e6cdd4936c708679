internal import NIOCore

/// A block of IP addresses (CIDR).
public struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let prefix: Int

    /// - Parameter text: `10.0.0.0/8`, `2001:db8::/32`, or one address.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = IPAddress(String(parts[0])) else { return nil }
        let width = base.bytes.count * 8
        guard let prefix = parts.count == 2 ? Int(parts[1]) : width, (0...width).contains(prefix) else { return nil }
        self.base = base
        self.prefix = prefix
    }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        for index in base.bytes.indices {
            let bits = min(8, max(0, prefix - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xff00 >> bits)
            if base.bytes[index] & mask != address.bytes[index] & mask { return false }
        }
        return true
    }
}

/// An IP address as its bytes: 4 or 16. A mapped IPv4 address (`::ffff:a.b.c.d`) is the IPv4 address.
struct IPAddress: Hashable, Sendable {
    let bytes: [UInt8]

    init?(_ text: String) {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        case .v4(let four): bytes = withUnsafeBytes(of: four.address.sin_addr) { Array($0) }
        case .v6(let six):
            let all = withUnsafeBytes(of: six.address.sin6_addr) { Array($0) }
            let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xff && all[11] == 0xff
            bytes = isMapped ? Array(all.suffix(4)) : all
        case .unixDomainSocket: return nil
        }
    }

    /// Loopback, link-local, private and shared addresses: never a device on the Internet.
    var isPrivate: Bool { Self.privateRanges.contains { $0.contains(self) } }

    var isLoopback: Bool { Self.loopback.contains { $0.contains(self) } }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)
    private static let privateRanges = [
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16", "100.64.0.0/10", "::1", "fc00::/7", "fe80::/10",
    ].compactMap(AddressRange.init)
}
