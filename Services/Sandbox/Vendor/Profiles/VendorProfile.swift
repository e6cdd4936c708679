internal import Clocks
internal import SandboxKit

/// Proof that somebody signed in (rest-v2 §2.6).
struct VendorProfile: Sendable, Equatable {
    enum Kind: String, Sendable, Codable {
        case regular, appleSSO, platformSSO, serviceTokenSSO, degraded, temporary
    }

    struct Attribute: Sendable, Codable, Equatable {
        var value: JsonValue
        /// `plain` or `enc`.
        var state = "plain"

        init(_ value: JsonValue, state: String = "plain") {
            self.value = value
            self.state = state
        }
    }

    /// For the control routes alone.
    let id: String
    let owner: ProfileOwner
    let mvpd: String
    /// Login name at the stand-in.
    let person: String
    let kind: Kind
    let notBefore: Timestamp
    var notAfter: Timestamp
    var attributes: [String: Attribute]
    /// By which others find it.
    let identities: [SsoIdentity]
    /// Before this moment nobody can read it yet.
    var visibleFrom: Timestamp
    /// Change with the next decision of the MVPD (rest-v2 §2.9: authorization may update metadata).
    var afterDecision: [String: Attribute]?

    var issuer: String { kind == .appleSSO ? "Apple" : mvpd }

    func isValid(at now: Timestamp) -> Bool { now < notAfter }
}

/// A profile as it is written.
struct ProfileBody: Sendable, Encodable {
    let notBefore: Int64
    let notAfter: Int64
    let issuer: String
    let type: VendorProfile.Kind
    let attributes: [String: VendorProfile.Attribute]

    init(_ profile: VendorProfile, as kind: VendorProfile.Kind? = nil, onlyUserID: Bool = false, _ behaviour: VendorBehaviour) {
        notBefore = profile.notBefore.milliseconds
        notAfter = profile.notAfter.milliseconds
        issuer = profile.issuer
        type = kind ?? profile.kind
        let shown = onlyUserID ? profile.attributes.filter { $0.key == "userID" } : profile.attributes
        attributes = shown.mapValues { attribute in
            attribute.state == "enc" ? VendorProfile.Attribute(attribute.value, state: behaviour.encryptedState) : attribute
        }
    }

    /// The profile of somebody who has not signed in: `degraded` or `temporary`.
    init(_ kind: VendorProfile.Kind, from notBefore: Timestamp, to notAfter: Timestamp, _ attributes: [String: JsonValue]) {
        self.notBefore = notBefore.milliseconds
        self.notAfter = notAfter.milliseconds
        issuer = "Adobe"
        type = kind
        self.attributes = attributes.mapValues { VendorProfile.Attribute($0) }
    }
}

/// The profiles of an answer, by MVPD.
struct ProfilesBody: Sendable, Encodable {
    var profiles: [String: ProfileBody] = [:]
}

/// The owner of a profile, beside its MVPD (rest-v2 §4).
struct ProfileOwner: Sendable, Hashable {
    let client: String
    let device: DeviceIdentifier
    let serviceProvider: String
}

/// The tokens that count as somebody's identity: tests tell which. All others are served without (rest-v2 D5).
struct SsoIdentities: Sendable {
    private static let headers = [
        ("adobe-subject-token", SsoIdentity.Kind.platform), ("x-roku-reserved-roku-connect-token", .platform), ("ad-service-token", .service),
    ]

    private var tokens = BoundedTable<String, SsoIdentity>(limit: 10_000)

    mutating func set(_ token: String, _ identity: SsoIdentity?) { tokens[token] = identity }

    func found(in call: VendorCall) -> [SsoIdentity] {
        Self.headers.compactMap { name, kind in
            call.header(name).flatMap { tokens[$0] }.flatMap { $0.kind == kind ? $0 : nil }
        }
    }
}

/// A person as a platform or an identity service knows them (rest-v2 §5 I, J).
struct SsoIdentity: Sendable, Codable, Hashable {
    enum Kind: String, Sendable, Codable {
        case platform, service
    }

    let kind: Kind
    let id: String

    /// The type of a profile that is found by it (rest-v2 §4).
    var profileType: VendorProfile.Kind { kind == .platform ? .platformSSO : .serviceTokenSSO }
}

/// All profiles.
struct VendorProfiles: Sendable {
    struct Key: Sendable, Hashable {
        let owner: ProfileOwner
        let mvpd: String
        let isPartners: Bool

        init(_ owner: ProfileOwner, _ mvpd: String, isPartners: Bool = false) {
            self.owner = owner
            self.mvpd = mvpd
            self.isPartners = isPartners
        }

        init(_ profile: VendorProfile) { self.init(profile.owner, profile.mvpd, isPartners: profile.kind == .appleSSO) }
    }

    private var table = BoundedTable<Key, VendorProfile>(limit: 100_000)
    private var byIdentity = BoundedTable<SsoIdentity, Set<Key>>(limit: 100_000)

    var all: [VendorProfile] { table.values }

    subscript(key: Key) -> VendorProfile? { table[key] }

    mutating func set(_ profile: VendorProfile) {
        let key = Key(profile)
        // A profile that is set anew counts as the newest.
        table[key] = nil
        table[key] = profile
        for identity in profile.identities { byIdentity[identity, default: []].insert(key) }
    }

    mutating func remove(_ key: Key) { table[key] = nil }

    /// The device's own regular profile, ended or not.
    func remembered(_ owner: ProfileOwner, _ mvpd: String) -> VendorProfile? { table[Key(owner, mvpd)] }

    /// The device's own regular profile that can be read now.
    func own(_ owner: ProfileOwner, _ mvpd: String, at now: Timestamp) -> VendorProfile? {
        table[Key(owner, mvpd)].flatMap { $0.isValid(at: now) && now >= $0.visibleFrom ? $0 : nil }
    }

    /// The device's own profile from Apple's platform.
    func partners(_ owner: ProfileOwner, _ mvpd: String, at now: Timestamp) -> VendorProfile? {
        table[Key(owner, mvpd, isPartners: true)].flatMap { $0.isValid(at: now) ? $0 : nil }
    }

    /// A profile of the same person at this MVPD, by whatever application and device; the newest.
    func shared(_ identities: [SsoIdentity], mvpd: String, at now: Timestamp) -> (SsoIdentity, VendorProfile)? {
        for identity in identities {
            let found = keys(of: identity, mvpd: mvpd).compactMap { table[$0] }.filter { $0.isValid(at: now) && now >= $0.visibleFrom }
            if let newest = found.max(by: { $0.notBefore < $1.notBefore }) { return (identity, newest) }
        }
        return nil
    }

    func keys(of identity: SsoIdentity, mvpd: String) -> [Key] { (byIdentity[identity] ?? []).filter { $0.mvpd == mvpd } }
}

extension VendorState {
    /// The client that signed in with a device last, or opened a session for it.
    func lastClient(of device: DeviceIdentifier) -> String? {
        sessions.lastClient(of: device) ?? profiles.all.last { $0.owner.device == device }?.owner.client
    }
}

extension BoundedTable {
    fileprivate subscript(key: Key, default value: Value) -> Value {
        get { self[key] ?? value }
        set { self[key] = newValue }
    }
}
