internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The common parts of administrative calls.
extension Exchange {
    /// - Throws: 400 for what is no page.
    func page() throws -> PageRequest {
        PageRequest(page: try count("page", in: 1...1_000_000) ?? 1, size: try count("size", in: 1...200) ?? 50)
    }

    /// A captured part of the path that must be a whole number.
    /// - Throws: 404: nothing is named by anything else.
    func number(_ name: String) throws -> UInt64 {
        guard let number = Self.digits(try captured(name)) else { throw AdministrationError.notFound("There is no such \(name).") }
        return number
    }

    /// A parameter that must be the number of a version.
    func version(_ name: String) throws -> UInt64 {
        guard let number = Self.digits(try required(name)) else {
            throw AdministrationError.badRequest("Parameter '\(name)' must be the number of a version", field: name)
        }
        return number
    }

    /// The entity tag of `If-Match` without quotes, or `*`; empty when there is none.
    /// - Throws: 400 for a list of tags or a malformed one.
    func ifMatch() throws -> String {
        guard let sent = headers[.ifMatch] else { return "" }
        if sent == "*" { return sent }
        // A weak tag is never good enough to overwrite by (RFC 9110 §13.1.1).
        if sent.hasPrefix("W/") { return "weak" }
        let tag = sent.dropFirst().dropLast()
        guard sent.utf8.count > 2, sent.hasPrefix("\""), sent.hasSuffix("\""), !tag.contains("\"") else {
            throw AdministrationError.badRequest("If-Match must be one entity tag in quotes, or *")
        }
        return String(tag)
    }

    private func count(_ name: String, in range: ClosedRange<UInt64>) throws -> UInt32? {
        guard let text = try value(name), !text.isEmpty else { return nil }
        guard let number = Self.digits(text), range.contains(number) else {
            throw AdministrationError.badRequest("Parameter '\(name)' must be from \(range.lowerBound) to \(range.upperBound)", field: name)
        }
        return UInt32(number)
    }

    private static func digits(_ text: String) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }
}
