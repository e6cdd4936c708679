/// A developer team, with the public halves of its keys (apple §2.4, §1.3).
struct AppleTeam: Sendable {
    let id: String
    /// Keys of Sign in with Apple, by key id.
    let signInKeys: [String: VerificationKey]
    /// Issuer id of App Store Connect.
    let issuer: String
    /// Keys of In-App Purchase, by key id.
    let purchaseKeys: [String: VerificationKey]
}

/// Apps under one primary App ID, which share the person's consent (apple §2.8).
struct AppleGroup: Sendable, Equatable {
    let id: String
    var team: String
    var bundleIDs: Set<String>
    /// Redirect addresses by Services ID.
    var services: [String: [String]]
    /// Where notifications go; nil: nowhere.
    var notificationURL: String?
}

/// One client id.
struct AppleClient: Sendable, Equatable {
    let id: String
    let group: AppleGroup
    /// Of a Services ID; nil for an app.
    let redirectURLs: [String]?
}

/// The teams and groups that Apple knows.
struct AppleDirectory: Sendable {
    let teams: [String: AppleTeam]
    var groups: [String: AppleGroup] = [:]

    func client(_ id: String) -> AppleClient? {
        for group in groups.values {
            if group.bundleIDs.contains(id) { return AppleClient(id: id, group: group, redirectURLs: nil) }
            if let addresses = group.services[id] { return AppleClient(id: id, group: group, redirectURLs: addresses) }
        }
        return nil
    }

    /// The app with a bundle id.
    func app(_ bundleID: String) -> AppleClient? {
        guard let client = client(bundleID), client.redirectURLs == nil else { return nil }
        return client
    }

    /// - Throws: `SettingsFault` when the team is unknown or another group has one of the client ids.
    mutating func add(_ group: AppleGroup) throws(SettingsFault) {
        guard teams[group.team] != nil else { throw SettingsFault(key: "team", problem: "is none of the teams") }
        for id in group.bundleIDs.union(group.services.keys) {
            if let other = client(id), other.group.id != group.id { throw SettingsFault(key: id, problem: "belongs to the group \(other.group.id)") }
        }
        if let shared = group.bundleIDs.first(where: { group.services[$0] != nil }) {
            throw SettingsFault(key: shared, problem: "is a bundle id and a Services ID")
        }
        groups[group.id] = group
    }
}
