internal import Clocks
internal import Hummingbird

/// A call to the stand-in Apple, read whole.
struct AppleRequest: Sendable {
    let method: HTTPRequest.Method
    let path: String
    /// Still encoded.
    let query: String
    let headers: HTTPFields
    let body: [UInt8]
    /// The captured parts of the path.
    let parameters: Parameters
    let now: Timestamp

    /// Without parameters, in small letters.
    var contentType: String { headers[.contentType]?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? "" }

    /// The token of the header `Authorization`.
    var bearer: String? {
        guard let header = headers[.authorization], header.lowercased().hasPrefix("bearer ") else { return nil }
        return String(header.dropFirst(7))
    }

    /// A captured part of the path.
    func parameter(_ name: String) -> String { parameters.get(name) ?? "" }

    /// A value of the query; nil where it is absent, repeated or badly encoded.
    func queryValue(_ name: String) -> String? { (try? FormFields(encoded: query).single(name)) ?? nil }
}
