internal import CZlib
package import Hummingbird
package import NIOCore

/// A file that is served as it is; read once, at start.
package struct StaticFile: Sendable {
    /// Shared by all answers: a client that does not read them holds no copy.
    package let content: ByteBuffer
    package let type: String
    /// Strong validator: FNV-1a of the content.
    private let tag: EntityTag
    /// The same, compressed once; `nil` when that is no gain.
    private let compressed: ByteBuffer?

    package init(content: String, type: String) {
        self.content = ByteBuffer(string: content)
        self.type = type
        let hash = content.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        tag = EntityTag(String(hash, radix: 16))
        compressed = Gzip.compressed(self.content, level: 9)
    }

    /// Five minutes.
    static let shortly = "public, max-age=300"

    /// - Parameters:
    ///   - acceptEncoding: The client's field.
    ///   - cacheControl: How long a copy may be used without a question.
    package func response(ifNoneMatch: String?, acceptEncoding: String? = nil, cacheControl: String = shortly) -> Response {
        let short = compressed.flatMap { Gzip.isAccepted(acceptEncoding) ? $0 : nil }
        // A strong validator stands for these very octets (RFC 9110 §8.8.1).
        let tag = short == nil ? tag : EntityTag(tag.opaque + "-gzip")
        let headers: HTTPFields = [.eTag: tag.text, .cacheControl: cacheControl, .vary: "Accept-Encoding"]
        guard !tag.isNamed(in: ifNoneMatch) else { return Response(status: .notModified, headers: headers) }
        var fields: HTTPFields = [.contentType: type, .cacheControl: cacheControl, .vary: "Accept-Encoding"]
        if short != nil { fields[.contentEncoding] = "gzip" }
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: short ?? content)).with(tag)
    }
}

/// Compression of what is worth it (RFC 9110 §8.4.1.3).
///
/// An attacker who sees the length of a compressed page, and can put text into it, learns its other content (the BREACH attack). So only pages are
/// compressed that hold no secret: no token of a form, and nothing of a session.
package enum Gzip {
    /// In octets: anything shorter is one packet anyway.
    private static let leastOctets = 1400
    /// The part of `Accept-Encoding` that is read, in octets.
    private static let longestField = 256

    /// - Returns: `nil` when it is too short, or does not get shorter.
    static func compressed(_ content: ByteBuffer, level: Int32 = 6) -> ByteBuffer? {
        let length = content.readableBytes
        guard length >= leastOctets else { return nil }
        let octets = [UInt8](unsafeUninitializedCapacity: length) { room, count in
            let written = content.withUnsafeReadableBytes { bytes in
                czlib_gzip(bytes.bindMemory(to: UInt8.self).baseAddress, length, room.baseAddress, length, level)
            }
            count = max(0, Int(written))
        }
        return octets.isEmpty ? nil : ByteBuffer(bytes: octets)
    }

    /// True when a client takes gzip, by its `Accept-Encoding`.
    package static func isAccepted(_ field: String?) -> Bool {
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
