internal import HTTPTypes
internal import NIOHTTP1

/// Why a message of HTTP/1.1 is refused before there is a request. Its connection ends with the answer.
enum Http1Problem: Error {
    /// Another server on the way could cut it differently.
    case faulty
    /// A coding of the message that the gateway does not know (RFC 9112 §6.1).
    case unknownCoding

    /// - Returns: `nil` for an error that is none of the message.
    static func status(of error: any Error) -> HTTPResponse.Status? {
        switch error {
        case Http1Problem.unknownCoding: .notImplemented
        case HTTPParserError.invalidMethod: .notImplemented
        case HTTPParserError.headerOverflow: .requestHeaderFieldsTooLarge
        case is Http1Problem, is HTTPParserError: .badRequest
        default: nil
        }
    }
}
