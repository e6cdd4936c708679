/// A key of the remote.
enum TvKey: Sendable, Equatable {
    case up
    case down
    case enter
    case back
    case tab
    /// Ctrl-C.
    case interrupt
    case letter(Character)

    /// - Parameter bytes: The octets that a terminal sent at once.
    /// - Returns: The keys in it; what is not known is left out.
    static func keys(in bytes: [UInt8]) -> [TvKey] {
        var keys: [TvKey] = []
        var rest = bytes[...]
        while let first = rest.popFirst() {
            switch first {
            case 0x03: keys.append(.interrupt)
            case 0x09: keys.append(.tab)
            case 0x0a, 0x0d: keys.append(.enter)
            case 0x08, 0x7f: keys.append(.back)
            case 0x1b:
                guard rest.first == UInt8(ascii: "[") || rest.first == UInt8(ascii: "O") else {
                    keys.append(.back)
                    continue
                }
                rest.removeFirst()
                // Parameters, then the final byte (ECMA-48 §5.4).
                while let byte = rest.first, (0x20...0x3f).contains(byte) { rest.removeFirst() }
                switch rest.popFirst() {
                case UInt8(ascii: "A"): keys.append(.up)
                case UInt8(ascii: "B"): keys.append(.down)
                case UInt8(ascii: "D"): keys.append(.back)
                default: break
                }
            case 0x20...0x7e: keys.append(.letter(Character(Unicode.Scalar(first))))
            default: break
            }
        }
        return keys
    }
}
