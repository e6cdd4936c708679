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
