internal import Clocks
internal import Contracts
internal import Cryptography
internal import Foundation
internal import FoundationEssentials
internal import Identifiers
internal import Synchronization

enum StoreKitBearerSubject {}
/// The bearer that we show to Apple's StoreKit.
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

/// A compact JWS with a P-256 key that Apple knows (apple §1.3, §2.4).
enum ES256Token {
    private struct Header: Encodable {
        let alg = "ES256"
        let kid: String
        let typ: String?
    }

    /// - Parameters:
    ///   - keyID: As Apple names the key.
    ///   - type: `typ` of the header; `nil`: none.
    /// - Throws: `CryptographyError` of the key, or an encoder's error.
    static func sign(_ claims: some Encodable, keyID: String, type: String?, key: P256PrivateKey) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = [UInt8](try encoder.encode(Header(kid: keyID, typ: type)))
        let input = Base64.url.encode(header) + "." + Base64.url.encode([UInt8](try encoder.encode(claims)))
        // P256PrivateKey signs in JWS form already: r and s, 64 bytes.
        return input + "." + Base64.url.encode(try key.sign(Array(input.utf8)))
    }
}

/// The private keys of developer teams: files of a folder, named by the catalogue's key references.
///
/// A file is read again when it has changed, so a new key needs no restart.
final class AppleKeyFolder: Sendable {
    private struct Held {
        let key: P256PrivateKey
        let changedAt: Date
        let size: Int
    }

    private let path: String
    private let held = Mutex<[String: Held]>([:])

    /// - Parameter path: Absolute.
    init(path: String) { self.path = path }

    /// - Returns: `nil` when the reference is no plain file name, or there is no usable key in the file.
    func key(_ reference: String) -> P256PrivateKey? {
        guard Self.isName(reference) else { return nil }
        let file = "\(path)/\(reference)"
        guard let facts = try? FileManager.default.attributesOfItem(atPath: file), let changedAt = facts[.modificationDate] as? Date,
            let size = facts[.size] as? Int
        else { return nil }
        if let known = held.withLock({ $0[reference] }), known.changedAt == changedAt, known.size == size { return known.key }
        guard let key = try? P256PrivateKey(pemFile: file) else { return nil }
        held.withLock { $0[reference] = Held(key: key, changedAt: changedAt, size: size) }
        return key
    }

    /// Nothing that could lead out of the folder.
    private static func isName(_ text: String) -> Bool {
        guard (1...128).contains(text.utf8.count), !text.hasPrefix(".") else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "._-".utf8.contains(byte)
            }
        }
    }
}
