public import Clocks
internal import Cryptography

/// The XML of a response as it arrived: only its size and its encoding have been checked.
public struct UnverifiedResponse: Sendable {
    /// Largest accepted value of the `SAMLResponse` parameter, in octets.
    public static let largestEncoding = 256 * 1024

    let octets: [UInt8]

    /// - Parameter encoded: The value of the `SAMLResponse` parameter, after form decoding.
    /// - Throws: `bind.size`, `bind.base64` (mvpd §2.3 steps 2 and 3).
    public init(encoded: String) throws(SamlRejection) {
        guard encoded.utf8.count <= Self.largestEncoding else {
            throw SamlRejection(.size, "The message is larger than 256 KiB.")
        }
        guard let octets = Base64.standard.decode(encoded), !octets.isEmpty else {
            throw SamlRejection(.base64, "The message is not strict base64.")
        }
        self.octets = octets
    }

    /// The issue time that the response claims: only for explanations.
    public var claimedIssueInstant: Timestamp? {
        guard let document = try? ParsedDocument.parse(octets) else { return nil }
        return document.root.attribute("IssueInstant").flatMap(SamlInstant.parse)
    }

    /// The request that the response claims to answer: only for looking up that request.
    /// - Throws: `unsolicited` when it names none; the reason of the parse when it cannot be read (mvpd §2.3 steps 5 and 6).
    public func claimedRequestID() throws(SamlRejection) -> String {
        let root: XmlElement
        do throws(ParseFailure) {
            root = try ParsedDocument.parse(octets).root
        } catch {
            throw error.rejection
        }
        guard root.isNamed("Response", in: Namespaces.protocol) else { throw SamlRejection(.root, "The root is not a SAML 2.0 Response.") }
        guard let request = root.attribute("InResponseTo") else { throw SamlRejection(.unsolicited, "The response answers no request.") }
        return request
    }
}
