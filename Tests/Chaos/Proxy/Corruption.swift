import NIOCore

/// Turns single bits of a stream of bytes, at random places.
struct Corruption {
    private var left: (oneIn: Int, bytes: Int)?

    /// - Parameter oneIn: One byte in about so many; `nil`: none.
    /// - Returns: How many bytes it changed.
    mutating func apply(to bytes: inout ByteBuffer, oneIn: Int?) -> Int {
        guard let oneIn else {
            left = nil
            return 0
        }
        if left?.oneIn != oneIn { left = (oneIn, Self.distance(oneIn)) }
        var (changed, position) = (0, 0)
        while let distance = left?.bytes, position + distance <= bytes.readableBytes {
            position += distance
            let index = bytes.readerIndex + position - 1
            if let byte = bytes.getInteger(at: index, as: UInt8.self) { bytes.setInteger(byte ^ (1 << UInt8.random(in: 0...7)), at: index) }
            changed += 1
            left?.bytes = Self.distance(oneIn)
        }
        left?.bytes -= bytes.readableBytes - position
        return changed
    }

    /// To the next byte that is changed, at least 1; on average `oneIn`.
    private static func distance(_ oneIn: Int) -> Int { Int.random(in: 1...max(1, 2 * oneIn - 1)) }
}
