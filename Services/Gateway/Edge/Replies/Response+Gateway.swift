package import Hummingbird
package import NIOCore

extension Response {
    /// A document in the wanted format; never stored by anyone.
    package init(_ document: Document, format: ReplyFormat, status: HTTPResponse.Status = .ok) {
        self.init(body: document.body(format), format: format, status: status)
    }

    /// A document that was written before.
    package init(body: ByteBuffer, format: ReplyFormat, status: HTTPResponse.Status = .ok) {
        self.init(status: status, headers: .unstored(format.contentType), body: ResponseBody(byteBuffer: body))
    }

    package init(json: [UInt8], status: HTTPResponse.Status) {
        self.init(
            status: status, headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }

    package init(text: String, type: String, cacheControl: String) {
        self.init(
            status: .ok, headers: [.contentType: type, .cacheControl: cacheControl],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    package static func empty(_ status: HTTPResponse.Status) -> Response {
        Response(status: status, headers: [.cacheControl: "no-store"])
    }

    package static func redirect(to location: String) -> Response {
        Response(status: .found, headers: [.location: location, .cacheControl: "no-store"])
    }
}

extension HTTPFields {
    /// The fields of an answer that nobody may store.
    package static func unstored(_ contentType: String) -> HTTPFields { [.contentType: contentType, .cacheControl: "no-store"] }
}

extension ReplyFormat {
    package var contentType: String {
        switch self {
        case .json: "application/json; charset=utf-8"
        case .xml: "application/xml; charset=utf-8"
        }
    }
}

extension Document {
    /// The bytes of the document.
    package func body(_ format: ReplyFormat) -> ByteBuffer {
        switch format {
        case .json: ByteBuffer(bytes: jsonBytes)
        case .xml: ByteBuffer(bytes: XMLWriter.write(self))
        }
    }
}

/// A strong validator (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// Without quotes.
    let opaque: String

    package init(_ opaque: String) { self.opaque = opaque }

    package var text: String { "\"\(opaque)\"" }

    /// Weak comparison, as reading asks for it (RFC 9110 §13.1.2).
    package func isNamed(in ifNoneMatch: String?) -> Bool {
        (ifNoneMatch ?? "").split(separator: ",").contains { entry in
            let candidate = entry.filter { $0 != " " && $0 != "\t" }
            return candidate == "*" || candidate == text || candidate == "W/" + text
        }
    }
}

extension Response {
    /// The same with the validator of what it holds; without one when the tag is empty.
    package func with(_ tag: EntityTag) -> Response {
        var response = self
        if !tag.opaque.isEmpty { response.headers[.eTag] = tag.text }
        return response
    }

    package static func notModified(_ tag: EntityTag) -> Response {
        Response(status: .notModified, headers: [.eTag: tag.text, .cacheControl: "no-store"])
    }
}
