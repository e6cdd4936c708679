internal import SandboxKit
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
            Base64.urlText(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8)) + "." + Base64.urlText(try VendorAnswer.encoded(claims))
        let text = input + "." + Base64.urlText(try key.sign(Array(input.utf8)))
        return SoftwareStatement(id: id, text: text, serviceProviders: serviceProviders, scopes: scopes)
    }

    /// Whether a text is a statement of this issuer, known or not.
    func isGenuine(_ text: String) -> Bool {
        guard let token = CompactToken(text), token.header["alg"]?.text == "RS256" else { return false }
        return (try? certificate.verify(token.signature, over: token.signingInput, digest: "SHA256")) != nil
    }
}

/// A software statement that the stand-in made or was told of.
struct SoftwareStatement: Sendable, Codable, Equatable {
    /// The statement's `software_id`.
    let id: String
    /// The compact text: registration takes exactly this.
    let text: String
    /// Ids, or `*` for all.
    let serviceProviders: [String]
    let scopes: [String]
    var isRevoked = false

    func covers(_ serviceProvider: String) -> Bool { serviceProviders.contains { $0 == "*" || $0 == serviceProvider } }

    /// The scope of REST v2 (rest-v2 §1.3), and the one of the reset of TempPass.
    static let apiScope = "api:client:v2"
    static let resetScope = "temporary:passes:owner"
}
