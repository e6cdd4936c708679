internal import SandboxKit
internal import Clocks

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
        // What is set anew counts as the newest.
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
