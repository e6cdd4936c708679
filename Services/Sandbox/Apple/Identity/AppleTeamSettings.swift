/// A developer team at the stand-in Apple (apple §3).
public struct AppleTeamSettings: Sendable, Equatable {
    /// A key that the team registered.
    public struct Key: Sendable, Equatable {
        /// 10 characters.
        public var id: String
        /// File with the public half (PEM, P-256).
        public var file: String
    }

    /// Apps that share the person's consent.
    public struct Group: Sendable, Equatable {
        public var id: String
        public var bundleIDs: [String]
        /// Redirect addresses by Services ID, compared character by character.
        public var services: [String: [String]]
        /// Where notifications go; nil: nowhere.
        public var notificationURL: String?
    }

    public var id: String
    public var signInKeys: [Key]
    /// Issuer id of App Store Connect.
    public var issuer: String
    public var purchaseKeys: [Key]
    public var groups: [Group]
}

extension AppleTeamSettings {
    init(_ entry: SettingsFile.AppleTeam, resolve: (String) -> String) {
        let key = { (key: SettingsFile.AppleKey) in Key(id: key.id, file: resolve(key.file)) }
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
            let pem = try SandboxSettings.read(key.file, key: "\(place)[\(index)].file")
            do throws(XmlRefusal) {
                loaded[key.id] = try VerificationKey(pem: pem)
            } catch {
                throw SettingsFault(key: "\(place)[\(index)].file", problem: "cannot be used: \(error.reason): \(key.file)")
            }
        }
        return loaded
    }
}
