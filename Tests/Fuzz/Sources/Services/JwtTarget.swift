internal import Clocks
internal import Cryptography
internal import StrictJson
@testable internal import Tokens

/// Compact tokens. None that we did not sign is accepted, none of which an octet was changed, and an accepted one says what its claims say.
///
/// The first byte chooses the text as it is, or header and claims, with a zero byte between them, which the target signs. Three bytes of an edit
/// follow. `@KID@` stands for the key's name.
enum JwtTarget {
    static let now = Timestamp(seconds: 1_930_384_805)
    private static let issuer = "https://tve.example/issuer"
    private static let audience = "https://tve.example/api"
    private static let nonce = "n-0S6_WzA2Mj"
    private static let key: JoseSigningKey = {
        guard let key = try? P256PrivateKey.generate() else { fatalError("no key can be made") }
        return JoseSigningKey(key)
    }()
    private static let keys = SigningKeys(SigningKeyRing(current: key))
    private static let access = AccessTokenVerifier(keys: keys, issuer: issuer, audience: audience, clock: StandingClock())
    private static let statements = SoftwareStatementVerifier(keySet: keys.keySet)
    private static let identity = IdentityTokenVerifier(issuer: issuer, clientID: audience, nonce: nonce, keys: keys.keySet, clockSkew: 60)
    private static let platform = PlatformIdentityVerifier(keys: [OctetText(issuer): keys.keySet])

    private struct StandingClock: WallClock {
        func now() -> Timestamp { JwtTarget.now }
    }

    @Sendable static func run(_ input: inout Input) {
        let choice = input.byte()
        let edit = Edit(&input)
        if choice & 1 == 0 {
            let text = String(decoding: input.remainder(), as: UTF8.self)
            checkForm(text)
            checkKeySet(text)
            check(!isAccepted(text), "a token that nobody signed was accepted")
            return
        }
        let header = input.part().replacing("@KID@", with: key.identifier)
        let claims = input.remainder().replacing("@KID@", with: key.identifier)
        let signed = Base64.url.encode(header) + "." + Base64.url.encode(claims)
        guard let signature = try? key.privateKey.sign(Array(signed.utf8)) else { fatalError("the key does not sign") }
        let token = signed + "." + Base64.url.encode(signature)
        checkForm(token)
        checkMeaning(token, header, claims)
        if isAccepted(token) { noteTaken() }
        var changed = Array(token.utf8)
        if edit.apply(to: &changed) != nil {
            check(!isAccepted(String(decoding: changed, as: UTF8.self)), "a changed token was accepted")
        }
    }

    private static func isAccepted(_ token: String) -> Bool {
        (try? access.verify(token)) != nil || (try? statements.verify(token)) != nil || (try? identity.verify(token, now: now)) != nil
            || (try? platform.verify(token, now: now)) != nil
    }

    private static func checkForm(_ text: String) {
        guard let form = CompactForm(text, largest: UnverifiedJWS.largestByteCount) else { return }
        let again = [form.header, form.payload, form.signature].map { Base64.url.encode($0) }.joined(separator: ".")
        check(again == text, "a token has two forms")
        check(form.signedBytes == Array(text.utf8.prefix(form.signedBytes.count)), "what is signed is not what was sent")
    }

    private static func checkKeySet(_ text: String) {
        guard let set = try? JSONWebKeySet(published: text) else { return }
        guard let again = try? JSONWebKeySet(json: set.json) else { fatalError("a set of keys does not encode") }
        check(again.keys.map(\.identifier) == set.keys.map(\.identifier) && again.json == set.json, "a set of keys changed on its way")
    }

    private static func checkMeaning(_ token: String, _ header: [UInt8], _ claims: [UInt8]) {
        let (head, body) = (Members(header), Members(claims))
        func checkHead() {
            guard let head else { return }
            check(head["alg"] == .text("ES256") && head["kid"].map { $0 == .text(key.identifier) } ?? true, "another algorithm or key")
            check(head["crit"] == nil || head["crit"] == .null, "an extension that is not understood")
        }
        if let claims = try? access.verify(token) {
            checkHead()
            if let head {
                check(head["typ"].map { if case .text(let type) = $0 { type.lowercased() == "at+jwt" } else { false } } ?? false, "another type")
            }
            if let body {
                check(
                    body["iss"] == .text(issuer) && body["aud"] == .text(audience) && body["sub"] == .text(claims.clientID), "claims of another token"
                )
                check(body["jti"] == .text(claims.id), "claims of another token")
            }
            check(claims.expiresAt > now, "a token that is over was accepted")
        }
        if let statement = try? statements.verify(token) {
            checkHead()
            if let body { check(body["software_id"] == .text(statement.softwareID), "claims of another statement") }
            check(!statement.softwareID.isEmpty, "a statement without an id")
        }
        if let verified = try? identity.verify(token, now: now) {
            checkHead()
            check(verified.claims == claims, "claims of another token")
            if let body {
                check(
                    body["iss"] == .text(issuer) && body["nonce"] == .text(nonce) && body["sub"] == .text(verified.subject), "claims of another token"
                )
            }
        }
        if let person = try? platform.verify(token, now: now) {
            checkHead()
            if let body { check(body["iss"] == .text(person.issuer) && body["sub"] == .text(person.subject), "claims of another token") }
            check(person.expiresAt > now, "a token that is over was accepted")
        }
    }

    /// The members of an object as another parser reads them; `nil` where that finds no object, or a name twice.
    private struct Members {
        enum Value: Equatable {
            case text(String)
            case null
            case other
        }

        private var values: [OctetText: Value] = [:]

        init?(_ json: [UInt8]) {
            guard let root = try? JsonDocument(parsing: json).root, case .object(let members) = root.content else { return nil }
            for member in members {
                let value: Value =
                    switch member.value.content {
                    case .string(let text): .text(text)
                    case .null: .null
                    default: .other
                    }
                guard values.updateValue(value, forKey: OctetText(member.name)) == nil else { return nil }
            }
        }

        subscript(name: String) -> Value? { values[OctetText(name)] }
    }
}
