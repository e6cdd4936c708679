internal import Cryptography
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// Id and secret of a client by HTTP Basic (RFC 6749 §2.3.1, RFC 7617).
struct BasicCredentials {
    /// Their possible meanings, in the order in which they are tried. First they are encoded as a form's, as RFC 6749 demands. Many libraries send
    /// them as they are, and imported ids and secrets may hold `%` or `+`. Pairs without an id or a secret are left out.
    let pairs: [(id: String, secret: String)]

    /// The value of a challenge.
    static let challenge = #"Basic realm="Boxoffice", charset="UTF-8""#

    /// Longest header that is read, in octets: an id and a secret of a thousand each, percent-encoded and in Base64, fit in.
    private static let longest = 8192

    /// - Returns: `nil` when the request has none: without the header, or with a bearer, which says nothing here.
    /// - Throws: `BasicRejection` for another way to authenticate and for what cannot be read; `invalid_request` for several headers, and for another
    ///   way beside the form's.
    static func sent(_ exchange: Exchange) throws -> BasicCredentials? {
        let headers = exchange.headers[values: .authorization].filter { !isBearer($0) }
        guard let header = headers.first else { return nil }
        guard headers.count == 1 else { throw Fault(.invalidRequest, "More than one Authorization header was sent") }
        guard let encoded = rest(of: header, behind: "basic") else {
            guard try exchange.all("client_secret").allSatisfy(\.isEmpty) else {
                throw Fault(.invalidRequest, "The client authenticates in two ways: leave the Authorization header out")
            }
            throw BasicRejection(fault: Fault(.invalidClient, "Clients authenticate by HTTP Basic, or by client_id and client_secret as parameters."))
        }
        guard header.utf8.count <= longest, let octets = Base64.standard.decode(padded(encoded)),
            let text = String(validating: octets, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { throw BasicRejection(fault: Fault(.invalidClient, "The Basic credentials are not the Base64 of id, colon and secret.")) }
        return BasicCredentials(id: String(text[..<colon]), secret: String(text[text.utf8.index(after: colon)...]))
    }

    private init(id: String, secret: String) {
        var pairs: [(id: String, secret: String)] = []
        if let plainID = PercentEncoding.decode(id.utf8, plusIsSpace: true), let plainSecret = PercentEncoding.decode(secret.utf8, plusIsSpace: true)
        {
            pairs.append((plainID, plainSecret))
        }
        if pairs.allSatisfy({ $0.id != id || $0.secret != secret }), !(id + secret).utf8.contains(0) { pairs.append((id, secret)) }
        self.pairs = pairs.filter { !$0.id.isEmpty && !$0.secret.isEmpty }
    }

    private static func isBearer(_ header: String) -> Bool { rest(of: header, behind: "bearer") != nil }

    /// The text behind a scheme, in either letter case (RFC 9110 §11.1).
    private static func rest(of header: String, behind scheme: String) -> String? {
        let parts = header.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard let first = parts.first, String(Substring(first)).lowercased() == scheme else { return nil }
        return parts.count < 2 ? "" : String(String(Substring(parts[1])).filter { $0 != " " })
    }

    private static func padded(_ encoded: String) -> String {
        encoded + String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
    }
}
