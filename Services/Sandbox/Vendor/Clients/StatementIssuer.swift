internal import FoundationEssentials

/// Signs software statements; the same facts give the same text.
struct StatementIssuer: Sendable {
    let key: SigningKey
    let certificate: Certificate

    private struct Claims: Encodable {
        let iss: String
        let softwareID: String
        let iat: Int

        enum CodingKeys: String, CodingKey {
            case iss, iat
            case softwareID = "software_id"
        }
    }

    func statement(_ id: String, serviceProviders: [String], scopes: [String]) throws -> SoftwareStatement {
        let claims = Claims(iss: "https://upstream.sandbox.example", softwareID: id, iat: 1_767_225_600)
        let input =
            Base64.urlText(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8)) + "." + Base64.urlText(try UpstreamAnswer.encoded(claims))
        let text = input + "." + Base64.urlText(try key.sign(Array(input.utf8)))
        return SoftwareStatement(id: id, text: text, serviceProviders: serviceProviders, scopes: scopes)
    }

    /// Whether a text is a statement of this issuer, known or not.
    func isGenuine(_ text: String) -> Bool {
        guard let token = CompactToken(text), token.header["alg"]?.text == "RS256" else { return false }
        return (try? certificate.verify(token.signature, over: token.signingInput, digest: "SHA256")) != nil
    }
}
