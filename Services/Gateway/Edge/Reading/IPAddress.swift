internal import NIOCore

/// An IP address as a number. A mapped IPv4 address (`::ffff:a.b.c.d`) is the IPv4 address.
struct IPAddress: Hashable, Sendable {
    let isIPv4: Bool
    /// The first eight bytes; the four of an IPv4 address are the upper half.
    let high: UInt64
    /// The other eight bytes of an IPv6 address.
    let low: UInt64

    init?(_ text: String) {
        if let four = Self.dottedQuad(text) {
            self.init(four: four)
            return
        }
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        case .v4(let four): self.init(four: UInt32(bigEndian: four.address.sin_addr.s_addr))
        case .v6(let six):
            let (high, low) = withUnsafeBytes(of: six.address.sin6_addr) { bytes in
                (UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)), UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
            if high == 0, low >> 32 == 0xffff { self.init(four: UInt32(truncatingIfNeeded: low)) } else { self.init(high: high, low: low) }
        case .unixDomainSocket: return nil
        }
    }

    private init(four: UInt32) {
        isIPv4 = true
        high = UInt64(four) << 32
        low = 0
    }

    private init(high: UInt64, low: UInt64) {
        isIPv4 = false
        self.high = high
        self.low = low
    }

    /// Four numbers from 0 to 255 without leading zeros, as `inet_pton` takes them; nearly every address comes so.
    /// - Returns: `nil` for every other form.
    private static func dottedQuad(_ text: String) -> UInt32? {
        var address: UInt32 = 0
        var part: UInt32 = 0
        var digits = 0
        var dots = 0
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39 where digits == 0 || part > 0:
                part = part * 10 + UInt32(byte - 0x30)
                digits += 1
                guard part <= 255 else { return nil }
            case UInt8(ascii: ".") where digits > 0 && dots < 3:
                address = address << 8 | part
                (part, digits, dots) = (0, 0, dots + 1)
            default: return nil
            }
        }
        return dots == 3 && digits > 0 ? address << 8 | part : nil
    }

    var isLoopback: Bool { Self.loopback.contains { $0.contains(self) } }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)
}
