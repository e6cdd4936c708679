internal import Clocks

/// What a web page asks of `GET /auth/authorize` (apple §2.1).
struct ConsentRequest: Sendable {
    enum Mode: String, Sendable {
        case query, fragment
        case formPost = "form_post"
    }

    static let lifetime = Duration.seconds(600)
    private static let parameters: Set<String> = [
        "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce",
    ]

    let client: AppleClient
    let redirectURI: String
    let wantsIdentityToken: Bool
    let mode: Mode
    let scopes: Set<String>
    let state: String?
    let nonce: String?
    let createdAt: Timestamp

    init(_ query: String, _ directory: AppleDirectory, now: Timestamp) throws(AppleRefusal) {
        let fields = FormFields(encoded: query)
        var values: [String: String] = [:]
        for name in fields.names {
            guard Self.parameters.contains(name), fields.raw(name).count == 1, let value = try? fields.single(name) else {
                throw AppleRefusal(.invalidRequest, "\(name.prefix(40)) is no parameter here, repeated or not percent-encoded")
            }
            values[name] = value
        }
        // Nothing goes to an address that is not this client's.
        guard let id = values["client_id"] else { throw AppleRefusal(.invalidRequest, "client_id is missing") }
        guard let client = directory.client(id), let addresses = client.redirectURLs else {
            throw AppleRefusal(.invalidClient, "the client is no Services ID")
        }
        guard let address = values["redirect_uri"], addresses.contains(address) else {
            throw AppleRefusal(.unauthorizedClient, "redirect_uri is none of the client's")
        }
        let scopes = Set((values["scope"] ?? "").split(separator: " ").map(String.init))
        guard scopes.isSubset(of: ["name", "email"]) else { throw AppleRefusal(.invalidScope, "the scope is unknown") }
        let types = Set((values["response_type"] ?? "").split(separator: " ").map(String.init))
        guard types == ["code"] || types == ["code", "id_token"] else { throw AppleRefusal(.invalidRequest, "response_type is unknown") }
        let wantsIdentityToken = types.contains("id_token")
        guard let mode = Mode(rawValue: values["response_mode"] ?? (wantsIdentityToken ? "fragment" : "query")) else {
            throw AppleRefusal(.invalidRequest, "response_mode is unknown")
        }
        if !scopes.isEmpty, mode != .formPost { throw AppleRefusal(.invalidRequest, "scopes need form_post") }
        if wantsIdentityToken, mode == .query { throw AppleRefusal(.invalidRequest, "an identity token never goes into a query") }
        (self.client, redirectURI, self.wantsIdentityToken, self.mode, self.scopes) = (client, address, wantsIdentityToken, mode, scopes)
        (state, nonce, createdAt) = (values["state"], values["nonce"], now)
    }
}
