internal import Hummingbird
internal import NIOCore

/// A file that is served as it is; read once, at start.
struct StaticFile: Sendable {
    /// Shared by all answers: a client that does not read them holds no copy.
    let content: ByteBuffer
    let type: String
    /// Strong validator: FNV-1a of the content.
    private let tag: EntityTag

    init(content: String, type: String) {
        self.content = ByteBuffer(string: content)
        self.type = type
        let hash = content.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        tag = EntityTag(String(hash, radix: 16))
    }

    func response(ifNoneMatch: String?) -> Response {
        let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "public, max-age=300"]
        guard !tag.isNamed(in: ifNoneMatch) else { return Response(status: .notModified, headers: headers) }
        let fields: HTTPFields = [.contentType: type, .cacheControl: "public, max-age=300"]
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: content)).with(tag)
    }
}
