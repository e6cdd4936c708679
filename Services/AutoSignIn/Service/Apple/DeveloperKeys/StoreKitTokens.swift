internal import Clocks
internal import Contracts
internal import Cryptography
internal import Identifiers
internal import Synchronization

enum StoreKitBearerSubject {}
/// What we show to Apple's StoreKit.
typealias StoreKitBearer = Secret<StoreKitBearerSubject>

/// Bearer tokens for Apple's StoreKit: signed for 20 minutes, used until 15 (apple §1.3).
final class StoreKitTokens: Sendable {
    private struct Use: Hashable {
        let keyID: String
        let issuer: String
        let bundleID: AppleClientID
    }

    private struct Claims: Encodable {
        let iss: String
        let iat: Int64
        let exp: Int64
        let aud = "appstoreconnect-v1"
        let bid: String
    }

    private let keys: AppleKeyFolder
    private let clock: any WallClock
    private let signed = Mutex<[Use: (bearer: StoreKitBearer, at: Timestamp)]>([:])

    static let lifetime: Duration = .seconds(20 * 60)
    static let reuse: Duration = .seconds(15 * 60)

    init(keys: AppleKeyFolder, clock: any WallClock) {
        self.keys = keys
        self.clock = clock
    }

    /// - Parameter fresh: The one from before was refused.
    /// - Returns: `nil` when the team's key cannot be used.
    func bearer(_ team: AppleTeam, bundleID: AppleClientID, fresh: Bool = false) -> StoreKitBearer? {
        let use = Use(keyID: team.purchaseKeyID, issuer: team.issuerID, bundleID: bundleID)
        let now = clock.now()
        if !fresh, let known = signed.withLock({ $0[use] }), now < known.at + Self.reuse, known.at <= now { return known.bearer }
        guard let key = keys.key(team.purchaseKeyReference) else { return nil }
        let claims = Claims(iss: team.issuerID, iat: now.seconds, exp: (now + Self.lifetime).seconds, bid: bundleID.text)
        guard let text = try? ES256Token.sign(claims, keyID: team.purchaseKeyID, type: "JWT", key: key) else { return nil }
        let bearer = StoreKitBearer(text)
        signed.withLock { signed in
            signed = signed.filter { now < $0.value.at + Self.reuse }
            signed[use] = (bearer, now)
        }
        return bearer
    }
}
