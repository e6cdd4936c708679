public import Contracts

/// Lookups for Automatic Sign-In and Sign in with Apple.
extension Catalogue {
    /// The app of any programmer with that bundle id or Services ID; letter case counts.
    public func appleApp(_ clientID: String) -> AppleApp? { appleApps[clientID] }

    /// The app with that client id, unless it is another programmer's than the requestor's.
    public func appleApp(_ clientID: String, for requestor: Requestor) -> AppleApp? {
        guard let app = appleApps[clientID], app.programmer == requestor.programmerID else { return nil }
        return app
    }

    /// The team with that id, and the id of its programmer.
    public func appleTeam(_ id: String) -> (programmer: String, team: AppleTeam)? { appleTeams[id] }

    /// The programmer that a requestor belongs to; `nil` when either is not in the catalogue.
    public func programmer(ofRequestor id: String) -> Programmer? { requestor(id).flatMap { programmer(of: $0) } }

    static func appleIndex(
        _ programmers: [Programmer]
    ) -> (teams: [OctetText: (programmer: String, team: AppleTeam)], apps: [OctetText: AppleApp]) {
        var teams: [OctetText: (programmer: String, team: AppleTeam)] = [:]
        var apps: [OctetText: AppleApp] = [:]
        for programmer in programmers {
            for team in programmer.appleTeams {
                teams[team.teamID] = (programmer.id, team)
                for group in team.groups {
                    for id in group.clientIDs {
                        let isNative = group.bundleIDs.contains(id)
                        apps[id] = AppleApp(programmer: programmer.id, team: team, group: group, clientID: id, isNative: isNative)
                    }
                }
            }
        }
        return (teams, apps)
    }
}
