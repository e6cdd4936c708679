internal import SandboxKit
internal import CSandboxXml

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
    /// Notifications go here; nil: nowhere.
    var notificationURL: String?
}

/// One client id.
struct AppleClient: Sendable, Equatable {
    let id: String
    let group: AppleGroup
    /// The redirect URLs of a Services ID; nil for an app.
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

/// A developer team at the stand-in Apple (apple §3).
package struct AppleTeamSettings: Sendable, Equatable {
    /// A key that the team registered.
    package struct Key: Sendable, Equatable {
        /// 10 characters.
        package var id: String
        /// File with the public half (PEM, P-256).
        package var file: String
    }

    /// Apps that share the person's consent.
    package struct Group: Sendable, Equatable {
        package var id: String
        package var bundleIDs: [String]
        /// Redirect addresses by Services ID, compared character by character.
        package var services: [String: [String]]
        /// Notifications go here; nil: nowhere.
        package var notificationURL: String?
    }

    package var id: String
    package var signInKeys: [Key]
    /// Issuer id of App Store Connect.
    package var issuer: String
    package var purchaseKeys: [Key]
    package var groups: [Group]
}

extension AppleTeamSettings {
    /// As the settings file has it.
    struct Entry: Decodable {
        struct Key: Decodable {
            let id: String
            let file: String
        }

        struct Group: Decodable {
            struct Service: Decodable {
                let id: String
                let redirectURLs: [String]
            }

            let id: String
            let bundleIDs: [String]
            let servicesIDs: [Service]?
            let notificationURL: String?
        }

        let id: String
        let signInKeys: [Key]
        let issuer: String
        let purchaseKeys: [Key]
        let groups: [Group]
    }

    init(_ entry: Entry, resolve: (String) -> String) {
        let key = { (key: Entry.Key) in Key(id: key.id, file: resolve(key.file)) }
        self.init(
            id: entry.id, signInKeys: entry.signInKeys.map(key), issuer: entry.issuer, purchaseKeys: entry.purchaseKeys.map(key),
            groups: entry.groups.map { group in
                Group(
                    id: group.id, bundleIDs: group.bundleIDs,
                    services: Dictionary((group.servicesIDs ?? []).map { ($0.id, $0.redirectURLs) }) { $1 },
                    notificationURL: group.notificationURL)
            })
    }
}

extension AppleDirectory {
    /// Reads the teams' keys.
    init(_ settings: [AppleTeamSettings]) throws(SettingsFault) {
        var teams: [String: AppleTeam] = [:]
        for (index, team) in settings.enumerated() {
            let place = "apple.teams[\(index)]"
            let loaded = AppleTeam(
                id: team.id, signInKeys: try Self.keys(team.signInKeys, "\(place).signInKeys"), issuer: team.issuer,
                purchaseKeys: try Self.keys(team.purchaseKeys, "\(place).purchaseKeys"))
            guard teams.updateValue(loaded, forKey: team.id) == nil else { throw SettingsFault(key: "\(place).id", problem: "is used twice") }
        }
        self.init(teams: teams)
        for (index, team) in settings.enumerated() {
            for (number, group) in team.groups.enumerated() {
                let place = "apple.teams[\(index)].groups[\(number)]"
                if groups[group.id] != nil { throw SettingsFault(key: "\(place).id", problem: "is used twice") }
                do {
                    try add(
                        AppleGroup(
                            id: group.id, team: team.id, bundleIDs: Set(group.bundleIDs), services: group.services,
                            notificationURL: group.notificationURL))
                } catch {
                    throw SettingsFault(key: place, problem: "cannot be used: \(error)")
                }
            }
        }
    }

    private static func keys(_ keys: [AppleTeamSettings.Key], _ place: String) throws(SettingsFault) -> [String: VerificationKey] {
        var loaded: [String: VerificationKey] = [:]
        for (index, key) in keys.enumerated() {
            let pem = try KeyFile.read(key.file, key: "\(place)[\(index)].file")
            do throws(XmlRejection) {
                loaded[key.id] = try VerificationKey(pem: pem)
            } catch {
                throw SettingsFault(key: "\(place)[\(index)].file", problem: "cannot be used: \(error.reason): \(key.file)")
            }
        }
        return loaded
    }
}

/// A public key of P-256 that a team registered with Apple.
// Sendable: the C object is never changed after loading, and OpenSSL locks its reference count.
final class VerificationKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Reads a SubjectPublicKeyInfo in PEM.
    init(pem: [UInt8]) throws(XmlRejection) {
        var key: OpaquePointer?
        try XmlRejection.check(csandbox_key_load_public_p256(pem, pem.count, &key))
        guard let key else { throw XmlRejection(reason: "not a PEM public key") }
        pointer = key
    }

    deinit { csandbox_key_free(pointer) }

    /// True when this is an ES256 signature in the form of JWS; one in DER is not.
    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        csandbox_verify_es256(pointer, message, message.count, signature, signature.count) == nil
    }
}
