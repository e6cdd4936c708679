internal import CDeflate
internal import NIOCore

/// Compression of what is worth it (RFC 9110 §8.4.1.3).
///
/// Who sees the length of a compressed page, and can put text of his own into it, learns what else is in it (the BREACH attack). So only pages are compressed
/// that hold no secret: no token of a form, and nothing of a session.
enum Gzip {
    /// In octets: anything shorter is one packet anyway.
    private static let leastOctets = 1400
    /// What is read of `Accept-Encoding`, in octets.
    private static let longestField = 256

    /// - Returns: `nil` when it is too short, or does not get shorter.
    static func compressed(_ content: ByteBuffer, level: Int32 = 6) -> ByteBuffer? {
        let length = content.readableBytes
        guard length >= leastOctets else { return nil }
        let octets = [UInt8](unsafeUninitializedCapacity: length) { room, count in
            let written = content.withUnsafeReadableBytes { bytes in
                cdeflate_gzip(bytes.bindMemory(to: UInt8.self).baseAddress, length, room.baseAddress, length, level)
            }
            count = max(0, Int(written))
        }
        return octets.isEmpty ? nil : ByteBuffer(bytes: octets)
    }

    /// Whether a client takes gzip, by its `Accept-Encoding`.
    static func isAccepted(_ field: String?) -> Bool {
        guard let field, field.utf8.count <= longestField else { return false }
        var others = false
        for entry in field.lowercased().split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let coding = parts.first else { continue }
            let isWanted = parts.dropFirst().first.map { QualityValue($0).thousandths != 0 } ?? true
            if coding == "gzip" { return isWanted }
            if coding == "*" { others = isWanted }
        }
        return others
    }
}
