internal import Clocks

/// A profile as the control routes show and take it: what was removed can be put back as it was.
struct ControlledProfile: Sendable, Codable, Equatable {
    var id: String?
    /// nil: of the client that used the device last.
    var client: String?
    let device: String
    let serviceProvider: String
    let mvpd: String
    let person: String
    var kind: UpstreamProfile.Kind?
    /// Milliseconds since 1970; nil: now, and by the integration.
    var notBefore: Int64?
    var notAfter: Int64?
    /// nil: those of the person.
    var attributes: [String: UpstreamProfile.Attribute]?
    var afterDecision: [String: UpstreamProfile.Attribute]?
    var identities: [SsoIdentity]?

    init(_ profile: UpstreamProfile) {
        id = profile.id
        client = profile.owner.client
        device = profile.owner.device.name
        serviceProvider = profile.owner.serviceProvider
        mvpd = profile.mvpd
        person = profile.person
        kind = profile.kind
        notBefore = profile.notBefore.milliseconds
        notAfter = profile.notAfter.milliseconds
        attributes = profile.attributes
        afterDecision = profile.afterDecision
        identities = profile.identities
    }

    /// - Throws: `SettingsFault` that names what is unknown.
    func profile(_ state: UpstreamState, _ making: ProfileMaking, at now: Timestamp) throws(SettingsFault) -> UpstreamProfile {
        guard let person = making.person(person) else { throw SettingsFault(key: "person", problem: "is unknown") }
        guard let integration = state.catalogue.integration(serviceProvider, mvpd) else {
            throw SettingsFault(key: "mvpd", problem: "has no integration with \(serviceProvider)")
        }
        if let kind, kind == .degraded || kind == .temporary { throw SettingsFault(key: "kind", problem: "is none that is kept") }
        let device = DeviceIdentifier(device)
        guard let client = client ?? state.lastClient(of: device) else {
            throw SettingsFault(key: "client", problem: "is missing, and no client has used the device")
        }
        let owner = ProfileOwner(client: client, device: device, serviceProvider: serviceProvider)
        let made = making.profile(
            of: person, owner, integration, kind: kind ?? .regular, identities: identities ?? [], state.behaviour, at: now)
        return UpstreamProfile(
            id: id ?? made.id, owner: owner, mvpd: mvpd, person: person.name, kind: made.kind,
            notBefore: notBefore.map { Timestamp(milliseconds: $0) } ?? made.notBefore,
            notAfter: notAfter.map { Timestamp(milliseconds: $0) } ?? made.notAfter, attributes: attributes ?? made.attributes,
            identities: made.identities, visibleFrom: now, afterDecision: afterDecision)
    }
}

/// Which profiles a control route means; nothing said: all.
struct ProfileFilter: Sendable {
    let values: [(name: String, value: String)]

    func fits(_ profile: UpstreamProfile) -> Bool {
        values.allSatisfy { name, value in
            switch name {
            case "id": profile.id == value
            case "client": profile.owner.client == value
            case "device": profile.owner.device.octets == Array(value.utf8)
            case "serviceProvider": profile.owner.serviceProvider == value
            case "mvpd": profile.mvpd == value
            case "person": profile.person == value
            default: false
            }
        }
    }
}
