public import Clocks

/// A key under which tokens are signed, told apart from others by its name.
public protocol SuccessiveKey: Sendable {
    var identifier: String { get }
}

extension SigningKey: SuccessiveKey {}

/// Which of an issuer's keys signs and which are published, while the files that name them change (decision 0052).
///
/// A key that was not published before signs only when it has been published for `lead`. A key that no longer signs stays published until its last
/// token has expired.
public struct KeySuccession<Key: SuccessiveKey>: Sendable {
    /// When a key takes over of which other copies have not heard.
    public static var never: Timestamp { Timestamp(milliseconds: .max / 2) }

    private let lead: Duration
    private let tokenLife: Duration
    public private(set) var signing: Key
    private var wanted: Key
    private var next: Key?
    /// Since when each key of the files has been published.
    private var publishedSince: [String: Timestamp]
    private var retired: [(key: Key, until: Timestamp)] = []

    /// - Parameters:
    ///   - current: Signs at once: this process does not know what others have published.
    ///   - next: Will sign later; is published already.
    ///   - lead: As long as verifiers keep a copy of the published keys.
    ///   - tokenLife: The life of the longest token.
    public init(current: Key, next: Key? = nil, lead: Duration, tokenLife: Duration, now: Timestamp) {
        self.lead = lead
        self.tokenLife = tokenLife
        signing = current
        wanted = current
        self.next = next
        publishedSince = [current.identifier: now]
        if let next { publishedSince[next.identifier] = now }
    }

    /// The keys that count now, the one that signs first.
    public var published: [Key] {
        var seen: Set<String> = []
        return ([signing, wanted] + (next.map { [$0] } ?? []) + retired.map(\.key)).filter { seen.insert($0.identifier).inserted }
    }

    /// Takes the keys that the files name now; they change their roles at the next `advance`.
    /// - Parameters:
    ///   - current: Signs once it has been published for `lead`.
    ///   - next: Is published from now on; `nil`: no successor is known.
    ///   - now: The time of day.
    public mutating func adopt(current: Key, next: Key?, now: Timestamp) {
        wanted = current
        self.next = next
        let named = [current] + (next.map { [$0] } ?? [])
        var since: [String: Timestamp] = [signing.identifier: publishedSince[signing.identifier] ?? now]
        for key in named { since[key.identifier] = publishedSince[key.identifier] ?? now }
        for entry in retired { since[entry.key.identifier] = publishedSince[entry.key.identifier] }
        publishedSince = since
    }

    /// Since when a key of the files has been published, where that is known better than by when this process saw the files.
    public mutating func note(_ identifier: String, publishedSince moment: Timestamp) {
        if publishedSince[identifier] != nil { publishedSince[identifier] = moment }
    }

    /// Lets the new key take over once it has been published for `lead`, and forgets keys after their last token has expired.
    /// - Returns: True when something changed.
    public mutating func advance(now: Timestamp) -> Bool {
        let count = retired.count
        retired.removeAll { $0.until <= now }
        guard wanted.identifier != signing.identifier, let since = publishedSince[wanted.identifier], since + lead <= now else {
            return retired.count != count
        }
        retired.append((signing, now + tokenLife))
        signing = wanted
        retired.removeAll { $0.key.identifier == signing.identifier }
        return true
    }
}

extension KeySuccession<SigningKey> {
    /// The ring for issuers and verifiers of this process.
    public var ring: SigningKeyRing {
        SigningKeyRing(current: signing, previous: published.dropFirst().map(\.publicKey))
    }
}
