internal import CatalogueFiles
internal import Contracts
internal import GatewayEdge

/// An upstream as it is now, who uses it, and what can be tried: the part of its page that no other entry has (bridge §14.1).
struct UpstreamSection: Sendable {
    let console: Console

    /// - Returns: States by upstream; `nil`: nobody can say.
    /// - Parameter upstream: Empty: of all.
    func states(_ upstream: String, _ exchange: Exchange) async -> [OctetText: UpstreamState]? {
        let request = ListUpstreamStatesRequest(upstream: upstream)
        guard let states = try? await console.dependencies.operations.listUpstreamStates(request, context: exchange.call).states else { return nil }
        return Dictionary(states.map { (OctetText($0.upstream), $0) }, uniquingKeysWith: { first, _ in first })
    }

    func content(_ entry: ConsoleEntry, _ exchange: Exchange) async -> [String: Any] {
        var section: [String: Any] = [
            "checkAddress": ConsoleCollection.upstreams.address(of: entry.id, "check"),
            "offersAddress": ConsoleCollection.upstreams.address(of: entry.id, "offers"),
            "resetAddress": ConsoleCollection.upstreams.address(of: entry.id, "reset"),
            "upstreamClients": entry.tree["clients"]?.elements.map(Self.client) ?? [],
            "upstreamChannels": Self.channels(of: entry.id, console).map {
                ["channelName": $0.name.isEmpty ? $0.id : $0.name, "channelAddress": ConsoleCollection.channels.address(of: $0.id)]
            },
        ]
        let states = await states(entry.id, exchange)
        if let state = states?[OctetText(entry.id)] {
            section["upstreamNow"] = Self.now(state)
        } else {
            section[states == nil ? "isUntold" : "isUnknown"] = true
        }
        return ["upstreamSection": section]
    }

    /// The channels that an upstream serves, as it is live.
    static func channels(of upstream: String, _ console: Console) -> [Requestor] {
        let requestors = (try? console.dependencies.catalogue.current().configuration.requestors) ?? []
        return requestors.filter { $0.bridge.map { OctetText($0.upstreamID) == OctetText(upstream) } ?? false }
    }

    /// A word on it for lists.
    static func word(_ state: UpstreamState?) -> String { state.map { $0.openBreakers.isEmpty ? "works" : "fails" } ?? "not known" }

    private static func now(_ state: UpstreamState) -> [String: Any] {
        let listed = DisplayedTime(milliseconds: state.oldestListAtMilliseconds).text
        return [
            "isWorking": state.openBreakers.isEmpty, "restingCalls": state.openBreakers.joined(separator: ", "),
            "nowFacts": [
                fact("Our clients there", "\(state.clients), of which \(state.deviceClients) serve one device each"),
                fact("Calls under way", "\(state.callsUnderWay)"), fact("Oldest list at hand", listed == "–" ? "none" : listed),
                fact("Logouts that it has not heard of", "\(state.openLogouts)"), fact("Its clock", clock(state.clockOffsetMilliseconds)),
            ],
            "hasAlarms": !state.alarms.isEmpty,
            "alarms": state.alarms.map { UpstreamAlarmText(alarm: $0).content },
        ]
    }

    private static func clock(_ offset: Int64) -> String {
        if offset.magnitude < 1000 { return "as ours, to a second" }
        return "\(offset.magnitude / 1000) s \(offset > 0 ? "ahead of ours" : "behind ours")"
    }

    private static func client(_ tree: JsonTree) -> [String: Any] {
        [
            "clientId": tree["id"]?.text ?? "", "statement": tree["statementReference"]?.text ?? "–",
            "clientChannels": words(tree["requestors"]), "clientPlatforms": words(tree["platforms"]),
        ]
    }

    private static func words(_ value: JsonTree?) -> String {
        guard let value, value.text != "all" else { return "all" }
        return value.elements.compactMap(\.text).joined(separator: ", ")
    }

    private static func fact(_ label: String, _ value: String) -> [String: String] { ["factLabel": label, "factValue": value] }
}
