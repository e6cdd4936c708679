internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird

/// An answer of the stand-in upstream before it goes out: a fault may still change it.
struct UpstreamAnswer: Sendable {
    var status: Int
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// The enhanced error's code, or what happened in a word, for the log.
    var outcome: String

    static func json(_ value: some Encodable, status: Int = 200, outcome: String) throws -> UpstreamAnswer {
        UpstreamAnswer(
            status: status, headers: [.contentType: "application/json;charset=UTF-8", .cacheControl: "no-store"], body: try encoded(value),
            outcome: outcome)
    }

    static func html(_ text: String, status: Int = 200, outcome: String) -> UpstreamAnswer {
        UpstreamAnswer(status: status, headers: Pages.headers, body: Array(text.utf8), outcome: outcome)
    }

    static func redirect(_ location: String, outcome: String) -> UpstreamAnswer {
        UpstreamAnswer(status: 302, headers: [.location: location, .cacheControl: "no-store"], outcome: outcome)
    }

    static func empty(_ status: Int, outcome: String) -> UpstreamAnswer { UpstreamAnswer(status: status, outcome: outcome) }

    /// Registration's and tokens' errors (RFC 6749 §5.2).
    static func dcr(_ error: String) throws -> UpstreamAnswer { try json(["error": error], status: 400, outcome: error) }

    static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    var response: Response {
        let body = body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        return Response(status: HTTPResponse.Status(code: status), headers: headers, body: body)
    }
}
