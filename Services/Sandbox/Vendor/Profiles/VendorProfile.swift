internal import Clocks

/// Proof that somebody signed in (rest-v2 §2.6).
struct UpstreamProfile: Sendable, Equatable {
    enum Kind: String, Sendable, Codable {
        case regular, appleSSO, platformSSO, serviceTokenSSO, degraded, temporary
    }

    struct Attribute: Sendable, Codable, Equatable {
        var value: AppleClaim
        /// `plain` or `enc`.
        var state = "plain"

        init(_ value: AppleClaim, state: String = "plain") {
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
    let type: UpstreamProfile.Kind
    let attributes: [String: UpstreamProfile.Attribute]

    init(_ profile: UpstreamProfile, as kind: UpstreamProfile.Kind? = nil, onlyUserID: Bool = false, _ behaviour: UpstreamBehaviour) {
        notBefore = profile.notBefore.milliseconds
        notAfter = profile.notAfter.milliseconds
        issuer = profile.issuer
        type = kind ?? profile.kind
        let shown = onlyUserID ? profile.attributes.filter { $0.key == "userID" } : profile.attributes
        attributes = shown.mapValues { attribute in
            attribute.state == "enc" ? UpstreamProfile.Attribute(attribute.value, state: behaviour.encryptedState) : attribute
        }
    }

    /// Of somebody who has not signed in: `degraded` or `temporary`.
    init(_ kind: UpstreamProfile.Kind, from notBefore: Timestamp, to notAfter: Timestamp, _ attributes: [String: AppleClaim]) {
        self.notBefore = notBefore.milliseconds
        self.notAfter = notAfter.milliseconds
        issuer = "Adobe"
        type = kind
        self.attributes = attributes.mapValues { UpstreamProfile.Attribute($0) }
    }
}

/// The profiles of an answer, by MVPD.
struct ProfilesBody: Sendable, Encodable {
    var profiles: [String: ProfileBody] = [:]
}
