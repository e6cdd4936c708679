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

    func contains(_ address: IPAddress) -> Bool {
        address.isIPv4 == base.isIPv4 && (address.high ^ base.high) & maskHigh == 0 && (address.low ^ base.low) & maskLow == 0
    }
}
