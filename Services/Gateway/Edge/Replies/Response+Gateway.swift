internal import Hummingbird
internal import NIOCore

extension Response {
    /// A document in the wanted format; never stored by anyone.
    init(_ document: Document, format: ReplyFormat, status: HTTPResponse.Status = .ok) {
        self.init(body: document.body(format), format: format, status: status)
    }

    /// A document that was written before.
    init(body: ByteBuffer, format: ReplyFormat, status: HTTPResponse.Status = .ok) {
        let type =
            switch format {
            case .json: "application/json; charset=utf-8"
            case .xml: "application/xml; charset=utf-8"
            }
        self.init(status: status, headers: [.contentType: type, .cacheControl: "no-store"], body: ResponseBody(byteBuffer: body))
    }

    init(json: [UInt8], status: HTTPResponse.Status) {
        self.init(
            status: status, headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }

    init(text: String, type: String, cacheControl: String) {
        self.init(
            status: .ok, headers: [.contentType: type, .cacheControl: cacheControl],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func empty(_ status: HTTPResponse.Status) -> Response {
        Response(status: status, headers: [.cacheControl: "no-store"])
    }

    static func redirect(to location: String) -> Response {
        Response(status: .found, headers: [.location: location, .cacheControl: "no-store"])
    }
}

extension Document {
    /// The bytes of the document.
    func body(_ format: ReplyFormat) -> ByteBuffer {
        switch format {
        case .json: ByteBuffer(bytes: JSONWriter.write(self))
        case .xml: ByteBuffer(bytes: XMLWriter.write(self))
        }
    }
}

/// A strong validator (RFC 9110 §8.8.3).
struct EntityTag: Hashable, Sendable {
    /// Without quotes.
    let opaque: String

    init(_ opaque: String) { self.opaque = opaque }

    var text: String { "\"\(opaque)\"" }

    /// Weak comparison, as reading asks for it (RFC 9110 §13.1.2).
    func isNamed(in ifNoneMatch: String?) -> Bool {
        (ifNoneMatch ?? "").split(separator: ",").contains { entry in
            let candidate = entry.filter { $0 != " " && $0 != "\t" }
            return candidate == "*" || candidate == text || candidate == "W/" + text
        }
    }
}

extension Response {
    /// The same with the validator of what it holds; without one when the tag is empty.
    func with(_ tag: EntityTag) -> Response {
        var response = self
        if !tag.opaque.isEmpty { response.headers[.eTag] = tag.text }
        return response
    }

    static func notModified(_ tag: EntityTag) -> Response {
        Response(status: .notModified, headers: [.eTag: tag.text, .cacheControl: "no-store"])
    }
}
