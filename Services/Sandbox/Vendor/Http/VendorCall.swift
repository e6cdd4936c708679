internal import SandboxKit
internal import Clocks
internal import HTTPTypes

/// A call to the stand-in vendor, read whole.
struct VendorCall: Sendable {
    let operation: VendorOperation
    let method: String
    let path: String
    /// Still encoded.
    let query: String
    /// The decoded parts of the path: `sp`, `mvpd`, `code`, `partner`.
    let parameters: [String: String]
    let headers: HTTPFields
    /// The server's name in the request.
    var authority: String?
    var body: [UInt8]
    /// The caller's address, without a port.
    let peer: String
    let now: Timestamp

    /// A part of the path; empty where the operation has none of that name. Ids are plain ASCII: nothing else equals one.
    func parameter(_ name: String) -> String {
        let text = parameters[name] ?? ""
        return text.utf8.allSatisfy { $0 < 0x80 } ? text : ""
    }

    /// A header's value; of several the first.
    func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.canonicalName == name }?.value
    }

    /// Without parameters, in small letters.
    private var contentType: String { headers[.contentType]?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? "" }

    /// Whether the body says that it is JSON.
    var isJSON: Bool { contentType == "application/json" }

    /// A field of the form; nil where it is absent, blank, repeated or badly encoded. A body of another type counts as empty (rest-v2 §1.1).
    func field(_ name: String) -> String? {
        guard contentType == "application/x-www-form-urlencoded" else { return nil }
        return Self.value(name, in: String(decoding: body, as: UTF8.self))
    }

    /// A value of the query, by the same rules.
    func queryValue(_ name: String) -> String? { Self.value(name, in: query) }

    /// The token of the header `Authorization`.
    var bearer: String? {
        guard let header = headers[.authorization], header.lowercased().hasPrefix("bearer ") else { return nil }
        return String(header.dropFirst(7))
    }

    /// The device's address, which servers send along (rest-v2 §1.3); else the caller's.
    var address: String {
        let first = header("x-forwarded-for")?.split(separator: ",").first.map { String($0.filter { $0 != " " }) }
        return first.flatMap { $0.isEmpty ? nil : $0 } ?? peer
    }

    private static func value(_ name: String, in text: String) -> String? {
        guard let value = (try? FormFields(encoded: text).single(name)) ?? nil else { return nil }
        return value.utf8.allSatisfy { $0 == UInt8(ascii: " ") } ? nil : value
    }
}
