internal import NIOCore

/// The device's address as the gateway sees it (rest-v1 §2.6).
package struct ClientAddress: Hashable, Sendable {
    /// Textual form; empty when the transport has none.
    package let text: String
    /// True when a trusted peer named it.
    package let isForwarded: Bool

    /// - Parameters:
    ///   - peer: Address of the connection's other end.
    ///   - forwarded: Values of `X-Forwarded-For`, in header order.
    ///   - trusted: The peers whose header counts.
    init(peer: String?, forwarded: [String], trusted: [AddressRange]) {
        let named = Self.named(peer: peer, forwarded: forwarded, trusted: trusted)
        text = named ?? peer ?? ""
        isForwarded = named != nil
    }

    /// The rightmost address that is not trusted, private or not: what stands left of it can be written by the device itself (rest-v1 §2.6).
    private static func named(peer: String?, forwarded: [String], trusted: [AddressRange]) -> String? {
        guard !forwarded.isEmpty, let peer, let address = IPAddress(peer), trusted.contains(where: { $0.contains(address) }) else { return nil }
        if forwarded.count == 1, let candidate = IPAddress(forwarded[0]) {
            return trusted.contains(where: { $0.contains(candidate) }) ? nil : forwarded[0]
        }
        for entry in forwarded.flatMap({ $0.utf8.split(separator: UInt8(ascii: ",")) }).reversed() {
            let text = withoutPort(Substring(entry))
            guard let candidate = IPAddress(text) else { return nil }
            if trusted.contains(where: { $0.contains(candidate) }) { continue }
            return text
        }
        return nil
    }

    private static func withoutPort(_ entry: Substring) -> String {
        let isPlain = !entry.utf8.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let text = isPlain ? String(entry) : entry.filter { $0 != " " && $0 != "\t" }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[text.index(after: text.startIndex)..<end]) }
        let colons = text.utf8.count { $0 == 0x3a }
        return colons == 1 ? String(text.prefix { $0 != ":" }) : text
    }
}

/// The source port of a client's connection (bridge §5.1): some home-based sign-in wants it beside the address.
enum ClientPort {
    /// - Returns: 1 to 65535; 0: there is none.
    static func number(_ port: Int?) -> UInt16 { port.flatMap(UInt16.init(exactly:)) ?? 0 }

    /// The port that a trusted proxy names.
    /// - Parameter values: Values of its header. Two are none: one of them may be the device's own.
    /// - Returns: 0 for anything but one decimal number from 1 to 65535.
    static func named(_ values: [String]) -> UInt16 {
        guard values.count == 1, let value = values.first, (1...5).contains(value.utf8.count) else { return 0 }
        return value.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt16(value) ?? 0 : 0
    }
}

/// An IP address as a number. A mapped IPv4 address (`::ffff:a.b.c.d`) is the IPv4 address.
package struct IPAddress: Hashable, Sendable {
    package let isIPv4: Bool
    /// The first eight bytes; the four of an IPv4 address are the upper half.
    package let high: UInt64
    /// The other eight bytes of an IPv6 address.
    package let low: UInt64

    package init?(_ text: String) {
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

    package var isLoopback: Bool { Self.loopback.contains { $0.contains(self) } }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)
}

/// A block of IP addresses (CIDR).
public struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let maskHigh: UInt64
    private let maskLow: UInt64

    /// - Parameter text: `10.0.0.0/8`, `2001:db8::/32`, or one address.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = IPAddress(String(parts[0])) else { return nil }
        let width = base.isIPv4 ? 32 : 128
        guard let prefix = parts.count == 2 ? Int(parts[1]) : width, (0...width).contains(prefix) else { return nil }
        self.base = base
        // A shift of 64 and more gives 0.
        maskHigh = ~(UInt64.max >> UInt64(prefix))
        maskLow = prefix > 64 ? ~(UInt64.max >> UInt64(prefix - 64)) : 0
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.isIPv4 == base.isIPv4 && (address.high ^ base.high) & maskHigh == 0 && (address.low ^ base.low) & maskLow == 0
    }
}
