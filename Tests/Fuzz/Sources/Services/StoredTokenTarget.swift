internal import Clocks
internal import Cryptography
internal import MediaTokenVerifier
@testable internal import Tokens

/// Stored tokens of the vendor's SDKs: what is issued is read again as it was meant, and nothing else is accepted.
///
/// The first byte chooses one of three. The target issues and changes claims, with zero bytes between them; or it takes a text; or it signs a
/// payload.
enum StoredTokenTarget {
    private static let keys: SigningKeys = {
        guard let key = try? P256PrivateKey.generate() else { fatalError("no key can be made") }
        return SigningKeys(SigningKeyRing(current: JoseSigningKey(key)))
    }()
    private static let issuer = StoredTokenIssuer(keys: keys)
    private static let sessions = StoredTokenVerifier(.authentication, keys: keys, capacity: 64)
    private static let permits = StoredTokenVerifier(.authorization, keys: keys, capacity: 64)
    /// The end of the year 9999.
    private static let latest: UInt64 = 253_402_300_799

    @Sendable static func run(_ input: inout Input) {
        let choice = input.byte()
        let edit = Edit(&input)
        switch choice % 3 {
        case 0: issue(&input, edit)
        case 1:
            let text = String(decoding: input.remainder(), as: UTF8.self)
            check(verified(text) == nil, "a token that nobody signed was accepted")
            checkMediaToken(text)
        default: sign(input.remainder(), edit)
        }
    }

    private static func issue(_ input: inout Input, _ edit: Edit) {
        let moment = (0..<6).reduce(UInt64(0)) { number, _ in number << 8 | UInt64(input.byte()) } % latest
        let texts = input.parts().map { bytes in
            String(String.UnicodeScalarView(String(decoding: bytes, as: UTF8.self).unicodeScalars.filter(isWritable)))
        }
        func text(_ index: Int) -> String { index < texts.count ? texts[index] : "" }
        let claims = StoredTokenClaims(
            guid: text(0), requestor: text(1), mvpd: text(2), fingerprint: text(3), sessionIndex: text(4),
            expiresAt: Timestamp(seconds: Int64(moment)),
            resource: texts.count > 5 ? texts[5] : nil)
        guard let token = try? issuer.issue(claims) else { fatalError("the key does not sign") }
        guard token.utf8.count <= claims.kind.longest else { return check(verified(token) == nil, "a token is too long") }
        noteTaken()
        check(verified(token) == claims, "a token changed on its way")
        check((try? (claims.kind == .authentication ? permits : sessions).verify(token)) == nil, "a token of the other kind was accepted")
        checkChanged(token, edit)
    }

    private static func sign(_ payload: [UInt8], _ edit: Edit) {
        let payload = Array(String(decoding: payload, as: UTF8.self).utf8)
        guard let signature = try? keys.ring.current.privateKey.sign(payload) else { fatalError("the key does not sign") }
        let token = StoredTokenForm.opening + Base64.standard.encode(signature) + StoredTokenForm.closing + String(decoding: payload, as: UTF8.self)
        guard verified(token) != nil else { return }
        checkChanged(token, edit)
    }

    private static func checkChanged(_ token: String, _ edit: Edit) {
        var changed = Array(token.utf8)
        // Octets that are no text become a replacement character, which may have been there.
        guard edit.apply(to: &changed) != nil, case let other = String(decoding: changed, as: UTF8.self), other != token else { return }
        check(verified(other) == nil, "a changed token was accepted")
    }

    private static func verified(_ text: String) -> StoredTokenClaims? { (try? sessions.verify(text)) ?? (try? permits.verify(text)) }

    /// XML cannot hold other control characters; the issuer's callers refuse them.
    private static func isWritable(_ scalar: Unicode.Scalar) -> Bool { !isControl(scalar) || scalar == "\t" || scalar == "\n" || scalar == "\r" }

    /// A media token by its form: whatever is read of one is bounded, and without keys none is valid.
    private static func checkMediaToken(_ text: String) {
        let check = MediaTokenVerifier(trustedKeys: TrustedMediaTokenKeys(), clock: SystemClock()).verify(text, requestor: nil, resource: nil)
        if check.verdict != .invalidFormat, check.verdict != .invalidSignature { fatalError("a media token without a key is valid") }
    }
}
