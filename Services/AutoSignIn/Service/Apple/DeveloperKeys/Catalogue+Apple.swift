internal import Catalogue
internal import Contracts

/// An app of a programmer's at Apple.
struct AppleApp: Hashable, Sendable {
    let team: AppleTeam
    let group: AppleAppGroup
    /// A bundle id or a Services ID.
    let client: AppleClientID
}

extension Catalogue {
    func programmer(_ id: ProgrammerID) -> Programmer? { configuration.programmers.first { $0.id == id.text } }

    /// The programmer of a requestor.
    func programmerID(of requestor: RequestorID) -> ProgrammerID? {
        self.requestor(requestor.text).map { ProgrammerID($0.programmerID) }
    }

    /// The native app of that bundle id.
    func nativeApp(_ bundleID: AppleClientID, of programmer: ProgrammerID) -> AppleApp? {
        app(bundleID, of: programmer) { $0.bundleIDs }
    }

    /// The native app or web sign-in of that client id.
    func appleApp(_ client: AppleClientID, of programmer: ProgrammerID) -> AppleApp? {
        app(client, of: programmer) { $0.bundleIDs + $0.servicesIDs }
    }

    private func app(_ client: AppleClientID, of programmer: ProgrammerID, _ clients: (AppleAppGroup) -> [String]) -> AppleApp? {
        for team in self.programmer(programmer)?.appleTeams ?? [] {
            if let group = team.groups.first(where: { clients($0).contains(client.text) }) {
                return AppleApp(team: team, group: group, client: client)
            }
        }
        return nil
    }
}
