internal import Hummingbird
internal import NIOCore

/// A file that is served as it is; read once, at start.
struct StaticFile: Sendable {
    /// Shared by all answers: a client that does not read them holds no copy.
    let content: ByteBuffer
    let type: String
    /// Strong validator: FNV-1a of the content.
    private let tag: EntityTag
    /// The same, compressed once; `nil` when that is no gain.
    private let compressed: ByteBuffer?

    init(content: String, type: String) {
        self.content = ByteBuffer(string: content)
        self.type = type
        let hash = content.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        tag = EntityTag(String(hash, radix: 16))
        compressed = Gzip.compressed(self.content, level: 9)
    }

    /// - Parameter acceptEncoding: The client's field.
    func response(ifNoneMatch: String?, acceptEncoding: String? = nil) -> Response {
        let short = compressed.flatMap { Gzip.isAccepted(acceptEncoding) ? $0 : nil }
        // A strong validator stands for these very octets (RFC 9110 §8.8.1).
        let tag = short == nil ? tag : EntityTag(tag.opaque + "-gzip")
        let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "public, max-age=300", .vary: "Accept-Encoding"]
        guard !tag.isNamed(in: ifNoneMatch) else { return Response(status: .notModified, headers: headers) }
        var fields: HTTPFields = [.contentType: type, .cacheControl: "public, max-age=300", .vary: "Accept-Encoding"]
        if short != nil { fields[.contentEncoding] = "gzip" }
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: short ?? content)).with(tag)
    }
}
