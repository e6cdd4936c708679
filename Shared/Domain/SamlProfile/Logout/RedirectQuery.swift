internal import TextEncodings

/// The query of the HTTP-Redirect binding, with its values as they were received: signatures cover those (SAML bindings §3.4.4.1).
///
/// A query that another parser could read differently is refused: a name twice or in another spelling, and two messages (mvpd §2.7).
struct RedirectQuery {
    private static let names: Set<String> = ["SAMLRequest", "SAMLResponse", "SAMLEncoding", "RelayState", "SigAlg", "Signature"]
    private static let deflateEncoding = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE"
    /// Largest accepted query, in octets.
    private static let largest = 64 * 1024

    private var raw: [String: Substring] = [:]

    /// - Throws: `bind.params`, `bind.size`.
    init(_ query: String) throws(SamlRejection) {
        guard query.utf8.count <= Self.largest else { throw SamlRejection(.size, "The query is larger than 64 KiB.") }
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard !name.contains("%") && !name.contains("+") else {
                throw SamlRejection(.parameters, "The name of a parameter is encoded.")
            }
            guard Self.names.contains(name) else { continue }
            guard raw.updateValue(parts.count == 2 ? parts[1] : "", forKey: name) == nil else {
                throw SamlRejection(.parameters, "\(name) is there more than once.")
            }
        }
        guard (raw["SAMLRequest"] == nil) != (raw["SAMLResponse"] == nil) else {
            throw SamlRejection(.parameters, "There is not exactly one of SAMLRequest and SAMLResponse.")
        }
        guard try value("SAMLEncoding").map({ $0 == Self.deflateEncoding }) ?? true else {
            throw SamlRejection(.parameters, "The encoding is not DEFLATE.")
        }
    }

    var isRequest: Bool { raw["SAMLRequest"] != nil }

    /// The decoded value; nil when the parameter is absent.
    /// - Throws: `bind.params` when it is not percent-encoded UTF-8.
    func value(_ name: String) throws(SamlRejection) -> String? {
        guard let raw = raw[name] else { return nil }
        guard let text = PercentEncoding.decode(raw.utf8, plusIsSpace: true) else {
            throw SamlRejection(.parameters, "\(name) is not encoded properly.")
        }
        return text
    }

    /// The text that the signature covers: the values as received, in the order of the binding.
    var signedText: String {
        [isRequest ? "SAMLRequest" : "SAMLResponse", "RelayState", "SigAlg"].compactMap { name in raw[name].map { "\(name)=\($0)" } }
            .joined(separator: "&")
    }
}
