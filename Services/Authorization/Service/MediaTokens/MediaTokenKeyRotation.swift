public import Clocks
public import Cryptography
public import Logging
public import Storage
internal import Synchronization
public import Tokens

/// The media token keys of a process and their change without a restart (decision 0052). The keys in the files are published at once and sign after
/// the lead time. Former keys stay published until their tokens are over.
public final class MediaTokenKeyRotation: Sendable {
    /// No media token lives longer (rest-v1 §7, `media_token_ttl_s`).
    static let tokenLife: Duration = .seconds(3600)

    private struct State {
        var reference: KeySuccession<ReferenceKey>
        var jws: KeySuccession<JoseSigningKey>
        /// The keys of other copies' files; `nil`: copies do not tell each other.
        var shared: (certificates: [Certificate], jws: [JSONWebKey])?

        var ring: SigningKeyRing {
            var seen: Set<String> = [jws.signing.identifier]
            let others = (jws.published.map(\.publicKey) + (shared?.jws ?? [])).filter { seen.insert($0.identifier).inserted }
            return SigningKeyRing(current: jws.signing, previous: others)
        }

        var certificates: [Certificate] {
            var seen: Set<Certificate> = []
            return (reference.published.flatMap(\.certificates) + (shared?.certificates ?? [])).filter { seen.insert($0).inserted }
        }
    }

    /// For the issuer.
    public let referenceKey: ReferenceSigningKey
    /// For the issuer.
    public let jwsKeys: SigningKeys
    /// For whoever asks.
    public let published: PublishedMediaTokenKeys
    private let state: Mutex<State>
    private let clock: any WallClock
    private let logger: Logger

    /// - Parameter lead: For how long a key is published before it signs; not for those that the process starts with.
    /// - Throws: An error of the cryptographic library when a certificate cannot be encoded.
    public init(_ files: MediaTokenKeyFiles, lead: Duration, clock: any WallClock = SystemClock(), logger: Logger) throws {
        let now = clock.now()
        let state = State(
            reference: KeySuccession(current: files.reference, lead: lead, tokenLife: Self.tokenLife, now: now),
            jws: KeySuccession(current: files.jwsKey, next: files.nextJwsKey, lead: lead, tokenLife: Self.tokenLife, now: now))
        referenceKey = ReferenceSigningKey(files.reference.key)
        jwsKeys = SigningKeys(state.ring)
        published = try PublishedMediaTokenKeys(certificates: state.certificates, jwsKeys: jwsKeys)
        self.state = Mutex(state)
        self.clock = clock
        self.logger = logger
    }

    /// Takes in what the files hold now.
    /// - Parameter load: Reads them; when it throws, the old keys stay.
    public func reload(_ load: () throws(MediaTokenKeyError) -> MediaTokenKeyFiles) {
        do throws(MediaTokenKeyError) {
            let files = try load()
            let now = clock.now()
            state.withLock { state in
                // Where copies tell each other, a key's lead begins when all can know it.
                let since = state.shared == nil ? now : KeySuccession<JoseSigningKey>.never
                state.reference.adopt(current: files.reference, next: nil, now: since)
                state.jws.adopt(current: files.jwsKey, next: files.nextJwsKey, now: since)
                _ = state.reference.advance(now: now)
                _ = state.jws.advance(now: now)
                put(state)
            }
            logger.info("media_token_keys.reloaded")
        } catch {
            logger.error("media_token_keys.reload_refused", metadata: ["key": "authorization.\(error.key)", "reason": "\(error.problem)"])
        }
    }

    /// Lets keys take over whose time has come; to be called every few seconds.
    public func advance() {
        let now = clock.now()
        state.withLock { state in
            let (reference, jws) = (state.reference.advance(now: now), state.jws.advance(now: now))
            if reference || jws { put(state) }
        }
    }

    /// The published keys of this process's files, for its copies.
    var own: (certificates: [Certificate], jws: [JSONWebKey]) {
        state.withLock { ($0.reference.published.flatMap(\.certificates), $0.jws.published.map(\.publicKey)) }
    }

    /// Publishes what all copies' files hold. From the first call on, a new key signs only when it has been among these for the lead time.
    /// - Parameter since: By fingerprint or name, since when each has been published.
    func share(certificates: [Certificate], jws: [JSONWebKey], since: [String: Timestamp]) {
        state.withLock { state in
            state.shared = (certificates, jws)
            for (identifier, moment) in since {
                state.reference.note(identifier, publishedSince: moment)
                state.jws.note(identifier, publishedSince: moment)
            }
            put(state)
        }
    }

    /// Publishing comes before signing.
    private func put(_ state: State) {
        do throws(CryptographyError) {
            try published.replace(certificates: state.certificates)
            referenceKey.replace(state.reference.signing.key)
        } catch {
            logger.error("media_token_keys.publication_failed", metadata: ["reason": "\(error)"])
        }
        jwsKeys.replace(state.ring)
    }
}

/// The keys for verifying media tokens that copies on several hosts tell each other.
extension MediaTokenKeyRotation {
    /// Public keys and certificates of this process's files, as text.
    public var told: [(identifier: String, content: String)] {
        let own = own
        let certificates = own.certificates.compactMap { certificate in
            (try? certificate.pem()).map { (identifier: Hex.encode(certificate.fingerprint), content: $0) }
        }
        return certificates + own.jws.map { ($0.identifier, JSONWebKeySet(keys: [$0]).json) }
    }

    /// Takes in what the files of all copies hold.
    public func take(_ all: [SharedPublicKey]) {
        var (certificates, keys): ([Certificate], [JSONWebKey]) = ([], [])
        for key in all {
            if let certificate = try? Certificate(pem: key.content) {
                certificates.append(certificate)
            } else {
                keys += (try? JSONWebKeySet(json: key.content).keys) ?? []
            }
        }
        share(certificates: certificates, jws: keys, since: Dictionary(all.map { ($0.identifier, $0.since) }) { first, _ in first })
    }
}

/// The public keys that programmers' backends verify media tokens with; replaced while they are read.
public final class PublishedMediaTokenKeys: Sendable {
    private let pem: Mutex<String>
    private let jwsKeys: SigningKeys

    /// - Parameters:
    ///   - certificates: The certificates of the reference form, the newest first; several while keys rotate.
    ///   - jwsKeys: The keys of the JWS form.
    /// - Throws: `CryptographyError` when a certificate cannot be encoded.
    public init(certificates: [Certificate], jwsKeys: SigningKeys) throws(CryptographyError) {
        pem = Mutex(try Self.encode(certificates))
        self.jwsKeys = jwsKeys
    }

    /// - Throws: `CryptographyError` when a certificate cannot be encoded; the old ones stay.
    public func replace(certificates: [Certificate]) throws(CryptographyError) {
        let encoded = try Self.encode(certificates)
        pem.withLock { $0 = encoded }
    }

    /// PEM, concatenated.
    public var certificates: String { pem.withLock { $0 } }
    var jwks: String { jwsKeys.keySet.json }

    private static func encode(_ certificates: [Certificate]) throws(CryptographyError) -> String {
        var pem = ""
        for certificate in certificates { pem += try certificate.pem() }
        return pem
    }
}

/// The keys that media tokens are signed with, as they were read from their files.
public struct MediaTokenKeyFiles: Sendable {
    public let reference: ReferenceKey
    public let jwsKey: JoseSigningKey
    /// Will sign next.
    public let nextJwsKey: JoseSigningKey?

    /// - Parameters:
    ///   - settings: The settings that name the files.
    ///   - path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyError` naming the setting and what is wrong with its file.
    public init(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyError) {
        let key = try Self.load("mediaTokenKey", settings.mediaTokenKey, path, RSAPrivateKey.init(pemFile:))
        var certificates: [Certificate] = []
        for file in settings.mediaTokenCertificates {
            certificates += try Self.load("mediaTokenCertificates", file, path, Certificate.all(pemFile:))
        }
        guard let reference = ReferenceKey(key, certificates: certificates) else {
            throw MediaTokenKeyError(key: "mediaTokenCertificates", problem: "must begin with the certificate of mediaTokenKey")
        }
        self.reference = reference
        jwsKey = try Self.load("mediaTokenJwsKey", settings.mediaTokenJwsKey, path, JoseSigningKey.init(pemFile:))
        nextJwsKey = try settings.nextMediaTokenJwsKey.map { file throws(MediaTokenKeyError) in
            try Self.load("nextMediaTokenJwsKey", file, path, JoseSigningKey.init(pemFile:))
        }
    }

    /// The files that the settings name.
    public static func paths(_ settings: AuthorizationSettings) -> [String] {
        [settings.mediaTokenKey] + settings.mediaTokenCertificates + [settings.mediaTokenJwsKey] + (settings.nextMediaTokenJwsKey.map { [$0] } ?? [])
    }

    /// The keys that sign stored permits, as the files hold them now.
    /// - Parameter file: The path of the current key: that of the settings, or the place where it is made when they name none.
    /// - Throws: As `init`.
    public static func storedTokens(
        _ settings: AuthorizationSettings, file: String, path: (String) -> String
    ) throws(MediaTokenKeyError) -> SigningKeyFiles {
        var older: [JSONWebKey] = []
        for file in settings.olderSdkTokenKeys {
            older.append(
                try load("olderSdkTokenKeys", file, path) { path throws(CryptographyError) in
                    JSONWebKey(.p256(try P256PublicKey(ofEitherPEMFile: path)))
                })
        }
        return SigningKeyFiles(current: try load("sdkTokenKey", file, path, JoseSigningKey.init(pemFile:)), older: older)
    }

    private static func load<Key>(
        _ key: String, _ file: String, _ path: (String) -> String, _ read: (String) throws(CryptographyError) -> Key
    ) throws(MediaTokenKeyError) -> Key {
        do {
            return try read(path(file))
        } catch {
            throw MediaTokenKeyError(key: key, problem: "names the file \(path(file)), which is of no use: \(error)")
        }
    }
}

/// An RSA key of the reference form with the certificates that are published along with it.
public struct ReferenceKey: SuccessiveKey {
    public let key: RSAPrivateKey
    /// The first is the key's own; further ones belong to keys before and after it.
    public let certificates: [Certificate]

    /// - Returns: `nil` unless the first certificate belongs to the key.
    public init?(_ key: RSAPrivateKey, certificates: [Certificate]) {
        guard let first = certificates.first, first.belongs(to: .rsa(key)) else { return nil }
        self.key = key
        self.certificates = certificates
    }

    /// SHA-256 of its certificate, hexadecimal.
    public var identifier: String { Hex.encode(certificates[0].fingerprint) }
}
