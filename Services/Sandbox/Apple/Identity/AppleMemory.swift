internal import Clocks
internal import SandboxKit
internal import Synchronization

/// The whole state of the stand-in Apple, changed as one value.
final class AppleMemory: Sendable {
    struct Content: Sendable {
        var directory: AppleDirectory
        var octets: RepeatableOctets
        var keys: IdentityKeys
        /// Seconds for which the key set may be kept.
        var keysMaxAge = 3600
        var users: [String: AppleUser] = [:]
        var ledger = AuthorizationLedger()
        var transfers = TeamTransfers()
        var tokens = SharedTokens()
        var consentPages: [String: ConsentRequest] = [:]
        var secrets = IssuedSecrets()

        var names: AppleNames { AppleNames(octets: octets) }

        func user(_ account: String) -> AppleUser { users[account] ?? AppleUser(account: account) }
    }

    private let content: Mutex<Content>
    private let start: Content

    init(directory: AppleDirectory, seed: String?) throws(SettingsFault) {
        var octets = RepeatableOctets(seed: seed)
        do {
            let keys = try IdentityKeys(&octets)
            start = Content(directory: directory, octets: octets, keys: keys)
            content = Mutex(start)
        } catch {
            throw SettingsFault(key: "apple.seed", problem: "gives no keys: \(error.reason)")
        }
    }

    func access<Value>(_ body: (inout Content) throws -> Value) rethrows -> Value {
        try content.withLock { content in try body(&content) }
    }

    /// Restores the initial state, except that no id or code is given out twice.
    func reset() {
        content.withLock { content in
            let octets = content.octets
            content = start
            content.octets = octets
        }
    }
}

/// Every secret that the stand-in sent or received, so that tests can search logs and files for them.
struct IssuedSecrets: Sendable, Encodable {
    private static let limit = 20_000

    private(set) var codes: [String] = []
    private(set) var refreshTokens: [String] = []
    private(set) var accessTokens: [String] = []
    private(set) var identityTokens: [String] = []
    /// Client secrets and bearer tokens that callers sent.
    private(set) var credentials: [String] = []
    /// Values of Automatic Sign-In.
    private(set) var values: [String] = []

    mutating func add(code: String) { Self.append(code, to: &codes) }
    mutating func add(refreshToken: String) { Self.append(refreshToken, to: &refreshTokens) }
    mutating func add(accessToken: String) { Self.append(accessToken, to: &accessTokens) }
    mutating func add(identityToken: String) { Self.append(identityToken, to: &identityTokens) }
    mutating func add(credential: String) { Self.append(credential, to: &credentials) }
    mutating func add(value: String) { Self.append(value, to: &values) }

    private static func append(_ secret: String, to list: inout [String]) {
        if list.count < limit, list.last != secret { list.append(secret) }
    }
}

/// Groups of apps that went from one team to another (apple §2.10).
struct TeamTransfers: Sendable {
    /// Names can be exchanged for this long after the acceptance.
    static let window = Duration.seconds(60 * 86_400)

    struct Transfer: Sendable, Equatable {
        let group: String
        let from: String
        let to: String
        let acceptedAt: Timestamp
    }

    private(set) var transfers: [Transfer] = []
    /// People by the transfer subjects that were told, with the team that receives.
    private(set) var people: [String: (account: String, target: String)] = [:]

    mutating func accept(_ transfer: Transfer) { transfers.append(transfer) }

    mutating func tell(_ subject: String, of account: String, to target: String) { people[subject] = (account, target) }

    /// The transfer that still counts for a group in its new team.
    func current(group: String, team: String, now: Timestamp) -> Transfer? {
        transfers.last { $0.group == group && $0.to == team && now < $0.acceptedAt + Self.window }
    }

    /// The user of a transfer subject, as long as the receiving team may ask for it.
    func person(_ subject: String, team: String, now: Timestamp) -> String? {
        guard let person = people[subject], person.target == team,
            transfers.contains(where: { $0.to == team && now < $0.acceptedAt + Self.window })
        else { return nil }
        return person.account
    }
}

/// A person with an Apple Account, and what tokens say about them.
struct AppleUser: Sendable, Equatable {
    /// The mail facts in tokens.
    enum Mail: String, Sendable, Decodable {
        case real
        /// The address that Apple forwards from.
        case relay
        case missing
        /// The claim is there and empty, as for Work & School.
        case empty
    }

    /// Flags of mail are written in one of these ways.
    enum Flags: String, Sendable, Decodable {
        case boolean
        /// As `"true"` and `"false"`.
        case text
    }

    enum NonceSupport: String, Sendable, Decodable {
        case supported
        /// `nonce_supported` is false, and the nonce does not come back.
        case unsupported
        /// No claim about nonces at all.
        case unstated
        /// `nonce_supported` is true, and yet the nonce does not come back.
        case dropped
    }

    /// The state that a device reports about the person's authorization.
    enum CredentialState: String, Sendable, Codable {
        case authorized, revoked, notFound, transferred
    }

    let account: String
    var email: String
    var mail = Mail.real
    var isVerified = true
    var flags = Flags.boolean
    /// 0 to 2, told on the first use in an app.
    var realUserStatus = 2
    var nonce = NonceSupport.supported
    var givenName: String?
    var familyName: String?
    /// nil: as it is.
    var credentialState: CredentialState?

    init(account: String) {
        self.account = account
        email = "\(account)@example.com"
        givenName = account.prefix(1).uppercased() + account.dropFirst()
        familyName = "Sandbox"
    }
}

extension AppleUser {
    /// Reads how a person is to be; each key is optional.
    init(account: String, json: [UInt8]) throws(SettingsFault) {
        self.init(account: account)
        let message = try SettingsFault.decode(Message.self, from: json)
        email = message.email ?? email
        mail = message.mail ?? mail
        isVerified = message.verified ?? isVerified
        flags = message.flags ?? flags
        realUserStatus = message.realUserStatus ?? realUserStatus
        nonce = message.nonce ?? nonce
        givenName = message.givenName ?? givenName
        familyName = message.familyName ?? familyName
        credentialState = message.credentialState
        guard (0...2).contains(realUserStatus) else { throw SettingsFault(key: "realUserStatus", problem: "is not from 0 to 2") }
    }

    private struct Message: Decodable {
        let email: String?
        let mail: Mail?
        let verified: Bool?
        let flags: Flags?
        let realUserStatus: Int?
        let nonce: NonceSupport?
        let givenName: String?
        let familyName: String?
        let credentialState: CredentialState?
    }
}
