public import Clocks
internal import Cryptography

/// The XML of a response as it arrived: only its size and its encoding have been checked.
public struct UnverifiedResponse: Sendable {
    /// Largest accepted value of the `SAMLResponse` parameter, in octets.
    public static let largestEncoding = 256 * 1024

    let octets: [UInt8]

    /// - Parameter encoded: The value of the `SAMLResponse` parameter, after form decoding. It may be broken into lines: the POST binding has the content
    ///   transfer encoding of MIME (SAML bindings §3.5.4).
    /// - Throws: `bind.size`, of the value as it was sent; `bind.base64` (mvpd §2.3 steps 2 and 3).
    public init(encoded: String) throws(SamlRejection) {
        guard encoded.utf8.count <= Self.largestEncoding else {
            throw SamlRejection(.size, "The message is larger than 256 KiB.")
        }
        guard let octets = Base64.standard.decodeLines(encoded), !octets.isEmpty else {
            throw SamlRejection(.base64, Self.encodingProblem(encoded))
        }
        self.octets = octets
    }

    /// A description of a value that is no base64; never a part of it.
    private static func encodingProblem(_ encoded: String) -> String {
        if encoded.utf8.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) { return "The message is empty." }
        if encoded.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") { return "The message is XML itself, not base64 of it." }
        if encoded.utf8.contains(UInt8(ascii: "%")) { return "The message is not base64: it was percent-encoded twice." }
        if encoded.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }) {
            return "The message is base64 in the alphabet for URLs (- and _); SAML has the standard one (+ and /)."
        }
        if encoded.utf8.contains(0x20) {
            return "The message is not base64: it has blanks, as a plus becomes that is not sent as %2B, and is not whole without them."
        }
        return "The message is not base64: a character is foreign to it, or the end is missing."
    }

    /// The issue time that the response claims: only for explanations.
    public var claimedIssueInstant: Timestamp? {
        guard let document = try? ParsedDocument.parse(octets) else { return nil }
        return document.root.attribute("IssueInstant").flatMap(SamlInstant.parseAnyOffset)
    }

    /// The request that the response claims to answer: only for looking up that request.
    /// - Throws: `unsolicited` when it names none; the reason of the parse when it cannot be read (mvpd §2.3 steps 5 and 6).
    public func claimedRequestID() throws(SamlRejection) -> String {
        let root: XmlElement
        do throws(XmlRejection) {
            root = try ParsedDocument.parse(octets).root
        } catch {
            throw error.rejection
        }
        guard root.isNamed("Response", in: Namespaces.protocol) else { throw SamlRejection(.root, "The root is not a SAML 2.0 Response.") }
        guard let request = root.attribute("InResponseTo") else { throw SamlRejection(.unsolicited, "The response answers no request.") }
        return request
    }
}
