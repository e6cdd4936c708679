internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `AD-Service-Token`: whom an identity service says that the device's user is (rest-v2 §1.3). Whether it holds, the owning service finds out.
enum ServiceTokenHeader {
    /// In octets; no service reads a longer one.
    static let longest = 16 * 1024

    /// Where a call goes on without one.
    /// - Returns: An empty text when none was sent, more than one, or one that nobody would read.
    static func sent(_ exchange: Exchange) -> String { (try? required(exchange)) ?? "" }

    /// - Throws: `header_missing`; `header_invalid` when it was sent twice or is too long.
    static func required(_ exchange: Exchange) throws(Fault) -> String { try SsoHeader.text(.adServiceToken, longest: longest, exchange) }
}

/// For whom a token is asked: a person by the programmer's name, or whoever has made a code.
enum SsoPerson: Hashable, Sendable {
    case named(String)
    case linked(String)

    /// - Throws: `header_missing` without either; `header_invalid` when both were sent, one twice, or one of no accepted form.
    init(_ exchange: Exchange) throws(Fault) {
        let names = (SsoHeader.isSent(.xSsoID, exchange), SsoHeader.isSent(.xSsoLink, exchange))
        switch names {
        case (true, false): self = .named(try SsoHeader.text(.xSsoID, longest: 512, exchange))
        case (false, true):
            let code = try SsoHeader.text(.xSsoLink, longest: 16, exchange)
            guard code.utf8.count == 6, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw Fault(SingleSignOnErrors.headerInvalid, "'X-SSO-LINK' must have six digits")
            }
            self = .linked(code)
        case (false, false): throw Fault(SingleSignOnErrors.headerMissing, "Required 'X-SSO-ID' or 'X-SSO-LINK' is not present")
        case (true, true): throw Fault(SingleSignOnErrors.headerInvalid, "'X-SSO-ID' and 'X-SSO-LINK' exclude each other")
        }
    }
}

/// A header of these calls: sent once, not blank, and bounded before it is handed on.
enum SsoHeader {
    static func isSent(_ name: HTTPFields.Element.Name, _ exchange: Exchange) -> Bool {
        exchange.headers[values: name].contains { $0.contains { !$0.isWhitespace } }
    }

    /// - Throws: `header_missing`, `header_invalid`.
    static func text(_ name: HTTPFields.Element.Name, longest: Int, _ exchange: Exchange) throws(Fault) -> String {
        guard isSent(name, exchange) else { throw Fault(SingleSignOnErrors.headerMissing, "Required '\(name)' is not present") }
        let sent = exchange.headers[values: name]
        guard sent.count == 1, sent[0].utf8.count <= longest, !sent[0].utf8.contains(0) else {
            throw Fault(SingleSignOnErrors.headerInvalid, "'\(name)' must be sent once, with at most \(longest) octets")
        }
        return sent[0]
    }
}
