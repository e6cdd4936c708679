internal import Hummingbird
internal import NIOCore

/// A file that is served as it is; read once, at start.
struct StaticFile: Sendable {
    let content: String
    let type: String
    /// Strong validator: FNV-1a of the content.
    private let tag: EntityTag

    init(content: String, type: String) {
        self.content = content
        self.type = type
        let hash = content.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        tag = EntityTag(String(hash, radix: 16))
    }

    func response(ifNoneMatch: String?) -> Response {
        let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "public, max-age=300"]
        guard !tag.isNamed(in: ifNoneMatch) else { return Response(status: .notModified, headers: headers) }
        return Response(text: content, type: type, cacheControl: "public, max-age=300").with(tag)
    }
}
