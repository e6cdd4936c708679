internal import SandboxKit
internal import Clocks
internal import Hummingbird

/// Profiles under control: list, remove, add or put back.
struct VendorProfileControl: Sendable {
    private static let filters = ["id", "client", "device", "serviceProvider", "mvpd", "person"]

    let memory: VendorMemory
    let clock: AdjustableClock
    let making: ProfileMaking

    func add(to control: RouterGroup<SandboxContext>) {
        control.get("/profiles") { request, _ in
            let filter = Self.filter(request)
            return try ControlReader.json(memory.access { $0.profiles.all.filter(filter.fits).map(ControlledProfile.init) })
        }
        // Answers what it removed: posted again, it is there again.
        control.delete("/profiles") { request, _ in
            let filter = Self.filter(request)
            let removed = memory.access { state in
                let removed = state.profiles.all.filter(filter.fits)
                for profile in removed { state.profiles.remove(VendorProfiles.Key(profile)) }
                return removed
            }
            return try ControlReader.json(removed.map(ControlledProfile.init))
        }
        control.post("/profiles") { request, _ in
            let profiles = try await ControlReader.read([ControlledProfile].self, request)
            let now = clock.now()
            let added = try ControlReader.checked {
                guard profiles.count <= 10_000 else { throw SettingsFault(key: "", problem: "has more than 10000 profiles") }
                return try memory.access { state in
                    let made = try profiles.map { try $0.profile(state, making, at: now) }
                    for profile in made { state.profiles.set(profile) }
                    return made
                }
            }
            return try ControlReader.json(added.map(ControlledProfile.init))
        }
    }

    private static func filter(_ request: Request) -> ProfileFilter {
        ProfileFilter(values: filters.compactMap { name in ControlReader.query(name, request).map { (name, $0) } })
    }
}

/// A profile as the control routes show and take it: what was removed can be put back as it was.
struct ControlledProfile: Sendable, Codable, Equatable {
    var id: String?
    /// nil: of the client that used the device last.
    var client: String?
    let device: String
    let serviceProvider: String
    let mvpd: String
    let person: String
    var kind: VendorProfile.Kind?
    /// Milliseconds since 1970; nil: now, and by the integration.
    var notBefore: Int64?
    var notAfter: Int64?
    /// nil: those of the person.
    var attributes: [String: VendorProfile.Attribute]?
    var afterDecision: [String: VendorProfile.Attribute]?
    var identities: [SsoIdentity]?

    init(_ profile: VendorProfile) {
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
    func profile(_ state: VendorState, _ making: ProfileMaking, at now: Timestamp) throws(SettingsFault) -> VendorProfile {
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
        return VendorProfile(
            id: id ?? made.id, owner: owner, mvpd: mvpd, person: person.name, kind: made.kind,
            notBefore: notBefore.map { Timestamp(milliseconds: $0) } ?? made.notBefore,
            notAfter: notAfter.map { Timestamp(milliseconds: $0) } ?? made.notAfter, attributes: attributes ?? made.attributes,
            identities: made.identities, visibleFrom: now, afterDecision: afterDecision)
    }
}

/// The profiles that a control route means; nothing said: all.
struct ProfileFilter: Sendable {
    let values: [(name: String, value: String)]

    func fits(_ profile: VendorProfile) -> Bool {
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
