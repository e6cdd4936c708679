internal import CXmlSec
internal import Cryptography
internal import TextEncodings

/// A logout message as it arrived, decoded from its binding and untrusted.
public struct UnverifiedLogout: Sendable {
    /// A message proves who sent it in one of these ways.
    enum Proof: Sendable {
        case query(signedText: String, algorithm: String, signature: [UInt8])
        /// An enveloped signature inside the document.
        case document
    }

    /// Octets of a document after inflating.
    private static let largest = 256 * 1024

    /// True for a request, false for an answer.
    public let isRequest: Bool
    /// Nil when it was not sent.
    public let relayState: String?
    let octets: [UInt8]
    let proof: Proof

    /// The Redirect binding.
    /// - Parameter query: Exactly as it was received.
    /// - Throws: `bind.params`, `bind.size`, `bind.base64`, `sig.missing`.
    public init(query: String) throws(SamlRejection) {
        let query = try RedirectQuery(query)
        isRequest = query.isRequest
        relayState = try query.value("RelayState")
        guard let algorithm = try query.value("SigAlg"), let signature = try query.value("Signature") else {
            throw SamlRejection(.signatureMissing, "The query is not signed.")
        }
        guard let message = try query.value(isRequest ? "SAMLRequest" : "SAMLResponse"), let deflated = Base64.standard.decode(message),
            let signature = Base64.standard.decode(signature)
        else { throw SamlRejection(.base64, "Message or signature is not strict base64.") }
        octets = try Self.inflated(deflated)
        proof = .query(signedText: query.signedText, algorithm: algorithm, signature: signature)
    }

    /// The POST binding.
    /// - Parameters:
    ///   - request: The field `SAMLRequest`; empty: absent.
    ///   - response: The field `SAMLResponse`; empty: absent.
    /// - Throws: `bind.params`, `bind.size`, `bind.base64`.
    public init(request: String, response: String, relayState: String?) throws(SamlRejection) {
        guard request.isEmpty != response.isEmpty else {
            throw SamlRejection(.parameters, "There is not exactly one of SAMLRequest and SAMLResponse.")
        }
        isRequest = !request.isEmpty
        self.relayState = relayState
        octets = try UnverifiedResponse(encoded: isRequest ? request : response).octets
        proof = .document
    }

    /// The issuer that the message claims: only for looking up the keys to try.
    /// - Throws: The reason of the parse, or `issuer`.
    public func claimedIssuer() throws(SamlRejection) -> String {
        let root: XmlElement
        do throws(XmlRejection) {
            root = try ParsedDocument.parse(octets).root
        } catch {
            throw error.rejection
        }
        guard let issuer = root.firstChild("Issuer", in: Namespaces.assertion)?.text else {
            throw SamlRejection(.issuer, "The message does not say who sent it.")
        }
        return issuer
    }

    private static func inflated(_ octets: [UInt8]) throws(SamlRejection) -> [UInt8] {
        var length = 0
        guard let inflated = cxs_inflate(octets, octets.count, largest, &length) else {
            throw SamlRejection(.form, "The message is not one DEFLATE stream of at most 256 KiB.")
        }
        defer { cxs_free(inflated) }
        return Array(UnsafeBufferPointer(start: inflated, count: length))
    }
}

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
