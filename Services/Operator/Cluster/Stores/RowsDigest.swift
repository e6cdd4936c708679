internal import Cryptography
internal import Storage

/// What the rows of a table come to, in whatever order they are read: their number, and the sum of the digests of each.
struct RowsDigest: Equatable {
    private(set) var rows = 0
    private var words: [UInt64] = [0, 0, 0, 0]

    mutating func add(_ row: [StoredValue]) {
        rows += 1
        for (index, word) in Self.digest(row).enumerated() { words[index] &+= word }
    }

    /// Of one row, as four words.
    static func digest(_ row: [StoredValue]) -> [UInt64] {
        var octets: [UInt8] = []
        func append(_ kind: UInt8, _ content: some Collection<UInt8>) {
            octets.append(kind)
            withUnsafeBytes(of: UInt64(content.count).bigEndian) { octets.append(contentsOf: $0) }
            octets.append(contentsOf: content)
        }
        for value in row {
            switch value {
            case .null: append(0, [])
            case .integer(let number): append(1, withUnsafeBytes(of: number.bigEndian) { Array($0) })
            case .text(let text): append(2, text.utf8)
            case .bytes(let bytes): append(3, bytes)
            }
        }
        let hash = SHA256.hash(octets)
        return (0..<4).map { word in hash[word * 8..<word * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// Sixteen digits of it.
    var text: String {
        let digits = String(words[0], radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
