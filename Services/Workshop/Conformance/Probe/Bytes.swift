internal import Cryptography

/// Bytes as a report shows them.
enum Bytes {
    private static let shown = 48

    static func text(_ bytes: [UInt8]) -> String {
        let beginning = Hex.encode(bytes.prefix(shown))
        return bytes.count > shown ? "\(beginning)... (\(bytes.count) bytes)" : "\(beginning) (\(bytes.count) bytes)"
    }
}
