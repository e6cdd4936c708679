internal import Hummingbird
internal import NIOCore

extension Response {
    /// A document in the wanted format; never stored by anyone.
    init(_ document: Document, format: ReplyFormat, status: HTTPResponse.Status = .ok) {
        switch format {
        case .json: self.init(json: JSONWriter.write(document), status: status)
        case .xml:
            self.init(
                status: status, headers: [.contentType: "application/xml; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: XMLWriter.write(document))))
        }
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
