internal import Glibc

/// An IPv4 or IPv6 address.
public struct NetworkAddress: Sendable {
    /// 4 or 16 octets. An IPv4 address in IPv6 form is the IPv4 address.
    private let octets: [UInt8]

    /// - Returns: `nil` for what is no address, such as a name or an address with a port.
    public init?(_ text: String) {
        guard text.utf8.count <= 45 else { return nil }
        var four = in_addr()
        var sixteen = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            octets = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &sixteen) == 1 {
            let all = withUnsafeBytes(of: sixteen) { Array($0) }
            let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xff && all[11] == 0xff
            octets = isMapped ? Array(all.suffix(4)) : all
        } else {
            return nil
        }
    }

    /// Whether the address may be one of the public Internet: not private, shared, link-local, loopback, multicast or reserved (RFC 6890).
    public var isPublic: Bool { octets.count == 4 ? isPublicFour : isPublicSixteen }

    private var isPublicFour: Bool {
        switch (octets[0], octets[1], octets[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64..<128, _), (169, 254, _), (172, 16..<32, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0): false
        default: true
        }
    }

    private var isPublicSixteen: Bool {
        // Only 2000::/3 is in use on the Internet; of it Teredo and 6to4 carry an address of another kind.
        guard octets[0] & 0xe0 == 0x20 else { return false }
        switch (octets[0], octets[1], octets[2], octets[3]) {
        case (0x20, 0x01, 0, 0), (0x20, 0x02, _, _): return false
        default: return true
        }
    }
}
