internal import Clocks

/// An identity token with exactly the content that a test orders, and a code for it.
struct TokenOrder: Sendable, Decodable {
    let account: String
    let clientID: String
    let nonce: String?
    /// Over the token's own claims; null leaves one out.
    let claims: [String: AppleClaim]?
    let header: [String: AppleClaim]?
    let signature: TokenSignature?
    /// The key that signs, also one that is out of the set; absent: the current one.
    let kid: String?

    enum CodingKeys: String, CodingKey {
        case account, nonce, claims, header, signature, kid
        case clientID = "clientId"
    }

    struct Made: Encodable {
        let identityToken: String
        let code: String
    }

    func make(_ content: inout AppleMemory.Content, now: Timestamp) throws -> Made {
        guard let client = content.directory.client(clientID) else { throw SettingsFault(key: "clientId", problem: "belongs to no group") }
        let issue = try content.signIn(SignInOrder(account: account, client: client, nonce: nonce), now: now)
        let grant = content.ledger.codes[issue.code]?.grant
        guard let grant else { throw SettingsFault(key: "account", problem: "has no grant") }
        var order = content.tokenOrder(grant, client: client, nonce: nonce, now: now)
        order.code = issue.code
        let claims = order.claims(content.names, now: now).merging(claims ?? [:]) { $1 }
        let signature = signature ?? .good
        let text = try signature.token(claims, key: try key(&content, signature), header: header ?? [:])
        content.secrets.add(identityToken: text)
        return Made(identityToken: text, code: issue.code)
    }

    private func key(_ content: inout AppleMemory.Content, _ signature: TokenSignature) throws -> IdentityKeys.Key {
        if signature == .unpublished { return try content.keys.makeForeign(&content.octets) }
        guard let kid else { return content.keys.signing }
        guard let key = content.keys.key(kid) else { throw SettingsFault(key: "kid", problem: "is no key that was ever made") }
        return key
    }
}
