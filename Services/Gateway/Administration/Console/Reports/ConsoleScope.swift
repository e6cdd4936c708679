internal import Catalogue
internal import Contracts

/// Whose channels an administrator may look at, by the newest version of the catalogue.
struct ConsoleScope: Sendable {
    let catalogue: any CatalogueSource

    /// In the catalogue's order: an operator's are all.
    func channels(of administrator: Administrator) throws -> [Requestor] {
        let all = try catalogue.current().configuration.requestors
        guard administrator.role != .operator else { return all }
        let own = Set(administrator.programmerIDs.map { OctetText($0) })
        return all.filter { own.contains(OctetText($0.programmerID)) }
    }

    /// As choices of a form.
    static func choices(_ channels: [Requestor], chosen: [String]) -> [[String: Any]] {
        let ids = Set(chosen.map { OctetText($0) })
        return channels.map { channel in
            [
                "channelId": channel.id, "channelName": channel.name.isEmpty ? channel.id : channel.name,
                "isChannel": ids.contains(OctetText(channel.id)),
            ]
        }
    }
}
