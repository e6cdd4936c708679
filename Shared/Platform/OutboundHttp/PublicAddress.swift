internal import NIOCore

/// Which addresses are of the public internet: none of this machine, of a private network, or of what stands for another address.
public enum PublicAddress {
    /// - Parameter text: As it is written; a name or an address with a port is none.
    public static func contains(_ text: String) -> Bool {
        guard text.utf8.count <= 45, let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
        return switch address {
        case .v4(let four): withUnsafeBytes(of: four.address.sin_addr) { contains(Array($0)) }
        case .v6(let six): withUnsafeBytes(of: six.address.sin6_addr) { contains(Array($0)) }
        case .unixDomainSocket: false
        }
    }

    /// - Parameter octets: 4 or 16.
    static func contains(_ octets: [UInt8]) -> Bool {
        switch octets.count {
        case 4: !special4.contains { matches(octets, $0.base, $0.bits) }
        // Global unicast alone: neither mapped nor translated addresses, which lead to others.
        case 16: matches(octets, [0x20], 3) && !special6.contains { matches(octets, $0.base, $0.bits) }
        default: false
        }
    }

    private static func matches(_ octets: [UInt8], _ base: [UInt8], _ bits: Int) -> Bool {
        (0..<bits).allSatisfy { bit in
            let mask = UInt8(0x80) >> (bit % 8)
            return octets[bit / 8] & mask == (bit / 8 < base.count ? base[bit / 8] : 0) & mask
        }
    }

    /// RFC 6890 and its successors, multicast, and what is reserved.
    private static let special4: [(base: [UInt8], bits: Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24), ([192, 0, 2], 24),
        ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24), ([203, 0, 113], 24), ([224], 3),
    ]

    /// Protocol assignments with Teredo, documentation, 6to4.
    private static let special6: [(base: [UInt8], bits: Int)] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0d, 0xb8], 32), ([0x20, 0x02], 16), ([0x3f, 0xff, 0x00], 20),
    ]
}
