internal import SandboxKit
internal import Clocks

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

    /// Of somebody who has not signed in: `degraded` or `temporary`.
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

/// What a profile belongs to, beside its MVPD (rest-v2 §4).
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

    /// What a profile found by it is (rest-v2 §4).
    var profileType: VendorProfile.Kind { kind == .platform ? .platformSSO : .serviceTokenSSO }
}
