/// A person as a platform or an identity service knows them (rest-v2 §5 I, J).
struct SsoIdentity: Sendable, Codable, Hashable {
    enum Kind: String, Sendable, Codable {
        case platform, service
    }

    let kind: Kind
    let id: String

    /// What a profile found by it is (rest-v2 §4).
    var profileType: UpstreamProfile.Kind { kind == .platform ? .platformSSO : .serviceTokenSSO }
}
